"""A set of texts by their CRCs: four bytes each, and bounded (pure)."""

from array import array
from collections.abc import Iterable
from zlib import crc32

_FIRST_BITS = 1 << 22
_MOST_BITS = 1 << 28
_FULL = 64
"""One bit in so many is set before the table grows; at its largest it forgets its oldest text."""

_MIX, _MIXED = 0x9E3779B97F4A7C15, 32
"""CRCs are linear: texts that differ in some digits collide more often in the lower bits."""


class KnownSet:
    """Texts by the CRC of each: 4 bytes each, and from 512 kB to 32 MB of bits.

    At most one look-up in 64 reports a new text as known by mistake; it is then not added, and may
    turn out to be unknown when the table has grown. It holds four million texts at most; then each
    takes the place of the oldest, so that no text costs more time or memory than another.

    Attributes:
        fresh: CRCs added since the last call of `take_fresh`.
    """

    __slots__ = ("_bits", "_mask", "_oldest", "_prints", "fresh")

    def __init__(self) -> None:
        self._prints = array("I")
        self._bits = bytearray()
        self._mask = self._oldest = 0
        self.fresh = array("I")
        self._resize(_FIRST_BITS)

    def __len__(self) -> int:
        return len(self._prints)

    @staticmethod
    def most_bytes() -> int:
        """Bytes of `everything` at its largest."""
        return 4 * _MOST_BITS // _FULL

    def has(self, text: bytes, salt: int = 0) -> bool:
        """Return whether a text was added; `salt` distinguishes sets that share the table."""
        bit = crc32(text, salt) * _MIX >> _MIXED & self._mask
        return bool(self._bits[bit >> 3] & 1 << (bit & 7))

    def add(self, text: bytes, salt: int = 0) -> bool:
        """Add a text; True when it was not known."""
        value = self.mark(text, salt)
        if value is None:
            return False
        self.fresh.append(value)
        return True

    def add_all(self, texts: Iterable[bytes], salt: int = 0) -> int:
        """Add texts; the letters of those that were not known."""
        bits, mask, letters = self._bits, self._mask, 0
        for text in texts:
            value = crc32(text, salt)
            bit = value * _MIX >> _MIXED & mask
            if not bits[bit >> 3] & 1 << (bit & 7):
                bits[bit >> 3] |= 1 << (bit & 7)
                letters += len(text)
                self.fresh.append(value)
                self._note(value)
                bits, mask = self._bits, self._mask
        return letters

    def mark(self, text: bytes, salt: int = 0) -> int | None:
        """Add a text, but not to `fresh`; its CRC for `keep`, None when it was known."""
        value = crc32(text, salt)
        bit = value * _MIX >> _MIXED & self._mask
        place, mask = bit >> 3, 1 << (bit & 7)
        if self._bits[place] & mask:
            return None
        self._bits[place] |= mask
        self._note(value)
        return value

    def keep(self, values: Iterable[int]) -> None:
        """Texts that were marked are to be in `fresh`."""
        self.fresh.extend(values)

    def take_fresh(self) -> bytes:
        """Return the keys that were added since the last call, for `restore`."""
        data = self.fresh.tobytes()
        self.fresh = array("I")
        return data

    def everything(self) -> bytes:
        """Return its complete content, the oldest first, for `restore`."""
        return (self._prints[self._oldest :] + self._prints[: self._oldest]).tobytes()

    def restore(self, data: bytes) -> None:
        """Add the keys that `take_fresh` or `everything` returned."""
        values = array("I")
        values.frombytes(data[: len(data) // values.itemsize * values.itemsize])
        for value in values:
            if self._set(value):
                self._note(value)

    def _set(self, value: int) -> bool:
        bit = value * _MIX >> _MIXED & self._mask
        place, mask = bit >> 3, 1 << (bit & 7)
        if self._bits[place] & mask:
            return False
        self._bits[place] |= mask
        return True

    def _note(self, value: int) -> None:
        prints = self._prints
        if len(prints) * _FULL > self._mask:
            self._replace_oldest(value)
            return
        prints.append(value)
        if len(prints) * _FULL > self._mask and self._mask + 1 < _MOST_BITS:
            self._resize((self._mask + 1) * 4)

    def _replace_oldest(self, value: int) -> None:
        """Forget the oldest text. Its bit is no other's: a text whose bit is set is not added."""
        bit = self._prints[self._oldest] * _MIX >> _MIXED & self._mask
        self._bits[bit >> 3] &= ~(1 << (bit & 7))
        self._prints[self._oldest] = value
        self._oldest = (self._oldest + 1) % len(self._prints)

    def _resize(self, bits: int) -> None:
        self._bits = bytearray()  # before the next is made: both would be in memory
        self._bits = bytearray(bits >> 3)
        self._mask = bits - 1
        for value in self._prints:
            self._set(value)
