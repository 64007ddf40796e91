"""The pending URIs: listed, counted and exported, and Heritrix's recovery journal.

All of it works on a read-only store too. A line of the journal records an event of a URI: `F+ URI
PATH VIA` it entered; `Fe URI` it was handed out; `Fr URI` it goes back; `Fs`, `Ff` and `Fd URI PATH
VIA` it is finished: success, failure, disregarded; `Fi URI` it counts as seen without a fetch; `T
TIME` every 10,000 lines. An export is one `F+` line for each pending URI. Source: Heritrix 3,
`FrontierJournal`.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import chain
from typing import Final, NamedTuple, Protocol

from nacre.core.crawluri import CrawlURI
from nacre.core.status import CountedAs
from nacre.frontier.queue_cache import read_queue, scan_queues
from nacre.frontier.rows import ID_LENGTH, RowStore, after, queue_id, unpack, unpack_future
from nacre.scope.patterns.matching import Matcher, any_text


class JournalTag(StrEnum):
    """The event of a line in the recovery journal."""

    ADDED = "F+"
    EMITTED = "Fe"
    INCLUDED = "Fi"
    RESCHEDULED = "Fr"
    SUCCEEDED = "Fs"
    FAILED = "Ff"
    DISREGARDED = "Fd"
    NONE = ""
    """A line that contains a URI and no tag."""


ENDS = {
    CountedAs.SUCCESS: JournalTag.SUCCEEDED,
    CountedAs.FAILURE: JournalTag.FAILED,
    CountedAs.DISREGARDED: JournalTag.DISREGARDED,
}
"""How a URI that is finished counts, in the journal."""


class FrontierJournal(Protocol):
    """A record of the events of each URI of the frontier."""

    def note(self, tag: JournalTag, url: str, path: str, via: str) -> None:
        """Record an event of a URI, with its hop path and its via."""
        ...


class NoJournal:
    """The journal of a crawl that keeps none."""

    def note(self, tag: JournalTag, url: str, path: str, via: str) -> None:
        """Nothing is noted."""


NO_JOURNAL: Final = NoJournal()

OTHER = frozenset(("T", "E"))
"""Lines without a URI: a time, an error."""

_TAGS = frozenset(str(tag) for tag in JournalTag if tag)


class JournalLine(NamedTuple):
    """One line that is about a URI.

    Attributes:
        url: The URL as written.
        tag: What happened to it.
        path: Hop path; "" when not given.
        via: URL of the page it was found on; "" when not given.
    """

    url: str
    tag: JournalTag = JournalTag.NONE
    path: str = ""
    via: str = ""


def line_of(tag: JournalTag, url: str, path: str, via: str) -> str:
    """Return a line with a path and a via, which may be empty, as Heritrix writes it."""
    return f"{tag} {url} {path} {via}"


def parse_line(line: str) -> JournalLine | None:
    """Read a line of a recovery journal, or one with nothing but a URL; None for any other line.

    A hop path can be missing (a seed has none), so a second word with a colon is the via.
    """
    words = line.split()
    if not words or words[0].startswith("#"):
        return None
    if len(words) == 1:
        return JournalLine(words[0]) if ":" in words[0] else None
    if words[0] not in _TAGS:
        return None
    optional = words[2:4]
    if optional and ":" in optional[0]:
        optional.insert(0, "")
    path, via = [*optional, "", ""][:2]
    return JournalLine(words[1], JournalTag(words[0]), path, via)


_CHUNK = 256


class PendingUri(NamedTuple):
    """A pending URI and its row.

    Attributes:
        family: `queue` or `future`.
        key: Its key there.
        uri: The URI.
    """

    family: str
    key: bytes
    uri: CrawlURI


def pending(
    rows: RowStore, urls: Matcher = any_text, queues: Matcher = any_text
) -> Iterator[PendingUri]:
    """Pending URIs whose URL and queue match: queue by queue, in their order; then `future`.

    Read in chunks, so that rows may be deleted meanwhile, and memory stays bounded.

    Args:
        rows: The store.
        urls: Which URLs.
        queues: Which queue keys.
    """
    return (entry for entry in pending_steps(rows, urls, queues) if entry is not None)


def pending_steps(
    rows: RowStore, urls: Matcher = any_text, queues: Matcher = any_text
) -> Iterator[PendingUri | None]:
    """Yield the same, with None for each URI and each queue that does not match.

    So the caller can let other work run between two steps, also where little matches.
    """
    for entry in chain(_scan_queued(rows, queues), _future(rows)):
        if entry is None or not urls(entry.uri.url):
            yield None
        else:
            yield entry if entry.family == "queue" or queues(entry.uri.queue) else None


def of_queue(rows: RowStore, queue: str) -> Iterator[PendingUri]:
    """Yield the pending URIs of one queue, in their order; those that wait for their time left out.

    Args:
        rows: The store.
        queue: Its key.
    """
    identity = queue_id(queue)
    for key, value in _chunks(rows, "queue", identity, identity + b"\xff" * ID_LENGTH):
        yield PendingUri("queue", key, unpack(key, value, queue))


def scan_planned(rows: RowStore) -> Iterator[PendingUri]:
    """Yield the pending URIs that have a time: retries, and later visits."""
    return _future(rows)


def count(rows: RowStore, urls: Matcher = any_text, queues: Matcher = any_text) -> int:
    """Number of pending URIs that match; where all URLs are meant, the queues' own counts."""
    if urls is any_text:
        return sum(row.size + row.waiting for row in scan_queues(rows) if queues(row.name))
    return sum(1 for _ in pending(rows, urls, queues))


def _scan_queued(rows: RowStore, queues: Matcher) -> Iterator[PendingUri | None]:
    start = b""
    while rows_found := list(rows.scan("queue", start, None, 1, once=True)):
        identity = rows_found[0][0][:ID_LENGTH]
        end = identity + b"\xff" * ID_LENGTH
        row = read_queue(rows, identity)
        name = row.name if row else identity.hex()
        if queues(name):
            for key, value in _chunks(rows, "queue", rows_found[0][0], end):
                yield PendingUri("queue", key, unpack(key, value, name))
        else:
            yield None
        start = after(end)


def _future(rows: RowStore) -> Iterator[PendingUri]:
    for key, value in _chunks(rows, "future", b"", None):
        yield PendingUri("future", key, unpack_future(key, value)[0])


def _chunks(
    rows: RowStore, family: str, start: bytes, stop: bytes | None
) -> Iterator[tuple[bytes, bytes]]:
    while True:
        chunk = list(rows.scan(family, start, stop, _CHUNK, once=True))
        yield from chunk
        if len(chunk) < _CHUNK:
            return
        start = after(chunk[-1][0])


def export(uris: Iterable[CrawlURI]) -> Iterator[str]:
    """Lines of the recovery journal, without line feed."""
    for uri in uris:
        yield " ".join(part for part in (JournalTag.ADDED, uri.url, uri.path, uri.via) if part)
