"""Pages of results: seeds, one URL, reports and studies, runs, checkpoints and files."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from nacre.console.actions import WHYS, act, allowed_now
from nacre.console.api.results import (
    FilesQuery,
    ReportQuery,
    RunsQuery,
    SeedsQuery,
    UrlQuery,
    begin_seeds,
    explain_of,
    list_checkpoints_of,
    list_files_of,
    report_of,
    runs_of,
    seeds_of,
)
from nacre.console.call import Call, PageAnswer
from nacre.console.fleet.job_files import run_names
from nacre.console.logs.pages import runs_with_logs
from nacre.console.pages import seed_list
from nacre.console.pages.acting import notice_of, shown
from nacre.console.pages.forms import (
    fields_of,
    may_operate,
    never_ran_page,
    offered_runs,
    wait_page,
)
from nacre.console.pages.frontier import base_of, exclude_link, ways_of
from nacre.console.readers.background import HeldTask
from nacre.inspect.analysis.found_words import FOUND_WORDS
from nacre.inspect.explain.answers import Explanation
from nacre.job.lately import place_of
from nacre.ops.fields import LineText, Order, Whole
from nacre.ops.starts import StartRequest

_QUICK = 1.5
STUDIES = ("timeline", "diff", "decisions")
"""The studies of one page, which the page of a URL leads to."""


class ReportPageQuery(ReportQuery, frozen=True):
    """The query of the page of a report.

    Attributes:
        table: Number of the table that is sorted; -1 for none.
        sort: Number of the column.
        falling: The largest first.
        first: Rows of this table before the page.
    """

    table: Order = -1
    sort: Order = -1
    falling: bool = False
    first: Whole = 0


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


class SeedsPageQuery(SeedsQuery, frozen=True):
    """The query of the page of seeds.

    Attributes:
        back: The cursors of the pages between the first one and this one.
    """

    back: LineText = ""


async def seeds_page(call: Call) -> PageAnswer:
    """The seeds with their outcomes; those that were not crawled can be tried again."""
    query: SeedsPageQuery = call.query
    if not call.job().layout.has_store:
        return await seed_list.page(call)
    found = await seeds_of(call, query)
    if isinstance(found, HeldTask):
        return wait_page(call, found)
    filters = {"state": query.state, "contains": query.contains}
    facts = {
        "job": call.job().id, "found": found, "query": query, "states": _seed_states(call),
        "may": may_operate(call), "closed": await why_not_now(call, "frontier"),
        "ways": ways_of(filters, query.after, query.back, found.next),
    }  # fmt: skip
    return PageAnswer("seeds.html", facts)


async def take_seeds(call: Call) -> Response:
    """Add seeds, or try some again; a form."""
    fields = await fields_of(call)
    held = begin_seeds(call, fields.get("lines", ""), retry=fields.get("retry") == "1")
    await held.wait(_QUICK)
    return RedirectResponse(f"{base_of(call)}/tasks/{held.id}", 303)


async def why_not_now(call: Call, action: str) -> str:
    """The reason why an action on a job is not possible now, in the language of the page.

    It is "" where it is possible.

    Args:
        call: The request.
        action: Its name, such as `frontier`.
    """
    job = call.job()
    await call.services.poller.fresh(job)
    actions = {one.name: one for one in allowed_now(call.services, job, "")}
    why = actions[action].why
    return _text(call)(WHYS[why]) if why else ""


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
        "exact": f"^{re.escape(explained.url)}$", "closed": await why_not_now(call, "frontier"),
    }  # fmt: skip
    return PageAnswer("url.html", facts)


def _opinions(explained: Explanation) -> list[tuple[Any, bool]]:
    """The opinions of the scope, and which of them decides."""
    opinions = explained.scope.opinions
    last = next((opinion for opinion in reversed(opinions) if opinion.opinion != "NONE"), None)
    return [(opinion, opinion is last) for opinion in opinions]


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
        first=query.first,
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
    runs = await asyncio.to_thread(runs_with_logs, job.layout) if name == "run" else []
    facts = {
        "job": job.id, "name": name, "document": document, "as_of": found["as_of"],
        "logged": bool(runs) and query.run in {"", *runs},
        "query": query, "options": urlencode(options), "sort_link": _sort_link(options),
        "exclude_of": _exclusions(job.id) if name == "traps" and may_operate(call) else None,
        "row_links": _row_links(options), "cell_link": _cell_link(job.id, name),
        "downloads": [(form, _download(job.id, name, form, options)) for form in _FORMS],
    }  # fmt: skip
    return PageAnswer("report.html", facts)


def _cell_link(job: str, name: str) -> Callable[[str], str]:
    """The link of a URL in a table: its page; that of a section leads to the sections within."""
    page = f"reports/{name}" if name == "sections" else "url"
    return lambda url: f"/j/{quote(job, safe='')}/{page}?{urlencode({'u': url})}"


def _exclusions(job: str) -> Callable[[Sequence[dict[str, Any]]], str]:
    """The link of a row that excludes the place of its example; "" where it is of none."""

    def link(row: Sequence[dict[str, Any]]) -> str:
        place = next((place_of(cell["url"]) for cell in row if cell["url"]), "")
        return exclude_link(job, place) if place else ""

    return link


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


def _row_links(options: Mapping[str, str]) -> Callable[[dict[str, Any]], tuple[str, str, str]]:
    """The links to the first, the previous and the next rows of a table; "" for none."""

    def links(table: dict[str, Any]) -> tuple[str, str, str]:
        order = {"sort": table["sorted"], "falling": int(table["falling"])}

        def link(row: int | None) -> str:
            query = {**options, "table": table["number"], **order, "first": row}
            return "" if row is None else "?" + urlencode(query)

        return link(0 if table["first"] else None), link(table["before"]), link(table["behind"])

    return links


def _found_words(call: Call) -> dict[str, str]:
    """The results of runs, in words."""
    _ = _text(call)
    return {name: _(text) for name, text in FOUND_WORDS.items()}


def _got_words(call: Call) -> dict[str, str]:
    """The replies of runs by kind, in words."""
    _ = _text(call)
    return {
        "documents": _("documents"), "errors": _("error replies"),
        "redirects": _("redirects"), "unchanged": _("not modified"), "failed": _("failed"),
    }  # fmt: skip


class RunsPageQuery(RunsQuery, frozen=True):
    """The query of the page of runs.

    Attributes:
        back: The cursors of the pages between the first one and this one.
    """

    back: LineText = ""


async def runs_page(call: Call) -> PageAnswer:
    """The runs, with what each found."""
    query: RunsPageQuery = call.query
    if (nothing := never_ran_page(call, _text(call)("Runs"), "runs")) is not None:
        return nothing
    found = await runs_of(call, query)
    if isinstance(found, HeldTask):
        return wait_page(call, found)
    logged = await asyncio.to_thread(runs_with_logs, call.job().layout)
    facts = {
        "job": call.job().id, "found": found, "words": _found_words(call), "logged": logged,
        "got_words": _got_words(call), "ways": ways_of({}, query.after, query.back, found.next),
    }  # fmt: skip
    return PageAnswer("runs.html", facts)


async def checkpoints_page(call: Call) -> PageAnswer:
    """The checkpoints, and going back to one."""
    facts = {
        "job": call.job().id, "found": await list_checkpoints_of(call), "may": may_operate(call),
        "closed": await why_not_now(call, "go-on-checkpoint"),
    }  # fmt: skip
    return PageAnswer("checkpoints.html", facts)


async def go_back(call: Call) -> PageAnswer | RedirectResponse:
    """Start a job from one of its checkpoints; a form."""
    fields = await fields_of(call)
    options = StartRequest(checkpoint=fields.get("checkpoint", "latest"))
    call.note.change(None, {"action": "start", "checkpoint": options.checkpoint})
    done = await act(call.services, call.job(), "start", options, call.identity)
    notice = notice_of(done, _text(call))
    return shown(call, [notice], base_of(call))


class FilesPageQuery(FilesQuery, frozen=True):
    """The query of the page of files.

    Attributes:
        back: The cursors of the pages between the first one and this one.
    """

    back: LineText = ""


async def files_page(call: Call) -> PageAnswer:
    """The files that can be downloaded."""
    query: FilesPageQuery = call.query
    found = await list_files_of(call)
    runs = await asyncio.to_thread(run_names, call.job().layout.root)
    facts = {
        "job": call.job().id, "found": found, "query": query, "may": may_operate(call),
        "pushed": any(item.pushed is not None for item in found.items),
        "runs": offered_runs(runs, query.run),
        "ways": ways_of({"run": query.run}, query.after, query.back, found.next),
    }  # fmt: skip
    return PageAnswer("files.html", facts)
