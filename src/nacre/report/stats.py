"""Counts of what happened, by host, media type, status and source; durable with each commit.

Rows are absolute values, written just before a commit group is sealed, and only those that changed.
Per-host rows live in the store; a bounded number of them is held in memory.
"""

from collections import OrderedDict
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from nacre.core.processor import Visit
from nacre.core.status import Counted, FetchStatus, counted
from nacre.store.store import Store
from nacre.uri.parse import host

_FAMILY = "stats"
_TOTALS = b"t:"
_KINDS = {"host": b"h:", "mime": b"m:", "status": b"s:", "source": b"o:"}


class Stored(StrEnum):
    """What a capture added to the archive."""

    NOTHING = ""
    NOVEL = "novel"
    DUPLICATE = "duplicate"
    NOT_MODIFIED = "not-modified"


class Tally(msgspec.Struct, array_like=True):
    """Counts of one host, media type, status or source.

    Attributes:
        urls: URIs with a reply.
        size: Their bytes, heads included; a 304 counts the bytes it saved as virtual size.
        robots: URIs that robots.txt denied.
        novel_urls: Of the URIs, those stored in full.
        novel_bytes: Their bytes.
        duplicate_urls: Those stored as identical-payload revisits.
        duplicate_bytes: Bytes received for them.
        not_modified_urls: Those that the server said were not modified.
        not_modified_bytes: Length of what was known of them.
        failures: URIs that failed.
        disregarded: URIs that were disregarded.
        last_success: Time of the last success, seconds since the epoch; 0 for none.
    """

    urls: int = 0
    size: int = 0
    robots: int = 0
    novel_urls: int = 0
    novel_bytes: int = 0
    duplicate_urls: int = 0
    duplicate_bytes: int = 0
    not_modified_urls: int = 0
    not_modified_bytes: int = 0
    failures: int = 0
    disregarded: int = 0
    last_success: float = 0.0

    def add(self, visit_size: int, stored: Stored, saved: int) -> None:
        """Count one capture."""
        self.urls += 1
        self.size += visit_size
        if stored is Stored.NOVEL:
            self.novel_urls += 1
            self.novel_bytes += visit_size
        elif stored is Stored.DUPLICATE:
            self.duplicate_urls += 1
            self.duplicate_bytes += visit_size
        elif stored is Stored.NOT_MODIFIED:
            self.not_modified_urls += 1
            self.not_modified_bytes += saved


class Statistics:
    """All counts of a run.

    Attributes:
        totals: Counts over everything.
        dns: Lookups that succeeded; they are no documents.
    """

    def __init__(self, store: Store, hosts_in_memory: int = 20_000) -> None:
        self._store = store
        self._capacity = hosts_in_memory
        self._decoder = msgspec.msgpack.Decoder(Tally)
        self._encoder = msgspec.msgpack.Encoder()
        self._recent: OrderedDict[bytes, Tally] = OrderedDict()
        self._dirty: set[bytes] = set()
        self.totals = self._load(_TOTALS) or Tally()
        self.dns = store.counter("stats.dns")

    def count(self, visit: Visit, stored: Stored, now: float, saved: int = 0) -> None:
        """Count a final visit.

        Args:
            visit: The visit.
            stored: What it added to the archive.
            now: Seconds since the epoch.
            saved: For a 304: payload length of what it confirms, bytes.
        """
        uri, capture = visit.uri, visit.capture
        is_dns = uri.url.startswith("dns:")
        tally = self._tally(_KINDS["host"] + (b"dns:" if is_dns else host(uri.url).encode()))
        outcome = counted(visit.status)
        if outcome is Counted.SUCCESS and capture is not None:
            size = len(capture.head) + capture.body.length
            tally.add(size, stored, saved)
            tally.last_success = now
            if is_dns:
                self.dns += 1
            else:
                self.totals.add(size, stored, saved)
                self.totals.last_success = now
            self._tally(_KINDS["mime"] + (visit.mime or "unknown").encode()).add(
                size, stored, saved
            )
            if uri.source:
                name = f"{uri.source}\0{host(uri.url)}"
                self._tally(_KINDS["source"] + name.encode()).add(size, stored, saved)
        else:
            _count_failure(tally, visit, outcome)
            _count_failure(self.totals, visit, outcome)
        self._tally(_KINDS["status"] + b"%d" % visit.status).urls += 1

    def _tally(self, key: bytes) -> Tally:
        self._dirty.add(key)
        tally = self._recent.get(key)
        if tally is None:
            tally = self._recent[key] = self._load(key) or Tally()
        return tally

    def _load(self, key: bytes) -> Tally | None:
        row = self._store.get(_FAMILY, key)
        return None if row is None else self._decoder.decode(row)

    def seal(self) -> None:
        """Write what changed; called just before a group is sealed."""
        encode = self._encoder.encode
        for key in self._dirty:
            self._store.put(_FAMILY, key, encode(self._recent[key]))
        if self._dirty:
            self._store.put(_FAMILY, _TOTALS, encode(self.totals))
            self._store.set_counter("stats.dns", self.dns)
        self._dirty.clear()
        while len(self._recent) > self._capacity:
            self._recent.popitem(last=False)


def rows(store: Store, kind: str) -> Iterator[tuple[str, Tally]]:
    """All rows of a kind (`host`, `mime`, `status`, `source`), in key order.

    The name of a `source` row is the tag, a NUL, and the host.
    """
    prefix = _KINDS[kind]
    decoder = msgspec.msgpack.Decoder(Tally)
    for key, value in store.scan(_FAMILY, prefix, prefix[:-1] + b";"):
        yield key[len(prefix) :].decode(), decoder.decode(value)


def totals(store: Store) -> Tally:
    """The totals as last committed."""
    row = store.get(_FAMILY, _TOTALS)
    return Tally() if row is None else msgspec.msgpack.decode(row, type=Tally)


def _count_failure(tally: Tally, visit: Visit, outcome: Counted) -> None:
    if visit.status == FetchStatus.ROBOTS_PRECLUDED:
        tally.robots += 1
    if outcome is Counted.DISREGARDED:
        tally.disregarded += 1
    else:
        tally.failures += 1
