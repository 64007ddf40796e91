"""The kind of a document, by which one extractor claims it.

Source: Heritrix's extractors: media type, then the beginning of the body, then the extension, then
how it was found; the first claimant wins.
"""

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from nacre.core.crawluri import Hop
from nacre.extract import css
from nacre.extract.document import Document
from nacre.extract.extractors import StockExtractor
from nacre.extract.json_feed import is_json_feed
from nacre.extract.script import IMPORT_CONTEXT
from nacre.extract.sitemap import is_list_or_feed, is_sitemap_root
from nacre.wire.codec import GZIP_MAGIC
from nacre.wire.mime_sniff import (
    ATOM,
    HEADER,
    HTML,
    PLAIN,
    RSS,
    XML,
    computed_type,
    has_nosniff,
    is_markup,
    is_unknown_type,
    sniff_feed,
    sniff_text,
)

if TYPE_CHECKING:
    from nacre.extract.settings import ExtractSettings

_HEAD = 1000
_MAGIC = (
    *(b"PK\x03\x04", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"%PDF-", b"\x1f\x8b", b"BZh"),
    *(b"MZ\x90", b"Rar!", b"7z\xbc\xaf", b"\xfd7zXZ", b"OggS", b"ID3", b"fLaC", b"\x7fELF"),
    *(b"RIFF", b"\x00\x00\x01\x00", b"wOFF", b"wOF2", b"\x28\xb5\x2f\xfd", b"FWS", b"CWS"),
)
_MEDIA = (
    *(".gif", ".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp", ".avif", ".avi", ".mov"),
    *(".mpg", ".mpeg", ".mp3", ".mp4", ".webm", ".swf", ".wav", ".au", ".aiff", ".mid", ".ogg"),
)
_MEDIA_TYPES = ("image/", "video/", "audio/", "font/")
_HTML_TYPES = ("html", "vnd.wap.wml", "vnd.wap.xhtml")
_SCRIPT_TYPES = ("javascript", "jscript", "ecmascript", "livescript")
_XML_PATHS = (".rss", ".xml", ".atom", ".rdf", ".svg")
_SITEMAP_ROOTS = (b"<urlset", b"<sitemapindex")
_REDIRECTS = Hop.REDIRECT.value
_SCRIPTS = (
    *("script/", "link[rel='modulepreload']", "link[rel='preload'][as='script']"),
    IMPORT_CONTEXT,
)
_STYLES = (
    *("link[rel='stylesheet']", "link[rel='preload'][as='style']", "xml-stylesheet/"),
    css.CONTEXT,
)
_MANIFESTS = ("link[rel='manifest']",)
_FEEDS = frozenset((RSS, ATOM))
_BLOCKED = ("image/", "audio/", "video/", "font/", "text/csv")
"""Types that no script or style element uses (Fetch)."""

_HTML, _NONE = (
    StockExtractor.HTML,
    StockExtractor.NONE,
)  # the way to a member of an enumeration is long


def kind_of(document: Document, settings: "ExtractSettings") -> StockExtractor:
    """Return the extractor that takes a document; `NONE` for a document without readable links."""
    if not is_searched(document, settings):
        return _NONE
    if document.body.startswith(_MAGIC):
        return StockExtractor.SITEMAP if _is_packed_sitemap(document) else _NONE
    path = _path(document.url)
    return (
        _by_purpose(document, path)
        or _by_element(document)
        or _by_type_or_content(document, path, settings)
    )


def _by_purpose(document: Document, path: str) -> StockExtractor:
    """What the URL is for, whatever its media type."""
    if path == "/robots.txt":
        return StockExtractor.ROBOTS
    is_sitemap = _is_announced(document) or is_sitemap_root(document.body)
    return StockExtractor.SITEMAP if is_sitemap else _NONE


def _by_element(document: Document) -> StockExtractor:
    """What a script, a style sheet or a manifest is loaded as, if browsers would use it so.

    A script is one whatever its media type, unless that is a picture, audio, video or CSV, or the
    server forbids to guess (`nosniff`). A style sheet needs no media type; with a wrong one it is
    used by old pages (quirks mode). Markup, such as an error page, is read by its own type. Source:
    Fetch, "should response to request be blocked due to its MIME type" and "… to nosniff"; HTML
    Standard, `link` type `stylesheet`.
    """
    mime, expected = document.mime, _kind_of_element(document.context)
    if not expected or _by_type(mime):
        return _NONE
    is_unknown = is_unknown_type(mime)
    if mime.startswith(_BLOCKED) or (document.context == css.CONTEXT and not is_unknown):
        return _NONE
    body = document.body
    if has_nosniff(document.headers) or is_markup(body) or sniff_text(body) != PLAIN:
        return _NONE
    return expected


