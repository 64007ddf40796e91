"""A URL: why it was or was not crawled, and its visits."""

from typing import Any

import msgspec

from nacre.console.readers.task import reader_task
from nacre.console.readers.views import VIEWS
from nacre.core.clock import iso
from nacre.inspect.analysis.page_history import page
from nacre.inspect.explain.answers import Explanation
from nacre.inspect.explain.explain import Explainer
from nacre.ops.fields import LineText
from nacre.store.layout import Layout


class UrlQuery(msgspec.Struct, frozen=True):
    """The URL that is asked about, as typed."""

    u: LineText = ""


class UrlVisit(msgspec.Struct, frozen=True):
    """A visit of a URL in an incremental run; null where a field is not known.

    Attributes:
        time: When, RFC 3339; "" where that is not known.
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
    """All that is known of a URL: the explanation, its visits, and the moment of these data."""

    explanation: Explanation
    visits: tuple[UrlVisit, ...]
    as_of: str


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
        job = view.view(running=request.running)
        explainer: Explainer = view.once("explainer", lambda: Explainer(job))
        explained = explainer.explain(request.url)
        history = page(view.store, explained.same_as or explained.url) or {}
        visits = tuple(_visit(visit) for visit in history.get("visits", ()))
        return ExplainedUrl(explained, visits, iso(view.as_of))


def _visit(visit: dict[str, Any]) -> UrlVisit:
    time = iso(visit["time"]) if visit["time"] else ""
    return UrlVisit(time, visit["run"], visit["verdict"], visit["status"], visit["bytes"])
