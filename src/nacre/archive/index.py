"""CDXJ index lines: of a record that is written, and of a file that is read again.

Both are the same as `cdxj-indexer --post-append` makes from the finished file. Source: CDXJ 0.1.0;
compared with cdxj-indexer in tests/contract.

`cdx11_line` converts them to CDX lines with eleven fields, for OutbackCDX and other servers.
Source: ` CDX N b a m s k r M S V g` of the Internet Archive's CDX format; OutbackCDX's README.
"""

import json
from collections.abc import Iterator
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import BinaryIO

from nacre.archive.block import BlockFacts, read_block
from nacre.archive.fields import digest_label, digest_of, second_digits, strip_brackets, uri_field
from nacre.archive.index_facts import PostQuery, index_facts, post_query
from nacre.archive.reader import WarcEntry, WarcReader, ignore_defect
from nacre.archive.record import WarcRecord
from nacre.archive.source import Note
from nacre.machine.local_files import open_ordinary
from nacre.uri.surt import index_key

INDEXED = frozenset(("response", "revisit", "resource"))
"""Record types of Nacre that are indexed; metadata only with its own media type."""

_ABSENT = "-"

EMPTY_DIGEST = digest_of(b"")


def index_line(record: WarcRecord, name: str, offset: int, length: int) -> bytes:
    """Return the line of a record with its newline; b"" for a record that is not indexed.

    Args:
        record: The record.
        name: Name of the file as it will be once closed.
        offset: Offset of the record in it, bytes.
        length: Bytes that it takes there.
    """
    if record.type not in INDEXED and record.mime is None:
        return b""
    return format_line(
        uri_field(record.url),
        second_digits(record.date),
        (record.mime, record.status, record.digest or _absent_digest(record)),
        (length, offset, name),
        record.post,
    )


def _absent_digest(record: WarcRecord) -> str | None:
    """The value of cdxj-indexer for a record without a payload digest, which has no payload."""
    return None if record.type == "revisit" else EMPTY_DIGEST


def format_line(
    url: str,
    timestamp: str,
    values: tuple[str | None, str | None, str | None],
    where: tuple[int, int, str],
    post: PostQuery | None = None,
) -> bytes:
    """One line with its newline.

    Args:
        url: WARC-Target-URI as written.
        timestamp: Its date, 14 digits.
        values: Media type, status, payload digest with its label; None leaves the key out.
        where: Length, offset, file name.
        post: What a POST or PUT adds; None for other requests.
    """
    mime, status, digest = values
    length, offset, name = where
    kind = "" if mime is None else f'"mime": {quoted(mime)}, '
    code = "" if status is None else f'"status": {quoted(status)}, '
    content = "" if digest is None else f'"digest": {quoted(digest)}, '
    key, request = index_key(url), ""
    if post is not None:
        key = index_key(post.appended(url))
        request = f', "requestBody": {quoted(post.query)}, "method": {quoted(post.method)}'
    if " " in key:
        key = key.replace(" ", "%20")  # only in URLs that Nacre does not make
    return (
        f'{key} {timestamp} {{"url": {quoted(url)}, {kind}{code}{content}'
        f'"length": "{length}", "offset": "{offset}", "filename": {quoted(name)}{request}}}\n'
    ).encode()


