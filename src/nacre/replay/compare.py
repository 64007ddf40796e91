"""The comparison of two captures: text, source, headers, links and bytes (pure).

All content is hostile: each section is bounded, and reports if the bound was reached. Text is
that of the study `nacre report JOB diff`, without the knowledge of the job about its site.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import Final, NamedTuple

import msgspec

from nacre.core.capture import LONGEST_TYPE
from nacre.extract.dispatch import extract
from nacre.extract.document import Document, charset_parameter
from nacre.extract.extractors import StockExtractor
from nacre.extract.kind import kind_of
from nacre.extract.pageview import page_view
from nacre.extract.settings import ExtractSettings
from nacre.extract.text import text_charset
from nacre.inspect.analysis.difference import ComparedPages, compare_pages
from nacre.planner.change_detection.change import SAME
from nacre.planner.change_detection.line_difference import (
    MOST_LINES,
    LineRun,
    common_lines,
    split_lines,
)
from nacre.replay.image_size import ImageSize, read_image_size
from nacre.wire.charset import decode, detect
from nacre.wire.codec import GZIP_MAGIC
from nacre.wire.coding import decode_content
from nacre.wire.guess import name_of

COMPARED_BYTES: Final = 4 << 20
"""Bytes of a body, before and after its content coding is removed, that are read as text."""
SECTIONS: Final = ("text", "source", "headers", "links")

_CONTEXT = 3
"""Equal lines before and after each difference in the source."""
_MOST_SHOWN = 2_000
"""Lines of the source in the result."""
_MOST_HEADERS = 500
_LONGEST_VALUE = 2_000
_MOST_LINKS = 5_000
_CHUNK = 1 << 16
_SNIFFED = 1_000
"""Bytes in which a NUL shows that a file is no text."""
_TEXTS = ("text/", "application/json", "application/xml", "application/javascript")
_SETTINGS = ExtractSettings(max_outlinks=20_000, extract_error_pages=True, infer_favicon=False)

ReadBytes = Callable[[int], bytes]
"""Returns at most so many bytes of a body; b"" at its end."""


class ComparedCapture(msgspec.Struct, frozen=True):
    """One side of a comparison.

    Attributes:
        id: Place of its record, `WARC:OFFSET`.
        url: Its URL.
        date: When it was captured, `2026-11-20T10:00:00Z`.
        status: HTTP status; 0 if unknown.
        mime: Media type as sent; "" if absent.
        charset: Encoding of its text; "" for other content.
        size: Bytes of its payload, with its content coding.
        digest: SHA-256 of these bytes, hexadecimal.
        is_cut: Its text was compared up to `COMPARED_BYTES`.
        truncated: Why the capture itself ends early (`WARC-Truncated`); "" if it is whole.
        width: Pixels of an image; 0 if it is none, or unknown.
        height: The same.
    """

    id: str
    url: str
    date: str
    status: int
    mime: str
    charset: str
    size: int
    digest: str
    is_cut: bool = False
    truncated: str = ""
    width: int = 0
    height: int = 0


class SourceLine(msgspec.Struct, frozen=True):
    """A line of the source.

    Attributes:
        kind: `same`, `gone`, `new`; `skipped` for equal lines that are left out.
        text: Its text; "" for `skipped`.
        old: Number in the older version, from 1; 0 if it is not there. Of `skipped`: their number.
        new: Number in the newer version, from 1; 0 if it is not there.
    """

    kind: str
    text: str
    old: int = 0
    new: int = 0


class SourceComparison(msgspec.Struct, frozen=True):
    """The difference of two sources by lines; long lines are parted at tags and statements.

    Attributes:
        lines: The differences, and up to three equal lines around each.
        gone: Number of lines that are in the older version alone.
        new: Number of lines that are in the newer version alone.
        same: Number of lines of both.
        is_cut: More lines than are compared, or more differences than `lines` has.
        is_coarse: Some equal lines count as replaced, to bound the time.
    """

    lines: list[SourceLine]
    gone: int
    new: int
    same: int
    is_cut: bool = False
    is_coarse: bool = False


class HeaderDifference(msgspec.Struct, frozen=True):
    """A header that differs.

    Attributes:
        name: Its name, as the newer version has it.
        was: Its value in the older version; None if it is new.
        now: Its value in the newer version; None if it is gone.
    """

    name: str
    was: str | None
    now: str | None


class LinkDifference(msgspec.Struct, frozen=True):
    """A link that only one version has.

    Attributes:
        url: Its target.
        is_new: It is in the newer version; else it is gone.
        hop: Kind of link, a letter of a hop path: `L` for links, `E` for embedded content.
    """

    url: str
    is_new: bool
    hop: str


class LinkComparison(msgspec.Struct, frozen=True):
    """The difference of the links of two versions.

    Attributes:
        links: Links that only one version has, gone ones first.
        same: Number of links of both.
        is_cut: There are more differences than `links` has, or more links than are read.
    """

    links: list[LinkDifference]
    same: int
    is_cut: bool = False


class CompareView(msgspec.Struct, frozen=True):
    """Two captures compared.

    Attributes:
        old: The older capture.
        new: The newer one.
        is_same: Both have the same payload.
        first_difference: Offset of the first byte at which the payloads differ; -1 if none.
        text: Pieces of the pages that differ; None if one is not HTML, or not requested.
        source: Lines that differ; None if one is not text, or not requested.
        headers: Headers that differ; None if not requested.
        links: Links that differ; None if one has no links to read, or not requested.
        dates: Dates of all captures of the URL that can be compared, the oldest first.
    """

    old: ComparedCapture
    new: ComparedCapture
    is_same: bool
    first_difference: int
    text: ComparedPages | None = None
    source: SourceComparison | None = None
    headers: list[HeaderDifference] | None = None
    links: LinkComparison | None = None
    dates: list[str] = []


class ComparedReply(NamedTuple):
    """A capture to compare.

    Attributes:
        capture: Its facts; `charset`, `size`, `digest` and so on are filled in.
        headers: As captured, in order.
        read: Reads its payload, without transfer coding, with its content coding.
    """

    capture: ComparedCapture
    headers: Sequence[tuple[str, str]]
    read: ReadBytes


class _Side(NamedTuple):
    """A capture whose payload was read.

    Attributes:
        capture: Its facts.
        document: Its content, without content coding.
        kind: How its links are read.
        text: Its text; None for other content.
    """

    capture: ComparedCapture
    document: Document
    kind: StockExtractor
    text: str | None


class _Bodies(NamedTuple):
    """Two payloads after one pass: their sizes, digests and beginnings."""

    sizes: tuple[int, int]
    digests: tuple[str, str]
    heads: tuple[bytes, bytes]
    first_difference: int


def compare_replies(
    old: ComparedReply, new: ComparedReply, sections: Sequence[str] = SECTIONS
) -> CompareView:
    """Compare two captures. Payloads are read once, in chunks.

    Args:
        old: The older capture.
        new: The newer one.
        sections: The sections to make, of `SECTIONS`.
    """
    bodies = _compare_bodies(old.read, new.read)
    before, after = (
        _read_side(reply, size, digest, head)
        for reply, size, digest, head in zip(
            (old, new), bodies.sizes, bodies.digests, bodies.heads, strict=True
        )
    )
    return CompareView(
        before.capture,
        after.capture,
        bodies.first_difference < 0,
        bodies.first_difference,
        _compare_text(before, after) if "text" in sections else None,
        _compare_source(before, after) if "source" in sections else None,
        compare_headers(old.headers, new.headers) if "headers" in sections else None,
        _compare_links(before, after) if "links" in sections else None,
    )


def _compare_bodies(old: ReadBytes, new: ReadBytes) -> _Bodies:
    hashes = hashlib.sha256(), hashlib.sha256()
    sizes, heads = [0, 0], (bytearray(), bytearray())
    first, offset = -1, 0
    for chunks in zip_longest(_chunks(old), _chunks(new), fillvalue=b""):
        if first < 0 and chunks[0] != chunks[1]:
            first = offset + _first_difference(*chunks)
        offset += _CHUNK
        for side, chunk in enumerate(chunks):
            hashes[side].update(chunk)
            sizes[side] += len(chunk)
            heads[side].extend(chunk[: max(0, COMPARED_BYTES - len(heads[side]))])
    before, after = hashes
    return _Bodies(
        (sizes[0], sizes[1]),
        (before.hexdigest(), after.hexdigest()),
        (bytes(heads[0]), bytes(heads[1])),
        first,
    )


def _chunks(read: ReadBytes) -> Iterator[bytes]:
    """Yield chunks of exactly `_CHUNK` bytes, but the last."""
    parts = bytearray()
    while data := read(_CHUNK - len(parts)):
        parts += data
        if len(parts) == _CHUNK:
            yield bytes(parts)
            parts.clear()
    if parts:
        yield bytes(parts)


def _first_difference(old: bytes, new: bytes) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[:middle] == new[:middle] else (low, middle - 1)
    return low


def _read_side(reply: ComparedReply, size: int, digest: str, head: bytes) -> _Side:
    headers = [
        (name.lower().encode("utf-8", "replace"), value.encode("utf-8", "replace"))
        for name, value in reply.headers
    ]
    codings = [value for name, value in headers if name == b"content-encoding"]
    body, is_cut = head, size > len(head)
    if codings and body:
        body = decode_content(body, codings, COMPARED_BYTES).data
        is_cut = is_cut or len(body) >= COMPARED_BYTES
    kind = next((value for name, value in headers if name == b"content-type"), b"")[:LONGEST_TYPE]
    document = Document(
        url=reply.capture.url,
        mime=kind.partition(b";")[0].strip().lower().decode("latin-1"),
        charset_header=charset_parameter(kind),
        headers=headers,
        body=body,
    )
    extractor = kind_of(document, _SETTINGS)
    codec = _codec(document, extractor)
    image = read_image_size(body) or ImageSize(0, 0)
    capture = msgspec.structs.replace(
        reply.capture,
        mime=document.mime or reply.capture.mime,
        charset=name_of(codec),
        size=size,
        digest=digest,
        is_cut=is_cut,
        width=image.width,
        height=image.height,
    )
    return _Side(capture, document, extractor, decode(body, codec) if codec else None)


def _codec(document: Document, extractor: StockExtractor) -> str:
    """Return the codec of the text of a document; "" if it is no text."""
    body, label, url = document.body, document.charset_header, document.url
    if extractor is StockExtractor.HTML:
        return detect(body, label, url)[0]
    is_text = document.mime.startswith(_TEXTS) or (extractor and not document.mime)
    if not (extractor or is_text) or b"\0" in body[:_SNIFFED] or body.startswith(GZIP_MAGIC):
        return ""
    return text_charset(body, label, url)[0]


def _compare_text(old: _Side, new: _Side) -> ComparedPages | None:
    if not old.kind == new.kind == StockExtractor.HTML or old.text is None or new.text is None:
        return None
    view = page_view(new.text)
    if old.capture.digest == new.capture.digest:
        return ComparedPages(SAME.kind, SAME.score, SAME.reason, [], len(view.pieces), [])
    return compare_pages(page_view(old.text), view)


def _compare_source(old: _Side, new: _Side) -> SourceComparison | None:
    if old.text is None or new.text is None:
        return None
    before, after = split_lines(old.text), split_lines(new.text)
    is_cut = max(len(before), len(after)) > MOST_LINES
    is_cut = is_cut or old.capture.is_cut or new.capture.is_cut
    common = common_lines(before[:MOST_LINES], after[:MOST_LINES])
    same = sum(run.size for run in common.runs)
    lines = list(islice(_source_lines(before, after, common.runs), _MOST_SHOWN + 1))
    return SourceComparison(
        lines[:_MOST_SHOWN],
        min(len(before), MOST_LINES) - same,
        min(len(after), MOST_LINES) - same,
        same,
        is_cut or len(lines) > _MOST_SHOWN,
        common.is_coarse,
    )


def _source_lines(
    old: Sequence[str], new: Sequence[str], runs: Sequence[LineRun]
) -> Iterator[SourceLine]:
    """Yield the differences with equal lines around them."""
    before, after = min(len(old), MOST_LINES), min(len(new), MOST_LINES)
    at_old = at_new = 0
    for run in (*runs, LineRun(before, after, 0)):
        for at in range(at_old, run.old):
            yield SourceLine("gone", old[at], at + 1)
        for at in range(at_new, run.new):
            yield SourceLine("new", new[at], 0, at + 1)
        is_first = run.old == run.new == at_old == at_new == 0
        at_old, at_new = run.old + run.size, run.new + run.size
        is_last = at_old == before and at_new == after
        head = 0 if is_first else _CONTEXT
        tail = 0 if is_last else _CONTEXT
        left_out = run.size - head - tail
        for at in range(run.size):
            if left_out <= 1 or at < head or at >= run.size - tail:
                yield SourceLine("same", new[run.new + at], run.old + at + 1, run.new + at + 1)
            elif at == head:
                yield SourceLine("skipped", "", left_out, left_out)


def compare_headers(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]
) -> list[HeaderDifference]:
    """Return the headers that differ, in the order of the newer version, then those that are gone.

    Names have no case. Equal values of a name are matched first, whatever their order.
    """
    before, after = _values(old), _values(new)
    differences: list[HeaderDifference] = []
    for key, (name, values) in {**before, **after}.items():
        was, now = before.get(key, (name, []))[1], values if key in after else []
        gone = list((Counter(was) - Counter(now)).elements())
        added = list((Counter(now) - Counter(was)).elements())
        differences += [HeaderDifference(name, *pair) for pair in zip_longest(gone, added)]
    return differences[:_MOST_HEADERS]


def _values(headers: Sequence[tuple[str, str]]) -> dict[str, tuple[str, list[str]]]:
    """Return the name and the values by the name in lower case."""
    values: dict[str, tuple[str, list[str]]] = {}
    for name, value in headers[:_MOST_HEADERS]:
        values.setdefault(name.lower(), (name[:_LONGEST_VALUE], []))[1].append(
            value[:_LONGEST_VALUE]
        )
    return values


def _compare_links(old: _Side, new: _Side) -> LinkComparison | None:
    before, after = extract(old.document, _SETTINGS), extract(new.document, _SETTINGS)
    if not (before.outlinks or after.outlinks or (old.kind and new.kind)):
        return None
    hops = [{link.url: str(link.hop) for link in side.outlinks} for side in (before, after)]
    gone, added = hops[0].keys() - hops[1].keys(), hops[1].keys() - hops[0].keys()
    links = [
        *(LinkDifference(url, is_new=False, hop=hops[0][url]) for url in sorted(gone)),
        *(LinkDifference(url, is_new=True, hop=hops[1][url]) for url in sorted(added)),
    ]
    is_cut = bool(before.dropped or after.dropped) or len(links) > _MOST_LINKS
    return LinkComparison(links[:_MOST_LINKS], len(hops[0].keys() & hops[1].keys()), is_cut)
