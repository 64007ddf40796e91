"""Keys that are certainly not in a family: most rows of a first crawl are new; no look-up then."""

_BITS = 24
_PLACE = slice(4, 7)
"""The bytes of a key that tell its bit: keys are hashes, the first may be that of a host."""


class Novelty:
    """Knows the keys put into a family that was empty when the store was opened.

    One bit stands for all keys that share three bytes: of a million keys one in seventeen is looked
    up although it is new, and a family of many millions is always looked at. Takes 2 MB.

    Args:
        is_empty: The family has no row so far; else nothing is known of it.
    """

    __slots__ = ("_bits",)

    def __init__(self, *, is_empty: bool) -> None:
        self._bits = bytearray(1 << _BITS - 3) if is_empty else None

    def is_new(self, key: bytes) -> bool:
        """True when a key was certainly never put; a key has at least seven bytes."""
        bits = self._bits
        if bits is None:
            return False
        place = int.from_bytes(key[_PLACE], "big")
        return not bits[place >> 3] >> (place & 7) & 1

    def add(self, key: bytes) -> None:
        """Note that a key is put."""
        if self._bits is not None:
            place = int.from_bytes(key[_PLACE], "big")
            self._bits[place >> 3] |= 1 << (place & 7)
