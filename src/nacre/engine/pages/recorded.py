"""The requests of a person's browser or of a program: each is stored at once as its own visit."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from msgspec import structs

from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.core.rendered import BrowserRequest, ReplyWriter
from nacre.engine.candidates.identity import Identity
from nacre.engine.pages.handler import web_url
from nacre.errors import URIError
from nacre.uri.parse import parse

_LONGEST_VIA = 2083
"""Characters of a Referer that is noted as the page that a request came from."""


class RecorderParts(NamedTuple):
    """The parts of a run that answer and store the requests of a person.

    Attributes:
        run: Passes a visit along the fetch chain, its prerequisites first.
        end: Stores a visit, whatever came of it.
        identity: Makes keys of URLs.
        overlay_of: Determines which combination of sheets applies to a URI.
        clock: The time.
        is_open: Whether requests are answered: the run is not paused.
        has_room: Whether earlier replies are durable, or nearly.
        fail: Called with an error that must end the session.
    """

    run: Callable[[Visit], Awaitable[None]]
    end: Callable[[Visit], Awaitable[None]]
    identity: Identity
    overlay_of: Callable[[CrawlURI], int]
    clock: Clock
    is_open: Callable[[], bool]
    has_room: Callable[[], bool]
    fail: Callable[[Exception], None]


class RecordedRequests:
    """Answers the requests of a person: all are sent, whatever robots.txt and a scope may say.

    The guard decides about addresses as ever.

    Args:
        parts: What answers and stores.
    """

    def __init__(self, parts: RecorderParts) -> None:
        self._parts = parts

    async def handle(self, request: BrowserRequest, reply: ReplyWriter) -> None:
        """See `RequestHandler`."""
        parts = self._parts
        try:
            uri = self._uri(request)
        except URIError:
            reply.refuse()
            return
        while parts.is_open() and not parts.has_room():
            await parts.clock.sleep(_MOMENT)
        if not parts.is_open():
            reply.refuse()
            return
        visit = Visit(
            uri,
            toe=0,
            started=parts.clock.monotonic(),
            overlay=parts.overlay_of(uri),
            request=request,
            reply=reply,
            queued=False,
        )
        await self._answer(visit, reply)

    async def _answer(self, visit: Visit, reply: ReplyWriter) -> None:
        parts = self._parts
        try:
            await parts.run(visit)
            await parts.end(visit)
        except Exception as error:  # noqa: BLE001 - the session decides about it, as of a toe's
            parts.fail(error)
        finally:
            if not reply.has_begun:
                reply.refuse()

    def _uri(self, request: BrowserRequest) -> CrawlURI:
        """Return the URI of a request.

        Raises:
            URIError: It cannot be crawled.
        """
        uri = self._parts.identity.seed(web_url(request.url))
        return structs.replace(
            uri,
            is_seed=False,
            via=_via(request.header(b"referer")),
            context=f"browser/{request.resource}",
            method=request.method,
            body=request.body,
        )


_MOMENT = 0.05
"""Seconds between two looks whether there is room again."""


def _via(referer: bytes) -> str:
    """Return the page that a request came from; "" if none can be read."""
    try:
        return parse(referer.decode("utf-8")) if 0 < len(referer) <= _LONGEST_VIA else ""
    except (URIError, UnicodeDecodeError):
        return ""
