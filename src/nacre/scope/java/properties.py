r"""Java's named classes: `\d`, `\p{Alpha}`, `\p{javaLowerCase}`, `\p{IsGreek}`."""

import re

from nacre.scope.java.charset import CharSet, negation, plain, positive, union
from nacre.scope.java.error import JavaRegexError

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
r"""Classes of one letter; the capital is what is not in them. ASCII only, as in Java."""

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
    r"""The set of `\d`, `\W` and so on."""
    known = SHORTHANDS[letter.lower()]
    return known if letter.islower() else positive(negation(known))


def named(name: str, *, negated: bool) -> CharSet:
    r"""The set of `\p{name}`, or of `\P{name}`.

    Raises:
        JavaRegexError: There is no such class here.
    """
    found = POSIX.get(name.lower()) if name[:1].isupper() else None
    found = found or _NAMED.get(name.lower()) or _unicode(name)
    if not negated:
        return found
    if len(found.properties) == 1 and not found.ranges:
        return CharSet(properties=(r"\P" + found.properties[0][2:],))
    return positive(negation(found))


def _unicode(name: str) -> CharSet:
    for form, text in ((_CATEGORY, "{}"), (_SCRIPT, "{}"), (_BLOCK, "In{}")):
        match = form.match(name)
        if match is not None:
            part = match[1]
            part = part[:1].upper() + part[1:].lower() if form is not _BLOCK else part
            return CharSet(properties=(rf"\p{{{text.format(part)}}}",))
    raise JavaRegexError(rf"`\p{{{name}}}` is a class that is not known here")
