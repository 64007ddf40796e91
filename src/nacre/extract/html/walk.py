"""The walk over a page, element by element, in document order; and candidate lists of `srcset`."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from nacre.core.crawluri import Hop
from nacre.extract.css import css_urls
from nacre.extract.html.page import HtmlPage, Node
from nacre.extract.html.table import URL, Reference
from nacre.extract.likely import is_very_likely_uri, speculative_fixup
from nacre.extract.lines import one_line
from nacre.extract.links import MAX_TEXT, LinkCollector, is_never_fetched
from nacre.extract.script import script_urls

_URL = re.compile(r"[,\s]*([^\s]+)")
# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_DESCRIPTORS = re.compile(r"(?:[^,(]++|\([^)]*+(?:\)|\Z)|(?!))*+,?")


def candidates(value: str) -> list[str]:
    """Return the URLs of a `srcset`, in order, of any length."""
    return [value[start:end] for start, end in candidate_places(value)]


def candidate_places(value: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each URL of a `srcset`.

    A comma ends a URL only before white space, so that URLs may hold commas; a parenthesis hides
    the commas in it, up to the end when it is never closed.
    Source: HTML Standard, "parse a srcset attribute".
    """
    position = 0
    while match := _URL.match(value, position):
        url = match[1].lstrip(",")
        position = match.end()
        start = position - len(url)
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            position = _end_of_descriptors(value, position)
        if url:
            yield start, start + len(url)


def _end_of_descriptors(value: str, start: int) -> int:
    match = _DESCRIPTORS.match(value, start)
    return match.end() if match else len(value)


if TYPE_CHECKING:
    from nacre.extract.settings import ExtractSettings

MAY_BE_SCRIPT = frozenset(("j", "J", " ", "\t", "\n", "\r", "\f"))
"""First characters of a possible `javascript:` link, whose `#` is not a fragment."""
_RAW_TEXT = 4 * MAX_TEXT
_BOILERPLATE = 8192
"""Longest script and style sheet, in characters, whose URLs are remembered for the next page."""
_SHORT, _MANY = 80, 20_000
"""Longest text of a link that is remembered, in characters, and how many are."""
_KNOWN_TEXTS: dict[str, str] = {}
"""Texts of links with collapsed white space, by raw text: pages of a site repeat them."""
MAX_DEPTH = 3
"""Documents within documents (`srcdoc`, noscript, conditional comments) that are followed."""


class Handler(Protocol):
    """A function that handles the elements of one name."""

    def __call__(self, walk: "Walk", node: Node, tag: str, /) -> None:
        """Take the links of one element."""
        ...


