import gzip
from collections.abc import Callable

import pytest

from nacre.extract.document import Document
from nacre.extract.extractors import StockExtractor
from nacre.extract.kind import kind_of
from nacre.extract.settings import ExtractSettings


def kind(name: str = "/x", /, **fields: object) -> StockExtractor:
    values: dict[str, object] = {"body": b"some text", **fields}
    document = Document(url=f"http://a.test{name}", **values)  # type: ignore[arg-type]
    return kind_of(document, ExtractSettings())


@pytest.mark.parametrize(
    ("mime", "expected"),
    [
        ("text/html", StockExtractor.HTML),
        ("application/xhtml+xml", StockExtractor.HTML),
        ("text/vnd.wap.wml", StockExtractor.HTML),
        ("text/css", StockExtractor.CSS),
        ("text/javascript", StockExtractor.SCRIPT),
        ("application/x-javascript", StockExtractor.SCRIPT),
        ("application/json", StockExtractor.JSON),
        ("application/ld+json", StockExtractor.JSON),
        ("text/xml", StockExtractor.XML),
        ("application/rss+xml", StockExtractor.XML),
        ("image/svg+xml", StockExtractor.XML),
        ("image/png", StockExtractor.NONE),
        ("text/plain", StockExtractor.NONE),
        ("", StockExtractor.NONE),
    ],
)
def test_by_media_type(mime: str, expected: StockExtractor):
    assert kind(mime=mime) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"  <!DOCTYPE html><p>", StockExtractor.HTML),
        (b"<?xml version='1.0'?><html>", StockExtractor.HTML),
        (b"<\0h\0t\0m\0l\0>\0", StockExtractor.HTML),
        (b"\xef\xbb\xbf<?xml version='1.0'?><feed>", StockExtractor.XML),
        (b"PK\x03\x04 <html>", StockExtractor.NONE),
        (b"", StockExtractor.NONE),
    ],
)
def test_by_the_beginning_of_the_body(body: bytes, expected: StockExtractor):
    assert kind(body=body) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/s.css?v=1", StockExtractor.CSS),
        ("/a.js", StockExtractor.SCRIPT),
        ("/A.MJS", StockExtractor.SCRIPT),
        ("/a.json", StockExtractor.JSON),
        ("/feed.rss", StockExtractor.XML),
        ("/robots.txt", StockExtractor.ROBOTS),
        ("/sub/robots.txt", StockExtractor.NONE),
        ("/a.css/b", StockExtractor.NONE),
    ],
)
def test_by_extension(path: str, expected: StockExtractor):
    assert kind(path) == expected


def test_by_the_element_that_asked_for_it():
    assert kind(context="script/@src") == StockExtractor.SCRIPT


def test_sitemaps_by_announcement_and_by_content():
    assert kind(is_sitemap=True) == StockExtractor.SITEMAP
    assert kind(is_sitemap=True, status=404) == StockExtractor.NONE
    assert kind(mime="text/xml", body=b"<?xml version='1.0'?><urlset>") == StockExtractor.SITEMAP


def test_html_at_the_name_of_a_picture_is_not_searched():
    assert kind("/x.gif", mime="text/html") == StockExtractor.NONE


def test_an_archive_named_as_html_is_not_searched():
    assert kind("/x.html", mime="text/html", body=b"PK\x03\x04<a href=x>") == StockExtractor.NONE


@pytest.mark.parametrize(
    ("status", "searched"),
    [(200, True), (206, True), (302, True), (404, False), (500, False), (1, False), (-2, False)],
)
def test_only_successes_are_searched(status: int, searched: bool):
    assert (kind(mime="text/html", status=status) == StockExtractor.HTML) == searched


def test_error_pages_when_asked_for():
    settings = ExtractSettings(extract_error_pages=True)
    document = Document(url="http://a.test/", mime="text/html", body=b"x", status=404)
    assert kind_of(document, settings) == StockExtractor.HTML


# ---- gzip files and lists as sitemaps

URLSET = b"<?xml version='1.0'?>\n<!-- made - by x --><s:urlset xmlns:s='x'><s:url/></s:urlset>"
INDEX = b"\xef\xbb\xbf<sitemapindex><sitemap/></sitemapindex>"
LIST = b"http://a.test/1\r\n\r\nhttps://a.test/2?a=b\r\n"
RSS = b"<rss version='2.0'><channel><item/></channel></rss>"
TYPES = [
    *("", "application/gzip", "application/x-gzip", "application/octet-stream", "text/xml"),
    *("text/plain", "text/html", "application/xml", "binary/octet-stream", "image/png"),
    *("application/x-tar", "unknown/unknown", "application/json"),
]


