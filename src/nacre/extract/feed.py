"""RSS 0.9 to 2.0, RSS 1.0 (RDF) and Atom: what each link of a feed means.

Source: RSS 2.0; RFC 4287 (Atom); RFC 5005 (paged feeds); Media RSS 1.5.1. Read leniently:
prefixes and cases of names do not matter, dates are kept as written.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nacre.core.crawluri import Hop
from nacre.extract.xml_scan import End, XmlStart, attributes, date_text, root_name, scan
from nacre.uri.parse import Resolver

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


_MOST_BASES = 2
"""Of the feed, and of its channel."""


class FeedLink(NamedTuple):
    """A link of a feed.

    Attributes:
        href: The reference as written.
        hop: L for pages and feeds, E for media.
        context: Elements and attribute, `item/link`, `entry/link/@href`, `enclosure/@url`.
        rel: Of an Atom link, lower case.
        updated: When the item changed, as written; "" when the feed does not say.
        is_item: It is the page of an item.
        bases: What `xml:base` says around it, from the outside in (RFC 4287 2).
    """

    href: str
    hop: Hop
    context: str
    rel: str = ""
    updated: str = ""
    is_item: bool = False
    bases: tuple[str, ...] = ()


def based(link: FeedLink, base: str) -> str:
    """The reference of a link, resolved where `xml:base` has a say; "" where it leads nowhere.

    Args:
        link: The link.
        base: Base URL of the document.
    """
    if not link.bases:
        return link.href
    for one in link.bases:
        base = Resolver(base).resolve(one) or base
    return Resolver(base).resolve(link.href) or ""


def is_feed(source: str) -> bool:
    """True when the root element is that of RSS, RDF or Atom."""
    return root_name(source) in _ROOTS


def feed_links(source: str) -> Iterator[FeedLink]:
    """Links of a feed, item by item: each item's when it ends, with its date."""
    feed = _Feed()
    for event in scan(source):
        if isinstance(event, XmlStart):
            yield from feed.start(event)
        elif isinstance(event, End):
            yield from feed.end(event)
    yield from feed.close()


class _Feed:
    """The reading of one feed: the item that is open, its links and dates."""

    def __init__(self) -> None:
        self._item = ""
        self._links: list[FeedLink] = []
        self._dates: dict[str, str] = {}
        self._permalink = True
        self._bases: dict[bool, tuple[str, ...]] = {False: (), True: ()}  # by: of an item

    def start(self, event: XmlStart) -> Iterator[FeedLink]:
        """Take a start tag; the links that are now complete."""
        name = event.name
        if name in _ITEMS:
            yield from self.close()
            self._item = name
        if "base" in event.attributes:
            self._take_base(name, attributes(event.attributes).get("base", ""))
        if name == "guid":
            self._permalink = "false" not in event.attributes.lower()
        elif name in _ATTRIBUTE_HOPS:
            self._attribute(name, event.attributes)
        elif name == "link" and "=" in event.attributes:
            self._atom_link(attributes(event.attributes))
        if not self._item:
            yield from self.close()

    def end(self, event: End) -> Iterator[FeedLink]:
        """Take an end tag; the links that are now complete."""
        name, text = event.name, event.text
        if name == self._item:
            yield from self.close()
        elif text and name in _DATES:
            self._dates.setdefault(name, date_text(text))
        elif text and name in _TEXT_HOPS and (name != "guid" or self._permalink):
            self._text(name, text)
        if not self._item:
            yield from self.close()

    def close(self) -> Iterator[FeedLink]:
        """The links that are pending, with the date of their item."""
        links, self._links = self._links, []
        updated = self._updated() if self._item else ""
        has_link = any(link.is_item and link.context != "item/guid" for link in links)
        self._item, self._dates = "", {}
        self._bases[True] = ()
        for link in links:
            is_item = link.is_item and not (has_link and link.context == "item/guid")
            yield link._replace(updated=updated if is_item else "", is_item=is_item)

    def _take_base(self, name: str, base: str) -> None:
        """Of the feed, its channel or an item; elsewhere it concerns nothing that is read here."""
        bases = self._bases[bool(self._item)]
        if len(bases) < _MOST_BASES and (name in _ITEMS or name in _ROOTS or name == "channel"):
            self._bases[bool(self._item)] = (*bases, base)

    def _updated(self) -> str:
        order = ("updated", "modified", "pubdate", "date", "published", "issued")
        return next((self._dates[name] for name in order if name in self._dates), "")

    def _text(self, name: str, text: str) -> None:
        if name == "guid" and "://" not in text:
            return
        is_item = bool(self._item) and name in {"link", "guid"}
        self._add(text, _TEXT_HOPS[name], name, is_item=is_item)

    def _attribute(self, name: str, raw: str) -> None:
        key, hop = _ATTRIBUTE_HOPS[name]
        found = attributes(raw)
        key = key if key in found else "src"
        self._add(found.get(key, ""), hop, f"{name}/@{key}", is_item=False)

    def _atom_link(self, found: dict[str, str]) -> None:
        rel = found.get("rel", "").strip().lower()
        hop = _REL_HOPS.get(rel)
        if hop:
            is_item = bool(self._item) and rel in {"", "alternate"}
            self._add(found.get("href", ""), hop, "link/@href", rel, is_item=is_item)

    def _add(self, href: str, hop: Hop, context: str, rel: str = "", *, is_item: bool) -> None:
        href = href.strip()
        if href:
            context = f"{self._item}/{context}" if self._item else context
            bases = self._bases[False] + self._bases[True]
            self._links.append(FeedLink(href, hop, context, rel, is_item=is_item, bases=bases))
