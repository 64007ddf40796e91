"""Content codings (RFC 9110 8.4.1): a view of a payload as text, never its stored form.

Whatever a server sends, the work is bounded by `limit`, and readable content is read: bombs are
cut, broken streams yield the content before the fault, and a false label is ignored.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from nacre.annotations import (
    content_checksum,
    content_trailing_junk,
    encoding_broken,
    encoding_cut,
    encoding_mismatch,
    unsatisfiable_encoding,
)
from nacre.wire.codec import (
    FAULTS,
    GZIP_MAGIC,
    Brotli,
    Codec,
    Maker,
    Zstd,
    gunzip,
    inflate_raw,
    inflate_zlib,
    is_zlib,
    is_zstd,
)

MAX_CODINGS = 5

SMALL = 1 << 20
"""Bytes of a coded payload that `decode_pieces` decodes at once."""
_SMALL_ROOM = 1 << 26
_PIECE = 4096
_PIECE_ROOM = 1 << 24

# A fault is located in ever smaller steps, so that no content before the fault is lost.
_STEPS = (4096, 64, 1)
_TEXT_SAMPLE = 512
_CONTROLS = bytes(c for c in range(32) if c not in b"\t\n\f\r\x1b")
_LABEL = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.+")


class Decoded(NamedTuple):
    """A payload with its content codings removed.

    Attributes:
        data: At most `limit` bytes.
        complete: False when there was more: cut at the limit, cut short by the server, or broken.
        annotations: What was odd, for crawl.log, without spaces or commas:
            `unsatisfiableContentEncoding:x` (unknown, kept as it is), `contentEncodingMismatch:x`
            (it is not x, kept as it is), `contentChecksum:x`, `contentTrailingJunk:x`,
            `contentEncodingBroken:x`, `contentEncodingCut:x` (ends too early).
    """

    data: bytes
    complete: bool = True
    annotations: tuple[str, ...] = ()


def decode_content(
    payload: bytes | Iterable[bytes], content_encoding: bytes | Sequence[bytes], limit: int
) -> Decoded:
    """Remove the content codings of a payload. Content never causes an exception.

    Args:
        payload: Transfer coding removed; whole, or in pieces, taken as needed.
        content_encoding: Value of the Content-Encoding header, or all of its values in order;
            b"" or none at all for identity.
        limit: Bytes of output at most; time and memory are bounded by it too.
    """
    names = _codings(content_encoding)
    slack = _slack(limit) if names else limit
    data, whole = _head(payload, slack)
    notes: list[str] = []
    if not data:
        names = []  # a reply without a body may well have the label
    if len(names) > MAX_CODINGS:
        notes.append(unsatisfiable_encoding(f"{len(names)}-codings"))
        names = []
    while names:
        name = names.pop()
        maker = _maker(name, data)
        if maker is None:
            notes.append(_annotate_kept(name))
            if name not in _MAKERS:
                break
            continue
        data, whole = _remove(name, maker, data, slack if names else limit + 1, notes)
    return Decoded(data[:limit], whole and len(data) <= limit, tuple(dict.fromkeys(notes)))


def decode_pieces(
    payload: Iterable[bytes],
    content_encoding: bytes | Sequence[bytes],
    limit: int,
    notes: list[str],
) -> Iterator[bytes]:
    """Yield a payload with its content codings removed, in bounded memory.

    A payload of at most `SMALL` bytes is decoded as by `decode_content`, up to 64 MiB. Of a longer
    one, the content before a fault is yielded, to within a few KB.

    Args:
        payload: Transfer coding removed, in pieces, taken as needed.
        content_encoding: As for `decode_content`.
        limit: Bytes of output at most.
        notes: Receives annotations, while it is read.
    """
    names = _codings(content_encoding)
    pieces = iter(payload)
    first: list[bytes] = []
    size = 0
    while names and size <= SMALL and (piece := next(pieces, None)) is not None:
        first.append(piece)
        size += len(piece)
    if not names:
        decoded: Iterator[bytes] = pieces
    elif size <= SMALL:
        small = decode_content(first, content_encoding, min(limit, _SMALL_ROOM))
        notes.extend(small.annotations)
        if not (small.complete or small.annotations):
            notes.append(encoding_cut(names[-1]))
        decoded = iter((small.data,))
    elif len(names) > MAX_CODINGS:
        notes.append(unsatisfiable_encoding(f"{len(names)}-codings"))
        decoded = chain(first, pieces)
    else:
        decoded = _decode_in_turn(names, chain((b"".join(first),), pieces), notes)
    for piece in decoded:
        yield piece[:limit]
        limit -= len(piece)
        if limit <= 0:
            return


def _decode_in_turn(names: list[str], pieces: Iterator[bytes], notes: list[str]) -> Iterator[bytes]:
    """Remove codings, the last first; an unknown coding keeps those below it."""
    for name in reversed(names):
        if name not in _MAKERS:
            notes.append(_annotate_kept(name))
            break
        pieces = _decode_coding(name, pieces, notes)
    return pieces


def _decode_coding(name: str, pieces: Iterator[bytes], notes: list[str]) -> Iterator[bytes]:
    """Remove one coding of a long payload."""
    first = next(pieces, b"")
    maker = _maker(name, first)
    start = b"" if maker is None else decode_content(first[:_PIECE], name.encode(), _PIECE).data
    if maker is None or not start or start == first[:_PIECE]:
        notes.append(_annotate_kept(name))
        yield first
        yield from pieces
        return
    codec, fault = maker(), ""
    step = min(_PIECE, codec.window)
    for data in chain((first,), pieces):
        for offset in range(0, len(data), step):
            try:
                part = codec.feed(data[offset : offset + step], _PIECE_ROOM)
            except FAULTS as error:
                fault, part = str(error), b""
            if part:
                yield part
            if fault or codec.junk or len(part) >= _PIECE_ROOM:
                _judge(name, codec, fault, notes)
                return
    _judge(name, codec, fault, notes)


def _slack(limit: int) -> int:
    """Return the compressed bytes to read for `limit` bytes: compression may lengthen a little."""
    return limit + (limit >> 8) + 4096


def _codings(values: bytes | Sequence[bytes]) -> list[str]:
    """Names of the codings in the order in which they were applied, identity left out."""
    text = values if isinstance(values, bytes) else b",".join(values)
    if not text:
        return []
    names = (name.strip() for name in text.decode("latin-1").lower().split(","))
    return [name for name in names if name not in _NOTHING]


def _head(payload: bytes | Iterable[bytes], size: int) -> tuple[bytes, bool]:
    """Return the first bytes of a payload, and whether that is all of it."""
    if isinstance(payload, bytes):
        return (payload, True) if len(payload) <= size else (payload[:size], False)
    parts: list[bytes] = []
    for part in payload:
        parts.append(part)
        size -= len(part)
        if size < 0:
            parts[-1] = part[:size]
            return b"".join(parts), False
    return b"".join(parts), True


def _maker(name: str, data: bytes) -> Maker | None:
    """The decoder for a coding; None when it is unknown, or when the data is plainly not in it."""
    if name not in _MAKERS:
        return None
    if name == "deflate" and is_zlib(data):
        return inflate_zlib
    accepts, maker = _MAKERS[name]
    return maker if accepts(data) else None


def _annotate_kept(name: str) -> str:
    if name in _MAKERS:
        return encoding_mismatch(name)
    label = "".join(c if c in _LABEL else "_" for c in name[:40])
    return unsatisfiable_encoding(label)


class _Pass:
    """One pass of a decoder over its input."""

    __slots__ = ("codec", "parts", "room")

    def __init__(self, codec: Codec, room: int) -> None:
        self.codec = codec
        self.room = room
        self.parts: list[bytes] = []

    def feed(self, data: bytes, start: int, end: int, step: int) -> int:
        """Feed `data[start:end]`; the offset of the piece at which it stopped, or `end`."""
        codec = self.codec
        while start < end and self.room > 0 and not codec.junk:
            part = codec.feed(data[start : min(start + step, end)], self.room)
            if part:
                self.parts.append(part)
                self.room -= len(part)
            start += step
        return min(start, end)


def _remove(
    name: str, maker: Maker, data: bytes, room: int, notes: list[str]
) -> tuple[bytes, bool]:
    """Remove one coding; return at most `room` bytes, and whether the coded data ended properly."""
    decoding = _Pass(maker(), room)
    fault = ""
    try:
        decoding.feed(data, 0, len(data), decoding.codec.window)
    except FAULTS as error:
        fault = str(error)
        decoding = _salvage(maker, data, room)
    out = b"".join(decoding.parts)[:room]
    codec = decoding.codec
    if (fault and not out) or (not codec.finished and _looks_like_text(data)):
        return _mismatch(name, maker, data, room, notes)
    if decoding.room <= 0:
        return out, False
    return out, _judge(name, codec, fault, notes)


def _mismatch(
    name: str, maker: Maker, data: bytes, room: int, notes: list[str]
) -> tuple[bytes, bool]:
    """What to do with data that is not in its coding: try raw deflate, else keep it as it is."""
    if maker is inflate_zlib:
        return _remove(name, inflate_raw, data, room, notes)
    if name in _MARKED:
        notes.append(encoding_broken(name))
        return data, False
    notes.append(_annotate_kept(name))
    return data, True


def _judge(name: str, codec: Codec, fault: str, notes: list[str]) -> bool:
    """Annotate oddities of a stream; return whether it ended properly."""
    if "checksum" in fault:
        notes.append(content_checksum(name))
        return True
    if codec.junk or (fault and codec.finished):
        notes.append(content_trailing_junk(name))
        return True
    if fault:
        notes.append(encoding_broken(name))
        return False
    if not codec.finished:
        notes.append(encoding_cut(name))
        return False
    return True


def _salvage(maker: Maker, data: bytes, room: int) -> _Pass:
    """Decode the bytes before a fault again, to the byte."""
    sound = 0
    decoding = _Pass(maker(), room)
    for step in _STEPS:
        decoding = _Pass(maker(), room)
        window = decoding.codec.window
        decoding.feed(data, 0, sound, window)
        sound = _advance(decoding, data, sound, min(step, window))
    return decoding


def _advance(decoding: _Pass, data: bytes, start: int, step: int) -> int:
    """Feed piece by piece; the offset of the first piece that is faulty."""
    while start < len(data) and decoding.room > 0 and not decoding.codec.junk:
        try:
            decoding.feed(data, start, min(start + step, len(data)), step)
        except FAULTS:
            break
        start += step
    return start


def _looks_like_text(data: bytes) -> bool:
    """No control characters at the beginning: compressed data would soon have one."""
    head = data[:_TEXT_SAMPLE]
    return len(head) == len(head.translate(None, _CONTROLS))


def _always(_data: bytes) -> bool:
    return True


def _is_gzip(data: bytes) -> bool:
    return GZIP_MAGIC.startswith(data[:2])


# Codings that begin with a mark: data that has the mark is in the coding, if broken.
_MARKED = frozenset(("gzip", "x-gzip", "zstd"))
_NOTHING = frozenset(("", "identity"))
_MAKERS: dict[str, tuple[Callable[[bytes], bool], Maker]] = {
    "gzip": (_is_gzip, gunzip),
    "x-gzip": (_is_gzip, gunzip),
    "deflate": (_always, inflate_raw),
    "br": (_always, Brotli),
    "zstd": (is_zstd, Zstd),
}
