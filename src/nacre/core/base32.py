"""Base32 (RFC 4648 clause 6) of SHA-1 digests: the form that WARC tools agree on.

The standard library's works byte by byte in Python, which costs more than the digest of a page.
"""

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = tuple(a + b for a in _ALPHABET for b in _ALPHABET)
_TRIPLES = tuple(a + b for a in _ALPHABET for b in _PAIRS)
_DIGITS = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")


def encode_sha1(digest: bytes) -> str:
    """32 characters for the 20 bytes of a SHA-1 digest."""
    high = int.from_bytes(digest[:10], "big")
    low = int.from_bytes(digest[10:], "big")
    three, two = _TRIPLES, _PAIRS
    return (
        f"{three[high >> 65]}{three[high >> 50 & 32767]}{three[high >> 35 & 32767]}"
        f"{three[high >> 20 & 32767]}{two[high >> 10 & 1023]}{two[high & 1023]}"
        f"{three[low >> 65]}{three[low >> 50 & 32767]}{three[low >> 35 & 32767]}"
        f"{three[low >> 20 & 32767]}{two[low >> 10 & 1023]}{two[low & 1023]}"
    )


def decode_sha1(text: str) -> bytes:
    """The 20 bytes of 32 characters of the alphabet, which upper-case letters begin.

    Raises:
        ValueError: It is no Base32 of 20 bytes.
    """
    if len(text) != 32 or not (text.isascii() and text.isalnum()):
        raise ValueError(f"no Base32 of a SHA-1 digest: {text[:64]!r}")
    return int(text.translate(_DIGITS), 32).to_bytes(20, "big")
