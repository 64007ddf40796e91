"""Pages of results: seeds, one URL, reports and studies, runs, checkpoints and files."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from nacre.console.actions import ActionOptions, act
from nacre.console.api.results import (
    ReportQuery,
    SeedsQuery,
    UrlQuery,
    begin_seeds,
    explain_of,
    list_checkpoints_of,
    list_files_of,
    list_runs,
    report_of,
    seeds_of,
)
from nacre.console.bounds import Order
from nacre.console.call import Call, PageAnswer
from nacre.console.pages.acting import notice_of, shown
from nacre.console.pages.forms import fields_of, may_operate, never_ran_page, wait_page
from nacre.console.pages.frontier import base_of
from nacre.console.readers.background import HeldTask
from nacre.inspect.analysis.found_words import FOUND_WORDS
from nacre.inspect.explain.answers import Explanation

_QUICK = 1.5
STUDIES = ("timeline", "diff", "decisions")
"""The studies of one page, which the page of a URL leads to."""


class ReportPageQuery(ReportQuery, frozen=True):
    """The query of the page of a report.

    Attributes:
        table: Number of the table that is sorted; -1 for none.
        sort: Number of the column.
        falling: The largest first.
    """

    table: Order = -1
    sort: Order = -1
    falling: bool = False


def _text(call: Call) -> Callable[[str], str]:
    return call.language.texts.gettext


def _seed_states(call: Call) -> dict[str, str]:
    _ = _text(call)
    return {
        "not crawled": _("not crawled"),
        "got": _("crawled"),
        "error": _("answered with an error"),
        "no reply": _("no reply"),
        "refused": _("refused"),
        "waits": _("waits"),
        "not due": _("not due"),
    }


async def seeds_page(call: Call) -> PageAnswer:
    """The seeds with their outcomes; those that were not crawled can be tried again."""
    query: SeedsQuery = call.query
    if (nothing := never_ran_page(call, _text(call)("Seeds"), "seeds")) is not None:
        return nothing
    found = await seeds_of(call, query)
    if isinstance(found, HeldTask):
        return wait_page(call, found)
    facts = {
        "job": call.job().id, "found": found, "query": query, "states": _seed_states(call),
        "may": may_operate(call),
    }  # fmt: skip
    return PageAnswer("seeds.html", facts)


async def take_seeds(call: Call) -> Response:
    """Add seeds, or try some again; a form."""
    fields = await fields_of(call)
    held = begin_seeds(call, fields.get("lines", ""), retry=fields.get("retry") == "1")
    await held.wait(_QUICK)
    return RedirectResponse(f"{base_of(call)}/tasks/{held.id}", 303)


def _standings(call: Call) -> dict[str, str]:
    _ = _text(call)
    return {
        "finished": _("It was processed."),
        "in process": _("It is being fetched at this moment."),
        "queued": _("It waits to be fetched."),
        "refused": _("It was not crawled: the scope refused it."),
        "seen": _("It was scheduled, and is not among the first URIs of its queue."),
        "known": _("It is known from earlier runs, and was not chosen in this one."),
        "unknown": _("It was never found in this crawl."),
    }


async def url_page(call: Call) -> PageAnswer:
    """All that is known of a URL, and why it was or was not crawled."""
    query: UrlQuery = call.query
    job, _ = call.job(), _text(call)
    if (nothing := never_ran_page(call, _("URL"), "frontier")) is not None:
        return nothing
    facts: dict[str, Any] = {"job": job.id, "url": query.u.strip(), "found": None}
    if not facts["url"]:
        return PageAnswer("url.html", facts)
    found = await explain_of(call, job, facts["url"])
    if isinstance(found, HeldTask):
        return wait_page(call, found)
    explained = found.explanation
    facts |= {
        "found": found, "e": explained, "said": _standings(call)[str(explained.standing)],
        "opinions": _opinions(explained), "may": may_operate(call), "studies": STUDIES,
        "exact": f"^{re.escape(explained.url)}$",
    }  # fmt: skip
    return PageAnswer("url.html", facts)


def _opinions(explained: Explanation) -> list[tuple[Any, bool]]:
    """The opinions of the scope, and which of them decides."""
    opinions = explained.scope.opinions
    last = next((one for one in reversed(opinions) if one.opinion != "NONE"), None)
    return [(one, one is last) for one in opinions]


async def reports_page(call: Call) -> PageAnswer:
    """The reports and studies, by who reads them."""
    _ = _text(call)
    found = await call.services.readers.ask("reports", call.job().layout.root)
    titles = {
        "curators": _("For curators"),
        "operators": _("For operators"),
        "developers": _("For developers"),
    }
    facts = {"job": call.job().id, "groups": found["groups"], "titles": titles}
    return PageAnswer("reports.html", facts)


async def report_page(call: Call) -> PageAnswer:
    """A report or a study; its tables are sorted by their headings."""
    query: ReportPageQuery = call.query
    job, name = call.job(), str(call.request.path_params["report"])
    if (nothing := never_ran_page(call, name, "reports")) is not None:
        return nothing
    lang = "zh" if call.language.name.startswith("zh") else "en"
    asked = msgspec.structs.replace(query, lang=lang if name == "run" else "en")
    found, held = await report_of(
        call,
        job,
        name,
        asked,
        "page",
        table=query.table,
        sort=query.sort,
        falling=query.falling,
        spoken=call.language.name,
    )
    if held is not None:
        return wait_page(call, held)
    document = found["document"]
    for section in document["sections"]:
        for plot in section["plots"]:
            # Nacre's own drawing, in which every text is escaped (`report/charts.py`).
            plot["drawing"] = Markup(plot["drawing"])  # noqa: S704
    options = {
        key: value
        for key in ("u", "old", "new", "run")
        if (value := getattr(query, key))
    }  # fmt: skip
    facts = {
        "job": job.id, "name": name, "document": document, "as_of": found["as_of"],
        "query": query, "options": urlencode(options), "sort_link": _sort_link(options),
        "downloads": [(form, _download(job.id, name, form, options)) for form in _FORMS],
    }  # fmt: skip
    return PageAnswer("report.html", facts)


_FORMS = ("text", "json", "csv", "html")


def _download(job: str, name: str, form: str, options: Mapping[str, str]) -> str:
    query = urlencode({**options, "form": form, "download": "1"})
    return f"/api/v1/jobs/{quote(job, safe='')}/reports/{quote(name, safe='')}?{query}"


def _sort_link(options: Mapping[str, str]) -> Callable[[dict[str, Any], int], str]:
    """The link of a heading: the same column again turns the order."""

    def link(table: dict[str, Any], column: int) -> str:
        falling = not table["falling"] if table["sorted"] == column else True
        return "?" + urlencode(
            {**options, "table": table["number"], "sort": column, "falling": int(falling)}
        )

    return link


def _found_words(call: Call) -> dict[str, str]:
    """The results of runs, in words."""
    _ = _text(call)
    first = {
        "documents": _("documents"), "errors": _("error replies"),
        "redirects": _("redirects"), "failed": _("failed"),
    }  # fmt: skip
    return {**first, **{name: _(text) for name, text in FOUND_WORDS.items()}}


async def runs_page(call: Call) -> PageAnswer:
    """The runs, with what each found."""
    if (nothing := never_ran_page(call, _text(call)("Runs"), "runs")) is not None:
        return nothing
    found = await list_runs(call)
    if isinstance(found, Response):
        task = call.services.tasks.task(found.headers["location"].rpartition("/")[2])
        return wait_page(call, task)
    facts = {"job": call.job().id, "found": found, "words": _found_words(call)}
    return PageAnswer("runs.html", facts)


async def checkpoints_page(call: Call) -> PageAnswer:
    """The checkpoints, and going back to one."""
    job = call.job()
    facts = {
        "job": job.id, "found": await list_checkpoints_of(call), "may": may_operate(call),
        "running": call.services.poller.snapshot(job).running,
    }  # fmt: skip
    return PageAnswer("checkpoints.html", facts)


async def go_back(call: Call) -> PageAnswer | RedirectResponse:
    """Start a job from one of its checkpoints; a form."""
    fields = await fields_of(call)
    options = ActionOptions(checkpoint=fields.get("checkpoint", "latest"))
    call.note.change(None, {"action": "start", "checkpoint": options.checkpoint})
    done = await act(call.services, call.job(), "start", options, call.identity)
    notice = notice_of(done, _text(call))
    return shown(call, [notice], base_of(call))


async def files_page(call: Call) -> PageAnswer:
    """The files that can be downloaded."""
    found = await list_files_of(call)
    pushed = any(one.pushed is not None for one in found.items)
    facts = {"job": call.job().id, "found": found, "pushed": pushed, "may": may_operate(call)}
    return PageAnswer("files.html", facts)
