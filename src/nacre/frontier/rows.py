"""The frontier's rows: their keys, how a URI is packed, and reading a few of them ahead.

queue   queue id (8 B), directive (1 B), precedence (1 B), ordinal (6 B) -> URI
future  due time in ms (6 B), queue id (8 B), ordinal (6 B) -> URI
wake    see `queue_order`
hosts   "q", queue id (8 B) -> `QueueRow`; other stages use other first letters
seen    seen key (16 B) -> nothing
meta    "frontier" -> `Totals`

Source of the order within a queue: Heritrix 3.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from hashlib import blake2b
from heapq import heapify, heappop, heappush, nsmallest
from typing import Protocol

import msgspec

from nacre.core.crawluri import CrawlURI

ID_LENGTH = 8
SUFFIX_LENGTH = 8
LAST_SUFFIX = b"\xff" * SUFFIX_LENGTH
_MAX_MS = (1 << 48) - 1


class RowStore(Protocol):
    """The part of the store that the frontier needs. Reads also return uncommitted rows."""

    def get(self, family: str, key: bytes) -> bytes | None:
        """Return the value of a key; None when there is none."""
        ...

    def get_many(self, family: str, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of many keys, in their order."""
        ...

    def put(self, family: str, key: bytes, value: bytes) -> None:
        """Set a value."""
        ...

    def delete(self, family: str, key: bytes) -> None:
        """Remove a key; nothing happens when it is not there."""
        ...

    def scan(
        self,
        family: str,
        start: bytes,
        stop: bytes | None = None,
        limit: int = 0,
        *,
        once: bool = False,
    ) -> Iterator[tuple[bytes, bytes]]:
        """Rows from `start` (inclusive) to `stop` (exclusive; None for the end) in key order.

        `once`: these rows are not read again soon, so the store's cache does not keep them.
        """
        ...


class PackedURI(
    msgspec.Struct,
    omit_defaults=True,
    gc=False,
    rename={
        "url": "u", "key": "k", "via": "v", "path": "p", "context": "c", "source": "s",
        "is_seed": "e", "force_fetch": "f", "cost": "o", "not_before": "n", "attempts": "a",
        "deferrals": "d", "last_status": "l", "method": "m", "body": "b", "headers": "h",
        "heritable": "i", "annotations": "t", "queue": "q", "directive": "x", "precedence": "y",
        "last_try": "z", "throttled": "r", "truncated": "g", "starved": "j", "last_error": "w",
    },
):  # fmt: skip
    """A `CrawlURI` in a row: short names, without defaults and without data of the key.

    Rows of `future` have `queue`, `directive` and `precedence` as well, for their key does not.
    `last_try` marks a retry planned when nothing but retries was left. A row without `throttled`,
    `truncated` and `starved` was written before these were counted apart: then all count as
    unreachable.
    """

    url: str
    key: bytes
    via: str = ""
    path: str = ""
    context: str = ""
    source: str = ""
    is_seed: bool = False
    force_fetch: bool = False
    cost: int = 1
    not_before: float | None = None
    attempts: int = 0
    deferrals: int = 0
    last_status: int = 0
    method: str = "GET"
    body: bytes | None = None
    headers: list[tuple[str, str]] = []
    heritable: dict[str, str] = {}
    annotations: list[str] = []
    queue: str = ""
    directive: int = 0
    precedence: int = 0
    last_try: bool = False
    throttled: int = 0
    truncated: int = 0
    starved: int = 0
    last_error: str = ""

    def keep_place(self, uri: CrawlURI, *, last_try: bool) -> None:
        """Pack the data that the key of a row of `future` does not have."""
        self.queue = uri.queue
        self.directive = uri.directive
        self.precedence = uri.precedence
        self.last_try = last_try


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(PackedURI).decode


def queue_id(queue: str) -> bytes:
    """Eight bytes for a queue key; two of ten million queues share one once in 370,000 crawls."""
    return blake2b(queue.encode(), digest_size=ID_LENGTH).digest()


def after(key: bytes) -> bytes:
    """Return the least key after a key."""
    return key + b"\0"


def queue_key(identity: bytes, uri: CrawlURI, ordinal: int) -> bytes:
    """Key of a URI in `queue`."""
    place = uri.directive << 56 | uri.precedence << 48 | ordinal
    return identity + place.to_bytes(SUFFIX_LENGTH, "big")


def directive_in(key: bytes) -> int:
    """Return the directive that `queue_key` wrote."""
    return key[ID_LENGTH]


def precedence_in(key: bytes) -> int:
    """Return the precedence that `queue_key` wrote."""
    return key[ID_LENGTH + 1]


def time_bytes(seconds: float) -> bytes:
    """Return a time as six bytes of milliseconds that sort."""
    return min(max(int(seconds * 1000.0), 0), _MAX_MS).to_bytes(6, "big")


def time_of(key: bytes, offset: int = 0) -> float:
    """Return the time that `time_bytes` wrote at an offset of a key, seconds."""
    return int.from_bytes(key[offset : offset + 6], "big") / 1000.0


def future_key(due: float, identity: bytes, ordinal: int) -> bytes:
    """Key of a URI in `future`."""
    return time_bytes(due) + identity + ordinal.to_bytes(6, "big")


