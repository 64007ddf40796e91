"""Sets of characters: ranges that can be reckoned with, and Unicode properties, which are kept."""

from collections.abc import Iterable
from typing import NamedTuple

LAST = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]


class CharSet(NamedTuple):
    r"""A set of characters.

    Attributes:
        ranges: First and last code points, sorted, apart from each other.
        properties: Unicode properties that belong to it too, such as `\p{Greek}`.
        negated: All but these.
        nested: It cannot be written as one flat class: its text, which only `regex` understands.
    """

    ranges: Ranges = ()
    properties: tuple[str, ...] = ()
    negated: bool = False
    nested: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether it is nothing but ranges."""
        return not self.properties and not self.nested

    @property
    def text(self) -> str:
        """The class as it is written."""
        if self.nested:
            return self.nested
        inner = "".join(map(_range, self.ranges)) + "".join(self.properties)
        if not inner:
            return _range((0, LAST), around=True) if self.negated else r"[^\x00-\U0010ffff]"
        return f"[{'^' if self.negated else ''}{inner}]"


def plain(ranges: Iterable[tuple[int, int]]) -> CharSet:
    """A set of ranges, in any order."""
    result: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], last))
        else:
            result.append((first, last))
    return CharSet(tuple(result))


def characters(text: str) -> CharSet:
    """The set of the characters of a text."""
    return plain((ord(each), ord(each)) for each in text)


def complement(ranges: Ranges) -> Ranges:
    """All code points but these."""
    result, at = [], 0
    for first, last in ranges:
        if first > at:
            result.append((at, first - 1))
        at = last + 1
    if at <= LAST:
        result.append((at, LAST))
    return tuple(result)


def positive(charset: CharSet) -> CharSet:
    """The same set without a negation, where it is nothing but ranges."""
    if charset.negated and charset.is_plain:
        return CharSet(complement(charset.ranges))
    return charset


def union(one: CharSet, other: CharSet) -> CharSet:
    """What is in either."""
    one, other = positive(one), positive(other)
    if one.nested or other.nested or one.negated or other.negated:
        return CharSet(nested=f"[{one.text}{other.text}]")
    ranges = plain((*one.ranges, *other.ranges)).ranges
    return CharSet(ranges, (*one.properties, *other.properties))


def intersection(one: CharSet, other: CharSet) -> CharSet:
    """What is in both."""
    one, other = positive(one), positive(other)
    if not one.is_plain or not other.is_plain:
        return CharSet(nested=f"[{one.text}&&{other.text}]")
    outside = plain((*complement(one.ranges), *complement(other.ranges)))
    return CharSet(complement(outside.ranges))


def negation(charset: CharSet) -> CharSet:
    """What is not in it."""
    if charset.nested:
        return CharSet(nested=f"[^{charset.nested}]")
    return charset._replace(negated=not charset.negated)


def both_cases(charset: CharSet) -> CharSet:
    """With the other case of its ASCII letters, for reckoning where case does not matter."""
    if charset.nested:
        return charset
    more = []
    for low, high, shift in ((0x41, 0x5A, 32), (0x61, 0x7A, -32)):
        for first, last in charset.ranges:
            if first <= high and last >= low:
                more.append((max(first, low) + shift, min(last, high) + shift))
    return charset._replace(ranges=plain((*charset.ranges, *more)).ranges)


def escaped(character: str) -> str:
    """A character as itself, outside a class or within one."""
    if character.isalnum() or character in "_ " or ord(character) >= 0xA0:
        return character
    return f"\\{character}" if character.isprintable() else f"\\x{ord(character):02x}"


def _range(ends: tuple[int, int], *, around: bool = False) -> str:
    first, last = (_end(end) for end in ends)
    text = first if first == last else f"{first}-{last}"
    return f"[{text}]" if around else text


def _end(point: int) -> str:
    # Surrogates are no characters of a text; RE2 and `regex` know no name for them in common.
    if 0xD800 <= point <= 0xDFFF:
        point = 0xD7FF if point < 0xDC00 else 0xE000
    return escaped(chr(point))
