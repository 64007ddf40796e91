"""Sets of characters as Java's expressions name them: ranges, Unicode properties, named classes."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from nacre.messages import message


class JavaRegexError(ValueError):
    """An expression or construct that is not supported; the message contains it."""


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
    """Return a set of ranges, in any order."""
    result: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], last))
        else:
            result.append((first, last))
    return CharSet(tuple(result))


def characters(text: str) -> CharSet:
    """Return the set of the characters of a text."""
    return plain((ord(character), ord(character)) for character in text)


def complement(ranges: Ranges) -> Ranges:
    """Return all code points but these."""
    result, at = [], 0
    for first, last in ranges:
        if first > at:
            result.append((at, first - 1))
        at = last + 1
    if at <= LAST:
        result.append((at, LAST))
    return tuple(result)


def positive(charset: CharSet) -> CharSet:
    """Return the same set without a negation, where it is nothing but ranges."""
    if charset.negated and charset.is_plain:
        return CharSet(complement(charset.ranges))
    return charset


def union(first: CharSet, second: CharSet) -> CharSet:
    """Return the characters in either set."""
    first, second = positive(first), positive(second)
    if first.nested or second.nested or first.negated or second.negated:
        return CharSet(nested=f"[{first.text}{second.text}]")
    ranges = plain((*first.ranges, *second.ranges)).ranges
    return CharSet(ranges, (*first.properties, *second.properties))


def intersection(first: CharSet, second: CharSet) -> CharSet:
    """Return the characters in both sets."""
    first, second = positive(first), positive(second)
    if not first.is_plain or not second.is_plain:
        return CharSet(nested=f"[{first.text}&&{second.text}]")
    outside = plain((*complement(first.ranges), *complement(second.ranges)))
    return CharSet(complement(outside.ranges))


def negation(charset: CharSet) -> CharSet:
    """Return the characters that are not in the set."""
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


def escape(character: str) -> str:
    """Return a character as itself, outside a class or within one."""
    if character.isalnum() or character in "_ " or ord(character) >= 0xA0:
        return character
    return f"\\{character}" if character.isprintable() else f"\\x{ord(character):02x}"


def _range(ends: tuple[int, int], *, around: bool = False) -> str:
    first, last = (_end(end) for end in ends)
    text = first if first == last else f"{first}-{last}"
    return f"[{text}]" if around else text


def _end(point: int) -> str:
    # Surrogates are not characters of a text; RE2 and `regex` have no common name for them.
    if 0xD800 <= point <= 0xDFFF:
        point = 0xD7FF if point < 0xDC00 else 0xE000
    return escape(chr(point))


_DIGIT = plain([(0x30, 0x39)])
_UPPER = plain([(0x41, 0x5A)])
_LOWER = plain([(0x61, 0x7A)])
_ALPHA = union(_UPPER, _LOWER)
_ALNUM = union(_ALPHA, _DIGIT)
_PUNCT = plain([(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)])
_SPACE = plain([(0x09, 0x0D), (0x20, 0x20)])
_BLANK = plain([(0x09, 0x09), (0x20, 0x20)])
_VERTICAL = plain([(0x0A, 0x0D), (0x85, 0x85), (0x2028, 0x2029)])
_HORIZONTAL = plain(
    [
        *((point, point) for point in (0x09, 0x20, 0xA0, 0x1680, 0x180E, 0x202F, 0x205F, 0x3000)),
        (0x2000, 0x200A),
    ]
)
SHORTHANDS = {
    "d": _DIGIT,
    "s": _SPACE,
    "w": union(_ALNUM, plain([(0x5F, 0x5F)])),
    "h": _HORIZONTAL,
    "v": _VERTICAL,
}
r"""Classes of one letter; the capital letter is the complement. ASCII only, as in Java."""

POSIX = {
    "lower": _LOWER,
    "upper": _UPPER,
    "ascii": plain([(0, 0x7F)]),
    "alpha": _ALPHA,
    "digit": _DIGIT,
    "alnum": _ALNUM,
    "punct": _PUNCT,
    "graph": plain([(0x21, 0x7E)]),
    "print": plain([(0x20, 0x7E)]),
    "blank": _BLANK,
    "cntrl": plain([(0, 0x1F), (0x7F, 0x7F)]),
    "xdigit": union(_DIGIT, plain([(0x41, 0x46), (0x61, 0x66)])),
    "space": _SPACE,
    "word": SHORTHANDS["w"],
}
_WHITE = plain(
    [
        *((0x09, 0x0D), (0x1C, 0x20), (0x1680, 0x1680), (0x2000, 0x2006), (0x2008, 0x200A)),
        *((0x2028, 0x2029), (0x205F, 0x205F), (0x3000, 0x3000)),
    ]
)
_LETTERS = CharSet(properties=(r"\p{L}", r"\p{Nl}"))
_NAMED = {
    "javalowercase": CharSet(properties=(r"\p{Ll}",)),
    "javauppercase": CharSet(properties=(r"\p{Lu}",)),
    "javatitlecase": CharSet(properties=(r"\p{Lt}",)),
    "javadigit": CharSet(properties=(r"\p{Nd}",)),
    "javaletter": CharSet(properties=(r"\p{L}",)),
    "javaletterordigit": CharSet(properties=(r"\p{L}", r"\p{Nd}")),
    "javaalphabetic": _LETTERS,
    "javawhitespace": _WHITE,
    "javaspacechar": CharSet(properties=(r"\p{Z}",)),
    "javaisocontrol": plain([(0, 0x1F), (0x7F, 0x9F)]),
    "isalphabetic": _LETTERS,
    "isletter": CharSet(properties=(r"\p{L}",)),
    "isdigit": CharSet(properties=(r"\p{Nd}",)),
    "isuppercase": CharSet(properties=(r"\p{Lu}",)),
    "islowercase": CharSet(properties=(r"\p{Ll}",)),
    "istitlecase": CharSet(properties=(r"\p{Lt}",)),
    "ispunctuation": CharSet(properties=(r"\p{P}",)),
    "iscontrol": CharSet(properties=(r"\p{Cc}",)),
    "iswhite_space": union(_SPACE, union(_WHITE, plain([(0x85, 0x85), (0xA0, 0xA0)]))),
    "ishex_digit": POSIX["xdigit"],
}
_CATEGORY = re.compile(r"(?:Is|gc=|general_category=)?([LMNPSZC][a-z&]?)\Z", re.IGNORECASE)
_SCRIPT = re.compile(r"(?:Is|sc=|script=)([A-Za-z_]{2,})\Z", re.IGNORECASE)
_BLOCK = re.compile(r"(?:In|blk=|block=)([A-Za-z0-9_ -]+)\Z", re.IGNORECASE)


def shorthand(letter: str) -> CharSet:
    r"""Return the set of `\d`, `\W` and so on."""
    charset = SHORTHANDS[letter.lower()]
    return charset if letter.islower() else positive(negation(charset))


def class_named(name: str, *, negated: bool) -> CharSet:
    r"""Return the set of `\p{name}`, or of `\P{name}`.

    Raises:
        JavaRegexError: There is no such class here.
    """
    charset = POSIX.get(name.lower()) if name[:1].isupper() else None
    charset = charset or _NAMED.get(name.lower()) or _unicode(name)
    if not negated:
        return charset
    if len(charset.properties) == 1 and not charset.ranges:
        return CharSet(properties=(r"\P" + charset.properties[0][2:],))
    return positive(negation(charset))


def _unicode(name: str) -> CharSet:
    for form, text in ((_CATEGORY, "{}"), (_SCRIPT, "{}"), (_BLOCK, "In{}")):
        match = form.match(name)
        if match is not None:
            part = match[1]
            part = part[:1].upper() + part[1:].lower() if form is not _BLOCK else part
            return CharSet(properties=(rf"\p{{{text.format(part)}}}",))
    raise JavaRegexError(
        message("scope.p-is-class", "`\\p{{{name}}}` is a class that is not known here", name=name)
    )
