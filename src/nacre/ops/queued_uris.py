"""The queued URIs of a job: listed, counted and exported; and the URIs that a change affects."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from nacre.core.crawluri import CrawlURI
from nacre.frontier.pending import count, export, pending
from nacre.frontier.queue_cache import read_queue, scan_queues
from nacre.frontier.queues import QueueState, read_totals
from nacre.frontier.rows import ID_LENGTH, after, queue_id, time_of, unpack, unpack_future
from nacre.ops.fields import LineText, ShortText
from nacre.scope.patterns.matching import Matcher, matcher
from nacre.store.store import Store
from nacre.uri.surt import queue_host

_END: Final = b"\xff" * 20
_REPORTED: Final = 1024
"""Rows after which progress is reported."""
_NAMES: Final = 10_000
"""Names of queues whose match is remembered."""
Tell = Callable[[int, int], None]
"""Takes the numbers of rows that were read, and of all."""


class WaitingTotals(NamedTuple):
    """The numbers of queued URIs, and of the queues that they are in."""

    uris: int
    queues: int


class QueuedUri(NamedTuple):
    """A queued URI.

    Attributes:
        uri: The URI.
        is_planned: It waits for its time; else for its turn in its queue.
    """

    uri: CrawlURI
    is_planned: bool


def count_waiting(store: Store) -> WaitingTotals:
    """Count the queued URIs of a job, by the rows of its queues."""
    sizes = [size for row in scan_queues(store) if (size := row.size + row.waiting)]
    return WaitingTotals(sum(sizes), len(sizes))


def count_in_queue(store: Store, key: str) -> int | None:
    """Count the URIs of a queue; None if there is no queue of this key."""
    row = read_queue(store, queue_id(key))
    return None if row is None else row.size + row.waiting


def list_queued(store: Store, urls: str = "", queues: str = "") -> Iterator[QueuedUri]:
    """Return the queued URIs that match, as of the last commit, queue by queue in their order.

    Args:
        store: The store of the job.
        urls: Expression that is found in the URLs; "" for all.
        queues: Expression that is found in the queue keys; "" for all.

    Raises:
        ConfigError: An expression cannot be read.
    """
    entries = pending(store, matcher(urls), matcher(queues))
    return (QueuedUri(entry.uri, entry.family == "future") for entry in entries)


def count_queued(store: Store, urls: str = "", queues: str = "") -> int:
    """Count the URIs that `list_queued` returns."""
    return count(store, matcher(urls), matcher(queues))


def export_lines(uris: Iterable[CrawlURI]) -> Iterator[str]:
    """Yield the lines of a recovery journal for URIs, without line feeds."""
    return export(uris)


# ---- rows, from any place on


class QueuedRow(NamedTuple):
    """A queued URI, and its place in the store.

    Attributes:
        family: `queue` or `future`.
        key: Its key there.
        value: Its row.
    """

    family: str
    key: bytes
    value: bytes


def queued_rows(
    store: Store, queue: str = "", place: tuple[str, bytes] | None = None
) -> Iterator[QueuedRow]:
    """Read the rows of the queued URIs, from a place on.

    Args:
        store: The store of the job.
        queue: Key of the only queue whose rows of `queue` are read; "" for all.
        place: Family and key of the row before the first; None to begin at the start.
    """
    identity = queue_id(queue) if queue else b""
    family, key = place or ("queue", b"")
    if family == "queue":
        start = after(key) if key else identity
        stop = identity + _END if queue else None
        for row_key, value in store.scan("queue", start, stop):
            yield QueuedRow("queue", row_key, value)
        key = b""
    for row_key, value in store.scan("future", after(key) if key else b""):
        yield QueuedRow("future", row_key, value)


class QueueNames:
    """Reads rows as URIs; a queue's name is in its own row, which is read once.

    Args:
        store: The store of the job.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._identity = b""
        self._name = ""

    def name(self, key: bytes) -> str:
        """Return the name of the queue of a row of `queue`."""
        identity = key[:ID_LENGTH]
        if identity != self._identity:
            row = read_queue(self._store, identity)
            self._identity, self._name = identity, row.name if row else identity.hex()
        return self._name

    def uri(self, row: QueuedRow) -> tuple[CrawlURI, float | None]:
        """Return the URI of a row, and its time; None if it is fetched in its turn."""
        if row.family == "future":
            return unpack_future(row.key, row.value)[0], time_of(row.key)
        return unpack(row.key, row.value, self.name(row.key)), None


# ---- the URIs that a change affects

SAMPLES: Final = 20
"""URIs that a preview shows."""


class PreviewWish(msgspec.Struct, frozen=True):
    """A planned change and the selection of its URIs, for a preview with their number.

    Attributes:
        action: One of `delete`, `exclude`, `retire`, `unretire`, `wake`, `forget`, `reconsider`,
            `first`.
        urls: Expression that is found in the URLs; "" for all.
        queues: Expression that is found in the queue keys; "" for all.
    """

    action: ShortText = "delete"
    urls: LineText = ""
    queues: LineText = ""


