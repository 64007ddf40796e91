"""The pending URIs as the operator sees them: list, count, export; on a read-only store too.

Export and import speak Heritrix's recovery journal, one URI a line: `F+ URI PATH VIA` for a pending
URI, `Fs`, `Ff` and `Fd` for one that is finished (reference/heritrix.md 1.6).
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from nacre.core.crawluri import CrawlURI
from nacre.frontier.roster import read_queue, scan_queues
from nacre.frontier.rows import ID_LENGTH, Rows, after, unpack, unpack_future

Matcher = Callable[[str], bool]
"""Whether a URL or a queue key is meant; the caller compiles the operator's expression."""

_CHUNK = 256
_PENDING = "F+"
_DONE = frozenset(("Fs", "Ff", "Fd"))


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


class JournalLine(NamedTuple):
    """One line of an import.

    Attributes:
        url: The URL as written.
        done: It was finished: only its key is to be entered.
        path: Hop path; "" when not given.
        via: URL of the page it was found on; "" when not given.
    """

    url: str
    done: bool = False
    path: str = ""
    via: str = ""


def export(entries: Iterable[Entry]) -> Iterator[str]:
    """Lines of the recovery journal, without line feed."""
    for entry in entries:
        uri = entry.uri
        yield " ".join(part for part in (_PENDING, uri.url, uri.path, uri.via) if part)


def parse_line(line: str) -> JournalLine | None:
    """Read a line of a recovery journal, or one with nothing but a URL; None for any other line.

    A hop path can be missing (a seed has none), so a second word with a colon is the via.
    """
    words = line.split()
    if not words or words[0].startswith("#"):
        return None
    if len(words) == 1:
        return JournalLine(words[0]) if ":" in words[0] else None
    if words[0] in _DONE:
        return JournalLine(words[1], done=True)
    if words[0] != _PENDING:
        return None
    rest = words[2:4]
    if rest and ":" in rest[0]:
        rest.insert(0, "")
    path, via = [*rest, "", ""][:2]
    return JournalLine(words[1], path=path, via=via)
