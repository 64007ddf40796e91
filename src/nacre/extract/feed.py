"""RSS 0.9 to 2.0, RSS 1.0 (RDF) and Atom: the links of a feed by kind, and its HTML as outlinks.

Source: RSS 2.0; RFC 4287 (Atom); RFC 5005 (paged feeds); Media RSS 1.5.1; XML Base
(W3C, 2009). Read leniently: prefixes and cases of names do not matter, dates are kept as written.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from nacre.core.crawluri import Hop
from nacre.extract.html.extractor import extract_fragment
from nacre.extract.links import LinkCollector
from nacre.extract.xml_scan import (
    End,
    XmlStart,
    attributes,
    date_text,
    root_name,
    scan,
    unescape_xml,
)
from nacre.uri.parse import Resolver

DEEPEST: Final = 16
"""Elements with `xml:base` within each other; those that lie deeper change nothing."""


def base_of(event: XmlStart) -> str:
    """Return the `xml:base` of a start tag, as written; "" for none."""
    return attributes(event.attributes).get("base", "") if "base" in event.attributes else ""


def resolve_bases(bases: tuple[str, ...], base: str) -> str:
    """Return the base URL that bases within each other give.

    Args:
        bases: From the outside in, as written; those that are no URLs change nothing.
        base: Base URL of the document.
    """
    for inner in bases:
        base = Resolver(base).resolve(inner) or base
    return base


class _OpenBase(NamedTuple):
    """An element with `xml:base` that is open; `depth`: elements of its name within each other."""

    name: str
    depth: int = 1


class BaseStack:
    """The elements with `xml:base` that are open within each other, at most `DEEPEST`.

    Attributes:
        bases: Their bases, from the outside in.
    """

    def __init__(self) -> None:
        self._open: list[_OpenBase] = []
        self.bases: tuple[str, ...] = ()

    def start(self, name: str, base: str) -> None:
        """Take a start tag; `base`: its `xml:base`, "" for none."""
        if base and len(self._open) < DEEPEST:
            self._open.append(_OpenBase(name))
            self.bases += (base,)
        elif self._open and self._open[-1].name == name:
            self._open[-1] = _OpenBase(name, self._open[-1].depth + 1)

    def ends(self, name: str) -> bool:
        """Return whether an end tag is that of the innermost element."""
        return bool(self._open) and self._open[-1] == _OpenBase(name)

    def end(self, name: str) -> None:
        """Close the element of an end tag; a tag of no open element changes nothing."""
        if self.ends(name):
            self.cut(len(self._open) - 1)
        elif self._open and self._open[-1].name == name:
            self._open[-1] = _OpenBase(name, self._open[-1].depth - 1)

    def cut(self, count: int) -> None:
        """Keep the outermost `count` elements, since the others are closed."""
        del self._open[count:]
        self.bases = self.bases[:count]


_ROOTS = frozenset(("rss", "feed", "rdf"))
_ITEMS = frozenset(("item", "entry"))
_DATES = frozenset(("pubdate", "updated", "date", "modified", "published", "issued"))
_TEXT_HOPS = {
    "link": Hop.LINK,
    "guid": Hop.LINK,
    "comments": Hop.LINK,
    "commentrss": Hop.LINK,
    "origlink": Hop.LINK,
    "icon": Hop.EMBED,
    "logo": Hop.EMBED,
    "url": Hop.EMBED,  # of <image>
}
"""Elements whose text is a URL."""

_ATTRIBUTE_HOPS = {
    "enclosure": ("url", Hop.EMBED),
    "content": ("url", Hop.EMBED),  # media:content; Atom's has src
    "thumbnail": ("url", Hop.EMBED),
    "player": ("url", Hop.EMBED),
    "image": ("href", Hop.EMBED),  # itunes:image
    "source": ("url", Hop.LINK),
}
"""Elements with a URL in an attribute, that one or `src`."""

_REL_HOPS = {
    "": Hop.LINK,
    "alternate": Hop.LINK,
    "related": Hop.LINK,
    "via": Hop.LINK,
    "self": Hop.LINK,
    "replies": Hop.LINK,
    "next": Hop.LINK,
    "previous": Hop.LINK,
    "prev": Hop.LINK,
    "first": Hop.LINK,
    "last": Hop.LINK,
    "current": Hop.LINK,
    "prev-archive": Hop.LINK,
    "next-archive": Hop.LINK,
    "enclosure": Hop.EMBED,
    "icon": Hop.EMBED,
    "license": Hop.LINK,
}
"""Relations of `atom:link` that are followed; not `edit`, `hub`, `service` and the like."""


_TEXTS = frozenset(
    (
        *("description", "encoded", "content", "summary", "subtitle", "title", "body", "rights"),
        *("copyright", "tagline", "info", "full-text"),
    )
)
"""Elements whose text is HTML, escaped or as elements (`content:encoded`, `xhtml:body`)."""

_PLAIN = frozenset(("text", "text/plain"))
_MEDIA = frozenset(("url", "src", "medium", "filesize"))
"""Attributes of `media:content`, which holds no HTML; in RSS `content` without a type is that."""

_MOST_TEXTS = 10_000
"""HTML texts of a feed that are read: each costs some 50 µs."""

_PREFIX = re.compile(r"(</?)[A-Za-z_][\w.-]{0,40}:(?=[A-Za-z])")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)

_MOST_BASES = 2
"""Of the feed, and of its channel."""


class FeedLink(NamedTuple):
    """A link of a feed.

    Attributes:
        href: The reference as written.
        hop: L for pages and feeds, E for media.
        context: Elements and attribute, `item/link`, `entry/link/@href`, `enclosure/@url`.
        rel: Of an Atom link, lower case.
        updated: Time of the last change of the item, as written; "" if the feed has none.
        is_item: It is the page of an item.
        bases: Values of `xml:base` around it, from the outside in (RFC 4287 2).
    """

    href: str
    hop: Hop
    context: str
    rel: str = ""
    updated: str = ""
    is_item: bool = False
    bases: tuple[str, ...] = ()


class FeedText(NamedTuple):
    """HTML in a feed.

    Attributes:
        markup: The HTML, character references of XML decoded.
        bases: What its references resolve against, from the outside in: `xml:base`; in RSS without
            it the links of channel and item, as feed readers do.
        is_unsure: There is no `xml:base`, so that the feed's own URL may be meant too.
    """

    markup: str
    bases: tuple[str, ...] = ()
    is_unsure: bool = False


def resolve_based(link: FeedLink, base: str) -> str:
    """Return the reference of a link, resolved against `xml:base` if present; "" if invalid.

    Args:
        link: The link.
        base: Base URL of the document.
    """
    if not link.bases:
        return link.href
    return Resolver(resolve_bases(link.bases, base)).resolve(link.href) or ""


def is_feed(source: str) -> bool:
    """Return whether the root element is that of RSS, RDF or Atom."""
    return root_name(source) in _ROOTS


def feed_links(source: str) -> Iterator[FeedLink]:
    """Links of a feed, item by item: each item's when it ends, with its date."""
    return (part for part in feed_parts(source) if isinstance(part, FeedLink))


