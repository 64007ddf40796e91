"""Sitemaps: index, URL set, plain text, RSS and Atom, gzip; and the `Sitemap:` lines of robots.txt.

Source: sitemaps.org protocol 0.9 with Google's image, video, news and hreflang extensions; read
leniently, as crawler-commons does. Whether a URL outside the sitemap's own host may be followed is
a decision of the crawl: here all are given.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.feed import FeedText, add_text, feed_links, feed_parts, is_feed, resolve_based
from nacre.extract.likely import speculative_fixup
from nacre.extract.links import LinkCollector
from nacre.extract.text import read_text
from nacre.extract.xml_scan import End, XmlStart, attributes, date_text, root_name, scan, strip
from nacre.wire.codec import GZIP_MAGIC
from nacre.wire.coding import decode_content

CONTEXT = "=MANIFEST_MISC"
"""Link context of URLs in a sitemap or robots.txt (Heritrix's word)."""

MAX_UNPACKED = 50 * 1024 * 1024
"""Bytes of the largest sitemap, unpacked (sitemaps.org); more is cut off."""

MAX_NESTING = 3
"""Times that a body is unpacked: some are gzip in gzip."""

_WORD = 32
"""Characters of a priority or a changefreq that are kept."""

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_LINE_ENDS = re.compile(r"[\t\r\n]+")
_ROBOTS_LINE = re.compile(r"[ \t\ufeff]*+site-?map[ \t]*+:[ \t]*+([^\s#]\S*)", re.IGNORECASE)

_HEAD = 1000
"""Characters that decide whether a document is a sitemap."""

_PACKED_HEAD = 8192
"""Bytes of a gzip file that are unpacked for that."""

# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?(?:\s|<\?[^>]*+>|<!--[^-]*+(?:-(?!->)[^-]*+|(?!))*+-->|(?!))*+"
    rb"<(?:[^\s:<>/!?]{1,40}+:)?(?:urlset|sitemapindex)[\s/>]",
    re.IGNORECASE,
)
_BOMS_16 = (b"\xff\xfe", b"\xfe\xff")
_LOC = re.compile(r"<(?:[^\s:<>/!?]{1,40}+:)?loc[\s>]", re.IGNORECASE)
_URL_LINE = re.compile(rb"https?://[^\s<>\"]+", re.IGNORECASE)

_EMBEDS = frozenset(
    ("thumbnail_loc", "content_loc", "player_loc", "content_segment_loc", "image_loc")
)


class SitemapEntry(NamedTuple):
    """One entry of a sitemap.

    Attributes:
        loc: URL as written, white space removed.
        lastmod: As written, else the publication date of a news sitemap; "" when both are absent.
        is_sitemap: It is an entry of an index, so its target is a sitemap.
        extras: (URL, hop, context) of its images, videos and other languages.
        priority: As written; "" when absent.
        changefreq: As written; "" when absent.
    """

    loc: str
    lastmod: str = ""
    is_sitemap: bool = False
    extras: tuple[tuple[str, Hop, str], ...] = ()
    priority: str = ""
    changefreq: str = ""


def extract_sitemap(document: Document, links: LinkCollector) -> None:
    """Add the URLs of a sitemap: hop M, with `lastmod`; images and videos are embeds (E).

    At most `max_sitemap_links` are kept. A sitemap that lists itself is not followed again.
    """
    links.use_sitemap_limit()
    text = _unpack_text(document)
    if is_feed(text):
        _add_feed(text, links)
    elif root_name(text):
        _add_entries(text, links)
    else:
        _add_lines(text, links)


def sitemap_entries(document: Document, links: LinkCollector) -> list[SitemapEntry]:
    """The entries of a sitemap of any form, their URLs absolute, without images and the like.

    Args:
        document: The sitemap.
        links: Resolves the URLs, and has the settings: at most `max_sitemap_links` are returned.
    """
    text = _unpack_text(document)
    entries: Iterable[SitemapEntry]
    if is_feed(text):
        items = (link for link in feed_links(text) if link.is_item)
        entries = [SitemapEntry(resolve_based(link, links.base), link.updated) for link in items]
    elif root_name(text):
        entries = iter_entries(text)
    else:
        entries = [SitemapEntry(strip(line)) for line in text.splitlines() if _is_web(strip(line))]
    absolute: list[SitemapEntry] = []
    for entry in entries:
        if len(absolute) >= links.settings.max_sitemap_links:
            break
        href = _clean(entry.loc, links.base)
        url = links.resolve(href) if href else None
        if url and url != document.url:
            absolute.append(entry._replace(loc=url, extras=()))
    return absolute


