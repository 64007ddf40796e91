"""Outlinks of a capture that an earlier metadata record has in the same words (pure).

WARC 1.1 allows `WARC-Refers-To` on records of type metadata, revisit and conversion only (5.11),
and a metadata record may refer to another one (6.6). A `revisit` of a metadata record would be
indexed and replayed as a visit of the page. So the record stays a metadata record with all its
lines but those of the same outlinks: `WARC-Refers-To` is the id of the record that has them; the
block has the digest of all outlink lines, the place of that record, and `outlinksAs: FIRST-LAST` in
place of some of its outlink lines. Other outlinks are written in full, so readers that do not
support references see the new ones. A reference leads to a record that contains all its outlinks.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from nacre.archive.fields import digest_of, field, strip_brackets

LEAST = 512
"""Bytes of outlink lines from which a reference is shorter, compressed too."""
LONGEST = 64 << 20
"""Longest block of a metadata record that is read, and bytes of outlink lines that it leads to."""

_DIGEST, _FILE, _OFFSET, _AS = (
    "outlinksDigest", "outlinksFilename", "outlinksOffset", "outlinksAs"
)  # fmt: skip
_LINE = b"outlink: "
_PART = f"{_AS}: ".encode()
_FIRST = f"{_DIGEST}: ".encode()
_MARKS = (_FIRST, f"{_FILE}: ".encode(), f"{_OFFSET}: ".encode(), _PART, _LINE)
_NUMBER = re.compile(r"\d{1,18}\Z", re.ASCII)
_RANGE = re.compile(rb"outlinksAs: (\d{1,9})-(\d{1,9})\Z")
_BREAK, _END = b"\r\n", b"\r\n\r\n"


class LinksError(ValueError):
    """Outlinks that a reference leads to cannot be read.

    Attributes:
        code: Of `archive.findings`: `links-unresolved`, `links-digest`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class LinkReference(msgspec.Struct, frozen=True, gc=False):
    """The metadata record that has outlinks of a capture.

    Attributes:
        record_id: Its WARC-Record-ID, without angle brackets.
        digest: Digest of all outlink lines of the capture, `sha1:BASE32`.
        parts: Lines `outlinksAs` and `outlink`, in order.
        file: Name of its WARC; a hint.
        offset: Its offset there in bytes; a hint.
    """

    record_id: str
    digest: str
    parts: tuple[bytes, ...]
    file: str = ""
    offset: int = 0


def links_digest(lines: bytes) -> str:
    """Return the digest of outlink lines, joined by CRLF, without one after the last."""
    return digest_of(lines)


def links_in(block: bytes) -> bytes:
    """Return the outlink lines of a metadata block, joined by CRLF; b"" for none."""
    lines = block.partition(_END)[0].split(_BREAK)
    return _BREAK.join([line for line in lines if line.startswith(_LINE)])


def all_lines(count: int) -> tuple[bytes, ...]:
    """Return the parts where all outlink lines are those of the other record.

    Args:
        count: Their number.
    """
    return (_part(1, count),)


def parts_of(old: bytes, new: bytes) -> tuple[bytes, ...]:
    """Outlink lines as parts of others, in time and memory that grow with both.

    Args:
        old: The outlink lines of the other record, as `links_in` gives them.
        new: The outlink lines to write.
    """
    places = {line: number for number, line in enumerate(old.split(_BREAK), 1)}
    parts: list[bytes] = []
    first = last = 0
    for line in new.split(_BREAK):
        place = places.get(line, 0)
        if place and place == last + 1 and first:
            last = place
            continue
        if first:
            parts.append(_part(first, last))
        first = last = place
        if not place:
            parts.append(line)
    if first:
        parts.append(_part(first, last))
    return tuple(parts)


def join_parts(parts: Sequence[bytes], old: bytes) -> bytes:
    """Return the outlink lines that parts mean.

    Args:
        parts: See `LinkReference`.
        old: The outlink lines of the other record.

    Raises:
        LinksError: It has not as many, or they are too long.
    """
    lines, pieces, size = old.split(_BREAK), list[bytes](), 0
    for part in parts:
        match = _RANGE.match(part)
        first, last = (int(match[1]), int(match[2])) if match else (1, 1)
        if not 1 <= first <= last <= len(lines):
            raise LinksError("links-digest", f"{len(lines)} outlinks, but {part.decode()}")
        piece = _BREAK.join(lines[first - 1 : last]) if match else part
        size += len(piece)
        if size > LONGEST:
            raise LinksError("links-digest", f"more than {LONGEST} bytes of outlinks")
        pieces.append(piece)
    return _BREAK.join(pieces)


def _part(first: int, last: int) -> bytes:
    return b"%s%d-%d" % (_PART, first, last)


def reference_lines(reference: LinkReference) -> Iterator[str]:
    """Yield the lines of a metadata block that replace outlinks."""
    yield f"{_DIGEST}: {field(reference.digest)}"
    if reference.file:
        yield f"{_FILE}: {field(reference.file)}"
        yield f"{_OFFSET}: {reference.offset}"
    for part in reference.parts:
        yield part.decode()


def read_reference(block: bytes, refers_to: str | None) -> LinkReference | None:
    """Return the reference in a metadata block; None if it has none.

    Args:
        block: The block, or its beginning up to the blank line.
        refers_to: WARC-Refers-To of the record; None when it is absent.
    """
    if refers_to is None or _FIRST not in block:
        return None
    lines = block.partition(_END)[0].split(_BREAK)
    pairs = (line.decode("utf-8", "replace").partition(": ") for line in lines)
    values = {name: value for name, _, value in pairs if name != "outlink"}
    digest, place = values.get(_DIGEST, ""), values.get(_OFFSET, "")
    if not digest:
        return None
    parts = tuple(line for line in lines if line.startswith((_PART, _LINE)))
    offset = int(place) if _NUMBER.match(place) else 0
    return LinkReference(strip_brackets(refers_to), digest, parts, values.get(_FILE, ""), offset)


def with_links(block: bytes, lines: bytes) -> bytes:
    """A metadata block with outlinks in the place of the reference: as it would be without one.

    Args:
        block: The whole block.
        lines: The outlink lines, as `join_parts` gives them.
    """
    fields, end, verbatim = block.partition(_END)
    lines_out = []
    for line in fields.split(_BREAK):
        if line.startswith(_FIRST):
            lines_out.append(lines)
        elif not line.startswith(_MARKS):
            lines_out.append(line)
    return _BREAK.join(lines_out) + end + verbatim
