"""The index rebuilt from a file: the lines that `cdxj-indexer --post-append` makes."""

from collections.abc import Iterator
from pathlib import Path

from nacre.archive.block import BlockFacts, read_block
from nacre.archive.cdxj import format_line, sorted_index
from nacre.archive.field import digest_label
from nacre.archive.fieldrules import unbracketed
from nacre.archive.httphead import index_facts
from nacre.archive.postquery import PostQuery, post_query
from nacre.archive.reader import WarcEntry, WarcReader, ignore
from nacre.archive.source import Note
from nacre.config.ordinary import open_ordinary

_HTTP = ("http:", "https:")
_FIELDS = "application/warc-fields"


class Indexer:
    """Makes the lines of one file, record by record, each when its size is known.

    Args:
        name: Name of the file for the lines.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._held: list[tuple[WarcEntry, BlockFacts]] = []

    def add(self, entry: WarcEntry, facts: BlockFacts) -> list[tuple[bytes, int]]:
        """Take a record; the lines that have become certain, with the offsets of their records."""
        held = self._held
        if len(held) == 1 and _one_capture(held[0][0], entry):
            held.append((entry, facts))
            return []
        self._held = [(entry, facts)]
        return self._lines(held)

    def close(self) -> list[tuple[bytes, int]]:
        """The last lines; the reader must be at its end."""
        held, self._held = self._held, []
        return self._lines(held)

    def _lines(self, held: list[tuple[WarcEntry, BlockFacts]]) -> list[tuple[bytes, int]]:
        post = None
        for entry, facts in held[:2] if len(held) == 2 else ():
            if entry.get("WARC-Type") == "request":
                post = post_query(facts.start)
        lines = [(entry_line(e, f, self._name, post), e.offset) for e, f in held]
        return [(line, offset) for line, offset in lines if line]


def _one_capture(first: WarcEntry, second: WarcEntry) -> bool:
    """A response and the request for it, in either order."""
    kinds = {first.get("WARC-Type"), second.get("WARC-Type")}
    return (
        kinds == {"response", "request"}
        and second.get("WARC-Concurrent-To") == first.get("WARC-Record-ID")
        and second.get("WARC-Target-URI") == first.get("WARC-Target-URI")
    )


def entry_line(
    entry: WarcEntry, facts: BlockFacts, name: str, post: PostQuery | None = None
) -> bytes:
    """The line of a record with its newline; b"" for one that is not indexed.

    Args:
        entry: The record; its `size` must be known, so the next one was asked for.
        facts: What its block told.
        name: Name of the file for the line.
        post: What a POST or PUT adds; None for other requests.
    """
    kind, url = entry.get("WARC-Type"), entry.get("WARC-Target-URI")
    media = entry.get("Content-Type")
    if kind not in ("response", "revisit", "resource", "metadata") or not url:
        return b""
    digits = "".join(c for c in entry.get("WARC-Date") or "" if c.isdigit())[:14]
    if (kind in ("resource", "metadata") and media == _FIELDS) or len(digits) < 14:
        return b""
    return format_line(
        unbracketed(url).replace(" ", "%20"),
        digits,
        (*_what(kind, url, media, facts), _digest(entry, facts)),
        (entry.size, entry.offset, name),
        post,
    )


def _what(
    kind: str, url: str, media: str | None, facts: BlockFacts
) -> tuple[str | None, str | None]:
    """Media type and status."""
    status, mime = None, None
    if kind in ("response", "revisit"):
        if unbracketed(url).lower().startswith(_HTTP):
            status, mime = index_facts(facts.start)
        return ("warc/revisit" if kind == "revisit" else mime), status
    return (None if media is None else media.replace(";", " ").split(None, 1)[0]), None


def _digest(entry: WarcEntry, facts: BlockFacts) -> str | None:
    """As written; of the bytes as they came, where no digest was written; a revisit has none."""
    written = entry.get("WARC-Payload-Digest")
    if written or entry.get("WARC-Type") == "revisit":
        return written
    return digest_label(facts.payload_digests()[1])


def index_lines(path: Path, note: Note = ignore) -> Iterator[bytes]:
    """The index lines of a WARC in the order of its records.

    Args:
        path: The file; its name without `.open` stands in the lines.
        note: Takes what is wrong with the structure.

    Raises:
        OSError: The file cannot be read.
    """
    indexer = Indexer(path.name.removesuffix(".open"))
    with open_ordinary(path) as file:
        for entry in WarcReader(file, note):
            yield from (line for line, _ in indexer.add(entry, read_block(entry)))
    yield from (line for line, _ in indexer.close())


def rebuild_index(path: Path, note: Note = ignore) -> bytes:
    """The closed, sorted index of a WARC; see `index_lines`."""
    return sorted_index(b"".join(index_lines(path, note)))
