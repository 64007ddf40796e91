"""The pages of results: seeds, one URL, reports and studies, runs, checkpoints and files."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from markupsafe import Markup
from starlette.responses import RedirectResponse

from nacre.console.actions import WHYS, act, allowed_now
from nacre.console.call import ActionCall, PageAnswer
from nacre.console.forms import answer_form, may_operate, never_ran_page, offered_runs, wait_page
from nacre.console.jobs.buttons import notice_of
from nacre.console.links import exact, exclude_link, job_path
from nacre.console.logs.pages import runs_with_logs
from nacre.console.results import seed_list
from nacre.console.results.files import FileList
from nacre.console.results.handlers import ExplainedPage, ExplainRequest, explain_page
from nacre.console.results.report_tasks import PageCell, PageTable
from nacre.console.results.reports import ReportQuery, report_of
from nacre.console.results.runs import RunList
from nacre.console.results.seeds import SeedOutcomeList, list_seeds
from nacre.console.task_answers import read
from nacre.core.states import ExitStatus
from nacre.fleet.job_files import run_names
from nacre.fleet.refusals import RefusedRequestError
from nacre.inspect.analysis.wording import FOUND_WORDS
from nacre.inspect.explain.answers import Explanation
from nacre.inspect.reports.browser_report import end_text, refusal_text
from nacre.job.lately import place_of
from nacre.messages import message
from nacre.ops.fields import LineText, Order, ShortText, Whole
from nacre.ops.starts import StartRequest
from nacre.web.workers.background import HeldTask

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


class ReplayQuery(msgspec.Struct, frozen=True):
    """The query of the way to replay.

    Attributes:
        u: URL of the capture; "" for the first page of the job.
        t: Its time, up to 14 digits; "" for the newest.
    """

    u: LineText = ""
    t: ShortText = ""


class CheckpointForm(msgspec.Struct, frozen=True):
    """The checkpoint that a job is started from."""

    checkpoint: ShortText = "latest"


async def seeds_page(call: ActionCall) -> SeedOutcomeList | HeldTask | PageAnswer:
    """The seeds with their outcomes; of a job that never ran, its seed list."""
    if not call.job().layout.has_store:
        return await seed_list.page(call)
    return await read(call, list_seeds, call.query)


async def seed_facts(call: ActionCall, _: SeedOutcomeList) -> Mapping[str, Any]:
    """The facts of the page of seeds."""
    return {"closed": await why_not_now(call, "frontier")}


async def lead_to_replay(call: ActionCall) -> RedirectResponse:
    """Lead to a capture in replay; the link has a ticket, which works once, for a minute.

    Raises:
        RefusedRequestError: No replay is served beside this console (503).
    """
    query: ReplayQuery = call.query
    job = call.job()
    if call.common.replay is None:
        raise RefusedRequestError(
            503,
            "no-replay",
            message(
                "console.no-replay",
                "this console serves no replay; `nacre replay {job}` shows the job",
                job=job.name,
            ),
        )
    timestamp = query.t if query.t.isascii() and query.t.isdigit() else ""
    return RedirectResponse(call.common.replay(call.identity, job, query.u, timestamp[:14]), 303)


async def why_not_now(call: ActionCall, action: str) -> str:
    """The reason why an action on a job is not possible now, in the language of the page.

    It is "" if the action is possible.

    Args:
        call: The request.
        action: Its name, such as `frontier`.
    """
    job = call.job()
    await call.poller.fresh(job)
    actions = {job_action.name: job_action for job_action in allowed_now(call.parts, job, "")}
    reason = actions[action].why
    return call.language.texts.gettext(WHYS[reason]) if reason else ""


async def url_page(call: ActionCall) -> ExplainedPage | HeldTask | PageAnswer:
    """All that is known of a URL; without one, the form that asks for it."""
    if not call.query.u.strip():
        return PageAnswer("url.html", {"url": "", "found": None})
    running = call.poller.snapshot(call.job()).running
    return await read(call, explain_page, ExplainRequest(call.query.u, running))


async def url_facts(call: ActionCall, answer: ExplainedPage) -> Mapping[str, Any]:
    """The facts of the page of a URL."""
    explained = answer.explanation
    return {
        "url": call.query.u.strip(), "e": explained, "opinions": _opinions(explained),
        "studies": STUDIES, "exact": exact(explained.url),
        "end_text": end_text, "refusal_text": refusal_text,
        "closed": await why_not_now(call, "frontier"),
    }  # fmt: skip


def _opinions(explained: Explanation) -> list[tuple[Any, bool]]:
    """The opinions of the scope, and which of them decides."""
    opinions = explained.scope.opinions
    last = next((opinion for opinion in reversed(opinions) if opinion.opinion != "NONE"), None)
    return [(opinion, opinion is last) for opinion in opinions]


async def report_page(call: ActionCall) -> PageAnswer:
    """A report or a study; its tables are sorted by their headings."""
    query: ReportPageQuery = call.query
    job, name = call.job(), str(call.params["report"])
    if (nothing := never_ran_page(call, name, "reports")) is not None:
        return nothing
    lang = "zh" if call.language.name.startswith("zh") else "en"
    question = msgspec.structs.replace(query, lang=lang if name == "run" else "en")
    report = await report_of(
        call, question, "page", table=query.table, sort=query.sort, falling=query.falling,
        first=query.first, spoken=call.language.name,
    )  # fmt: skip
    if isinstance(report, HeldTask):
        return wait_page(report)
    options = {
        key: value
        for key in ("u", "old", "new", "run")
        if (value := getattr(query, key))
    }  # fmt: skip
    runs = await asyncio.to_thread(runs_with_logs, job.layout) if name == "run" else []
    facts = {
        "name": name, "document": report.document, "as_of": report.as_of,
        # Nacre's own drawings, in which every text is escaped (`report/charts.py`).
        "draw": Markup,
        "logged": bool(runs) and query.run in {"", *runs},
        "options": urlencode(options), "sort_link": _sort_link(options),
        "exclude_of": _exclusions(job.id) if name == "traps" and may_operate(call) else None,
        "row_links": _row_links(options), "cell_link": _cell_link(job.id, name),
        "downloads": [(form, _download(job.id, name, form, options)) for form in _FORMS],
    }  # fmt: skip
    return PageAnswer("report.html", facts)


def _cell_link(job: str, name: str) -> Callable[[str], str]:
    """The link of a URL in a table: its page; that of a section leads to the sections within."""
    page = f"reports/{name}" if name == "sections" else "url"
    return lambda url: f"{job_path(job)}/{page}?{urlencode({'u': url})}"


def _exclusions(job: str) -> Callable[[Sequence[PageCell]], str]:
    """Return the link that excludes the place of a row's example; "" if it has none."""

    def link(row: Sequence[PageCell]) -> str:
        place = next((place_of(cell.url) for cell in row if cell.url), "")
        return exclude_link(job, place) if place else ""

    return link


