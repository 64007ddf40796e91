"""Handlers of a job's seeds and URLs: reads that use the console's state, and new seeds."""

from typing import Any

import msgspec

from nacre.config.secret import allow_unread_secrets
from nacre.console.call import Call
from nacre.console.frontier.changes import ImportForm, import_lines
from nacre.console.task_answers import read
from nacre.core.clock import iso
from nacre.fleet.refusals import RefusedRequestError
from nacre.inspect.analysis import page_history
from nacre.inspect.explain.answers import Explanation
from nacre.inspect.explain.explain import Explainer
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops.fields import LineText, Text, Texts
from nacre.ops.rendered_page import RenderedPageFacts, rendered_page_of
from nacre.runs.runs import read_run
from nacre.web.workers.background import HeldTask
from nacre.web.workers.task import reader_task
from nacre.web.workers.views import VIEWS, OpenView


class UrlQuery(msgspec.Struct, frozen=True):
    """The URL to explain, as typed."""

    u: LineText = ""


class UrlVisit(msgspec.Struct, frozen=True):
    """A visit of a URL in the log of visits; unknown fields are null.

    The log has the visits of a full run after the next incremental run.

    Attributes:
        time: When, RFC 3339; "" if not known.
        run: Its run.
        verdict: The result: new, changed, same and so on.
        status: Fetch status.
        size: Bytes.
    """

    time: str = ""
    run: Any = None
    verdict: Any = None
    status: Any = None
    size: Any = None


class ExplainedUrl(msgspec.Struct, frozen=True):
    """All that is known of a URL.

    Attributes:
        explanation: Why it was or was not crawled.
        visits: Its visits.
        as_of: The moment of these data, RFC 3339.
        page: How the page ended in a browser; null if it was not run in one.
    """

    explanation: Explanation
    visits: tuple[UrlVisit, ...]
    as_of: str
    page: RenderedPageFacts | None = None


class ExplainedPage(ExplainedUrl, frozen=True, kw_only=True):
    """The same for the page of a URL; its visits have the capture of the last run, too.

    Attributes:
        closed: Studies that have no data of the URL, with the reasons.
    """

    closed: dict[str, str]


class ExplainRequest(msgspec.Struct, frozen=True):
    """A URL to explain.

    Attributes:
        url: The URL, as typed.
        running: A process runs the job.
    """

    url: str
    running: bool


@reader_task("explain")
def explain_url(layout: Layout, request: ExplainRequest) -> ExplainedUrl:
    """Read all that is known of a URL: the explanation, and its visits.

    Raises:
        URIError: That is no URL.
    """
    with VIEWS.looking(layout) as view:
        explained, history = _explain(view, request)
        page = rendered_page_of(layout.root, explained)
        return ExplainedUrl(explained, _visits(history), iso(view.as_of), page)


@reader_task("explain-page")
def explain_page(layout: Layout, request: ExplainRequest) -> ExplainedPage:
    """Read the same for the page of a URL.

    Raises:
        URIError: That is no URL.
    """
    with VIEWS.looking(layout) as view:
        explained, history = _explain(view, request)
        visits, run = _visits(history), read_run(view.store)
        is_captured = explained.capture is not None and explained.capture.file != ""
        if is_captured and run is not None and all(visit.run != run.number for visit in visits):
            visits = (*visits, UrlVisit(explained.time, run.number, None, explained.status))
        closed = page_history.closed_studies(history, is_captured=is_captured)
        page = rendered_page_of(layout.root, explained)
        return ExplainedPage(explained, visits, iso(view.as_of), page, closed=closed)


def _explain(view: OpenView, request: ExplainRequest) -> tuple[Explanation, dict[str, Any]]:
    """The explanation of a URL, and its history; {} for none."""
    with allow_unread_secrets():
        job = view.view(running=request.running)
        explainer: Explainer = view.once("explainer", lambda: Explainer(job))
        explained = explainer.explain(request.url)
    return explained, page_history.page(view.store, explained.same_as or explained.url) or {}


def _visits(history: dict[str, Any]) -> tuple[UrlVisit, ...]:
    return tuple(_visit(visit) for visit in history.get("visits", ()))


def _visit(visit: dict[str, Any]) -> UrlVisit:
    time = iso(visit["time"]) if visit["time"] else ""
    return UrlVisit(time, visit["run"], visit["verdict"], visit["status"], visit["bytes"])


class NewSeeds(msgspec.Struct, frozen=True):
    """Seeds for a job.

    Attributes:
        lines: Lines of a seed list: URLs, `+` and `-` directives.
        retry: They are seeds already, and are to be fetched again.
    """

    lines: Texts
    retry: bool = False


class SeedsForm(msgspec.Struct, frozen=True):
    """The form of new seeds; its fields are those of `NewSeeds`."""

    lines: Text = ""
    retry: bool = False


class SeedsTaken(msgspec.Struct, frozen=True):
    """The result of new seeds, or of a retry: how many were scheduled, counts, rejected lines."""

    changed: int
    tally: dict[str, int]
    rejected: tuple[dict[str, Any], ...]


async def add_seeds(call: Call) -> HeldTask:
    """Add seeds to the run, or fetch some of them again.

    Raises:
        RefusedRequestError: There is no line with a URL (422).
    """
    request: NewSeeds | SeedsForm = call.body
    text = request.lines if isinstance(request, SeedsForm) else "\n".join(request.lines)
    if not text.strip():
        raise RefusedRequestError(
            422, "no-seeds", message("console.no-url-line", "there is no line with a URL")
        )
    options = ImportForm(mode="import" if request.retry else "seeds", force=request.retry)
    return import_lines(call, f"{text}\n", options)


async def explain(call: Call) -> ExplainedUrl | HeldTask:
    """Explain why a URL was or was not crawled."""
    running = call.poller.snapshot(call.job()).running
    return await read(call, explain_url, ExplainRequest(call.query.u, running))
