"""Pages that were run in a browser, made by hand: no browser runs, nothing is fetched."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from msgspec import structs

from nacre.annotations import SUBRESOURCE
from nacre.core.crawluri import Hop
from nacre.core.processor import PageUnit, Visit
from nacre.core.rendered import BrowserRequest, NetworkEvent, RenderedPage
from tests.archive.captures import make_capture
from tests.engine.visiting import BEGAN, OpenJob

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8
JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256)) * 4
DOM = "<html><head><title>Shop</title></head><body><p>Ready 已就绪</p></body></html>".encode()


def page_id(number: int = 1) -> str:
    """The id of a page, the same in each run of a test."""
    return str(UUID(int=number))


def rendered(url: str, **changes: Any) -> RenderedPage:
    """How a page ended."""
    facts: dict[str, Any] = {
        "ended": "settled",
        "url": url,
        "title": "Shop",
        "dom": DOM,
        "pictures": {"view": PNG, "thumbnail": JPEG},
        "events": [NetworkEvent(url, "document", 200, "text/html")],
        "behaviours": {"scroll": "3 steps"},
        "seconds": 1.5,
        "cpu": 0.8,
        "browser": "Chromium 156",
    }
    return RenderedPage(**(facts | changes))


def request_visit(
    job: OpenJob,
    url: str,
    body: bytes = b"sub",
    *,
    resource: str = "script",
    method: str = "GET",
    status: int = 200,
    page: str = "http://a.test/",
    **capture: Any,
) -> Visit:
    """A visit of a request of a page, through the fetch chain."""
    queues = job.session.queues.identity
    uri = queues.seed(url)
    uri = structs.replace(
        uri, is_seed=False, via=page, path=Hop.EMBED, context=f"browser/{resource}"
    )
    visit = Visit(
        structs.replace(uri, method=method),
        status,
        started=job.clock.monotonic() - 1.0,
        mime="text/javascript",
        annotations=[SUBRESOURCE],
        queued=False,
    )
    visit.request = BrowserRequest(method, url, resource=resource)
    if status > 0:
        facts: dict[str, Any] = {"url": url, "status": status, "began": BEGAN + 1_000} | capture
        head = b"HTTP/1.1 %d OK\r\nContent-Type: text/javascript\r\nContent-Length: %d\r\n\r\n"
        facts["request"] = f"{method} / HTTP/1.1\r\nHost: a.test\r\n\r\n".encode()
        visit.capture = make_capture(head % (status, len(body)), body, **facts)
    visit.history = job.known(url)
    return visit


def page_visit(
    job: OpenJob, url: str, requests: Sequence[Visit], number: int = 1, **facts: Any
) -> Visit:
    """A visit of a page that was run, with its requests."""
    changes = facts.pop("rendered", {})
    visit = job.reply(url=url, mime="text/html", **facts)
    visit.page = PageUnit(page_id(number), "mount", rendered(url, **changes))
    for request in requests:
        request.page_id = visit.page.id
        visit.page.visits.append(request)
        visit.page.sizes += request.capture.body.length if request.capture else 0
    return visit
