"""The outcome of each URL that left the frontier, for `explain`."""

from collections.abc import Iterator

import msgspec

from nacre.core.processor import Visit
from nacre.store.store import Store

_FAMILY = "urls"
_CHUNK = 256


class Outcome(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The last result of a URL.

    Attributes:
        url: The URL.
        status: Fetch status.
        via: The page that it was found on; "" for a seed.
        path: Hop path.
        context: Link context.
        finished: When, µs since the epoch; 0 when nothing was received.
        attempts: Attempts made.
        file: WARC that contains it; "" when not written.
        offset: Offset of its first record there.
        error: Text of the failure, or the robots line; "" for none.
        annotations: As in crawl.log.
    """

    url: str
    status: int
    via: str = ""
    path: str = ""
    context: str = ""
    finished: int = 0
    attempts: int = 1
    file: str = ""
    offset: int = 0
    error: str = ""
    annotations: tuple[str, ...] = ()


class Outcomes:
    """Rows by seen key; joins the open commit group."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Outcome)

    def put(self, visit: Visit, attempts: int | None = None) -> None:
        """Keep the result of a final visit; `attempts`: made in all, when this was none."""
        uri = visit.uri
        row = Outcome(
            uri.url,
            visit.status,
            uri.via,
            uri.path,
            uri.context,
            visit.capture.began if visit.capture else 0,
            uri.attempts + 1 if attempts is None else attempts,
            visit.warc_file,
            visit.warc_offset,
            visit.error or visit.robots,
            tuple(visit.annotations),
        )
        self._store.put(_FAMILY, uri.key, self._encoder.encode(row))

    def keep(self, key: bytes, outcome: Outcome) -> None:
        """Keep a result that another crawl had."""
        self._store.put(_FAMILY, key, self._encoder.encode(outcome))

    def drop(self, key: bytes) -> None:
        """Forget the last result of a URL, which waits again."""
        self._store.delete(_FAMILY, key)

    def get(self, key: bytes) -> Outcome | None:
        """Return the last result of a URL by its seen key; None when it has none."""
        row = self._store.get(_FAMILY, key)
        return None if row is None else self._decoder.decode(row)


def scan_outcomes(store: Store) -> Iterator[tuple[bytes, Outcome]]:
    """All results with their seen keys; read in chunks, so that rows may be changed meanwhile."""
    decode, start = msgspec.msgpack.Decoder(Outcome).decode, b""
    while chunk := list(store.scan(_FAMILY, start, None, _CHUNK, once=True)):
        for key, row in chunk:
            yield key, decode(row)
        start = chunk[-1][0] + b"\0"
