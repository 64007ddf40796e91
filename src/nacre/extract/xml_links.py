"""XML of any kind: URLs in attributes, text and CDATA; feeds get their own semantics.

Source: Heritrix's ExtractorXML, which takes absolute URLs only (hop X). Here the references of SVG
and of `xml-stylesheet` are followed too, relative ones included, as a browser that shows the
document does.
"""

import re
from collections.abc import Iterator

from nacre.core.crawluri import Hop
from nacre.extract import css
from nacre.extract.document import Document
from nacre.extract.feed import add_feed, feed_parts, is_feed
from nacre.extract.likely import is_very_likely_uri, known_extension
from nacre.extract.links import LinkCollector
from nacre.extract.text import absolute_urls, read_text
from nacre.extract.xml_scan import End, Stylesheet, XmlStart, attributes, scan, unescape_xml

CONTEXT = "=SPECULATIVE_MISC"
"""Link context of a URL that is merely text of a document (Heritrix's word)."""

_VALUE = re.compile(
    r"""((?<![^\s"'])xmlns(?::[^\s="'<]{0,64})?\s*+)?=\s*+(?:"([^"<]*+)"|'([^'<]*+)')"""
)
_SPACE = re.compile(r"\s")
_HOPS = {"a": Hop.LINK} | dict.fromkeys(
    ("image", "feimage", "use", "script", "include", "import", "audio", "video", "iframe"),
    Hop.EMBED,
)
"""Elements of SVG, XInclude, XSLT and XML Schema whose `href` or `src` is followed."""


def extract_xml(document: Document, links: LinkCollector) -> None:
    """Add the links of an XML document.

    Items, enclosures and further pages of RSS and Atom (hops L and E), and the links of the HTML
    in them, as those of a page; references of SVG and
    XInclude (E; of `a`, L); style sheets (E). Every other absolute http(s) URL, every other
    relative `href`, `src` or `url` that is very likely one, and every text and attribute that is
    nothing but such a URL from the root on (`/a/b.html`, `//host/a`) is speculative (X); the names
    of namespaces are names, not places.
    """
    source = read_text(document)
    hrefs: set[str] = set()
    feed = is_feed(source)
    if feed:
        hrefs |= add_feed(feed_parts(source), links)
    feed_urls = {link.url for link in links.outlinks} if feed else set()
    for event in scan(source):
        if isinstance(event, Stylesheet):
            element_attributes = attributes(event.attributes)
            href = element_attributes.get("href", "")
            if href and not href.startswith("#"):
                charset = element_attributes.get("charset", "")
                links.add(href, Hop.EMBED, "xml-stylesheet/@href", charset=charset)
            continue
        if not feed:
            _references(event, links, hrefs)
        for url in _urls_in_text(event):
            if url not in hrefs and not (feed_urls and links.resolve(url) in feed_urls):
                links.add(url, Hop.SPECULATIVE, CONTEXT)


def _references(event: XmlStart | End, links: LinkCollector, hrefs: set[str]) -> None:
    """Add references that a browser follows when it shows the document, also to `hrefs`."""
    if isinstance(event, End):
        if event.name == "style" and event.text:
            _styles(event.text, links)
        return
    raw = event.attributes
    styled = "url(" in raw
    if not (styled or "href" in raw or "src" in raw or "url" in raw or "URL" in raw):
        return
    element_attributes = attributes(raw)
    if styled:
        for value in element_attributes.values():
            _styles(value, links)
    for key in ("href", "src", "url"):
        value = element_attributes.get(key, "").strip()
        if value and not value.startswith("#"):
            _reference(event.name, key, value, links, hrefs)


def _reference(name: str, key: str, value: str, links: LinkCollector, hrefs: set[str]) -> None:
    hop = _HOPS.get(name) if key != "url" else None
    if hop:
        hrefs.add(value)
        links.add(value, hop, f"{name}/@{key}")
    elif "://" not in value and is_very_likely_uri(value):
        links.add(value, Hop.SPECULATIVE, CONTEXT)


def _styles(text: str, links: LinkCollector) -> None:
    for url in css.css_urls(text):
        if not url.startswith("#"):
            links.add(url, Hop.EMBED, css.CONTEXT)


def _from_the_root(text: str) -> Iterator[str]:
    """A text that is a path or a host without its scheme, and looks like one; not `/` alone."""
    if len(text) > 1 and not _SPACE.search(text) and is_very_likely_uri(text):
        yield text


def _urls_of_attribute(value: str) -> Iterator[str]:
    """The same of an attribute, which may be a path of XPath or of a disk: a host, or a file."""
    value = value.strip()
    extension = value.partition("?")[0].rpartition(".")[2]
    if value.startswith("//") or (value.startswith("/") and known_extension(extension)):
        yield from _from_the_root(value)


def _urls_in_text(event: XmlStart | End) -> Iterator[str]:
    """Absolute URLs in the text before a tag and, of a start tag, in its attributes."""
    text = event.before if isinstance(event, XmlStart) else event.text
    if "://" in text:
        yield from absolute_urls(text)
    elif text[:1] == "/" and isinstance(event, End):
        yield from _from_the_root(text)
    if not isinstance(event, XmlStart):
        return
    raw = event.attributes
    if "://" in raw or '="/' in raw or "='/" in raw:
        for namespace, double, single in _VALUE.findall(raw):
            if not namespace and "/" in (value := unescape_xml(double or single)):
                yield from absolute_urls(value) if "://" in value else _urls_of_attribute(value)
