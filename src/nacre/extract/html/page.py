"""The seam to the HTML parser: a page as a sequence of elements, however it was read.

Two readings. A tree, as a browser builds it: fastest, and text costs nothing. A flat run of tags,
for what would grow out of bounds as a tree, and for what a tree builder drops.

A tree grows out of bounds when formatting elements are left open: each later block repeats them all
(HTML Standard, "reconstruct the active formatting elements"), so 64 kB may become 900 MB.

In XHTML an empty element may stand for a pair of tags; for a reader of HTML it gets its end tag,
because it would hold the text to the end of the page otherwise.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sized
from operator import attrgetter
from typing import Protocol

from turbohtml import Document, Element, Text, Token, TokenType, parse, tokenize

from nacre.wire.charset import decode

_TREE_NODES = 4_000_000
_TAME_SIZE = 16_000  # `<b x>` and `<p>x`: 1,600 x 2,000 nodes
_TAME_TAGS = 2 * 2000  # as many formatting elements as blocks: 2,000 x 2,000 nodes
_AROUND = 4  # a tag, its text, and implied nodes
_EQUALS_KEPT = 3
_NAMES = rb"big|b|code|em|font|i|nobr|small|strike|strong|s|tt|u"
_ALL_BARE = _EQUALS_KEPT * len(_NAMES.split(b"|"))
_BARE = re.compile(rb"<(" + _NAMES + rb")>", re.IGNORECASE)
_OPENING = re.compile(rb"<(?=[bcefinstu])(?:" + _NAMES + rb")[\s/][^>]*+", re.IGNORECASE)
# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_CLEAN = re.compile(rb"<\w+(?:\s++[\w-]++=(?:\"[^\"]*+\"|[\w-]++)|(?!))*+\s*+")
_ASCII_IN = frozenset(("utf-8", "cp1252"))
"""The encodings of most pages; in both, ASCII is ASCII."""
_MAX_TEXT_TOKENS = 200
_ODD_SELECTOR = "[style],[background],[src]:not(img,script,iframe),[href]:not(a,link)"
_USUAL_SOURCES = frozenset(("img", "script", "iframe"))
_USUAL_LINKS = frozenset(("a", "link"))
_ODD = frozenset(("src", "background"))
_START, _TEXT = TokenType.START_TAG, TokenType.TEXT


class Node(Protocol):
    """A start tag."""

    @property
    def tag(self) -> str | None:
        """Name; lower case, except for some of SVG."""
        ...

    @property
    def attrs(self) -> Sized | None:
        """All attributes."""
        ...

    def attr(self, name: str, /) -> str | None:
        """Value of an attribute, character references decoded; None when absent."""
        ...


class HtmlPage(Protocol):
    """A page that was read."""

    def nodes(self, tags: Container[str]) -> Iterator[Node]:
        """Elements of these names, in document order, those in templates included."""
        ...

    def styled_and_odd(self) -> tuple[Collection[str], Iterable[Node]]:
        """Return the elements that tables of elements leave out: with styles, or with odd names.

        Returns:
            Values of `style` attributes, each once; and the elements that may refer to something
            although the table does not know them.
        """
        ...

    def having(self, names: Collection[str]) -> Iterable[Node]:
        """Elements with one of these attributes."""
        ...

    def all(self) -> Iterator[tuple[Node, Iterable[tuple[str, str]]]]:
        """Return every element with its attributes."""
        ...

    def text(self, node: Node, /) -> str:
        """Text in an element that `nodes` gave."""
        ...

    def label(self, node: Node, /) -> str:
        """Text in an element as it is read: blocks in it apart, without the readings of `ruby`."""
        ...

    def alt(self, node: Node, /) -> str:
        """`alt` of the first picture in an element that `nodes` gave; "" for none."""
        ...

    def path(self, node: Node, /) -> str:
        """Element path, such as `html/body/p/a`; "" if it is unknown."""
        ...


class TreePage:
    """A page read as a browser reads it, scripts disabled."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def nodes(self, tags: Container[str]) -> Iterator[Element]:
        """See `HtmlPage.nodes`."""
        return self._document.iter_elements(tags)  # type: ignore[arg-type]  # a frozenset serves

    def styled_and_odd(self) -> tuple[Collection[str], list[Element]]:
        """See `HtmlPage.styled_and_odd`; one search for both."""
        styles: dict[str, None] = {}
        odd = []
        for node in self._document.select(_ODD_SELECTOR):
            style = node.attr("style")
            if style:
                styles[style] = None
            if style is None or _is_odd(node):
                odd.append(node)
        return styles, odd

    def having(self, names: Collection[str]) -> list[Element]:
        """See `HtmlPage.having`."""
        return self._document.select(",".join(f"[{name}]" for name in names))

    def all(self) -> Iterator[tuple[Element, Iterable[tuple[str, str]]]]:
        """See `HtmlPage.all`."""
        for element in self._document.iter_elements():
            pairs = element.attrs.items()
            yield element, [(name, value) for name, value in pairs if isinstance(value, str)]

    text: Callable[[Node], str] = staticmethod(attrgetter("text"))
    """See `HtmlPage.text`; this takes no call."""

    def label(self, node: Node) -> str:
        """See `HtmlPage.label`."""
        if not isinstance(node, Element):
            return ""
        children = node.children
        if len(children) == 1 and isinstance(children[0], Text):
            return node.text
        parts: list[str] = []
        _gather(node, parts, _LABEL_DEPTH)
        return "".join(parts)

    def alt(self, node: Node) -> str:
        """See `HtmlPage.alt`."""
        picture = node.find("img") if isinstance(node, Element) else None
        return (picture.attr("alt") or "") if picture else ""

    def path(self, node: Node) -> str:
        """See `HtmlPage.path`."""
        if not isinstance(node, Element):
            return ""
        names = [node.tag, *(up.tag for up in node.ancestors if isinstance(up, Element))]
        return "/".join(reversed(names[:64]))