@lru_cache(maxsize=256)
def _kind_of_element(context: str) -> StockExtractor:
    """The kind that the element of a link context loads; `NONE` for elements of all kinds."""
    if context.startswith(_SCRIPTS):
        return StockExtractor.SCRIPT
    if context.startswith(_STYLES):
        return StockExtractor.CSS
    return StockExtractor.JSON if context.startswith(_MANIFESTS) else _NONE


def _by_type_or_content(
    document: Document, path: str, settings: "ExtractSettings"
) -> StockExtractor:
    mime = document.mime
    if _says_html(mime):
        return _html_or_feed(document, path, settings)
    if mime.startswith(_MEDIA_TYPES) and "xml" not in mime:
        return _NONE
    extractor = _by_type(mime) or _by_content(document, path)
    if not extractor and is_unknown_type(mime):
        extractor = _sniff_kind(document, path, settings)
    return extractor or _by_name(document, path)


def _html_or_feed(document: Document, path: str, settings: "ExtractSettings") -> StockExtractor:
    """HTML, or a feed that was called so."""
    computed = computed_type(document.mime, document.headers, document.body)
    return StockExtractor.XML if computed in _FEEDS else _html(path, settings)


def _sniff_kind(document: Document, path: str, settings: "ExtractSettings") -> StockExtractor:
    """What a browser takes a document of an unknown type for; a byte order mark does not matter."""
    body = document.body.removeprefix(b"\xef\xbb\xbf")
    computed = computed_type(document.mime, document.headers, body)
    if computed == HTML:
        return _html(path, settings)
    head = body[:HEADER].lstrip()
    if computed == PLAIN and head.startswith(b"{") and is_json_feed(head.decode("latin-1"), ""):
        return StockExtractor.JSON
    is_feed = computed == PLAIN and sniff_feed(body) in _FEEDS
    return StockExtractor.XML if is_feed or computed == XML else _NONE


def is_searched(document: Document, settings: "ExtractSettings") -> bool:
    """Return whether a document has content and its status allows extraction of links."""
    status = document.status
    has_links = 200 <= status < 400 or (status >= 400 and settings.extract_error_pages)
    return has_links and bool(document.body)


def _is_announced(document: Document) -> bool:
    return document.is_sitemap and 200 <= document.status < 300


def _is_packed_sitemap(document: Document) -> bool:
    """Return whether a body that is a gzip file is a sitemap, whatever its media type and name.

    Announced sitemaps are read in any form. Of others the root element decides; a seed may also be
    a feed or a list of URLs (sitemaps.org, "Other Sitemap formats").
    """
    body = document.body
    if not body.startswith(GZIP_MAGIC):
        return False
    return _is_announced(document) or is_sitemap_root(body) or _is_seed_list(document)


def _is_seed_list(document: Document) -> bool:
    """Return whether a seed, or its redirect target, is a list of URLs or a feed."""
    return not document.path.strip(_REDIRECTS) and is_list_or_feed(document.body)


@lru_cache(maxsize=256)
def _says_html(mime: str) -> bool:
    return any(word in mime for word in _HTML_TYPES)


def _path(url: str) -> str:
    start = url.find("/", url.find("//") + 2)
    path = url[start:].partition("?")[0].partition("#")[0] if start >= 0 else ""
    return unquote(path[-300:]).lower()


def _html(path: str, settings: "ExtractSettings") -> StockExtractor:
    unexpected = settings.ignore_unexpected_html and path.endswith(_MEDIA)
    return _NONE if unexpected else _HTML


def _by_type(mime: str) -> StockExtractor:
    """Types that leave no doubt."""
    if "css" in mime:
        return StockExtractor.CSS
    if any(word in mime for word in _SCRIPT_TYPES):
        return StockExtractor.SCRIPT
    if "json" in mime:
        return StockExtractor.JSON
    return _NONE


def _by_content(document: Document, path: str) -> StockExtractor:
    """Return the type by the first thousand bytes."""
    head = document.body[:_HEAD].replace(b"\x00", b"").lower()
    xml = "xml" in document.mime and "openxml" not in document.mime
    if (xml or path.endswith(_XML_PATHS)) and any(root in head for root in _SITEMAP_ROOTS):
        return StockExtractor.SITEMAP
    if b"<html" in head or b"<!doctype html" in head:
        return _HTML
    if xml or head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<?xml"):
        return StockExtractor.XML
    return StockExtractor.SITEMAP if _is_seed_list(document) else _NONE


def _by_name(document: Document, path: str) -> StockExtractor:
    """Return the type by extension, or by the element of the link."""
    if path.endswith(".css"):
        return StockExtractor.CSS
    if path.endswith((".js", ".mjs")) or document.context.startswith("script"):
        return StockExtractor.SCRIPT
    if path.endswith((".json", ".webmanifest")):
        return StockExtractor.JSON
    return StockExtractor.XML if path.endswith(_XML_PATHS) else _NONE