def no_sitemap(document: Document) -> str:
    """Return the kind of a document without entries that is no sitemap; "" for an empty sitemap.

    Args:
        document: One of which `sitemap_entries` found none.
    """
    text = _unpack_text(document)
    root = root_name(text)
    if root in _SITEMAP_ROOTS or is_feed(text):
        return ""
    if root:
        return "an HTML page" if root == "html" else f"XML of another kind (<{root[:_WORD]}>)"
    if strip(text):
        return "text without URLs"
    return "without text that can be read" if document.body.strip() else "empty"


_SITEMAP_ROOTS = frozenset(("urlset", "sitemapindex"))


def _unpack_text(document: Document) -> str:
    body = unpack(document.body)
    if body is not document.body:
        document = msgspec.structs.replace(document, body=body, charset="")
    return read_text(document)


def _is_web(loc: str) -> bool:
    return loc[:8].lower().startswith(("http://", "https://"))


def robots_sitemaps(document: Document, links: LinkCollector) -> None:
    """Add the `Sitemap:` lines of a robots.txt, in any group: hop M (RFC 9309 2.2.4)."""
    # It is UTF-8 by its standard, whatever charset a server declares for all text files.
    plain = msgspec.structs.replace(document, charset_header=None, charset="")
    for line in re.split(r"[\r\n]+", read_text(plain)):
        match = _ROBOTS_LINE.match(line)
        if match:
            links.add(match[1], Hop.MANIFEST, CONTEXT, sitemap=True)


def is_sitemap_root(body: bytes) -> bool:
    """Whether the first element of a body, plain or gzip, is that of a sitemap or of an index."""
    named = body.find(b"urlset", 0, _HEAD) >= 0 or body.find(b"sitemapindex", 0, _HEAD) >= 0
    if not (named or body.startswith((GZIP_MAGIC, *_BOMS_16))):
        return False
    return _ROOT.match(_unpack_head(body)) is not None


def is_list_or_feed(body: bytes) -> bool:
    """Whether a body, plain or gzip, is a sitemap of another form: a list of URLs, or a feed."""
    head = _unpack_head(body)
    if is_feed(head.decode("latin-1")):
        return True
    lines = head.removeprefix(b"\xef\xbb\xbf").splitlines()
    whole = lines[:-1] if len(head) == _HEAD else lines
    urls = [line.strip() for line in whole if line and not line.isspace()]
    return bool(urls) and all(_URL_LINE.fullmatch(url) for url in urls)


def _unpack_head(body: bytes) -> bytes:
    """Return the first characters of a body out of gzip; UTF-16 without its zeros."""
    for _ in range(MAX_NESTING):
        if not body.startswith(GZIP_MAGIC):
            break
        body = decode_content(body[:_PACKED_HEAD], b"gzip", _PACKED_HEAD).data
    return body[: 2 * _HEAD].replace(b"\0", b"")[:_HEAD]


def unpack(body: bytes) -> bytes:
    """Return a body out of gzip, also out of gzip in gzip, cut to 50 MiB."""
    for _ in range(MAX_NESTING):
        if not body.startswith(GZIP_MAGIC):
            break
        body = decode_content(body, b"gzip", MAX_UNPACKED).data
    return body[:MAX_UNPACKED]


def entries(text: str) -> list[SitemapEntry]:
    """Return the entries of an XML sitemap or sitemap index, in order."""
    return list(iter_entries(text))


def iter_entries(text: str) -> Iterator[SitemapEntry]:
    """Yield the entries of an XML sitemap or sitemap index, each as soon as it is read."""
    reading = _Reading()
    for event in scan(text):
        if isinstance(event, XmlStart):
            reading.start(event)
        elif isinstance(event, End):
            reading.end(event.name, event.text)
        if reading.found:
            yield from reading.found
            reading.found.clear()
    reading.close()
    yield from reading.found


