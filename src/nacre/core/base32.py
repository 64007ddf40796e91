"""Base32 (RFC 4648 clause 6) of SHA-1 digests: the form that WARC tools agree on.

The standard library's works byte by byte in Python, which costs more than the digest of a page.
"""

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = tuple(a + b for a in _ALPHABET for b in _ALPHABET)
_DIGITS = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")
_SHIFTS = tuple(range(150, -1, -10))


def encode_sha1(digest: bytes) -> str:
    """32 characters for the 20 bytes of a SHA-1 digest."""
    number = int.from_bytes(digest, "big")
    pairs = _PAIRS
    return "".join([pairs[number >> shift & 1023] for shift in _SHIFTS])


def decode_sha1(text: str) -> bytes:
    """The 20 bytes of 32 characters of the alphabet, which upper-case letters begin.

    Raises:
        ValueError: It is no Base32 of 20 bytes.
    """
    if len(text) != 32 or not (text.isascii() and text.isalnum()):
        raise ValueError(f"no Base32 of a SHA-1 digest: {text[:64]!r}")
    return int(text.translate(_DIGITS), 32).to_bytes(20, "big")