class Walk:
    """One walk over one page, or over a document within it.

    Attributes:
        page: The page.
        links: Where the links go.
        settings: What is wanted.
        robots: Directives of meta elements met so far.
        metas: Names and contents of the elements met so far that state preferences on the use of
            the page.
        methods: Methods of the forms met so far, by their ids; the last form is under "".
        met: How many elements of a name were met, for those that a tree builder may drop.
        depth: 0 for the page itself.
        pictures: `src` of the pictures met so far.
        inner: Documents within it that are still to be walked over, each with its depth.
    """

    __slots__ = (
        "_content_left",
        "_handlers",
        "_seen",
        "_text_left",
        "_wants_path",
        "depth",
        "inner",
        "links",
        "met",
        "metas",
        "methods",
        "page",
        "pictures",
        "robots",
        "settings",
    )

    def __init__(
        self,
        page: HtmlPage,
        links: LinkCollector,
        handlers: Mapping[str, Handler],
        text_budget: int,
    ) -> None:
        self.page = page
        self.links = links
        self.settings: ExtractSettings = links.settings
        self.robots: set[str] = set()
        self.metas: list[tuple[str, str]] = []
        self.pictures: set[str] = set()
        self.met = {"form": 0, "frame": 0}
        self.methods: dict[str, str] = {}
        self.depth = 0
        self.inner: list[tuple[str, int]] = []
        self._handlers = handlers
        self._seen: set[str] = set()
        self._wants_path = self.settings.element_path
        self._text_left = text_budget
        self._content_left = 2 * text_budget

    def run_again(self, page: HtmlPage, tags: frozenset[str]) -> None:
        """Walk over another reading of the page, for elements of some names."""
        self.page = page
        self.run(tags)

    def run_inside(self, page: HtmlPage, depth: int) -> None:
        """Walk over a document within the page; `depth`: the number of documents around it."""
        self.page, self.depth = page, depth
        self.run()

    def run(self, tags: Container[str] | None = None) -> None:
        """Take the links of all elements that have a handler, or of some."""
        handlers, add_anchor = self._handlers, self.links.add_anchor
        met = self._first_of_each(handlers.keys() if tags is None else tags)
        if self.depth == 0:
            self._rebase([node for node, tag, _ in met if tag == "base"])
        wants_text, read, known_text = self.settings.anchor_text, self.page.label, _KNOWN_TEXTS.get
        chars_left = self._text_left
        for node, tag, href in met:
            if href is None:
                self._text_left = chars_left
                handlers[tag](self, node, tag)
                chars_left = self._text_left
            elif not wants_text or chars_left <= 0:
                add_anchor(href)
            else:
                # As `text` does, without the way there: there are many.
                text = read(node)
                chars_left -= len(text) + 1
                add_anchor(href, known_text(text) or _one_line(text) or self._stand_in(node))
        self._text_left = chars_left

    def _first_of_each(self, tags: Container[str]) -> list[tuple[Node, str, str | None]]:
        """Elements in document order; of those that link to the same place only the first.

        Returns:
            Each with its name, and its `href` if there is nothing else to it but its text.
        """
        firsts: list[tuple[Node, str, str | None]] = []
        seen_hrefs, obeys_nofollow = self._seen, self.settings.obey_rel_nofollow
        for node in self.page.nodes(tags):
            tag = node.tag
            if tag != "a":
                if tag:
                    firsts.append((node, tag, None))
                continue
            # Most elements of a page, and most of them repeat a link.
            href = node.attr("href")
            if href is None:
                if node.attr("xlink:href") is not None:
                    firsts.append((node, tag, None))
                continue
            if "#" in href and href[0] not in MAY_BE_SCRIPT:
                href = href[: href.find("#")]
            if href in seen_hrefs or (obeys_nofollow and is_nofollow(node)):
                continue
            seen_hrefs.add(href)
            firsts.append((node, tag, href if self._is_plain(node, href) else None))
        return firsts

    def _is_plain(self, node: Node, href: str) -> bool:
        """Whether there is nothing to a link but its `href` and text; its looks do not matter."""
        if self._wants_path or href[:1] in MAY_BE_SCRIPT:
            return False
        attr, attributes = node.attr, node.attrs
        if attributes is not None and len(attributes) == 1:
            return True
        if attr("rel") is not None or attr("ping") is not None:
            return False
        return attr("data-remote") is None and attr("charset") is None

    def _rebase(self, bases: Iterable[Node]) -> None:
        """Resolve against the first `base` that has a usable `href`; all are links too.

        Source: HTML Standard, "frozen base URL": only the first one counts; each is resolved
        against the URL of the document, so it may be relative.
        """
        first = None
        for node in bases:
            href = node.attr("href")
            if href and not is_never_fetched(href):
                self.links.add(href, Hop.LINK, "base/@href")
                first = first or self.links.resolve(href)
        if first:
            self.links.rebase(first)

    def nested(self, markup: str) -> None:
        """Walk over a document within this one later, when this one is done."""
        if self.depth < MAX_DEPTH and "<" in markup:
            self.inner.append((markup, self.depth + 1))

    def text(self, node: Node) -> str:
        """Text of a link, else of its picture, within a budget for the whole page."""
        if self._text_left <= 0 or not self.settings.anchor_text:
            return ""
        text = self.page.label(node)
        self._text_left -= len(text) + 1
        return _one_line(text) or self._stand_in(node)

    def _stand_in(self, node: Node) -> str:
        """Return the text of the picture of a link without text."""
        return " ".join(self.page.alt(node).split())[:MAX_TEXT]

    def content(self, node: Node) -> str:
        """Return the text of a script, a style sheet or the like; "" for more than a page can have.

        Those of SVG and MathML may lie within each other, so that a page has more text than bytes.
        """
        if self._content_left <= 0:
            return ""
        text = self.page.text(node)
        self._content_left -= len(text)
        return text

    def path(self, node: Node) -> str:
        """Return the element path, if the settings request it."""
        return self.page.path(node) if self.settings.element_path else ""

    def refer(self, node: Node, rows: tuple[Reference, ...]) -> None:
        """Add the references of an element's attributes, by rows of the table."""
        attr = node.attr
        for attribute, hop, context, form in rows:
            value = attr(attribute)
            if not value:
                continue
            if form == URL:
                self.links.add(value, hop, context, path=self.path(node))
            else:
                self.refer_all(value, hop, context)

    def refer_list(self, value: str, hop: Hop, context: str) -> None:
        """Take each URL between spaces."""
        for url in value.split():
            self.links.add(url, hop, context)

    def refer_all(self, value: str, hop: Hop, context: str) -> None:
        """Take each URL of a candidate list."""
        for url in candidates(value):
            self.links.add(url, hop, context)

    def value(self, node: Node, tag: str) -> None:
        """Take a `value=` that is very likely a URI."""
        text = node.attr("value")
        if text and self.settings.value_attributes:
            self.speculate(text, Hop.LINK, f"{tag}/@value")

    def speculate(self, text: str, hop: Hop, context: str) -> None:
        """Take a text if it is very likely a URI."""
        if "." not in text and "/" not in text:
            return
        text = speculative_fixup(text.strip(), self.links.base)
        if is_very_likely_uri(text):
            self.links.add(text, hop, context)

    def script(self, source: str) -> None:
        """Take the likely URIs of a script."""
        if not self.settings.extract_javascript:
            return
        find = _cached_script_urls if len(source) <= _BOILERPLATE else script_urls
        for url in find(source):
            self.links.add(speculative_fixup(url, self.links.base), Hop.SPECULATIVE, "=JS_MISC")

    def style(self, source: str) -> None:
        """Take the URLs of a style sheet or a `style=`."""
        if self.settings.extract_css and ("(" in source or "@" in source):
            find = _cached_css_urls if len(source) <= _BOILERPLATE else css_urls
            for url in find(source):
                self.links.add(url, Hop.EMBED, "=EMBED_MISC")


def _one_line(text: str) -> str:
    """Return the beginning of a text with collapsed white space; short texts are cached."""
    line = one_line(text[:_RAW_TEXT])[:MAX_TEXT]
    if len(text) <= _SHORT:
        if len(_KNOWN_TEXTS) >= _MANY:
            _KNOWN_TEXTS.clear()
        _KNOWN_TEXTS[text] = line
    return line


def is_nofollow(node: Node) -> bool:
    """Return True for `rel=nofollow`, perhaps among other words."""
    rel = node.attr("rel")
    return rel is not None and "nofollow" in rel.lower().split()


@lru_cache(maxsize=256)
def _cached_script_urls(source: str) -> tuple[str, ...]:
    """Return the same few scripts are in all pages of a site."""
    return tuple(script_urls(source))


@lru_cache(maxsize=256)
def _cached_css_urls(source: str) -> tuple[str, ...]:
    return tuple(css_urls(source))