class TokenPage:
    """A page read tag by tag."""

    def __init__(self, text: str) -> None:
        self._tokens = list(tokenize(text))
        self._starts = [at for at, token in enumerate(self._tokens) if token.type is _START]
        self._places: dict[int, int] = {}

    def nodes(self, tags: Container[str]) -> Iterator[Token]:
        """See `HtmlPage.nodes`."""
        tokens = self._tokens
        return (tokens[at] for at in self._starts if tokens[at].tag in tags)

    def styled_and_odd(self) -> tuple[Collection[str], Iterator[Token]]:
        """See `HtmlPage.styled_and_odd`."""
        pairs = (pair for _, pairs in self.all() for pair in pairs)
        styles = dict.fromkeys(value for name, value in pairs if name == "style" and value)
        return styles, self._odd()

    def _odd(self) -> Iterator[Token]:
        for token, pairs in self.all():
            for name, _ in pairs:
                if name in _ODD or (name == "href" and token.tag != "a"):
                    yield token
                    break

    def having(self, names: Collection[str]) -> Iterator[Token]:
        """See `HtmlPage.having`."""
        for token, pairs in self.all():
            if any(name in names for name, _ in pairs):
                yield token

    def all(self) -> Iterator[tuple[Token, Iterable[tuple[str, str]]]]:
        """See `HtmlPage.all`."""
        for at in self._starts:
            token = self._tokens[at]
            pairs = token.attrs
            if pairs:
                yield token, pairs

    def text(self, node: Node) -> str:
        """See `HtmlPage.text`; at most 200 tokens of it."""
        parts = []
        tag = node.tag
        for token in self._following(node):
            if token.type is _TEXT:
                parts.append(token.data or "")
            elif token.tag == tag:
                break
        return "".join(parts)

    def label(self, node: Node) -> str:
        """See `HtmlPage.label`; at most 200 tokens of it."""
        parts = []
        hidden = ""
        for token in self._following(node):
            if token.type is _TEXT:
                parts.append("" if hidden else token.data or "")
            elif token.tag == node.tag:
                break
            elif token.tag in _READINGS:
                hidden = token.tag if token.type is _START else ""
            elif token.tag in _BLOCKS:
                parts.append(" ")
        return "".join(parts)

    def alt(self, node: Node) -> str:
        """See `HtmlPage.alt`; searched within 200 tokens."""
        for token in self._following(node):
            if token.tag == "img" and token.type is _START:
                return token.attr("alt") or ""
            if token.tag == node.tag:
                break
        return ""

    def _following(self, node: Node) -> list[Token]:
        """Tokens after a start tag."""
        if not self._places:
            self._places = {id(self._tokens[at]): at for at in self._starts}
        at = self._places[id(node)] + 1
        return self._tokens[at : at + _MAX_TEXT_TOKENS]

    def path(self, _node: Node) -> str:
        """Unknown."""
        return ""


