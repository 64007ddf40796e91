"""One document in, its links out: headers first, then the one extractor that claims the content."""

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from nacre import annotations
from nacre.annotations import charset_of
from nacre.core.crawluri import Hop
from nacre.extract.css import extract_css
from nacre.extract.document import Document, Extraction
from nacre.extract.extractors import EXTRACTORS, Extractor, StockExtractor
from nacre.extract.headers import NOFOLLOW, extract_headers, header_directives
from nacre.extract.html.extractor import extract_html
from nacre.extract.json_feed import extract_json
from nacre.extract.kind import is_searched, kind_of
from nacre.extract.links import LinkCollector
from nacre.extract.script import extract_script
from nacre.extract.sitemap import extract_sitemap, robots_sitemaps
from nacre.extract.text import text_charset
from nacre.extract.xml_links import extract_xml
from nacre.wire.charset import detect
from nacre.wire.codec import GZIP_MAGIC
from nacre.wire.guess import name_of

if TYPE_CHECKING:
    from nacre.extract.settings import ExtractSettings

# The way to a member of an enumeration is long.
_HTML, _SITEMAP, _ROBOTS, _INFERRED = (
    StockExtractor.HTML,
    StockExtractor.SITEMAP,
    StockExtractor.ROBOTS,
    Hop.INFERRED,
)
_NONE = StockExtractor.NONE

_OF_PAGES = frozenset((StockExtractor.SCRIPT, StockExtractor.JSON))
_PLAIN_TEXT = "text/plain"
_FAVICON = "/favicon.ico"

EXTRACTORS.add(
    Extractor(StockExtractor.HTML, extract_html, switch="extract_html"),
    Extractor(StockExtractor.ROBOTS, robots_sitemaps, switch="extract_sitemaps"),
    Extractor(StockExtractor.SITEMAP, extract_sitemap, is_text=True, switch="extract_sitemaps"),
    Extractor(StockExtractor.CSS, extract_css, is_text=True, switch="extract_css"),
    Extractor(StockExtractor.SCRIPT, extract_script, is_text=True, switch="extract_javascript"),
    Extractor(StockExtractor.JSON, extract_json, is_text=True, switch="extract_json"),
    Extractor(StockExtractor.XML, extract_xml, is_text=True, switch="extract_xml"),
)


def extract(document: Document, settings: "ExtractSettings") -> Extraction:
    """Return all links of a document.

    Never raises, and takes time and memory linear in the size of the document, of which at most
    `settings.max_document` bytes are read.

    Args:
        document: The document, content decoded.
        settings: What is wanted of it.
    """
    if not document.url.startswith(("http://", "https://")):
        return Extraction()
    robots = frozenset(header_directives(document.headers, settings.robots_agent))
    result = Extraction(robots=robots)
    if len(document.body) > settings.max_document:
        document = msgspec.structs.replace(document, body=document.body[: settings.max_document])
    extractor = _claimant(document, settings)
    kind = extractor.name if extractor is not None else _NONE
    _detect(kind, extractor, document, result)
    links = LinkCollector(document, settings, _of_queries(kind, document))
    if kind in {_SITEMAP, _ROBOTS}:
        links.use_sitemap_limit()
    if settings.extract_headers:
        extract_headers(document, links)
    if settings.infer_favicon:
        links.add(_FAVICON, _INFERRED, "=INFERRED_MISC")
    if extractor is not None:
        _content(extractor, document, links, result)
    _finish(result, links)
    return result


def unpacks(document: Document, settings: "ExtractSettings") -> bool:
    """Return whether a document is a gzip file to unpack, whose length does not limit the work."""
    return document.body.startswith(GZIP_MAGIC) and kind_of(document, settings) is _SITEMAP


def _claimant(document: Document, settings: "ExtractSettings") -> Extractor | None:
    """The extractor of a document: that of a plug-in for its media type, else Nacre's own."""
    for name in settings.extractors:
        extractor = EXTRACTORS.get(name)
        if document.mime in extractor.media_types and is_searched(document, settings):
            return extractor
    kind = kind_of(document, settings)
    if kind:
        return EXTRACTORS.find(kind)
    return _stock_for(document.mime) if is_searched(document, settings) else None


@lru_cache(maxsize=256)
def _stock_for(mime: str) -> Extractor | None:
    """Return Nacre's own extractor that declares a media type."""
    return next((e for e in EXTRACTORS if not e.contract and mime in e.media_types), None)


def _detect(kind: str, extractor: Extractor | None, document: Document, result: Extraction) -> None:
    """Detect the charset of a document, and annotate it if it is not the declared one."""
    body, label, url = document.body, document.charset_header, document.url
    if kind == _HTML:
        codec, source = detect(body, label, url, document.hints)
        charset = codec
    elif extractor.is_text if extractor is not None else _is_plain_text(document):
        if body.startswith(GZIP_MAGIC):
            return
        codec, source = text_charset(body, label, url, document.hints)
        charset = "" if codec == "utf-8" else codec
    else:
        return
    document.use_charset(codec)
    result.take_charset(charset, source)
    annotation = charset_of(source, name_of(codec))
    if annotation and not (kind != _HTML and codec == "utf-8"):
        result.annotations.append(annotation)


def _is_plain_text(document: Document) -> bool:
    """Return True for text that no extractor takes; servers call much by that name that is none."""
    return document.mime == _PLAIN_TEXT and b"\0" not in document.body[:1000]


def _of_queries(kind: str, document: Document) -> str:
    """Return the encoding that a browser writes queries in: a script's are those of its page's."""
    if kind in _OF_PAGES:
        return document.hints.via or document.charset
    return "utf-8" if kind == StockExtractor.CSS else document.charset or "utf-8"


def _content(
    extractor: Extractor, document: Document, links: LinkCollector, result: Extraction
) -> None:
    if extractor.switch and not getattr(links.settings, extractor.switch):
        return
    result.claim()
    try:
        extractor.extract(document, links)
    except (ValueError, LookupError, RecursionError) as error:
        result.annotations.append(annotations.error(error))
    if links.robots:
        result.robots |= links.robots
    result.metas = links.metas


def _finish(result: Extraction, links: LinkCollector) -> None:
    """Move the collected links to the result; none if robots directives forbid to follow them."""
    outlinks = links.outlinks
    if links.settings.obey_meta_robots and result.robots & NOFOLLOW:
        outlinks = [link for link in outlinks if link.hop in _KEPT_BY_NOFOLLOW]
    result.take_links(outlinks, links.dropped, links.errors)


_KEPT_BY_NOFOLLOW = frozenset((Hop.REDIRECT, Hop.INFERRED, Hop.MANIFEST))