class PreviewHost(msgspec.Struct, frozen=True):
    """The part of a preview that is of one queue: its key, its host, and how many URIs it has."""

    queue: str
    host: str
    number: int


class FrontierPreview(msgspec.Struct, frozen=True):
    """The URIs that a change affects.

    Attributes:
        count: URIs, or queues.
        queues: Queues that they are in.
        hosts: The queues with most.
        samples: Twenty URLs, of as many queues as there are.
        as_of: The moment of these data, RFC 3339.
    """

    count: int
    queues: int
    hosts: tuple[PreviewHost, ...]
    samples: tuple[str, ...]
    as_of: str


class PreviewCount:
    """Counts the URIs that a change affects, their queues, and collects samples.

    Samples are of as many queues as possible: the first of each queue, and then more.
    """

    def __init__(self) -> None:
        self._number = 0
        self._hosts: Counter[str] = Counter()
        self._first: dict[str, list[str]] = {}

    def add(self, url: str, queue: str) -> None:
        """Count a URI."""
        self._number += 1
        self._hosts[queue] += 1
        urls = self._first.get(queue)
        if urls is None:
            if len(self._first) < SAMPLES:
                self._first[queue] = [url]
        elif len(urls) < SAMPLES:
            urls.append(url)

    def preview(self, as_of: str) -> FrontierPreview:
        """Return the counts, the queues with most, and the samples.

        Args:
            as_of: The moment of the data.
        """
        lists = list(self._first.values())
        rounds = (urls[at] for at in range(SAMPLES) for urls in lists if at < len(urls))
        hosts = tuple(
            PreviewHost(name, queue_host(name), number)
            for name, number in self._hosts.most_common(SAMPLES)
        )
        samples = tuple(islice(rounds, SAMPLES))
        return FrontierPreview(self._number, len(self._hosts), hosts, samples, as_of)


def preview_change(store: Store, request: PreviewWish, as_of: str, tell: Tell) -> FrontierPreview:
    """Count the URIs or queues that a change affects, to the end of the store.

    Args:
        store: The store of the job.
        request: The change.
        as_of: The moment of the data, RFC 3339.
        tell: Takes the progress.

    Raises:
        ConfigError: An expression cannot be read.
    """
    urls, queues = matcher(request.urls), matcher(request.queues)
    if request.action in {"delete", "exclude", "first"}:
        affected = _count_queued(store, tell, urls, queues)
    elif request.action == "forget":
        affected = _count_finished(store, tell, urls, queues)
    else:
        affected = _count_queues(store, request.action, queues)
    return affected.preview(as_of)


class _QueuedUrl(msgspec.Struct, gc=False, rename={"url": "u", "queue": "q", "via": "v"}):
    """The fields of a URI's row that a preview needs."""

    url: str
    queue: str = ""
    via: str = ""


_decode_url = msgspec.msgpack.Decoder(_QueuedUrl).decode


def _count_queued(store: Store, tell: Tell, urls: Matcher, queues: Matcher) -> PreviewCount:
    counted, names = PreviewCount(), QueueNames(store)
    total = read_totals(store).queued
    is_matched: dict[str, bool] = {}
    for number, row in enumerate(queued_rows(store)):
        if not number % _REPORTED:
            tell(number, total)
        uri = _decode_url(row.value)
        name = uri.queue if row.family == "future" else names.name(row.key)
        if name not in is_matched:
            if len(is_matched) > _NAMES:
                is_matched.clear()
            is_matched[name] = queues(name)
        if is_matched[name] and urls(uri.url):
            counted.add(uri.url, name)
    return counted


def _count_finished(store: Store, tell: Tell, urls: Matcher, queues: Matcher) -> PreviewCount:
    from nacre.engine.outcomes import scan_outcomes
    from nacre.uri.surt import surt_authority

    counted, total = PreviewCount(), read_totals(store).finished
    for number, (_, outcome) in enumerate(scan_outcomes(store)):
        if not number % _REPORTED:
            tell(number, total)
        name = surt_authority(outcome.url)
        if urls(outcome.url) and queues(name):
            counted.add(outcome.url, name)
    return counted


def _count_queues(store: Store, action: str, queues: Matcher) -> PreviewCount:
    """Count the queues that a change affects; the URL of a queue is the newest one."""
    counted = PreviewCount()
    states = {
        "unretire": {QueueState.RETIRED},
        "wake": {QueueState.SNOOZED},
        "retire": set(QueueState) - {QueueState.RETIRED},
    }.get(action, set(QueueState))
    for row in scan_queues(store):
        if row.state in states and queues(row.name):
            counted.add(row.last_queued or row.last_peek or row.name, row.name)
    return counted
