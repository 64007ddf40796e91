"""Answers requests of pages from the archive, with recent or still current replies.

A reply counts as stored once its visit is: a page that was not appended gives nothing to others.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from nacre.archive.delta import Delta, DeltaError
from nacre.core.capture import BytesBody, Capture
from nacre.core.history import HistoryRecord
from nacre.core.rendered import BrowserRequest
from nacre.engine.keeping import Bases
from nacre.engine.readback import read_at
from nacre.fetch.digest import digest_capture
from nacre.history.dedup import History

REUSED = frozenset(("script", "style", "font", "image"))
"""What a page wants a request for, if a recent reply may answer it."""
LARGEST = 16_000_000
"""Bytes of a reply that is read back at most."""

_IN_LOOP = 100_000
"""Bytes up to which a payload is read in the loop, and not in a thread."""
_MOST, _EACH = 32_000_000, 1_000_000
"""Bytes of recent replies in memory: of all, and of one."""
_SECOND = 1_000_000
_CURRENT = frozenset((200, 304))
"""Statuses of a last visit after which the stored reply is what the server has."""


class RecentReplies:
    """The latest replies to requests of pages, in memory.

    Attributes:
        size: Bytes of all.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._replies: OrderedDict[str, tuple[Capture, bytes]] = OrderedDict()
        self.size = 0

    def add(self, capture: Capture, origin: bytes) -> None:
        """Keep a copy of a small reply; `origin`: the Origin of its request, b"" for none."""
        length = capture.body.length
        if length > _EACH:
            return
        self._drop(capture.url)
        body = BytesBody(capture.body.read(0, length))
        copy = Capture(
            url=capture.url,
            request=b"",
            head=capture.head,
            body=body,
            status=capture.status,
            headers=capture.headers,
            framing=capture.framing,
            chunks=capture.chunks,
            payload_length=capture.payload_length,
            payload_digest=capture.payload_digest,
            began=capture.began,
        )
        self._replies[capture.url] = copy, origin
        self.size += _size(copy)
        while self.size > self._most:
            self._drop(next(iter(self._replies)))

    def get(self, url: str) -> tuple[Capture, bytes] | None:
        """Return the reply of a URL, and the Origin of its request; None if there is none."""
        entry = self._replies.get(url)
        if entry is not None:
            self._replies.move_to_end(url)
        return entry

    def _drop(self, url: str) -> None:
        entry = self._replies.pop(url, None)
        if entry is not None:
            self.size -= _size(entry[0])


def _size(capture: Capture) -> int:
    return len(capture.head) + capture.body.length