@pytest.mark.parametrize("mime", TYPES)
@pytest.mark.parametrize("body", [URLSET, INDEX, LIST, RSS, URLSET.decode().encode("utf-16")])
def test_an_announced_gzip_file_is_a_sitemap_of_any_type(mime: str, body: bytes):
    for packed in (gzip.compress(body), gzip.compress(gzip.compress(body))):
        assert kind("/a", mime=mime, body=packed, is_sitemap=True, path="M") == "sitemap"


@pytest.mark.parametrize("mime", TYPES)
@pytest.mark.parametrize("body", [URLSET, INDEX, LIST, RSS])
def test_a_packed_seed_is_a_sitemap_of_any_type(mime: str, body: bytes):
    assert kind("/a.gz", mime=mime, body=gzip.compress(body)) == "sitemap"
    assert kind("/a.gz", mime=mime, body=gzip.compress(body), path="RR") == "sitemap"


@pytest.mark.parametrize("mime", TYPES)
@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_the_root_element_of_a_sitemap_decides(mime: str, packed: Callable[[bytes], bytes]):
    for body in (URLSET, INDEX):
        assert kind("/a", mime=mime, body=packed(body), path="L") == "sitemap"


def test_a_list_of_urls_is_a_sitemap_if_it_is_a_seed_or_announced():
    assert kind("/urls", mime="text/plain", body=LIST) == "sitemap"
    assert kind("/urls", mime="text/plain", body=LIST, path="L") == StockExtractor.NONE
    assert kind("/urls", mime="text/plain", body=gzip.compress(LIST), path="L") == ""
    assert kind("/urls", mime="text/plain", body=LIST, path="L", is_sitemap=True) == "sitemap"
    long = b"http://a.test/" + b"x" * 40 + b"\n"
    assert kind("/urls", mime="text/plain", body=long * 50) == "sitemap"


@pytest.mark.parametrize(
    "body",
    [
        b"see http://a.test/1\n",
        b"http://a.test/1 is good\n",
        b"\n\n",
        b"<urls>",
        b"<!-- <urlset> -->",
    ],
)
def test_other_text_is_no_sitemap(body: bytes):
    assert kind("/x", mime="text/plain", body=body) != "sitemap"
    assert kind("/x", mime="application/gzip", body=gzip.compress(body)) == StockExtractor.NONE


def test_another_gzip_file_is_not_searched():
    page = gzip.compress(b"<!doctype html><a href=x>")
    assert kind("/x", mime="text/html", body=page) == StockExtractor.NONE
    assert kind("/x", mime="text/html", body=b"\x1f\x8b") == StockExtractor.NONE
    assert kind("/x", body=gzip.compress(b"ustar" * 90_000), path="L") == StockExtractor.NONE


def test_an_announced_sitemap_that_is_a_picture_is_not_searched():
    assert kind("/s.xml", mime="text/xml", body=b"\x89PNG", is_sitemap=True) == StockExtractor.NONE


def test_a_gzip_file_that_failed_is_not_searched():
    body = gzip.compress(URLSET)
    assert kind("/s.gz", body=body, is_sitemap=True, status=404) == StockExtractor.NONE


# ---- types that say nothing, and elements that say more

NOSNIFF = ((b"X-Content-Type-Options", b"nosniff"),)
SCRIPT, CSS, HTML = StockExtractor.SCRIPT, StockExtractor.CSS, StockExtractor.HTML
JSON, XML, NONE = StockExtractor.JSON, StockExtractor.XML, StockExtractor.NONE


@pytest.mark.parametrize("mime", ["", "unknown/unknown", "application/unknown", "*/*", "none"])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<a href=/x>", HTML), (b"\xef\xbb\xbf \n<div>", HTML), (b"<!-- c --><p>", HTML),
        (b"<TITLE>", HTML), (b"<?xml version='1.0'?><x/>", XML), (b"<rss version='2'>", XML),
        (b"<feed xmlns='x'>", XML), (b"text <a href=/x>", NONE), (b"GIF89a<a href=/x>", NONE),
        (b"<span>", NONE), (b"\0\1<p>", NONE),
    ],
)  # fmt: skip
def test_an_unknown_type_is_sniffed(mime: str, body: bytes, expected: StockExtractor):
    assert kind("/x", mime=mime, body=body, path="L") == expected


