"""The store of incremental crawling: rows by URL and site, read when they are needed.

All changes join the open commit group, so that the knowledge from a visit becomes durable together
with its WARC records, or not at all. A bounded number of rows is held in memory.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, MutableMapping
from typing import Generic, TypeVar

import msgspec

from nacre.core.history import FetchRow
from nacre.core.pagerow import ChosenRow, DiscoveryRow, PageRow, TimingRow, VersionRow
from nacre.store.files import FileRow
from nacre.store.store import Store
from nacre.uri.surt import history_key

FAMILY = "pages"
_PAGE, _WAY, _VERSION, _CHOSEN, _PAIR = b"p", b"w", b"v", b"c", b"d"
_ALIAS, FETCHES = b"k", b"f"
SITES, LISTS, TEMPLATES, ERRORS, PAST = b"s", b"l", b"T", b"E", b"h"
UNPROVEN = b"u"
_OLD = b"t", b"e", b"x", b"g"
"""Prefixes of earlier formats, whose rows are dropped: templates, error pages and texts from before
blocks were identified by their text, and the knowledge about numbers without a link."""
AUDITS, TIMINGS, RULES, TRAPS, MAPS = b"a", b"n", b"r", b"q", b"m"
CHANGES = b"C"
NEXT_FILE = "pages.file"
"""Counter: number of the next WARC that is read for the planner, in the table of files."""
_CHUNK = 512

T = TypeVar("T")
_encode = msgspec.msgpack.Encoder().encode


def scan(store: Store, prefix: bytes, since: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
    """Rows under a prefix of one byte, without it; in chunks, so that rows may change meanwhile.

    Args:
        store: The store.
        prefix: The prefix.
        since: First key, without the prefix.
    """
    start, end = prefix + since, bytes([prefix[0] + 1])
    while rows := list(store.scan(FAMILY, start, end, _CHUNK)):
        for key, value in rows:
            yield key[1:], value
        start = rows[-1][0] + b"\0"


def run_of(row: FileRow) -> str:
    """Return the name of the run that a file belongs to; "" if its directory does not show it."""
    parts = row.final.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "runs" else ""


class PageStore:
    """The rows of pages; `Rows` of `planner.visited`.

    Args:
        store: The store.
        capacity: Rows held in memory.
    """

    def __init__(self, store: Store, capacity: int = 20_000) -> None:
        self._store = store
        self._capacity = capacity
        self._recent: OrderedDict[str, PageRow] = OrderedDict()
        self._decode = msgspec.msgpack.Decoder(PageRow).decode
        self._decode_way = msgspec.msgpack.Decoder(DiscoveryRow).decode
        self._decode_version = msgspec.msgpack.Decoder(VersionRow).decode
        self._decode_timing = msgspec.msgpack.Decoder(TimingRow).decode

    def get(self, url: str) -> PageRow | None:
        """See `Rows`."""
        row = self._recent.get(url)
        if row is None:
            value = self._store.get(FAMILY, _key(_PAGE, url))
            if value is None:
                return None
            row = self._remember(self._decode(value))
        return row

    def put(self, row: PageRow) -> None:
        """See `Rows`."""
        self._store.put(FAMILY, _key(_PAGE, row.url), _encode(row))
        self._remember(row)

    def scan(self) -> Iterator[PageRow]:
        """See `Rows`."""
        for _, value in scan(self._store, _PAGE):
            yield self._decode(value)

    def _remember(self, row: PageRow) -> PageRow:
        recent = self._recent
        recent[row.url] = row
        recent.move_to_end(row.url)
        if len(recent) > self._capacity:
            recent.popitem(last=False)
        return row

    # ---- ways, versions, other names

    def way(self, url: str) -> DiscoveryRow | None:
        """Return the path to a page; None for a seed, or if it is unknown."""
        value = self._store.get(FAMILY, _key(_WAY, url))
        return None if value is None else self._decode_way(value)

    def put_way(self, url: str, way: DiscoveryRow) -> None:
        """Remember how a page is reached."""
        self._store.put(FAMILY, _key(_WAY, url), _encode(way))

    def version(self, url: str) -> VersionRow | None:
        """Return the last version that counted; None if there is none."""
        value = self._store.get(FAMILY, _key(_VERSION, url))
        return None if value is None else self._decode_version(value)

    def put_version(self, url: str, version: VersionRow) -> None:
        """Remember the last version."""
        self._store.put(FAMILY, _key(_VERSION, url), _encode(version))

    def name(self, key: bytes) -> str | None:
        """Return the known URL of a page by its seen key; None if it is unknown."""
        value = self._store.get(FAMILY, _ALIAS + key)
        return None if value is None else value.decode()

    def put_name(self, key: bytes, url: str) -> None:
        """Remember the known URL of a page by its seen key."""
        self._store.put(FAMILY, _ALIAS + key, url.encode())

    # ---- schedules

    def timing(self, url: str) -> TimingRow | None:
        """See `TimingRows`."""
        value = self._store.get(FAMILY, _key(TIMINGS, url))
        return None if value is None else self._decode_timing(value)

    def put_timing(self, row: TimingRow) -> None:
        """See `TimingRows`."""
        self._store.put(FAMILY, _key(TIMINGS, row.url), _encode(row))

    # ---- the step

    def choose(self, chosen: ChosenRow) -> None:
        """Record a chosen visit of the current step, or that it was made."""
        prefix = _PAIR if chosen.reason == "pair" else _CHOSEN
        self._store.put(FAMILY, _key(prefix, chosen.url), _encode(chosen))

    def chosen(self) -> Iterator[ChosenRow]:
        """The visits of the current step."""
        decode = msgspec.msgpack.Decoder(ChosenRow).decode
        for prefix in (_CHOSEN, _PAIR):
            for _, value in scan(self._store, prefix):
                yield decode(value)

    def forget_step(self) -> None:
        """Delete the visits of the last step, and rows of old formats."""
        for prefix in (_CHOSEN, _PAIR, *_OLD):
            for key, _ in scan(self._store, prefix):
                self._store.delete(FAMILY, prefix + key)


class FetchLog:
    """One row a visit, in order of time; a verdict may be corrected at the end of its run."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, row: FetchRow) -> bool:
        """Add a visit; an existing one stays as it is, if its WARC is read again.

        Returns:
            Whether it was added.
        """
        key = visit_key(FETCHES, row.url, row.time)
        is_new = self._store.get(FAMILY, key) is None
        if is_new:
            self._store.put(FAMILY, key, _encode(row))
        return is_new

    def correct(self, url: str, time: float, kind: str, reason: str, proof: str) -> None:
        """Correct the verdict of a visit after later visits; `proof` leads its evidence."""
        key = visit_key(FETCHES, url, time)
        value = self._store.get(FAMILY, key)
        if value is not None:
            row = msgspec.msgpack.decode(value, type=FetchRow)
            evidence = proof + row.evidence
            row = msgspec.structs.replace(row, kind=kind, reason=reason, evidence=evidence)
            self._store.put(FAMILY, key, _encode(row))


