"""All studies by name: what `nacre report` makes of incremental crawling."""

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from nacre.errors import JobError
from nacre.job.studies import (
    budget,
    decisions,
    decisions_page,
    deletions,
    difference,
    endless,
    frequency,
    frequency_page,
    savings,
    savings_page,
    sequences,
    templates,
    templates_page,
    timeline,
    trust,
)
from nacre.job.studies.known import Known
from nacre.report.document import Document
from nacre.report.readers import Audience
from nacre.wire.urltext import possible_urls


class Subject(Enum):
    """Whether a study is of one page."""

    JOB = "job"
    PAGE = "page"
    EITHER = "either"


class Asked(NamedTuple):
    """What is asked of a study.

    Attributes:
        url: The page; "" for the job.
        old: Beginning of the date of the older version, for `diff`; "" for the last but one.
        new: The same of the newer one; "" for the last.
    """

    url: str = ""
    old: str = ""
    new: str = ""


class Study(NamedTuple):
    """One study.

    Attributes:
        name: For `nacre report`.
        summary: What it tells.
        build: Its data: a struct.
        document: The data for people.
        subject: What it is of.
        reader: Who reads it.
    """

    name: str
    summary: str
    build: Callable[[Known, Asked], Any]
    document: Callable[[Any], Document]
    subject: Subject = Subject.JOB
    reader: Audience = Audience.OPERATOR


_ALL = (
    Study(
        "change-frequency",
        "how often pages change, and when to come again",
        lambda known, _: frequency.change_frequency(known),
        frequency_page.document,
        reader=Audience.CURATOR,
    ),
    Study(
        "timeline",
        "every visit of a page, and when its changes came about",
        lambda known, asked: timeline.timeline(known, asked.url),
        timeline.document,
        Subject.PAGE,
        reader=Audience.CURATOR,
    ),
    Study(
        "diff",
        "two versions of a page, noise marked with its reason",
        lambda known, asked: difference.page_difference(known, asked.url, (asked.old, asked.new)),
        difference.document,
        Subject.PAGE,
        reader=Audience.CURATOR,
    ),
    Study(
        "savings",
        "what incremental runs saved, and the share of changes that they found",
        lambda known, _: savings.savings(known),
        savings_page.document,
        reader=Audience.CURATOR,
    ),
    Study(
        "budget",
        "requests a day against versions captured and copies current",
        lambda known, _: budget.budget_study(known),
        budget.document,
    ),
    Study(
        "deletions",
        "pages that are gone, with the records that prove it",
        lambda known, _: deletions.deletion_register(known),
        deletions.document,
        reader=Audience.CURATOR,
    ),
    Study(
        "hints",
        "how far sitemaps, feeds and lists can be trusted",
        lambda known, _: trust.trust_table(known),
        trust.document,
    ),
    Study(
        "templates",
        "URL templates, their rules for new links, traps",
        lambda known, _: templates.template_list(known),
        templates_page.document,
    ),
    Study(
        "traps",
        "kinds of URLs that promise nothing new or have no end, as a full crawl met them",
        lambda known, _: endless.trap_list(known),
        endless.document,
    ),
    Study(
        "coverage",
        "gaps in numbered pages",
        lambda known, _: sequences.sequence_coverage(known),
        sequences.document,
        reader=Audience.CURATOR,
    ),
    Study(
        "decisions",
        "why a page was visited or not; without a URL, how good the forecasts were",
        lambda known, asked: decisions.decisions(known, asked.url),
        decisions_page.document,
        Subject.EITHER,
        reader=Audience.DEVELOPER,
    ),
)

STUDIES: dict[str, Study] = {study.name: study for study in _ALL}
"""All studies by name."""


def examine(known: Known, name: str, asked: Asked) -> Any:  # noqa: ANN401 - the struct of a study
    """The data of a study.

    Raises:
        JobError: It is of a page and none is named, or the other way round, or nothing is known.
    """
    study = STUDIES[name]
    if study.subject is Subject.PAGE and not asked.url:
        raise JobError(f"{name} is of one page: nacre report JOB {name} URL")
    if study.subject is Subject.JOB and asked.url:
        raise JobError(f"{name} is of the whole job and takes no URL")
    if asked.url:
        asked = asked._replace(url=_as_known(known, asked.url))
    return study.build(known, asked)


def _as_known(known: Known, text: str) -> str:
    """The URL that is meant, as the job spells it; as it was typed when the job knows none."""
    names = possible_urls(text)
    for name in names:
        if known.row(name) is not None:
            return name
    met = {visit.url for visit in known.visits()}
    return next((name for name in names if name in met), text)
