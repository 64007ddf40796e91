"""Decoders of the content codings: fed piece by piece, with bounded output per piece.

What they raise for bad bytes is `FAULTS`; `nacre.wire.coding` catches it.
"""

from collections.abc import Callable
from typing import Protocol, cast

import brotli  # type: ignore[import-untyped]  # ships no types
import zstandard
from isal import isal_zlib

FAULTS: tuple[type[Exception], ...] = (
    cast("type[Exception]", isal_zlib.IsalError),  # by its stub it is an instance
    brotli.error,
    zstandard.ZstdError,
    MemoryError,
)
"""What a decoder raises for bytes that it cannot read."""

GZIP_MAGIC = b"\x1f\x8b"
_MAX_MEMBERS = 4096
_WINDOW = 65536
# A zstd block of 4 bytes can yield 128 KiB, and the library has no limit for the output of one
# call.
_ZSTD_WINDOW = 256
# RFC 9659: a zstd content coding needs a window of at most 8 MB.
_ZSTD_MAX_WINDOW = 1 << 23
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Codec(Protocol):
    """One decoder at work.

    Attributes:
        window: Bytes to feed at a time.
        finished: The coded data has come to its end.
        junk: Bytes that belong to nothing followed the end; they are ignored.
    """

    window: int
    finished: bool
    junk: bool

    def feed(self, piece: bytes, room: int) -> bytes:
        """Decode one piece; about `room` (more than 0) bytes at most, the rest is lost."""
        ...


Maker = Callable[[], Codec]
"""Makes a fresh decoder."""


class Inflate:
    """gzip with any number of members, zlib or raw deflate, by `wbits` as in `zlib`."""

    __slots__ = ("_inner", "_members", "_wbits", "finished", "junk", "window")

    def __init__(self, wbits: int) -> None:
        self.window = _WINDOW
        self.finished = self.junk = False
        self._wbits = wbits
        self._members = _MAX_MEMBERS if wbits > 15 else 1
        self._inner = isal_zlib.decompressobj(wbits=wbits)

    def feed(self, piece: bytes, room: int) -> bytes:
        """See `Codec.feed`."""
        if self.finished:
            return self._next(piece, room)
        part = self._inner.decompress(piece, room)
        if not self._inner.eof:
            return part
        self.finished = True
        unused = self._inner.unused_data
        return part + self._next(unused, room - len(part)) if unused else part

    def _next(self, unused: bytes, room: int) -> bytes:
        """Decode the bytes after a member: another member, padding or junk."""
        parts: list[bytes] = []
        while unused and room > 0:
            self._members -= 1
            if self._members <= 0 or not GZIP_MAGIC.startswith(unused[:2]):
                self.junk = bool(unused.strip(b"\0"))
                break
            self._inner = isal_zlib.decompressobj(wbits=self._wbits)
            parts.append(self._inner.decompress(unused, room))
            room -= len(parts[-1])
            self.finished = self._inner.eof
            unused = self._inner.unused_data
        return b"".join(parts)


class Brotli:
    """brotli (RFC 7932)."""

    __slots__ = ("_inner", "finished", "junk", "window")

    def __init__(self) -> None:
        self.window = _WINDOW
        self.finished = self.junk = False
        self._inner = brotli.Decompressor()

    def feed(self, piece: bytes, room: int) -> bytes:
        """See `Codec.feed`."""
        if self.finished:
            self.junk = True
            return b""
        part: bytes = self._inner.process(piece, output_buffer_limit=room)
        while len(part) < room and not self._inner.can_accept_more_data():
            part += self._inner.process(b"", output_buffer_limit=room - len(part))
        self.finished = self._inner.is_finished()
        return part


class Zstd:
    """zstd (RFC 8878): any number of frames, a window of at most 8 MB."""

    __slots__ = ("_context", "_frames", "_inner", "_rest", "finished", "junk", "window")

    def __init__(self) -> None:
        self.window = _ZSTD_WINDOW
        self.finished = self.junk = False
        self._context = zstandard.ZstdDecompressor(max_window_size=_ZSTD_MAX_WINDOW)
        self._inner = self._context.decompressobj()
        self._frames = _MAX_MEMBERS
        self._rest = b""

    def feed(self, piece: bytes, room: int) -> bytes:
        """See `Codec.feed`; one call may yield up to 8 MiB."""
        parts: list[bytes] = []
        piece = self._rest + piece
        while piece and not self.junk:
            if self.finished and not self._begin(piece):
                return b"".join(parts)
            parts.append(self._inner.decompress(piece))
            self.finished = self._inner.eof
            piece = self._inner.unused_data if self.finished else b""
        return b"".join(parts)

    def _begin(self, unused: bytes) -> bool:
        """Begin another frame; return False if it is junk, or too short to decide."""
        self._rest = b""
        if len(unused) < 4:
            self._rest = unused
            return False
        self._frames -= 1
        if self._frames <= 0 or not is_zstd(unused):
            self.junk = True
            return False
        self._inner = self._context.decompressobj()
        self.finished = False
        return True


def is_zstd(data: bytes) -> bool:
    """Return whether data begins like a zstd frame, or a skippable one."""
    return data[:4] == _ZSTD_MAGIC or (data[1:4] == b"\x2a\x4d\x18" and data[0] & 0xF0 == 0x50)


def is_zlib(data: bytes) -> bool:
    """Return whether data begins like a zlib stream (RFC 1950 2.2)."""
    return (
        len(data) > 1
        and data[0] & 0x0F == 8
        and data[0] >> 4 <= 7
        and int.from_bytes(data[:2], "big") % 31 == 0
    )


def gunzip() -> Inflate:
    """Return a decoder of gzip."""
    return Inflate(31)


def inflate_zlib() -> Inflate:
    """Return a decoder of deflate with a zlib wrapper."""
    return Inflate(15)


def inflate_raw() -> Inflate:
    """Return a decoder of deflate without one, as some servers send it."""
    return Inflate(-15)
