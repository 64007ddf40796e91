import pytest

from nacre.extract.document import Document
from nacre.extract.extractors import StockExtractor
from nacre.extract.kind import kind_of
from nacre.extract.settings import ExtractSettings


def kind(path: str = "/x", **fields: object) -> StockExtractor:
    values: dict[str, object] = {"body": b"some text", **fields}
    document = Document(url=f"http://a.test{path}", **values)  # type: ignore[arg-type]
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
