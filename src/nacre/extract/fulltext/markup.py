"""Prepares markup for the text reader, which would otherwise join, split or lose text.

The reader (resiliparse) keeps to the tree, and collapses line breaks to spaces. So what its answer
does not show any more is settled in the markup: line breaks between characters of Chinese or
Japanese, the readings of `ruby`, and elements that it takes for parts of a line.
"""

import re
from typing import NamedTuple

import regex

from nacre.extract.fulltext.controls import with_labels
from nacre.extract.lines import is_no_space, join_lines

_INLINE = (
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|nobr|q|rb|ruby"
    "|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
_TAGS = rf"</?(?:{_INLINE})\b[^<>]*>|<!--.{{0,2000}}?-->"
_BREAKS = regex.compile(rf"(?is)\n(?:\s++|{_TAGS}|(?!))*+(?=[^\x00-\x7f])")
_TAG = regex.compile(rf"(?is){_TAGS}")
_BEFORE = regex.compile(rf"(?isr)(?<=[^\x00-\x7f])(?:[ \t\f]++|{_TAGS})*")
_LOOKED_BACK = 1_000
"""Characters before a line break that are inspected for tags."""
_PRE = regex.compile(r"(?is)(<pre\b.*?(?:</pre\s*>|\Z))")
_REFERENCE = regex.compile(r"(?i)&#(?:x([0-9a-f]{3,6})|([0-9]{4,7}));")
_FIRST_WIDE = 0x2E80
"""Characters below this code may be markup, and none of them is wide."""

_READING = regex.compile(
    r"(?i)<r(?:t|p|tc)\b[^<>]*+>((?:[^<]|<(?!/?r(?:t|p|tc|b|uby)\b)|(?!)){0,400}+)"
    r"(?:</r(?:t|p|tc)\s*+>|(?!))*+"
)
_RUBY = regex.compile(r"(?is)<ruby\b[^<>]*+>.{0,4000}?</ruby\s*+>")
_ANY_TAG = regex.compile(r"<[^<>]*+>")
_READINGS = 20_000

_UPPER = re.compile("<[A-Z]")
_APART = (
    "</?(?:d(?:ialog|ir|esc)|hr|l(?:egend|isting)|m(?:enu|ath|arquee)|o(?:ptgroup|bject)|video"
    "|s(?:earch|ummary|vg|lot)|table|text|xmp|a(?:udio|pplet)|canvas|iframe|foreignobject)"
    r"\b[^<>]*>"
)
_PICTURE = (
    r"<img\b(?=[^<>]{0,1000}?\balt\s{0,9}=\s{0,9}"
    r"""(?:"[^"<>]{2}|'[^'<>]{2}|[^"'<>\s]{2}))[^<>]*>"""
)
"""A picture with a text in its place: only its first characters are searched, which bounds time."""
_SPACED = {
    is_upper: re.compile(("(?i)" if is_upper else "") + f"{_APART}|{_PICTURE}")
    for is_upper in (False, True)
}
_FORMATTING = re.compile(
    "</?(?:a(?:bbr|cronym)|b(?:d[io]|ig)?|c(?:ite|ode)|d(?:el|fn|ata)|em|font|i(?:ns)?|kbd|label|mark"
    "|nobr|q|s(?:amp|mall|pan|trike|trong|u[bp])?|t(?:ime|t)|u|var|(?:ABBR|B|BIG|CITE|CODE|DEL|EM|FONT"
    r"|I|INS|LABEL|Q|S|SMALL|SPAN|STRIKE|STRONG|SU[BP]|TT|U|VAR))\b(?![-:])"
    r"""[^<>"']*(?:(?:"[^"<]*"|'[^'<]*')[^<>"']*)*>"""
)
"""Tags within a line: without them its text is one piece, of which the reader drops no part."""
_SHORT_LINK = re.compile(r"<[aA]\s[^<>]*>([^<>]{1,2})</[aA]\s*>")
_SINGLE = re.compile(r">([^\s<>])(?=<)")
MARK = "\uf8fe"
"""Add a mark after single characters between two tags, which the reader would drop."""


class ReadableMarkup(NamedTuple):
    """Markup whose text can be taken.

    Attributes:
        markup: The markup.
        readings: The readings that its `ruby` elements had, those of an element as one word; and
            the options of lists that are not shown.
    """

    markup: str
    readings: tuple[str, ...] = ()


def readable(markup: str) -> ReadableMarkup:
    """Settle what the text of markup depends on.

    Args:
        markup: The decoded page.
    """
    markup, options = with_labels(markup)
    readings = list(options)
    if "<r" in markup or "<R" in markup:
        markup = _RUBY.sub(lambda match: _base(match[0], readings), markup)
    if "&#" in markup:
        markup = _REFERENCE.sub(_character, markup)
    if not markup.isascii():
        markup = _without_breaks(markup)
    spaced = _SPACED[_UPPER.search(markup) is not None]
    markup = _SHORT_LINK.sub(r"\1", _FORMATTING.sub("", markup))
    markup = _SINGLE.sub(rf">\1{MARK}", spaced.sub(r" \g<0> ", markup))
    return ReadableMarkup(markup, tuple(readings))


def _base(ruby: str, readings: list[str]) -> str:
    """Return a `ruby` element without its readings."""
    parts = [match[1] for match in _READING.finditer(ruby) if match[0][2:3] in "tT"]
    if parts and len(readings) < _READINGS:
        readings.append("".join("".join(_ANY_TAG.sub("", part).split()) for part in parts))
    return str(_READING.sub("", ruby))


def _character(match: "regex.Match[str]") -> str:
    """Return a reference to a wide character as this character."""
    code = int(match[1], 16) if match[1] else int(match[2])
    return chr(code) if _FIRST_WIDE <= code < 0xD800 or 0xF900 <= code <= 0x3FFFF else match[0]


def _without_breaks(markup: str) -> str:
    if "\r" in markup:  # as the parser does
        markup = markup.replace("\r\n", "\n").replace("\r", "\n")
    parts = _PRE.split(markup) if "<pre" in markup or "<PRE" in markup else [markup]
    return "".join(
        join_lines(part) if number % 2 else _without_breaks_of_lines(part)
        for number, part in enumerate(parts)
    )


def _without_breaks_of_lines(markup: str) -> str:
    parts, at = [], 0
    for match in _BREAKS.finditer(markup):
        start, end = match.span()
        before = _BEFORE.match(markup, max(at, start - _LOOKED_BACK), start)
        if before is None:
            continue
        begin = before.start()
        if begin and is_no_space(markup[begin - 1], markup[end]):
            parts += [markup[at:begin], *_TAG.findall(markup, begin, end)]
            at = end
    return "".join((*parts, markup[at:]))