def _to_packed(uri: CrawlURI) -> PackedURI:
    plain = uri.method == "GET" and uri.body is None and not uri.attempts
    if plain and not (uri.headers or uri.heritable or uri.annotations):
        return PackedURI(
            uri.url, uri.key, uri.via, uri.path, uri.context, uri.source, uri.is_seed,
            uri.force_fetch, uri.cost, uri.not_before or None, 0, uri.deferrals, uri.last_status,
        )  # fmt: skip
    return PackedURI(
        uri.url, uri.key, uri.via, uri.path, uri.context, uri.source, uri.is_seed,
        uri.force_fetch, uri.cost, uri.not_before or None, uri.attempts, uri.deferrals,
        uri.last_status, uri.method, uri.body, list(uri.headers), dict(uri.heritable),
        list(uri.annotations), throttled=uri.throttled, truncated=uri.truncated,
        starved=uri.starved, last_error=uri.last_error,
    )  # fmt: skip


def pack(uri: CrawlURI) -> bytes:
    """Value of a row of `queue`."""
    return _encode(_to_packed(uri))


def pack_future(uri: CrawlURI, *, last_try: bool = False) -> bytes:
    """Value of a row of `future`."""
    packed = _to_packed(uri)
    packed.keep_place(uri, last_try=last_try)
    return _encode(packed)


def _from_packed(
    row: PackedURI, queue: str, directive: int, precedence: int, ordinal: int
) -> CrawlURI:
    return CrawlURI(
        row.url, row.key, queue, row.via, row.path, row.context, row.source, row.is_seed,
        row.force_fetch, directive, precedence, row.cost, ordinal, row.not_before or 0.0,
        row.attempts, row.deferrals, row.last_status, row.method, row.body,
        tuple(row.headers), row.heritable, tuple(row.annotations), row.throttled, row.truncated,
        row.starved, row.last_error,
    )  # fmt: skip


def unpack(key: bytes, value: bytes, queue: str) -> CrawlURI:
    """Return the URI of a row of `queue`."""
    place = int.from_bytes(key[ID_LENGTH:], "big")
    return _from_packed(
        _decode(value), queue, place >> 56, place >> 48 & 0xFF, place & 0xFFFFFFFFFFFF
    )


def unpack_future(key: bytes, value: bytes) -> tuple[CrawlURI, bool]:
    """Return the URI of a row of `future`, and whether it is one of its last tries."""
    row = _decode(value)
    ordinal = int.from_bytes(key[-6:], "big")
    return _from_packed(row, row.queue, row.directive, row.precedence, ordinal), row.last_try


Row = tuple[bytes, bytes]

_ROW = 600
"""Bytes of a row of a window on average, at most: some 200 are usual, and 5,000 possible."""


class RowWindow:
    """Hands out the rows of a range in key order, reading a few ahead.

    Every row below the cursor is in the window or was taken from it; those from the cursor on are
    only in the store. A new row below the cursor enters the window, so nothing is ever read again:
    popping a head over the remains of deleted rows costs milliseconds.

    Attributes:
        batch: Rows to read at a time, fewer of long ones; the window never holds more than twice as
            many, or as many bytes.
    """

    __slots__ = ("_cursor", "_family", "_heap", "_rows", "_size", "_stop", "batch")

    def __init__(self, rows: RowStore, family: str, start: bytes, stop: bytes, batch: int) -> None:
        self._rows = rows
        self._family = family
        self._heap: list[Row] = []
        self._size = 0  # bytes of the values in the heap
        self._cursor = start
        self._stop = stop
        self.batch = batch

    def offer(self, key: bytes, value: bytes) -> None:
        """Take note of a row just put into the store."""
        if key < self._cursor:
            heap = self._heap
            heappush(heap, (key, value))
            self._size += len(value)
            if len(heap) > 2 * self.batch or self._size > 2 * self.batch * _ROW:
                self._trim()

    def peek(self, skip: Container[bytes] = ()) -> Row | None:
        """Return the first row; None when there is none.

        Args:
            skip: Keys to leave out when reading: they were popped, and are in the store still.
        """
        if not self._heap:
            self._read(skip)
        return self._heap[0] if self._heap else None

    def pop(self, skip: Container[bytes] = ()) -> Row | None:
        """Take the first row out of the window (not out of the store); None when there is none."""
        if not self._heap:
            self._read(skip)
            if not self._heap:
                return None
        row = heappop(self._heap)
        self._size -= len(row[1])
        return row

    def low(self) -> bytes:
        """Return a bound: no row that was not taken yet has a lower key."""
        return self._heap[0][0] if self._heap else self._cursor

    def restart(self, start: bytes) -> None:
        """Forget the rows that were read, after rows were deleted in the store directly."""
        self._heap.clear()
        self._size = 0
        self._cursor = start

    def _read(self, skip: Container[bytes]) -> None:
        while self._cursor < self._stop and not self._heap:
            rows = self._rows.scan(self._family, self._cursor, self._stop, self.batch)
            rows_read, size = self._first(rows)
            ended = len(rows_read) < self.batch and size < self.batch * _ROW
            self._cursor = self._stop if ended else after(rows_read[-1][0])
            self._heap = [row for row in rows_read if row[0] not in skip]
            self._size = size - sum(len(row[1]) for row in rows_read if row[0] in skip)

    def _trim(self) -> None:
        self._heap, self._size = self._first(nsmallest(self.batch, self._heap))
        self._cursor = after(self._heap[-1][0])
        heapify(self._heap)

    def _first(self, rows: Iterable[Row]) -> tuple[list[Row], int]:
        """Return the first rows until they fill a batch, and the bytes of their values."""
        first_rows: list[Row] = []
        size = 0
        for row in rows:
            first_rows.append(row)
            size += len(row[1])
            if size >= self.batch * _ROW:
                break
        return first_rows, size
