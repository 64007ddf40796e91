"""Line breaks within a text: between two characters of Chinese or Japanese they are no space.

Source: CSS Text Module Level 3, 4.1.3, "Segment Break Transformation Rules".
"""

import re
import unicodedata
from functools import lru_cache

_BREAK = re.compile(r"(?<=[^\x00-\x7f])[ \t\f]*(?:\r\n?|\n)[ \t\f]*(?=[^\x00-\x7f\s])")
# Each run of spaces is read once: a pattern with a break in its middle would try every place of it.
_SPACES = re.compile(r"(?<=[^\x00-\x7f\s])\s+(?=[^\x00-\x7f\s])")
_WIDE = frozenset("WFH")
_ZERO = "\u200b"
_HYPHEN = re.compile("\u00ad[ \t]*(?:\r\n?|\n)[ \t]*")


@lru_cache(maxsize=65_536)
def _kind(char: str) -> str:
    """Whether line breaks next to it may vanish: `wide` yes, `sign` next to wide, `zero` always."""
    if char == _ZERO:
        return "zero"
    category, width = unicodedata.category(char), unicodedata.east_asian_width(char)
    if width in _WIDE and category != "Zs":
        return "" if "HANGUL" in unicodedata.name(char, "") else "wide"
    return "sign" if width == "A" and category[0] == "P" else ""


def is_no_space(before: str, after: str) -> bool:
    """Return whether a line break between two characters is no space.

    Between wide ones other than Hangul, or such a one and a sign of ambiguous width (`”`, `…`), or
    beside a zero width space.

    Args:
        before: The character before the break.
        after: The character after it.
    """
    kinds = {_kind(before), _kind(after)}
    return "zero" in kinds or ("wide" in kinds and kinds <= {"wide", "sign"})


def join_lines(text: str) -> str:
    """Return a text without the line breaks that are no space, of a file whose lines were filled.

    An empty line stays, as does one that begins with an ideographic space: they are paragraphs. A
    soft hyphen at the end of a line goes with the break.
    """
    if text.isascii() or ("\n" not in text and "\r" not in text):
        return text
    return _BREAK.sub(_join_break, _HYPHEN.sub("", text))


def one_line(text: str) -> str:
    """Return a text in one line, its white space collapsed: of titles and texts of links."""
    if not text.isascii() and ("\n" in text or "\r" in text):
        text = _SPACES.sub(_without_break, text)
    return " ".join(text.split())


def _join_break(match: re.Match[str]) -> str:
    text, (start, end) = match.string, match.span()
    return "" if is_no_space(text[start - 1], text[end]) else match[0]


def _without_break(match: re.Match[str]) -> str:
    """Return a run of spaces: "" if it has a break that is no space."""
    return _join_break(match) if "\n" in match[0] or "\r" in match[0] else match[0]