_READINGS = frozenset(("rt", "rp", "rtc"))
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "br", "center", "dd", "details", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4"),
        *("h5", "h6", "header", "hr", "legend", "li", "main", "menu", "nav", "ol", "option", "p"),
        *("pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
    )
)
"""Elements that are no part of a line (HTML Standard, 15.3, `display`)."""
_LABEL_DEPTH = 40
"""Elements in one another of which a label has the text."""


def _gather(node: Element, parts: list[str], depth: int) -> None:
    """Add the text in an element, a space at both ends of each block."""
    for child in node.children:
        if isinstance(child, Text):
            parts.append(child.data)
        elif isinstance(child, Element) and child.tag not in _READINGS and depth:
            apart = " " if child.tag in _BLOCKS else ""
            parts.append(apart)
            _gather(child, parts, depth - 1)
            parts.append(apart)


def _is_odd(node: Element) -> bool:
    """An element found for its style is odd too, by its other attributes."""
    attr = node.attr
    if attr("background") is not None:
        return True
    if attr("src") is not None and node.tag not in _USUAL_SOURCES:
        return True
    return attr("href") is not None and node.tag not in _USUAL_LINKS


def read_page(body: bytes, encoding: str) -> HtmlPage:
    """Read a page; never raises.

    Args:
        body: The bytes, no content coding.
        encoding: What they are in, a label of the Encoding Standard or a codec of Python.
    """
    if not is_tame(body, encoding):
        return TokenPage(decode(body, encoding))
    if encoding in _ASCII_IN and body.isascii():
        return TreePage(_tree(body.decode("ascii"), None))  # a tenth faster than from bytes
    try:
        return TreePage(_tree(body, encoding))
    except (LookupError, ValueError):
        return TreePage(_tree(decode(body, encoding), None))


def is_tame(body: bytes, encoding: str) -> bool:
    """Return whether the tree of a page cannot have more than 4,000,000 nodes (260 MB)."""
    if len(body) <= _TAME_SIZE:
        return True
    tags = body.count(b"<")
    if tags <= _TAME_TAGS:
        return True
    if encoding.lower().startswith("utf-16"):
        return False
    most = _TREE_NODES // tags - _AROUND
    if most < 0:
        return False
    with_attributes = _may_be_open(body)
    return with_attributes + _ALL_BARE <= most or with_attributes + _may_be_bare(body) <= most


def _may_be_open(body: bytes) -> int:
    """At most so many formatting elements with attributes are open at once, as if none were closed.

    What looks like an end tag may be none: in a comment, a title, another cell. Of equal elements
    three are kept (HTML Standard, the "Noah's Ark clause"). Tags are only known to be equal where
    it is plain what their attributes are.
    """
    openings = Counter(_OPENING.findall(body))
    return sum(
        min(count, _EQUALS_KEPT) if _CLEAN.fullmatch(tag) else count
        for tag, count in openings.items()
    )


def _may_be_bare(body: bytes) -> int:
    """Return the same of those without attributes: three of each name."""
    return _EQUALS_KEPT * len({name.lower() for name in _BARE.findall(body)})


def _tree(markup: bytes | str, encoding: str | None) -> Document:
    return parse(markup, encoding=encoding, positions=False, allow_declarative_shadow_roots=False)


_HOLDERS = rb"iframe|noembed|noframes|noscript|plaintext|script|style|textarea|title|xmp"
# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_EMPTY = re.compile(
    rb"<(%b)(?=[\s/])((?:[^<>\"'/]++|/(?!>)|\"[^\"]*+\"|'[^']*+'|(?!))*+)/>" % _HOLDERS
)


def with_end_tags(body: bytes) -> bytes:
    """A page of an XML type with end tags where `<script src="a.js"/>` and its kin have none.

    A browser reads such a page as XML, where this is a whole element; in HTML it is a start tag,
    and all that follows would be text of the script.

    Args:
        body: The page, in an encoding that has ASCII in it.
    """
    return _EMPTY.sub(rb"<\1\2></\1>", body) if b"/>" in body else body