class _Reading:
    """The open entry. Elements may be in any order; unclosed elements end at the next one."""

    def __init__(self) -> None:
        self.found: list[SitemapEntry] = []
        self._name = ""
        self._loc = ""
        self._lastmod = ""
        self._published = ""
        self._said: dict[str, str] = {}
        self._extras: list[tuple[str, Hop, str]] = []
        self._group = ""  # image, video or news element within the entry
        self._in_loc = False

    def start(self, event: XmlStart) -> None:
        name = event.name
        if name == "loc":
            self._next_loc()
        elif name in {"url", "sitemap"} and not self._in_loc:
            self.close()
            self._name = name
        elif name in {"image", "video", "news"} and not self._group:
            self._group = name
        elif name == "link" and self._name:
            self._alternate(attributes(event.attributes))

    def end(self, name: str, text: str) -> None:
        if self._in_loc or name in {"url", "sitemap"}:
            self._take_loc(text)  # some have an element within `loc`, or none
        if name == "loc":
            self._in_loc = False
        elif name == "publication_date" and self._group == "news":
            self._published = date_text(text)
        elif name in {"url", "sitemap"}:
            if not self._in_loc:
                self.close()
        elif name == self._group:
            self._group = ""
        elif name == "lastmod" and not self._lastmod:
            self._lastmod = date_text(text)
        else:
            self._read_other(name, text)

    def _read_other(self, name: str, text: str) -> None:
        if name in {"priority", "changefreq"}:
            self._said.setdefault(name, text[:_WORD])
        elif text and name in _EMBEDS:
            self._extras.append((text, Hop.EMBED, f"{self._group or 'video'}/{name}"))

    def close(self) -> None:
        """The open entry is complete."""
        if self._loc or self._extras:
            is_sitemap = self._name == "sitemap"
            entry = SitemapEntry(
                self._loc, self._lastmod or self._published, is_sitemap, tuple(self._extras),
                self._said.get("priority", ""), self._said.get("changefreq", ""),
            )  # fmt: skip
            self.found.append(entry)
            self._extras = []
        self._name = self._loc = self._lastmod = self._published = self._group = ""
        self._said.clear()
        self._in_loc = False

    def _next_loc(self) -> None:
        """Another `loc` begins: of the same entry a second one is a page too."""
        if self._loc and not self._group:
            name = self._name
            self.close()
            self._name = name
        self._in_loc = True

    def _take_loc(self, text: str) -> None:
        if text and self._group == "image":
            self._extras.append((text, Hop.EMBED, "image/loc"))
        elif text and not self._loc and not self._group:
            self._loc = text

    def _alternate(self, link: dict[str, str]) -> None:
        href = link.get("href", "")
        if href and "alternate" in link.get("rel", "").lower():
            self._extras.append((href, Hop.MANIFEST, "link/@href"))


def _add_entries(text: str, links: LinkCollector) -> None:
    for number, entry in enumerate(iter_entries(text)):
        if links.is_full:
            links.drop(sum(1 for _ in _LOC.finditer(text)) - number)
            return
        _add(entry.loc, links, sitemap=entry.is_sitemap, lastmod=entry.lastmod)
        for url, hop, context in entry.extras:
            href = _clean(url, links.base)
            if href:
                links.add(href, hop, context)


def _add_feed(text: str, links: LinkCollector) -> None:
    for part in feed_parts(text):
        if isinstance(part, FeedText):
            add_text(part, links)
            continue
        href = resolve_based(part, links.base)
        if part.is_item:
            _add(href, links, lastmod=part.updated)
        elif href:
            links.add(href, part.hop, part.context, rel=part.rel)


def _add_lines(text: str, links: LinkCollector) -> None:
    """A plain text sitemap: one URL a line, all of it."""
    for line in text.splitlines():
        loc = strip(line)
        if _is_web(loc):
            _add(loc, links)


def _add(loc: str, links: LinkCollector, *, sitemap: bool = False, lastmod: str = "") -> None:
    href = _clean(loc, links.base)
    if not href or (sitemap and links.resolve(href) == links.document.url):
        return
    links.add(href, Hop.MANIFEST, CONTEXT, sitemap=sitemap, lastmod=lastmod)


def _clean(loc: str, base: str) -> str:
    """Return a URL without line breaks; "" if it is neither absolute nor begins with a slash."""
    if not loc:
        return ""
    loc = speculative_fixup(_LINE_ENDS.sub("", strip(loc)), base)
    return loc if loc.startswith("/") or _SCHEME.match(loc) else ""
