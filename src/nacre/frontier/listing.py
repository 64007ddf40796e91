"""The pending URIs as the operator sees them: list, count, export; on a read-only store too.

Export speaks Heritrix's recovery journal: `F+ URI PATH VIA` for each pending URI (`recoverlog`).
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from nacre.core.crawluri import CrawlURI
from nacre.frontier.recoverlog import Tag
from nacre.frontier.roster import read_queue, scan_queues
from nacre.frontier.rows import ID_LENGTH, Rows, after, unpack, unpack_future

Matcher = Callable[[str], bool]
"""Whether a URL or a queue key is meant; the caller compiles the operator's expression."""

_CHUNK = 256


class Entry(NamedTuple):
    """A pending URI and its row.

    Attributes:
        family: `queue` or `future`.
        key: Its key there.
        uri: The URI.
    """

    family: str
    key: bytes
    uri: CrawlURI


def any_text(_text: str) -> bool:
    """The matcher that means all."""
    return True


def pending(rows: Rows, urls: Matcher = any_text, queues: Matcher = any_text) -> Iterator[Entry]:
    """Pending URIs whose URL and queue match: queue by queue, in their order; then `future`.

    Read in chunks, so that rows may be deleted meanwhile, and memory stays bounded.

    Args:
        rows: The store.
        urls: Which URLs.
        queues: Which queue keys.
    """
    for entry in chain(_queued(rows, queues), _future(rows)):
        if urls(entry.uri.url) and (entry.family == "queue" or queues(entry.uri.queue)):
            yield entry


def count(rows: Rows, urls: Matcher = any_text, queues: Matcher = any_text) -> int:
    """Number of pending URIs that match; where all URLs are meant, the queues' own counts."""
    if urls is any_text:
        return sum(row.size + row.waiting for row in scan_queues(rows) if queues(row.name))
    return sum(1 for _ in pending(rows, urls, queues))


def _queued(rows: Rows, queues: Matcher) -> Iterator[Entry]:
    start = b""
    while found := list(rows.scan("queue", start, None, 1)):
        identity = found[0][0][:ID_LENGTH]
        end = identity + b"\xff" * ID_LENGTH
        row = read_queue(rows, identity)
        name = row.name if row else identity.hex()
        if queues(name):
            for key, value in _chunks(rows, "queue", found[0][0], end):
                yield Entry("queue", key, unpack(key, value, name))
        start = after(end)


def _future(rows: Rows) -> Iterator[Entry]:
    for key, value in _chunks(rows, "future", b"", None):
        yield Entry("future", key, unpack_future(key, value)[0])


def _chunks(
    rows: Rows, family: str, start: bytes, stop: bytes | None
) -> Iterator[tuple[bytes, bytes]]:
    while True:
        found = list(rows.scan(family, start, stop, _CHUNK))
        yield from found
        if len(found) < _CHUNK:
            return
        start = after(found[-1][0])


def export(entries: Iterable[Entry]) -> Iterator[str]:
    """Lines of the recovery journal, without line feed."""
    for entry in entries:
        uri = entry.uri
        yield " ".join(part for part in (Tag.ADDED, uri.url, uri.path, uri.via) if part)
