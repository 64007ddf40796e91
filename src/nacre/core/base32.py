"""Base32 (RFC 4648 clause 6) of SHA-1 digests: the form that WARC tools agree on.

The standard library's works byte by byte in Python, which costs more than the digest of a page.
Here the bits are spread out as one number, without tables that would push others out of the cache.
"""

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_DIGITS = b"0123456789abcdefghijklmnopqrstuv"
_TO_LETTERS = _ALPHABET * 8
_TO_DIGITS = bytes.maketrans(_ALPHABET, _DIGITS)


def _spreading() -> list[tuple[int, int, int]]:
    """Steps that take 160 bits to 32 bytes of five bits each.

    Each step halves all groups and moves the upper halves up: masks of the lower and of the upper
    halves, and by how many bits.
    """
    steps = []
    bits, room = 160, 256
    while bits > 5:
        bits, room = bits // 2, room // 2
        lower = sum(((1 << bits) - 1) << at for at in range(0, 256, 2 * room))
        steps.append((lower, lower << bits, room - bits))
    return steps


_80, _40, _20, _10, _5 = _spreading()
(_LOW_80, _UP_80, _BY_80), (_LOW_40, _UP_40, _BY_40) = _80, _40
(_LOW_20, _UP_20, _BY_20), (_LOW_10, _UP_10, _BY_10) = _20, _10
_LOW_5, _UP_5, _BY_5 = _5


def encode_sha1(digest: bytes) -> str:
    """32 characters for the 20 bytes of a SHA-1 digest."""
    number = int.from_bytes(digest, "big")
    # Not as a loop over the steps, which takes twice as long.
    number = number & _LOW_80 | (number & _UP_80) << _BY_80
    number = number & _LOW_40 | (number & _UP_40) << _BY_40
    number = number & _LOW_20 | (number & _UP_20) << _BY_20
    number = number & _LOW_10 | (number & _UP_10) << _BY_10
    number = number & _LOW_5 | (number & _UP_5) << _BY_5
    return number.to_bytes(32, "big").translate(_TO_LETTERS).decode("ascii")


def decode_sha1(text: str) -> bytes:
    """Return the 20 bytes of 32 characters of the alphabet, which upper-case letters begin.

    Raises:
        ValueError: It is not Base32 of 20 bytes.
    """
    if len(text) != 32 or not (text.isascii() and text.isalnum()):
        raise ValueError(f"not the Base32 form of a SHA-1 digest: {text[:64]!r}")
    return int(text.encode().translate(_TO_DIGITS), 32).to_bytes(20, "big")
