"""Looks at HTML as a browser would: its elements, its text, and whether anything in it can act."""

from html.parser import HTMLParser
from typing import NamedTuple

ELEMENTS = frozenset(
    (
        *("html", "head", "meta", "title", "style", "body", "main", "section", "footer"),
        *("h1", "h2", "p", "dl", "dt", "dd", "div", "figure", "figcaption", "ul", "li", "i"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td", "code", "ins", "del"),
        *("svg", "rect", "line", "polyline", "circle", "text"),
    )
)
"""All that our pages are made of."""
_ACTING = ("on", "href", "src", "style", "xlink", "action")


class Seen(NamedTuple):
    """What a page holds."""

    elements: list[str]
    attributes: list[tuple[str, str]]
    text: str
    rows: list[list[str]]


def look(page: str) -> Seen:
    """Take a page apart."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    assert not parser.open, f"never closed: {parser.open}"
    return Seen(parser.elements, parser.attributes, "".join(parser.words), parser.rows)


def harmless(page: str) -> None:
    """Nothing in a page can run, load or send."""
    seen = look(page)
    assert set(seen.elements) <= ELEMENTS
    for name, value in seen.attributes:
        assert not name.startswith(_ACTING), (name, value)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.rows: list[list[str]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag != "meta":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"th", "td"}:
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open, f"closed but never opened: {tag}"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)
        if self.rows and {"th", "td"} & set(self.open):
            self.rows[-1][-1] += data