def test_what_must_not_be_sniffed_is_not():
    assert kind("/x", body=b"<a href=/x>", path="L", headers=NOSNIFF) == NONE
    assert kind("/x", mime="text/html", body=b"<rss>", path="L", headers=NOSNIFF) == HTML
    assert kind("/x.css", body=b"a{}", path="L", headers=NOSNIFF) == CSS


def test_a_picture_without_a_type_that_is_html_is_not_searched():
    assert kind("/x.gif", body=b"<a href=/x>", path="E") == NONE


def test_a_feed_that_is_called_html_is_a_feed():
    assert kind("/x", mime="text/html", body=b"<?xml?><rss><channel>", path="L") == XML
    assert kind("/x", mime="application/xhtml+xml", body=b"<rss>", path="L") == HTML


OF_SCRIPTS = [
    "link[rel='preload'][as='script']/@href",
    "script/@src",
    "script/@href",
    "link[rel='modulepreload']/@href",
    "=JS_IMPORT",
]
OF_STYLES = ["link[rel='stylesheet']/@href", "xml-stylesheet/@href"]
WRONG = ["", "*/*", "text/html", "text/plain", "application/octet-stream", "application/x-php"]


@pytest.mark.parametrize("mime", WRONG)
@pytest.mark.parametrize("context", OF_SCRIPTS)
def test_a_script_is_what_its_element_loads(mime: str, context: str):
    for body in (b"var u='/x.html'", b"<!--\nvar u\n//-->", "\u5e74".encode("gbk")):
        assert kind("/x.php", mime=mime, body=body, context=context, path="E") == SCRIPT


@pytest.mark.parametrize("mime", WRONG)
@pytest.mark.parametrize("context", OF_STYLES)
def test_a_style_sheet_is_what_its_element_loads(mime: str, context: str):
    body = b"a{background:url(/x.png)}"
    assert kind("/x.php", mime=mime, body=body, context=context, path="E") == CSS


def test_a_style_sheet_of_a_style_sheet_needs_no_type():
    for mime, expected in (("", CSS), ("*/*", CSS), ("text/plain", NONE), ("text/html", HTML)):
        body = b"a{background:url(/x.png)}"
        assert kind("/x", mime=mime, body=body, context="=EMBED_MISC", path="EE") == expected
    assert kind("/x", body=b"OTTO\0\1", context="=EMBED_MISC", path="EE") == NONE


@pytest.mark.parametrize("context", [*OF_SCRIPTS[:1], *OF_STYLES])
@pytest.mark.parametrize(
    ("mime", "body", "expected"),
    [
        ("text/html", b"<!doctype html><p>not found", HTML),
        ("", b"<html><body>not found", HTML),
        ("image/png", b"var x", NONE),
        ("text/csv", b"a,b", NONE),
        ("text/css", b"a{}", CSS),
        ("text/javascript", b"x", SCRIPT),
        ("application/json", b"{}", JSON),
        ("text/xml", b"<x/>", XML),
        ("application/octet-stream", b"\0asm", NONE),
    ],
)
def test_what_contradicts_the_element_is_what_it_says(
    context: str, mime: str, body: bytes, expected: StockExtractor
):
    known = {"script/@src": SCRIPT} if not expected and "image" not in mime else {}
    found = kind("/x", mime=mime, body=body, context=context, path="E")
    assert found == known.get(context, expected)


@pytest.mark.parametrize("context", [*OF_SCRIPTS, *OF_STYLES])
def test_an_element_uses_no_other_type_if_sniffing_is_forbidden(context: str):
    about = {"context": context, "path": "E", "headers": NOSNIFF}
    assert kind("/x", mime="text/html", body=b"var u='/x'", **about) == HTML


def test_a_manifest_needs_no_type():
    about = {"context": "link[rel='manifest']/@href", "path": "E"}
    assert kind("/x", body=b'{"start_url": "/"}', **about) == JSON
    assert kind("/x", mime="text/plain", body=b'{"start_url": "/"}', **about) == JSON
    assert kind("/x", mime="text/html", body=b"<p>not found", **about) == HTML
