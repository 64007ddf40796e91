"""For programs: what a job holds and why, and its waiting URLs. A job is named by its directory.

It may run in another process, in this one, or not at all: what is told is the last committed state.
Changes of the frontier go to the process that runs the job, and else into its store.
"""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from nacre.core.crawluri import CrawlURI
from nacre.errors import JobError
from nacre.frontier.listing import pending
from nacre.job.at_rest import changing
from nacre.job.configuration.configure import load_job
from nacre.job.configuration.settings import JobSettings
from nacre.job.explaining.explain import Explainer
from nacre.job.explaining.explanation import Explanation
from nacre.job.handout.facts import run_report
from nacre.job.intake.edits import Imported, bring_in, delete, matcher
from nacre.job.intake.intake import Options, Way
from nacre.job.layout import Layout
from nacre.job.offline import View, reading
from nacre.job.operator.control import Answer, GoneError, ask, running
from nacre.job.reports.reporting import make_report
from nacre.job.studies.lookback import page
from nacre.job.studies.pagelist import Wanted, pages
from nacre.job.studies.stored import StoredKnown
from nacre.job.studies.table import STUDIES, Asked, examine
from nacre.report.reports import REPORTS, RUN
from nacre.uri.login import without_login
from nacre.wire.urltext import possible_urls

PathText = str | PathLike[str]


def explain_url(directory: PathText, url: str) -> Explanation:
    """Why a URL was or was not crawled, and by which rule.

    Args:
        directory: The job.
        url: Any URL.

    Raises:
        JobError: The directory is no job, or the job never ran.
        ConfigError: Its settings cannot be read.
        URIError: That is no URL.
    """
    answer = _answer(Layout(Path(directory)), "explain", url=url)
    if answer is not None:
        return msgspec.convert(answer["explanation"], Explanation)
    with _looking(directory) as view:
        return Explainer(view).explain(url)


def report_names() -> list[str]:
    """The names that `read_report` knows: reports of a run, then those of recrawling."""
    return [RUN, *REPORTS, *STUDIES]


def read_report(directory: PathText, name: str = "crawl-summary", url: str = "") -> dict[str, Any]:
    """A report as data, as `nacre report --json` gives it.

    Args:
        directory: The job.
        name: One of `report_names`.
        url: The page, for those that are of one page; "" for none.

    Raises:
        JobError: The job never ran, there is no such report, or it needs a URL or takes none.
    """
    if name not in report_names():
        raise JobError(f"there is no report {name!r}; there are: {', '.join(report_names())}")
    if (name in REPORTS or name == RUN) and url:
        raise JobError(f"the report {name!r} takes no URL")
    answer = _answer(Layout(Path(directory)), "report", name=name) if name in REPORTS else None
    if answer is not None:
        return dict(answer["report"])
    with _looking(directory) as view:
        if name in REPORTS:
            return make_report(name, view.store, view.layout, view.settings, None)
        if name == RUN:
            found = run_report(view, running=running(view.layout.socket))
            return dict(msgspec.to_builtins(found))
        known = StoredKnown(view.layout.root, view.store, view.settings, view.clock.now())
        return dict(msgspec.to_builtins(examine(known, name, Asked(url, "", ""))))


def waiting_urls(directory: PathText, regex: str = "", queue: str = "") -> Iterator[CrawlURI]:
    """The URLs that wait to be fetched, queue by queue, in their order.

    Args:
        directory: The job.
        regex: Expression found in the URL; "" for any.
        queue: Expression found in the queue key, such as `com,example,`; "" for any.

    Raises:
        JobError: The job never ran.
        ConfigError: An expression is none.
    """
    urls, queues = matcher(regex), matcher(queue)
    with _looking(directory) as view:
        for entry in pending(view.store, urls, queues):
            yield entry.uri


async def schedule_urls(
    directory: PathText, urls: Iterable[str], *, scoped: bool = False, force: bool = False
) -> Imported:
    """Put URLs into the frontier; a job that never ran begins its first run.

    Args:
        directory: The job.
        urls: Absolute URLs.
        scoped: Only those in scope.
        force: Also those that were fetched or deleted before.

    Raises:
        JobError: The directory is no job, or its run is over.
        StorageError: The job runs in this process, or its store cannot be written.
    """
    layout, settings = _opened(directory)
    options = Options(Way.IMPORT, scoped=scoped, force=force)
    lines, asked = list(urls), msgspec.to_builtins(options)
    answer = await asyncio.to_thread(
        _answer, layout, "frontier-import", lines=lines, first=1, options=asked
    )
    if answer is not None:
        return msgspec.convert(answer["imported"], Imported)
    async with changing(layout, settings, new=True) as parts:
        return await bring_in(parts, lines, options)


async def delete_urls(directory: PathText, regex: str, queue: str = "") -> int:
    """Delete the waiting URLs that match both; they count as disregarded (-6000).

    Args:
        directory: The job.
        regex: Expression found in the URL; "" for any.
        queue: Expression found in the queue key; "" for any.

    Returns:
        How many there were.

    Raises:
        JobError: The job never ran, or its run is over.
        ConfigError: An expression is none.
        StorageError: The job runs in this process, or its store cannot be written.
    """
    layout, settings = _opened(directory)
    urls, queues = matcher(regex), matcher(queue)
    answer = await asyncio.to_thread(_answer, layout, "frontier-delete", urls=regex, queues=queue)
    if answer is not None:
        return int(answer["deleted"])
    async with changing(layout, settings) as parts:
        return await delete(parts, urls, queues)


def page_history(directory: PathText, url: str) -> dict[str, Any] | None:
    """All that is known of a page over all runs, and each of its visits; None: nothing is.

    The keys are those of `nacre history DIR url URL --json`: `url`, `page`, `way`, `version`,
    `capture`, `visits`, as far as they are known.

    Args:
        directory: The job.
        url: The page.

    Raises:
        JobError: The job never ran.
    """
    with _looking(directory) as view:
        found = (page(view.store, name) for name in possible_urls(without_login(url)))
        return next((one for one in found if one is not None), None)


def known_pages(directory: PathText, regex: str = "") -> Iterator[dict[str, Any]]:
    """The pages that were visited, in any run, as `nacre history DIR dump` has them.

    Args:
        directory: The job.
        regex: Expression found in the URL; "" for any.

    Raises:
        JobError: The job never ran.
        ConfigError: That is no expression.
    """
    with _looking(directory) as view:
        yield from pages(view.store, Wanted(regex))


def _opened(directory: PathText) -> tuple[Layout, JobSettings]:
    layout = Layout(Path(directory))
    return layout, load_job(layout).settings


def _answer(layout: Layout, command: str, **arguments: object) -> Answer | None:
    """What the process says that runs the job; None where none does."""
    layout.require()
    try:
        return ask(layout.socket, command, **arguments)
    except GoneError:
        return None


@contextmanager
def _looking(directory: PathText) -> Iterator[View]:
    layout = Layout(Path(directory))
    loaded = load_job(layout)
    with reading(layout, loaded.settings, loaded.origin) as view:
        yield view