def feed_parts(source: str) -> Iterator[FeedLink | FeedText]:
    """Links and HTML texts of a feed, item by item: each item's when it ends."""
    feed = _Feed(source)
    for event in scan(source):
        if isinstance(event, XmlStart):
            yield from feed.start(event)
        elif isinstance(event, End):
            yield from feed.end(event)
    yield from feed.close()


class _OpenText(NamedTuple):
    """An element with HTML that is open.

    Attributes:
        name: Its name.
        at: Offset of its content.
        depth: Elements of this name that are open within each other.
        has_elements: There are elements in it: it is HTML as it is, not escaped.
        outer: Bases of the elements around it.
    """

    name: str
    at: int
    depth: int = 1
    has_elements: bool = False
    outer: int = 0


class _Feed:
    """The reading of one feed: the item that is open, its links, texts and dates."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._is_atom: bool | None = None
        self._item = ""
        self._links: list[FeedLink] = []
        self._dates: dict[str, str] = {}
        self._permalink = True
        self._bases: dict[bool, tuple[str, ...]] = {False: (), True: ()}  # by: of an item
        self._inner = BaseStack()
        self._open: _OpenText | None = None
        self._texts: list[tuple[str, tuple[str, ...]]] = []
        self._text_count = 0
        self._channel = ""

    def start(self, event: XmlStart) -> Iterator[FeedLink | FeedText]:
        """Take a start tag; the links and texts that are now complete."""
        name = event.name
        if self._open is not None and name not in _ITEMS:
            self._go_into(self._open, event)
            return
        self._open = None
        if self._is_atom is None:
            self._is_atom = name == "feed"
        if name in _ITEMS:
            yield from self.close()
            self._item = name
        outer = len(self._inner.bases)
        self._take_base(name, base_of(event))
        if name in _TEXTS:
            self._open_text(event, outer)
        self._take_links(event)
        if not self._item:
            yield from self.close()

    def _take_links(self, event: XmlStart) -> None:
        """Take the links of the attributes of an element."""
        name = event.name
        if name == "guid":
            self._permalink = "false" not in event.attributes.lower()
        elif name in _ATTRIBUTE_HOPS:
            self._attribute(name, event.attributes)
        elif name == "link" and "=" in event.attributes:
            self._atom_link(attributes(event.attributes))

    def _open_text(self, event: XmlStart, outer: int) -> None:
        """Note that an element with HTML begins."""
        if event.attributes.endswith("/"):
            return
        element_attributes = attributes(event.attributes) if "=" in event.attributes else {}
        kind = element_attributes.get("type", "").strip().lower()
        is_media = not _MEDIA.isdisjoint(element_attributes) or (
            not self._is_atom and "html" not in kind
        )
        if kind in _PLAIN or (event.name == "content" and is_media):
            return
        self._open = _OpenText(event.name, event.at, outer=outer)

    def _go_into(self, text: _OpenText, event: XmlStart) -> None:
        """Record an element inside an HTML element; one with its own base is a separate text."""
        at, base = text.at, base_of(event)
        if base:
            at = self._source.rfind("<", 0, event.at)
            self._take_piece(text, at)
        self._inner.start(event.name, base)
        depth = text.depth + (event.name == text.name)
        self._open = text._replace(at=at, depth=depth, has_elements=True)

    def _close_text(self, text: _OpenText, event: End) -> None:
        """Take the end of an element with HTML, or of one within it."""
        if event.name == text.name and text.depth == 1:
            self._open = None
            if text.has_elements:
                self._take_piece(text, event.at)
            else:  # some feeds escape twice
                markup = event.text
                self._take_text(markup if "<" in markup else unescape_xml(markup))
            self._inner.cut(text.outer)
        else:
            at = text.at
            if self._inner.ends(event.name):
                self._take_piece(text, event.at)
                at = event.at
            depth = text.depth - (event.name == text.name)
            self._open = text._replace(at=at, depth=depth)
            self._inner.end(event.name)

    def _take_piece(self, text: _OpenText, end: int) -> None:
        """Take the HTML since the last change of bases."""
        markup = self._source[text.at : end]
        self._take_text(_PREFIX.sub(r"\1", _CDATA.sub(r"\1", markup)))

    def _take_text(self, markup: str) -> None:
        if "<" in markup and self._text_count < _MOST_TEXTS:
            self._text_count += 1
            self._texts.append((markup, self._inner.bases))

    def end(self, event: End) -> Iterator[FeedLink | FeedText]:
        """Take an end tag; the links and texts that are now complete."""
        name, text = event.name, event.text
        if self._open is not None and name not in _ITEMS:
            self._close_text(self._open, event)
            return
        self._open = None
        if name == self._item:
            yield from self.close()
        elif text and name in _DATES:
            self._dates.setdefault(name, date_text(text))
        elif text and name in _TEXT_HOPS and (name != "guid" or self._permalink):
            self._text(name, text)
        self._inner.end(name)
        if not self._item:
            yield from self.close()

    def close(self) -> Iterator[FeedLink | FeedText]:
        """Yield the links and texts that are pending, with the date and the base of their item."""
        texts = list(self._pending_texts()) if self._texts else []
        links, self._links = self._links, []
        updated = self._updated() if self._item else ""
        has_link = any(link.is_item and link.context != "item/guid" for link in links)
        self._item, self._dates = "", {}
        self._bases[True] = ()
        self._inner.cut(0)
        for link in links:
            is_item = link.is_item and not (has_link and link.context == "item/guid")
            yield link._replace(updated=updated if is_item else "", is_item=is_item)
        yield from texts

    def _pending_texts(self) -> Iterator[FeedText]:
        """Return the pending texts, with the bases of their references."""
        around = self._bases[False] + self._bases[True]
        pages = [link.href for link in self._links if link.is_item]
        near = tuple(filter(None, (self._channel, *pages[:1])))
        for markup, own in self._texts:
            bases = around + own
            is_unsure = not bases and not self._is_atom
            yield FeedText(markup, near if is_unsure else bases, is_unsure)
        self._texts.clear()

    def _take_base(self, name: str, base: str) -> None:
        """Take the base of an element, "" for none: of the feed, its channel, an item, or below."""
        bases = self._bases[bool(self._item)]
        if name not in _ITEMS and name not in _ROOTS and name != "channel":
            self._inner.start(name, base)
        elif base and len(bases) < _MOST_BASES:
            self._bases[bool(self._item)] = (*bases, base)

    def _updated(self) -> str:
        order = ("updated", "modified", "pubdate", "date", "published", "issued")
        return next((self._dates[name] for name in order if name in self._dates), "")

    def _text(self, name: str, text: str) -> None:
        if name == "guid" and "://" not in text:
            return
        if name == "link" and not self._item:
            self._channel = self._channel or text
        is_item = bool(self._item) and name in {"link", "guid"}
        self._add(text, _TEXT_HOPS[name], name, is_item=is_item)

    def _attribute(self, name: str, raw: str) -> None:
        key, hop = _ATTRIBUTE_HOPS[name]
        element_attributes = attributes(raw)
        key = key if key in element_attributes else "src"
        self._add(element_attributes.get(key, ""), hop, f"{name}/@{key}", is_item=False)

    def _atom_link(self, link: dict[str, str]) -> None:
        rel = link.get("rel", "").strip().lower()
        hop = _REL_HOPS.get(rel)
        if hop:
            is_item = bool(self._item) and rel in {"", "alternate"}
            self._add(link.get("href", ""), hop, "link/@href", rel, is_item=is_item)

    def _add(self, href: str, hop: Hop, context: str, rel: str = "", *, is_item: bool) -> None:
        href = href.strip()
        if href:
            context = f"{self._item}/{context}" if self._item else context
            bases = self._bases[False] + self._bases[True] + self._inner.bases
            self._links.append(FeedLink(href, hop, context, rel, is_item=is_item, bases=bases))


_NEAR_REFERENCE = re.compile(
    r"""\b(?:href|src|srcset|poster|data|background)\s*=\s*["']?\s*(?![a-z][a-z0-9+.-]*:|[/#\s"'])""",
    re.IGNORECASE,
)
"""A reference that another folder makes another URL."""


def add_feed(parts: Iterable[FeedLink | FeedText], links: LinkCollector) -> set[str]:
    """Add the links of a feed, and of the HTML in it as those of a page.

    Returns:
        The references of its elements, as written.
    """
    hrefs: set[str] = set()
    for part in parts:
        if isinstance(part, FeedText):
            add_text(part, links)
            continue
        hrefs.add(part.href)
        href = resolve_based(part, links.base)
        if href:
            links.add(href, part.hop, part.context, rel=part.rel, lastmod=part.updated)
    return hrefs


def add_text(text: FeedText, links: LinkCollector) -> None:
    """Add the links of HTML in a feed: hops and contexts are those of a page.

    If no base is declared, relative references that do not begin with `/` are resolved against the
    page of the item and against the feed: feed readers do either.
    """
    if not links.settings.extract_html:
        return
    home = links.base
    base = resolve_bases(text.bases, home)
    bases = [base]
    if text.is_unsure and base != home and _NEAR_REFERENCE.search(text.markup):
        bases.append(home)
    for url in bases:
        if url != links.base:
            links.rebase(url)
        extract_fragment(text.markup, links)
    if links.base != home:
        links.rebase(home)