def sort_index(data: bytes) -> bytes:
    """The closed form of an index: each line once, sorted by its bytes (as with LC_ALL=C)."""
    lines = sorted(set(data.split(b"\n")))
    return b"".join([line + b"\n" for line in lines if line])


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
        group = self._held
        if len(group) == 1 and _one_capture(group[0][0], entry):
            group.append((entry, facts))
            return []
        self._held = [(entry, facts)]
        return self._lines(group)

    def close(self) -> list[tuple[bytes, int]]:
        """Return the last lines; the reader must be at its end."""
        group, self._held = self._held, []
        return self._lines(group)

    def _lines(self, group: list[tuple[WarcEntry, BlockFacts]]) -> list[tuple[bytes, int]]:
        post = None
        for entry, facts in group[:2] if len(group) == 2 else ():
            if entry.get("WARC-Type") == "request":
                post = post_query(facts.start)
        lines = [(entry_line(e, f, self._name, post), e.offset) for e, f in group]
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
    """Return the line of a record with its newline; b"" for a record that is not indexed.

    Args:
        entry: The record; its `size` must be known, so the next record was requested.
        facts: The facts of its block.
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
        strip_brackets(url).replace(" ", "%20"),
        digits,
        (*_format_values(kind, url, media, facts), _digest(entry, facts)),
        (entry.size, entry.offset, name),
        post,
    )


def _format_values(
    kind: str, url: str, media: str | None, facts: BlockFacts
) -> tuple[str | None, str | None]:
    """Media type and status."""
    status, mime = None, None
    if kind in ("response", "revisit"):
        if strip_brackets(url).lower().startswith(_HTTP):
            status, mime = index_facts(facts.start)
        return ("warc/revisit" if kind == "revisit" else mime), status
    return (None if media is None else media.replace(";", " ").split(None, 1)[0]), None


def _digest(entry: WarcEntry, facts: BlockFacts) -> str | None:
    """Return the digest as written; else of the bytes as received; None for a revisit without."""
    written = entry.get("WARC-Payload-Digest")
    if written or entry.get("WARC-Type") == "revisit":
        return written
    return digest_label(facts.payload_digests()[1])


def index_lines(path: Path, note: Note = ignore_defect) -> Iterator[bytes]:
    """Yield the index lines of a WARC in the order of its records.

    Args:
        path: The file; its name without `.open` is in the lines.
        note: Receives defects of the structure.

    Raises:
        OSError: The file cannot be read.
    """
    with open_ordinary(path) as file:
        yield from lines_in(file, path.name.removesuffix(".open"), note)


def lines_in(file: BinaryIO, name: str, note: Note = ignore_defect) -> Iterator[bytes]:
    """Return the index lines of an open WARC in the order of its records; see `index_records`."""
    return (line for line, _ in index_records(file, name, note))


def index_records(
    file: BinaryIO, name: str, note: Note = ignore_defect
) -> Iterator[tuple[bytes, int]]:
    """Yield the index lines of an open WARC, each with the offset of its record in bytes.

    Args:
        file: The WARC, at its start.
        name: Its name in the lines.
        note: Receives defects of the structure.

    Raises:
        OSError: The file cannot be read.
    """
    indexer = Indexer(name)
    for entry in WarcReader(file, note):
        yield from indexer.add(entry, read_block(entry))
    yield from indexer.close()


def rebuild_index(path: Path, note: Note = ignore_defect) -> bytes:
    """Return the closed, sorted index of a WARC; see `index_lines`."""
    return sort_index(b"".join(index_lines(path, note)))


def cdx11_line(line: str) -> str:
    """Return the line of eleven fields for a CDXJ line, without a newline; "" if it is invalid.

    The key is that of CDXJ. A digest has no label, as SHA-1 is understood; others keep theirs.

    Args:
        line: It, with or without a newline.
    """
    key, _, after_key = line.strip().partition(" ")
    time, _, text = after_key.partition(" ")
    try:
        facts = json.loads(text)
    except ValueError:
        return ""
    if not isinstance(facts, dict) or not key or not time.isdecimal():
        return ""
    url, mime, status, digest, length, offset, file = (
        _escape_blanks(facts.get(name))
        for name in ("url", "mime", "status", "digest", "length", "offset", "filename")
    )
    if _ABSENT in (url, offset, file):
        return ""
    label = digest.removeprefix("sha1:")
    return " ".join((key, time, url, mime, status, label, _ABSENT, _ABSENT, length, offset, file))


def _escape_blanks(value: object) -> str:
    """Return a field; blanks, which would begin another field, are `%20`."""
    text = str(value) if value is not None else ""
    return "".join(_escape(char) if char.isspace() or not char.isprintable() else char
                   for char in text) or _ABSENT  # fmt: skip


def _escape(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def index_of(warc: Path) -> Path | None:
    """Return the index beside a WARC: closed, or still open."""
    closed = warc.with_name(index_name(warc.name))
    for path in (closed, closed.with_name(closed.name + ".open")):
        if path.is_file():
            return path
    return None


def index_name(warc: str) -> str:
    """Name of the index of a WARC, with its folders if it has some."""
    return warc.removesuffix(".open").removesuffix(".gz").removesuffix(".warc") + ".cdxj"