_FORMS = ("text", "json", "csv", "html")


def _download(job: str, name: str, form: str, options: Mapping[str, str]) -> str:
    query = urlencode({**options, "form": form, "download": "1"})
    return f"/api/v1/jobs/{quote(job, safe='')}/reports/{quote(name, safe='')}?{query}"


def _sort_link(options: Mapping[str, str]) -> Callable[[PageTable, int], str]:
    """The link of a heading: the same column again turns the order."""

    def link(table: PageTable, column: int) -> str:
        falling = not table.falling if table.sorted == column else True
        return "?" + urlencode(
            {**options, "table": table.number, "sort": column, "falling": int(falling)}
        )

    return link


def _row_links(options: Mapping[str, str]) -> Callable[[PageTable], tuple[str, str, str]]:
    """The links to the first, the previous and the next rows of a table; "" for none."""

    def links(table: PageTable) -> tuple[str, str, str]:
        order = {"sort": table.sorted, "falling": int(table.falling)}

        def link(row: int | None) -> str:
            query = {**options, "table": table.number, **order, "first": row}
            return "" if row is None else "?" + urlencode(query)

        return link(0 if table.first else None), link(table.before), link(table.behind)

    return links


async def run_facts(call: ActionCall, answer: RunList) -> Mapping[str, Any]:
    """The facts of the page of runs; `states` has the state of the job for a run without an end."""
    translate = call.language.texts.gettext
    job = call.job()
    await call.poller.fresh(job)
    overview = call.poller.snapshot(job).overview
    unended = {item.name for item in answer.items if item.exit == ExitStatus.NONE}
    return {
        "states": {overview.run: overview.state} if overview and overview.run in unended else {},
        "words": {name: translate(text) for name, text in FOUND_WORDS.items()},
        "logged": await asyncio.to_thread(runs_with_logs, job.layout),
    }


async def checkpoint_facts(call: ActionCall, _: object) -> Mapping[str, Any]:
    """The facts of the page of checkpoints."""
    return {"closed": await why_not_now(call, "go-on-checkpoint")}


async def go_back(call: ActionCall) -> PageAnswer | RedirectResponse:
    """Start a job from one of its checkpoints; a form."""
    options = StartRequest(checkpoint=call.body.checkpoint)
    call.note.change(None, {"action": "start", "checkpoint": options.checkpoint})
    job = call.job()
    result = await act(call.parts, job, "start", options, call.identity)
    notice = notice_of(result, job.name, call.language.texts.gettext)
    return answer_form(call, [notice], job_path(job.id))


async def file_facts(call: ActionCall, answer: FileList) -> Mapping[str, Any]:
    """The facts of the page of files."""
    runs = await asyncio.to_thread(run_names, call.job().layout.root)
    return {
        "pushed": any(item.pushed is not None for item in answer.items),
        "runs": offered_runs(runs, call.query.run),
    }