class StoredReplies:
    """Finds replies that need not be requested, or only whether they are current.

    Args:
        history: The last visits of URLs.
        bases: Finds the record of a payload.
        since: Start of the run, µs since the epoch: only replies of the run are reused.
        conditional: Whether a server may be asked if a reply is current.
    """

    def __init__(self, history: History, bases: Bases, since: int, *, conditional: bool) -> None:
        self._history = history
        self._bases = bases
        self._since = since
        self._conditional = conditional
        self._recent = RecentReplies()

    def keep(self, request: BrowserRequest, capture: Capture) -> None:
        """Keep a reply in memory that may answer later requests, once it is stored."""
        if request.method != "GET" or capture.status != 200 or capture.truncated:
            return
        is_reusable = is_reusable_request(request) and is_reusable_reply(capture)
        if is_reusable or capture.header(b"etag") or capture.header(b"last-modified"):
            self._recent.add(capture, request.header(b"origin"))

    async def recent(
        self, request: BrowserRequest, url: str, now: float, within: float
    ) -> Capture | None:
        """Return the reply that the run stored of a URL a moment ago, if it answers a request.

        Args:
            request: The request of the browser.
            url: Its normalised URL.
            now: Seconds since the epoch.
            within: Age of the reply at most, seconds.
        """
        if within <= 0 or not is_reusable_request(request):
            return None
        row = self._history.latest(url)
        if (
            row is None
            or row.status not in _CURRENT
            or row.visited < max(self._since, (now - within) * 1e6)
        ):
            return None
        stored, origin = self._in_memory(row)
        if stored is None and (row.visited == row.date or row.status == 304):
            stored = await self._read(row)
        if stored is None or not is_reusable_reply(stored):
            return None
        return stored if _suits(stored, request.header(b"origin"), origin) else None

    def _in_memory(self, row: HistoryRecord) -> tuple[Capture | None, bytes | None]:
        """Return the last reply of a URL, and the Origin of its request; None if it is not here."""
        entry = self._recent.get(row.url)
        if entry is None:
            return None, None
        capture, origin = entry
        is_last = row.status == 304 or abs(capture.began - row.visited) < _SECOND
        if not is_last or capture.payload_digest != row.digest:
            return None, None
        return capture, origin

    async def current(self, request: BrowserRequest, url: str) -> Capture | None:
        """Return the reply in the archive that a 304 would stand for; None if none can.

        Args:
            request: A request of the browser, which has no copy.
            url: Its normalised URL.
        """
        if not self._conditional or request.method != "GET" or _has_conditions(request):
            return None
        row = self._history.latest(url)
        if row is None or not row.revisitable or not (row.etag or row.last_modified):
            return None
        stored = self._in_memory(row)[0] or await self._read(row)
        return stored if stored is not None and not _varies(stored, _UNKNOWN) else None

    async def of_url(self, url: str) -> Capture | None:
        """Return the last version of a URL that was stored in full; None if it cannot be read.

        All pages of an application are often the same bytes, which are stored of one URL only:
        the reply is that of the other URL then.
        """
        row = self._history.latest(url)
        if row is None or not row.revisitable:
            return None
        capture = await self._read(structs.replace(row, original=""))
        return structs.replace(capture, url=url) if capture is not None else None

    async def _read(self, row: HistoryRecord) -> Capture | None:
        if row.original or row.base is not None or not 0 < row.length <= LARGEST:
            return None
        original = self._bases.original(row.record_id, row.digest, row.framing)
        path = self._bases.path(original) if original is not None else None
        if original is None or path is None:
            return None
        if row.length <= _IN_LOOP:
            return _read_reply(path, original.offset, row.digest)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, _read_reply, path, original.offset, row.digest)


def _read_reply(path: Path, offset: int, digest: str) -> Capture | None:
    """Return a reply with its whole payload; None if the WARC does not have it yet."""
    try:
        capture = read_at(path, offset, _no_base, LARGEST)
    except (OSError, ValueError):
        return None
    if capture is None or not capture.head or capture.status != 200 or capture.truncated:
        return None
    chunked = capture.framing == "chunked"
    digests = digest_capture(capture.head, capture.body, capture.chunks, chunked=chunked)
    return capture if digests.payload == digest else None


def _no_base(delta: Delta) -> bytes:
    raise DeltaError("delta-unresolved", f"differences are not read here: <{delta.base_id}>")


def is_reusable_request(request: BrowserRequest) -> bool:
    """Return whether a stored reply may answer a request."""
    if request.method != "GET" or request.resource not in REUSED:
        return False
    return not (_has_conditions(request) or request.header(b"range"))


def _has_conditions(request: BrowserRequest) -> bool:
    return any(name.lower().startswith(b"if-") for name, _ in request.headers)


def is_reusable_reply(capture: Capture) -> bool:
    """Return whether a reply may answer later requests: whole, and for everybody (RFC 9111)."""
    if capture.status != 200 or capture.truncated:
        return False
    directives = _tokens(capture.header_values(b"cache-control"))
    return directives.isdisjoint((b"no-store", b"private")) and not _varies(capture, _PERSONAL)


_PERSONAL = frozenset((b"*", b"cookie"))
_UNKNOWN = frozenset((b"*",))


def _varies(capture: Capture, names: frozenset[bytes]) -> bool:
    return not names.isdisjoint(_tokens(capture.header_values(b"vary")))


def _tokens(values: Sequence[bytes]) -> set[bytes]:
    parts = b",".join(values).lower().split(b",")
    return {part.partition(b"=")[0].strip() for part in parts}


def _suits(capture: Capture, requested_origin: bytes, origin: bytes | None) -> bool:
    """Return whether a reply holds for the origin of a request.

    Args:
        capture: The reply.
        requested_origin: Origin of the request; b"" for none.
        origin: Origin of the request that it answered; None if that is not known.
    """
    if capture.header(b"access-control-allow-origin") == b"*":
        return True
    return requested_origin == origin if origin is not None else not requested_origin
