"""The walk over a page: element by element, in document order."""

from collections.abc import Container, Mapping
from typing import Protocol

from nacre.core.crawluri import Hop
from nacre.extract.css import css_urls
from nacre.extract.html_page import Node, Page
from nacre.extract.html_table import URL, Reference
from nacre.extract.likely import is_very_likely_uri, speculative_fixup
from nacre.extract.links import MAX_TEXT, LinkCollector
from nacre.extract.script import script_urls
from nacre.extract.settings import ExtractSettings
from nacre.extract.srcset import candidates

MAY_BE_SCRIPT = frozenset(("j", "J", " ", "\t", "\n", "\r", "\f"))
"""First characters of what may be a `javascript:` link, whose `#` is no fragment."""
_RAW_TEXT = 4 * MAX_TEXT
MAX_DEPTH = 3
"""Documents within documents (`srcdoc`, noscript, conditional comments) that are followed."""


class Handler(Protocol):
    """What is done with elements of one name."""

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
        met: How many elements of a name were met, for those that a tree builder may drop.
        depth: 0 for the page itself.
        inner: Documents within it that are still to be walked over, each with its depth.
    """

    __slots__ = (
        "_handlers",
        "_seen",
        "_text_left",
        "depth",
        "inner",
        "links",
        "met",
        "page",
        "robots",
        "settings",
    )

    def __init__(
        self, page: Page, links: LinkCollector, handlers: Mapping[str, Handler], text_budget: int
    ) -> None:
        self.page = page
        self.links = links
        self.settings: ExtractSettings = links.settings
        self.robots: set[str] = set()
        self.met = {"form": 0, "frame": 0}
        self.depth = 0
        self.inner: list[tuple[str, int]] = []
        self._handlers = handlers
        self._seen: set[str] = set()
        self._text_left = text_budget

    def run(self, tags: Container[str] | None = None) -> None:
        """Take the links of all elements that have a handler, or of some."""
        handlers, seen = self._handlers, self._seen
        for node in self.page.nodes(handlers.keys() if tags is None else tags):
            tag = node.tag
            if tag == "a":
                # Most elements of a page, and most of them repeat a link: so first, and here.
                href = node.attr("href")
                if href is not None:
                    cut = href.find("#")
                    if cut >= 0 and href[:1] not in MAY_BE_SCRIPT:
                        href = href[:cut]
                    if href in seen:
                        continue
                    seen.add(href)
            if tag:
                handlers[tag](self, node, tag)

    def nested(self, markup: str) -> None:
        """Walk over a document within this one later, when this one is done."""
        if self.depth < MAX_DEPTH and "<" in markup:
            self.inner.append((markup, self.depth + 1))

    def forget(self, href: str) -> None:
        """Take the next element with the same reference as if it were the first."""
        self._seen.discard(href)
        self._seen.discard(href.partition("#")[0])

    def text(self, node: Node) -> str:
        """Text of a link, else of its picture, within a budget for the whole page."""
        if self._text_left <= 0 or not self.settings.anchor_text:
            return ""
        text = self.page.text(node)
        self._text_left -= len(text) + 1
        text = " ".join(text[:_RAW_TEXT].split()) or " ".join(self.page.alt(node).split())
        return text if len(text) <= MAX_TEXT else text[:MAX_TEXT]

    def path(self, node: Node) -> str:
        """Element path, when the settings ask for it."""
        return self.page.path(node) if self.settings.element_path else ""

    def refer(self, node: Node, rows: tuple[Reference, ...]) -> None:
        """Take what the attributes of an element refer to, by rows of the table."""
        for attribute, hop, context, form in rows:
            value = node.attr(attribute)
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
        for url in script_urls(source):
            self.links.add(speculative_fixup(url, self.links.base), Hop.SPECULATIVE, "=JS_MISC")

    def style(self, source: str) -> None:
        """Take the URLs of a style sheet or a `style=`."""
        if self.settings.extract_css and ("(" in source or "@" in source):
            for url in css_urls(source):
                self.links.add(url, Hop.EMBED, "=EMBED_MISC")
