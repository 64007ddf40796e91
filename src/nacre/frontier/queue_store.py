"""The store of queued URIs: those in queues, and those that wait for their time in `future`."""

from typing import NamedTuple

from msgspec.structs import replace

from nacre.core.crawluri import CrawlURI, Directive
from nacre.frontier.pending import PendingUri
from nacre.frontier.policy import RetryKind
from nacre.frontier.queue_states import QueueStates
from nacre.frontier.queues import Queue, Totals
from nacre.frontier.rows import (
    Row,
    RowStore,
    RowWindow,
    after,
    directive_in,
    future_key,
    pack,
    pack_future,
    precedence_in,
    queue_key,
    time_of,
    unpack,
    unpack_future,
)

STEPS = 64
"""Rows moved in one call, so that none takes long."""

_LAST = b"\xff" * 20
_ENDLESS = Directive.ENDLESS  # the way to a member of an enumeration is long


class RemovedUri(NamedTuple):
    """A URI that left the frontier without another fetch, for crawl.log.

    Attributes:
        uri: As it was queued.
        status: Its final status.
    """

    uri: CrawlURI
    status: int


class QueueStore:
    """Puts URIs into queues and `future`, and takes them out.

    Attributes:
        pulling: The last tries are still being moved forward from `future`.
    """

    def __init__(self, rows: RowStore, totals: Totals, states: QueueStates) -> None:
        self._rows = rows
        self._totals = totals
        self._states = states
        self._cache = states.cache
        self._future = RowWindow(rows, "future", b"", _LAST, STEPS)
        self._cursor: bytes | None = None

    @property
    def pulling(self) -> bool:
        """See the class."""
        return self._cursor is not None

    def insert(self, queue: Queue, uri: CrawlURI, ordinal: int) -> None:
        """Put a URI into its queue."""
        row = queue.row
        row.add_uri(uri.url)
        if uri.directive == _ENDLESS:
            row.endless += 1
            self._totals.endless += 1
        if self._states.by_level:
            row.count_level(uri.precedence, 1)
        self.put(queue, queue_key(queue.identity, uri, ordinal), uri)
        self._totals.recount(row)
        self._cache.touch(queue)
        self._states.uri_added(queue, endless=uri.directive == _ENDLESS)

    def put(self, queue: Queue, key: bytes, uri: CrawlURI) -> None:
        """Write the row of a URI; nothing is counted."""
        value = pack(uri)
        self._rows.put("queue", key, value)
        if queue.window is not None:
            queue.window.offer(key, value)
        else:
            queue.lower_head(key)

    def drop(self, queue: Queue, key: bytes) -> None:
        """Take a row that is in process, or not read ahead, out of its queue."""
        self._rows.delete("queue", key)
        queue.row.size -= 1
        if directive_in(key) == _ENDLESS:
            queue.row.endless -= 1
            self._totals.endless -= 1
        if queue.row.levels:
            queue.row.count_level(precedence_in(key), -1)

    def plan(self, queue: Queue, uri: CrawlURI, due: float) -> None:
        """Let a URI wait in `future` until a frontier time: a retry if it was tried before."""
        if uri.attempts:
            queue.row.waiting += 1
        else:
            self._totals.planned += 1
        key = future_key(due, queue.identity, uri.ordinal)
        value = pack_future(uri, last_try=self._totals.last_since is not None)
        self._rows.put("future", key, value)
        self._future.offer(key, value)
        self._cache.touch(queue)

    def take(self, queue: Queue) -> tuple[bytes, CrawlURI] | None:
        """Return the first URI of an active queue; None when there is none."""
        entry = queue.window.pop(queue.taken) if queue.window is not None else None
        if entry is None:
            return None
        return entry[0], unpack(entry[0], entry[1], queue.name)

    def release_due(self, time: float) -> None:
        """Move due URIs from `future` into their queues, some at a time."""
        for _ in range(STEPS):
            first = self._future.peek()
            if first is None or time_of(first[0]) > time:
                return
            self._future.pop()
            self.release(first)

    def release(self, entry: Row) -> CrawlURI | None:
        """Move one row of `future` into its queue; None when it is not there any more."""
        key, value = entry
        if self._rows.get("future", key) is None:
            return None
        uri, _ = unpack_future(key, value)
        queue = self.unplan(key, uri)
        self.insert(queue, uri, uri.ordinal)
        return uri

    def unplan(self, key: bytes, uri: CrawlURI) -> Queue:
        """Take a row out of `future`; the answer is its queue."""
        self._rows.delete("future", key)
        queue = self._states.find(uri.queue)
        if uri.attempts:
            queue.row.waiting -= 1
        else:
            self._totals.planned -= 1
        return queue

    def remove(self, entry: PendingUri) -> Queue | None:
        """Take a pending URI out; its queue, or None when it is in process, or gone already."""
        uri = entry.uri
        queue = self._states.find(uri.queue)
        if entry.key in queue.taken or self._rows.get(entry.family, entry.key) is None:
            return None
        row = queue.row
        if entry.family == "queue":
            self.drop(queue, entry.key)
            queue.read_again()
        else:
            self.unplan(entry.key, uri)
            self.read_again()
        if uri.attempts:
            row.retrying -= 1
        if uri.is_prerequisite:
            row.end_hold()
            queue.prerequisites -= {uri.key}
        self._totals.recount(row)
        self._cache.touch(queue)
        if queue.window is None and not row.size:
            self._states.update_state(queue)
        return queue

    def move(self, entry: PendingUri, directive: Directive) -> bool:
        """Give a pending URI a more urgent directive.

        False when it has it already, is in process, or is gone.
        """
        uri, family = entry.uri, entry.family
        queue, value = self._states.find(uri.queue), self._rows.get(family, entry.key)
        if uri.directive <= directive or entry.key in queue.taken or value is None:
            return False
        moved = replace(uri, directive=directive)
        if family == "future":
            last_try = unpack_future(entry.key, value)[1]
            self._rows.put(family, entry.key, pack_future(moved, last_try=last_try))
            self.read_again()
            return True
        self.drop(queue, entry.key)
        queue.read_again()
        self.insert(queue, moved, uri.ordinal)
        return True

    def read_again(self) -> None:
        """Read `future` again: rows that may have been read ahead are gone, or others."""
        self._future.restart(b"")

    def wait(self, time: float) -> float | None:
        """Seconds until something in `future` is due; None when nothing is."""
        first = self._future.peek()
        return max(time_of(first[0]) - time, 0.0) if first else None

    def pull(self) -> None:
        """From now on, `pull_some` moves the retries in `future` forward."""
        self._cursor = b""

    def pull_some(self) -> None:
        """Move some retries into their queues before their time; last tries keep theirs."""
        if self._cursor is None:
            return
        future_rows = list(self._rows.scan("future", self._cursor, None, STEPS))
        self._cursor = after(future_rows[-1][0]) if len(future_rows) == STEPS else None
        for key, value in future_rows:
            uri, last_try = unpack_future(key, value)
            if uri.attempts and not last_try:
                self.release((key, value))


def again(uri: CrawlURI, status: int, kind: RetryKind, error: str = "") -> CrawlURI:
    """Return the URI after one more attempt of a kind."""
    more = replace(
        uri, attempts=uri.attempts + 1, last_status=status, not_before=0.0, last_error=error
    )
    if kind is RetryKind.UNREACHABLE:
        return more
    return replace(more, **{kind.value: getattr(uri, kind.value) + 1})


def fresh(uri: CrawlURI, ordinal: int) -> CrawlURI:
    """Return the URI as if it had never been tried."""
    return replace(
        uri, attempts=0, throttled=0, truncated=0, starved=0, last_error="", ordinal=ordinal
    )
