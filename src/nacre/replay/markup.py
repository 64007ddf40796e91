r"""Markup as bytes: the start tags that matter, their attributes, and texts that are no markup.

A tokenizer that passes over the rest of a page in one regular expression, as a browser's would
(HTML Standard, 13.2.5): quotes count only after `=`, comments and raw texts hide tags. It runs on
bytes, in which every character beyond ASCII is a byte above 7F or several that are no signs of
markup: `MarkupView` makes them from a page in any encoding.

Linear in the size of a page: patterns are possessive, and no text is searched twice.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import unescape
from html.entities import html5
from typing import Final, NamedTuple

from nacre.wire.charset import decode

_SPACE: Final = rb"[\t\n\f\r ]"
_GAP: Final = rb"[\t\n\f\r /]*+"
_NAME: Final = rb"[^\t\n\f\r />][^\t\n\f\r />=]*+"
_VALUE: Final = rb"\"[^\"]*+\"|'[^']*+'|[^\t\n\f\r >\"'][^\t\n\f\r >]*+"
_ATTRIBUTE: Final = re.compile(
    rb"%b(?:(?P<name>%b)(?:%b*+=%b*+(?P<value>%b)?)?)?" % (_GAP, _NAME, _SPACE, _SPACE, _VALUE)
)
_TAG_NAME: Final = re.compile(rb"<([a-zA-Z][^\t\n\f\r />]*+)")

# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_COMMENT: Final = rb"<!--(?:-?>|(?:[^-]++|-(?!-!?>)|(?!))*+(?:--!?>|\Z))"
_BOGUS: Final = rb"<(?:!(?!--)|\?|/[^a-zA-Z>])[^>]*+>?|</>"
_END_TAG: Final = rb"</[a-zA-Z][^>]*+>?"
_NO_TAG: Final = rb"<(?![a-zA-Z!/?])"
_STOPS: Final = (
    rb"(?i:base|iframe|meta|noembed|noframes|plaintext|script|style|textarea|title"
    rb"|xmp)(?=[\t\n\f\r />])"
)
"""Elements at which the walk always stops."""
_ONE_URL: Final = (
    rb"(?i:href|src|action|formaction|background|codebase|data|dynsrc|longdesc|lowsrc|manifest"
    rb"|poster|xlink:href)"
)
_OTHERS: Final = rb"(?i:csp|imagesrcset|integrity|ping|referrerpolicy|sandbox|srcdoc|srcset)"
_ENDS_NAME: Final = rb"(?=[\t\n\f\r />=])"
_DEEPEST: Final = 24
"""Folders that the pattern counts; a link that climbs more is looked at by itself."""


def _relative(depth: int, ends: bytes) -> bytes:
    """A pattern of a URL that is right in replay as it is, up to a character that ends it."""
    plain = rb"[^%b:&\\/?#.%%\x00-\x20<>]" % ends
    return (
        rb"(?:\./|(?!))?+(?:\.\./|(?!)){0,%d}+(?![/\\])"
        rb"(?:%b++|%%(?!2[eE])|\.(?!\.)|/(?!\.)|(?!))*+(?:[?#][^%b]*+|(?!))?+"
    ) % (depth, plain, ends)


@lru_cache(maxsize=_DEEPEST + 1)
def _boring(depth: int) -> re.Pattern[bytes]:
    """The text of a page up to a tag that may have to change."""
    url = rb"\"%b\"|'%b'|(?=[^\"'\t\n\f\r >])%b(?=[\t\n\f\r >])" % (
        _relative(depth, rb"\""),
        _relative(depth, rb"'"),
        _relative(depth, rb"\t\n\f\r >"),
    )
    style = rb"\"[^\"(\\&@]*+\"|'[^'(\\&@]*+'"
    equals = rb"%b*+=%b*+" % (_SPACE, _SPACE)
    attribute = (
        rb"(?!(?:%b|%b|(?i:style))%b)%b(?:%b(?:%b|(?=>))|(?!))?+|%b%b(?:%b)|(?i:style)%b(?:%b)|(?!)"
        % (_ONE_URL, _OTHERS, _ENDS_NAME, _NAME, equals, _VALUE, _ONE_URL, equals, url, equals,
           style)
    )  # fmt: skip
    tag = rb"<(?!%b)[a-zA-Z][^\t\n\f\r />]*+(?:%b(?:%b)|(?!))*+%b>" % (
        _STOPS, _GAP, attribute, _GAP,
    )  # fmt: skip
    parts = (rb"[^<]++", tag, _END_TAG, _COMMENT, _BOGUS, _NO_TAG)
    return re.compile(rb"(?:%b|(?!))*+" % rb"|".join(parts))


class TagAttribute(NamedTuple):
    """An attribute of a tag, by its places in the view.

    Attributes:
        name: In lower case.
        name_start: Where its name begins.
        start: Where its value begins, inside the quotes; the end of its name if it has none.
        end: Where its value ends.
    """

    name: bytes
    name_start: int
    start: int
    end: int


class Tag(NamedTuple):
    """A start tag.

    Attributes:
        name: In lower case.
        start: Where it begins.
        attributes: In order; only the first of a name counts.
        end: Where it ends, after its `>`.
        is_closed: It ends with `/>`.
    """

    name: bytes
    start: int
    attributes: list[TagAttribute]
    end: int
    is_closed: bool

    def attribute(self, name: bytes) -> TagAttribute | None:
        """Return the first attribute of a name."""
        return next((attribute for attribute in self.attributes if attribute.name == name), None)


def next_tag(view: bytes, position: int, depth: int) -> Tag | None:
    """Return the next start tag that may have to change; None if there is none.

    Args:
        view: The page.
        position: Where the search begins: outside of tags.
        depth: Folders that a relative URL of the page may climb.
    """
    passed = _boring(min(depth, _DEEPEST)).match(view, position)
    return _read_tag(view, passed.end() if passed else position)


def _read_tag(view: bytes, start: int) -> Tag | None:
    """Return the tag at a place; None at the end of the page, also inside a tag."""
    name = _TAG_NAME.match(view, start)
    if name is None:
        return None
    attributes: list[TagAttribute] = []
    position = name.end()
    while True:
        match = _ATTRIBUTE.match(view, position)
        if match is None or match.end() >= len(view):
            return None
        position = match.end()
        if match["name"] is None:
            if view[position] != _GREATER:
                return None
            closed = view[position - 1] == _SLASH
            return Tag(name[1].lower(), start, attributes, position + 1, closed)
        is_open = view[position] in _QUOTES and match["value"] is None
        if is_open and b"=" in view[match.end("name") : position]:
            return None  # browsers drop a tag with a quote that is never closed
        attributes.append(_attribute(view, match))


_GREATER, _SLASH = b">/"
_QUOTES: Final = b"\"'"


def _attribute(view: bytes, match: re.Match[bytes]) -> TagAttribute:
    start, end = match.span("value")
    if start < 0:
        start = end = match.end("name")
    elif view[start] in _QUOTES:
        start, end = start + 1, end - 1
    return TagAttribute(match["name"].lower(), match.start("name"), start, end)


RAW_TEXTS: Final = frozenset(
    (
        *(b"iframe", b"noembed", b"noframes", b"plaintext"),
        *(b"script", b"style", b"textarea", b"title", b"xmp"),
    )
)
"""Elements whose text is no markup."""

_SCRIPT: Final = re.compile(rb"<!--(?:-?>)?|-->|<(/?)script(?=[\t\n\f\r />])", re.IGNORECASE)


@lru_cache(maxsize=16)
def _end_tag(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"</%b(?=[\t\n\f\r />])" % name, re.IGNORECASE)


def end_of_raw_text(view: bytes, name: bytes, start: int) -> int:
    """Return where the text of an element of `RAW_TEXTS` ends: at its end tag, or with the page.

    In a script a comment that has a script in it hides one end tag (HTML Standard, "script data
    double escaped state").
    """
    if name == b"plaintext":
        return len(view)
    match = _end_tag(name).search(view, start)
    if match is None:
        return len(view)
    if name != b"script" or view.find(b"<!--", start, match.start()) < 0:
        return match.start()
    return _end_of_script(view, start)


def _end_of_script(view: bytes, start: int) -> int:
    is_comment = is_hidden = False
    for match in _SCRIPT.finditer(view, start):
        sign = match[0]
        if sign.startswith(b"<!--"):
            is_comment = is_comment or not sign.endswith(b">")
        elif sign == b"-->":
            is_comment = is_hidden = False
        elif match[1] and not is_hidden:
            return match.start()
        elif is_comment:
            is_hidden = not match[1]
    return len(view)


_ATTRIBUTES: Final = rb"(?:%b%b(?:%b*+=%b*+(?:%b)?|(?!))?+|(?!))*+%b" % (
    _GAP, _NAME, _SPACE, _SPACE, _VALUE, _GAP,
)  # fmt: skip
_PROLOG: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[\t\n\f\r \xff]++|%b|<[!?](?!--)[^>]*+>|(?!))*+" % _COMMENT
)
_BETWEEN: Final = rb"(?:[\t\n\f\r ]++|%b|(?!))*+" % _COMMENT
_HTML_TAG: Final = re.compile(rb"(?i:<html)(?=[\t\n\f\r />])%b>" % _ATTRIBUTES)
_HEAD_TAG: Final = re.compile(rb"%b(?i:<head)(?=[\t\n\f\r />])%b>" % (_BETWEEN, _ATTRIBUTES))
_NO_PAGE: Final = re.compile(rb"<(?!(?i:html)[\t\n\f\r />])[a-zA-Z]")
_XML_ROOT: Final = re.compile(rb"<(?:[A-Za-z_][A-Za-z0-9._-]*+:)?(?:html|svg)(?=[\t\n\f\r />])")
_SVG: Final = re.compile(rb"<(?i:svg)[\t\n\f\r />]")


def place_in_head(view: bytes) -> int:
    """Return where an element goes that shall be the first in the head of a page; -1 for nowhere.

    That is after `<head>`, else after `<html>`, else after the doctype, before which it would
    change how the page is laid out. An XML document that is no page has no place for it.
    """
    prolog = _PROLOG.match(view)
    place = prolog.end() if prolog else 0
    is_xml = view[:place].lstrip(b"\xef\xbb\xbf\xff \t\r\n").startswith(b"<?xml")
    if _SVG.match(view, place) or (is_xml and _NO_PAGE.match(view, place)):
        return -1
    if tag := _HTML_TAG.match(view, place):
        place = tag.end()
    if tag := _HEAD_TAG.match(view, place):
        place = tag.end()
    return place


def is_xml_page(view: bytes) -> bool:
    """Return whether the root of an XML document is that of a page or a drawing, of any prefix.

    Args:
        view: Its first bytes; of UTF-16 too.
    """
    view = view.lstrip(b"\xff\xfe").replace(b"\0", b"")
    prolog = _PROLOG.match(view)
    return _XML_ROOT.match(view, prolog.end() if prolog else 0) is not None


_REFERENCE: Final = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[A-Za-z][A-Za-z0-9]*+;?)")


def read_attribute(text: str) -> str:
    """Return the value of an attribute as written with its character references resolved.

    Without a semicolon a name counts only if neither `=` nor a letter follows, so that `&copy=1`
    in a query stays. Source: HTML Standard, "named character reference state".
    """
    if "&" not in text:
        return text
    return _REFERENCE.sub(_resolve, text)


def _resolve(match: re.Match[str]) -> str:
    reference = match[0]
    if reference[1] == "#":
        return unescape(reference)
    name = reference[1:]
    if name not in html5 or (
        name[-1] != ";" and match.string[match.end() : match.end() + 1] == "="
    ):
        return reference
    return html5[name]


_SPECIAL: Final = str.maketrans(
    {"&": "&amp;", '"': "&quot;", "'": "&#39;", "<": "&lt;", ">": "&gt;"}
)


def write_attribute(text: str) -> str:
    """Return a text as it is written in an attribute, in quotes of either kind."""
    return text.translate(_SPECIAL)


_UTF16: Final = ("utf-16-le", "utf-16-be")
_JIS: Final = re.compile(rb"(\x1b(?:\$[@B]|\(I))([^\x1b]*+)")
_HIGH: Final = (
    bytes(range(0x21))
    + bytes(code | 0x80 for code in range(0x21, 0x7F))
    + bytes(range(0x7F, 0x100))
)


class MarkupView:
    """A page as bytes of markup, beside the page itself.

    Attributes:
        view: A byte for each unit of the page: an ASCII character, or a byte above 7F.
    """

    __slots__ = ("_body", "_codec", "_unit", "view")

    def __init__(self, body: bytes, codec: str) -> None:
        """Prepare a page in a codec of Python."""
        self._body = body
        self._codec = codec
        self._unit = 1
        self.view = body
        if codec in _UTF16:
            self._unit = 2
            self.view = _units(body, codec)
        elif codec.startswith("iso2022_jp"):
            self.view = _JIS.sub(lambda part: part[1] + part[2].translate(_HIGH), body)

    def text(self, start: int, end: int) -> str:
        """Return the text between two places of the view."""
        raw = self._body[start * self._unit : end * self._unit]
        return (
            raw.decode("ascii") if self._unit == 1 and raw.isascii() else decode(raw, self._codec)
        )

    def apply(self, edits: Sequence[tuple[int, int, str]]) -> bytes:
        """Return the page with its changes, which are in order and do not overlap.

        Args:
            edits: Start and end in the view, and the new text; it is ASCII.
        """
        return b"".join(self._pieces(edits))

    def _pieces(self, edits: Sequence[tuple[int, int, str]]) -> Iterator[bytes]:
        body, unit, position = self._body, self._unit, 0
        encoding = "ascii" if unit == 1 else self._codec
        for start, end, text in edits:
            yield body[position * unit : start * unit]
            yield text.encode(encoding, "xmlcharrefreplace")
            position = end
        yield body[position * unit :]


def _units(body: bytes, codec: str) -> bytes:
    """Return a byte for each unit of UTF-16; FF for those beyond ASCII."""
    first, second = body[: len(body) & ~1 : 2], body[1::2]
    low, high = (first, second) if codec == "utf-16-le" else (second, first)
    if not any(high):
        return low
    return bytes(0xFF if more else code for code, more in zip(low, high, strict=True))
