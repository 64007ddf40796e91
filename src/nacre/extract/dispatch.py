"""One document in, its links out: headers first, then the one extractor that claims the content."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from nacre.core.crawluri import Hop
from nacre.extract.css import extract_css
from nacre.extract.document import Document, Extraction
from nacre.extract.headers import extract_headers
from nacre.extract.html import extract_html
from nacre.extract.json_links import extract_json
from nacre.extract.kind import Kind, kind_of
from nacre.extract.links import LinkCollector
from nacre.extract.robots_meta import NOFOLLOW, header_directives
from nacre.extract.script import extract_script
from nacre.extract.sitemap import extract_sitemap, robots_sitemaps
from nacre.extract.text import text_charset
from nacre.extract.xml_links import extract_xml
from nacre.wire.charset import detect
from nacre.wire.codec import GZIP_MAGIC
from nacre.wire.labels import name_of

if TYPE_CHECKING:
    from nacre.extract.settings import ExtractSettings

# The way to a member of an enumeration is long.
_HTML, _SITEMAP, _ROBOTS, _INFERRED = Kind.HTML, Kind.SITEMAP, Kind.ROBOTS, Hop.INFERRED
_NONE = Kind.NONE

_TEXTS = frozenset((Kind.SITEMAP, Kind.CSS, Kind.SCRIPT, Kind.JSON, Kind.XML))
_OF_PAGES = frozenset((Kind.SCRIPT, Kind.JSON))
_PLAIN_TEXT = "text/plain"
_ANNOTATIONS = {
    "meta": "usingCharsetInHTML",
    "xml": "usingCharsetInXML",
    "detected": "usingCharsetDetected",
    "link": "usingCharsetOfLink",
    "before": "usingCharsetOfBefore",
    "via": "usingCharsetOfVia",
    "host": "usingCharsetOfHost",
}
"""How crawl.log tells of a charset, by where it comes from; the first two words are Heritrix's."""

_FAVICON = "/favicon.ico"

_EXTRACTORS: dict[Kind, tuple[str, Callable[[Document, LinkCollector], None]]] = {
    Kind.ROBOTS: ("extract_sitemaps", robots_sitemaps),
    Kind.SITEMAP: ("extract_sitemaps", extract_sitemap),
    Kind.CSS: ("extract_css", extract_css),
    Kind.SCRIPT: ("extract_javascript", extract_script),
    Kind.JSON: ("extract_json", extract_json),
    Kind.XML: ("extract_xml", extract_xml),
}


def extract(document: Document, settings: "ExtractSettings") -> Extraction:
    """All links of a document.

    Never raises, and takes time and memory linear in the size of the document, of which at most
    `settings.max_document` bytes are read.

    Args:
        document: The document, content decoded.
        settings: What is wanted of it.
    """
    result = Extraction()
    if not document.url.startswith(("http://", "https://")):
        return result
    if len(document.body) > settings.max_document:
        document = msgspec.structs.replace(document, body=document.body[: settings.max_document])
    kind = kind_of(document, settings)
    _detect(kind, document, result)
    encoding = document.charset
    links = LinkCollector(document, settings, _of_queries(kind, document))
    if kind in {_SITEMAP, _ROBOTS}:
        links.limit = settings.max_sitemap_links
    if settings.extract_headers:
        extract_headers(document, links)
    if settings.infer_favicon:
        links.add(_FAVICON, _INFERRED, "=INFERRED_MISC")
    _content(kind, document, links, encoding, result)
    _finish(result, document, links)
    return result


def _detect(kind: Kind, document: Document, result: Extraction) -> None:
    """Find out what a document is written in, and say so where it was not plain."""
    body, label, url = document.body, document.charset_header, document.url
    if kind == _HTML:
        codec, source = detect(body, label, url, document.hints)
        result.charset = codec
    elif kind in _TEXTS or _is_plain_text(kind, document):
        if body.startswith(GZIP_MAGIC):
            return
        codec, source = text_charset(body, label, url, document.hints)
        result.charset = "" if codec == "utf-8" else codec
    else:
        return
    document.charset, result.charset_source = codec, source
    if source in _ANNOTATIONS and not (kind != _HTML and codec == "utf-8"):
        result.annotations.append(f"{_ANNOTATIONS[source]}:{name_of(codec)}")


def _is_plain_text(kind: Kind, document: Document) -> bool:
    """True for text that no extractor takes; servers call much by that name that is none."""
    return kind == _NONE and document.mime == _PLAIN_TEXT and b"\0" not in document.body[:1000]


def _of_queries(kind: Kind, document: Document) -> str:
    """The encoding that a browser writes queries in: a script's are those of its page's."""
    if kind in _OF_PAGES:
        return document.hints.via or document.charset
    return "utf-8" if kind == Kind.CSS else document.charset or "utf-8"


def _content(
    kind: Kind, document: Document, links: LinkCollector, encoding: str, result: Extraction
) -> None:
    result.robots = frozenset(header_directives(document.headers, links.settings.robots_agent))
    try:
        if kind == _HTML:
            if links.settings.extract_html:
                result.claimed = True
                result.robots |= extract_html(document, links, encoding)
        elif kind in _EXTRACTORS:
            name, extractor = _EXTRACTORS[kind]
            if getattr(links.settings, name):
                result.claimed = True
                extractor(document, links)
    except (ValueError, LookupError, RecursionError) as error:
        result.annotations.append(f"err={type(error).__name__}")


def _finish(result: Extraction, document: Document, links: LinkCollector) -> None:
    """Move what was gathered to the result; where robots directives are obeyed, without links."""
    result.outlinks = links.outlinks
    result.dropped = links.dropped
    result.errors = links.errors
    if links.settings.obey_meta_robots and result.robots & NOFOLLOW:
        result.outlinks = [link for link in links.outlinks if link.hop in _KEPT_BY_NOFOLLOW]


_KEPT_BY_NOFOLLOW = frozenset((Hop.REDIRECT, Hop.INFERRED, Hop.MANIFEST))
