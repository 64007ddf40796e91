"""The size of an image, read from its first bytes (pure).

Sources: PNG (W3C) 11.2.1, GIF89a 18, JPEG (ITU T.81) B.2.2, WebP (RFC 9649) 2.5 to 2.7.
"""

from typing import Literal, NamedTuple

_PNG, _JPEG, _GIFS = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", (b"GIF87a", b"GIF89a")
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Markers of JPEG that begin a frame."""
_MOST_SEGMENTS = 1_000


class ImageSize(NamedTuple):
    """Width and height of an image in pixels."""

    width: int
    height: int


def read_image_size(data: bytes) -> ImageSize | None:
    """Return the size of a PNG, GIF, JPEG or WebP image; None for other or damaged data.

    Args:
        data: The file, or its beginning.
    """
    if data.startswith(_PNG):
        return _sized(data[16:20], data[20:24], "big")
    if data.startswith(_GIFS):
        return _sized(data[6:8], data[8:10], "little")
    if data.startswith(_JPEG):
        return _jpeg_size(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp_size(data)
    return None


def _sized(width: bytes, height: bytes, order: Literal["big", "little"]) -> ImageSize | None:
    size = ImageSize(int.from_bytes(width, order), int.from_bytes(height, order))
    return size if all(size) else None


def _jpeg_size(data: bytes) -> ImageSize | None:
    at = 2
    for _ in range(_MOST_SEGMENTS):
        if at + 9 > len(data) or data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker in _FRAMES:
            return _sized(data[at + 7 : at + 9], data[at + 5 : at + 7], "big")
        if marker == 0xFF:  # a fill byte
            at += 1
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _webp_size(data: bytes) -> ImageSize | None:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        width, height = data[24:27], data[27:30]
        return ImageSize(int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1)
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        sides = [int.from_bytes(data[at : at + 2], "little") & 0x3FFF for at in (26, 28)]
        return ImageSize(*sides) if all(sides) else None
    if kind == b"VP8L" and data[20:21] == b"\x2f" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return ImageSize((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    return None