def visit_key(prefix: bytes, url: str, time: float) -> bytes:
    """Return the key of a row about a visit; rows under a prefix are in order of time."""
    when = round(time * 1e6).to_bytes(8, "big")
    return prefix + when + url.encode("utf-8", "replace")


def fetch_rows(store: Store, since: float = 0.0) -> Iterator[FetchRow]:
    """Yield the visits in order of time, from a time on (seconds since the epoch)."""
    decode = msgspec.msgpack.Decoder(FetchRow).decode
    for _, value in scan(store, FETCHES, round(since * 1e6).to_bytes(8, "big")):
        yield decode(value)


class Named(MutableMapping[str, T], Generic[T]):
    """Rows by name that change in place: those touched are written at the next `seal`.

    Args:
        store: The store.
        prefix: First byte of their keys.
        kind: What a row is.
        capacity: Rows held in memory, about.
        frozen: Rows never change in place, so that reading a row does not mark it as changed.
    """

    def __init__(
        self,
        store: Store,
        prefix: bytes,
        kind: type[T],
        *,
        capacity: int = 2_000,
        frozen: bool = False,
    ) -> None:
        self._frozen = frozen
        self._store = store
        self._prefix = prefix
        self._capacity = capacity
        self._decode: Callable[[bytes], T] = msgspec.msgpack.Decoder(kind).decode
        self._rows: OrderedDict[str, T] = OrderedDict()
        self._touched: set[str] = set()
        self._count = -1

    def __getitem__(self, name: str) -> T:
        row = self._rows.get(name)
        if row is None:
            value = self._store.get(FAMILY, self._key(name))
            if value is None:
                raise KeyError(name)
            row = self._rows[name] = self._decode(value)
        self._rows.move_to_end(name)
        if not self._frozen:
            self._touched.add(name)
        return row

    def __setitem__(self, name: str, row: T) -> None:
        if self._count >= 0 and name not in self._rows:
            self._count += self._store.get(FAMILY, self._key(name)) is None
        self._rows[name] = row
        self._rows.move_to_end(name)
        self._touched.add(name)

    def __delitem__(self, name: str) -> None:
        self._rows.pop(name, None)
        self._touched.discard(name)
        self._store.delete(FAMILY, self._key(name))

    def __iter__(self) -> Iterator[str]:
        self.seal()
        return (key.decode() for key, _ in scan(self._store, self._prefix))

    def __len__(self) -> int:
        """Rows, counted once and then kept up."""
        if self._count < 0:
            self._count = sum(1 for _ in self)
        return self._count

    def seal(self) -> None:
        """Write the changed rows."""
        for name in self._touched:
            self._write(name)
        self._touched.clear()
        while len(self._rows) > self._capacity:
            self._rows.popitem(last=False)

    def _write(self, name: str) -> None:
        value = _encode(self._rows[name])
        self._store.put(FAMILY, self._key(name), value)

    def _key(self, name: str) -> bytes:
        return self._prefix + name.encode("utf-8", "replace")


def _key(prefix: bytes, url: str) -> bytes:
    return prefix + history_key(url).encode("utf-8", "replace")
