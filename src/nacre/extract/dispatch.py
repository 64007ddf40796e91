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
from nacre.extract.xml_links import extract_xml
from nacre.wire.charset import HEAD, detect

if TYPE_CHECKING:
    from nacre.extract.settings import ExtractSettings

# The way to a member of an enumeration is long.
_HTML, _SITEMAP, _ROBOTS, _INFERRED = Kind.HTML, Kind.SITEMAP, Kind.ROBOTS, Hop.INFERRED

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
    encoding = _detect(document, result) if kind == _HTML else "utf-8"
    links = LinkCollector(document, settings, encoding)
    if kind in {_SITEMAP, _ROBOTS}:
        links.limit = settings.max_sitemap_links
    if settings.extract_headers:
        extract_headers(document, links)
    if settings.infer_favicon:
        links.add(_FAVICON, _INFERRED, "=INFERRED_MISC")
    _content(kind, document, links, encoding, result)
    _finish(result, document, links)
    return result


def _detect(document: Document, result: Extraction) -> str:
    encoding, source = detect(document.body[:HEAD], document.charset_header)
    result.charset = encoding
    if source == "meta":
        result.annotations.append(f"usingCharsetInHTML:{encoding}")
    return encoding


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
