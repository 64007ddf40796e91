import pytest

from nacre.extract.document import Document
from nacre.extract.kind import Kind, kind_of
from nacre.extract.settings import ExtractSettings


def kind(path: str = "/x", **fields: object) -> Kind:
    values: dict[str, object] = {"body": b"some text", **fields}
    document = Document(url=f"http://a.test{path}", **values)  # type: ignore[arg-type]
    return kind_of(document, ExtractSettings())


@pytest.mark.parametrize(
    ("mime", "expected"),
    [
        ("text/html", Kind.HTML),
        ("application/xhtml+xml", Kind.HTML),
        ("text/vnd.wap.wml", Kind.HTML),
        ("text/css", Kind.CSS),
        ("text/javascript", Kind.SCRIPT),
        ("application/x-javascript", Kind.SCRIPT),
        ("application/json", Kind.JSON),
        ("application/ld+json", Kind.JSON),
        ("text/xml", Kind.XML),
        ("application/rss+xml", Kind.XML),
        ("image/svg+xml", Kind.XML),
        ("image/png", Kind.NONE),
        ("text/plain", Kind.NONE),
        ("", Kind.NONE),
    ],
)
def test_by_media_type(mime: str, expected: Kind):
    assert kind(mime=mime) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"  <!DOCTYPE html><p>", Kind.HTML),
        (b"<?xml version='1.0'?><html>", Kind.HTML),
        (b"<\0h\0t\0m\0l\0>\0", Kind.HTML),
        (b"\xef\xbb\xbf<?xml version='1.0'?><feed>", Kind.XML),
        (b"PK\x03\x04 <html>", Kind.NONE),
        (b"", Kind.NONE),
    ],
)
def test_by_the_beginning_of_the_body(body: bytes, expected: Kind):
    assert kind(body=body) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/s.css?v=1", Kind.CSS),
        ("/a.js", Kind.SCRIPT),
        ("/A.MJS", Kind.SCRIPT),
        ("/a.json", Kind.JSON),
        ("/feed.rss", Kind.XML),
        ("/robots.txt", Kind.ROBOTS),
        ("/sub/robots.txt", Kind.NONE),
        ("/a.css/b", Kind.NONE),
    ],
)
def test_by_extension(path: str, expected: Kind):
    assert kind(path) == expected


def test_by_the_element_that_asked_for_it():
    assert kind(context="script/@src") == Kind.SCRIPT


def test_sitemaps_by_announcement_and_by_content():
    assert kind(is_sitemap=True) == Kind.SITEMAP
    assert kind(is_sitemap=True, status=404) == Kind.NONE
    assert kind(mime="text/xml", body=b"<?xml version='1.0'?><urlset>") == Kind.SITEMAP


def test_html_at_the_name_of_a_picture_is_not_searched():
    assert kind("/x.gif", mime="text/html") == Kind.NONE


def test_an_archive_named_as_html_is_not_searched():
    assert kind("/x.html", mime="text/html", body=b"PK\x03\x04<a href=x>") == Kind.NONE


@pytest.mark.parametrize(
    ("status", "searched"),
    [(200, True), (206, True), (302, True), (404, False), (500, False), (1, False), (-2, False)],
)
def test_only_successes_are_searched(status: int, searched: bool):
    assert (kind(mime="text/html", status=status) == Kind.HTML) == searched


def test_error_pages_when_asked_for():
    settings = ExtractSettings(extract_error_pages=True)
    document = Document(url="http://a.test/", mime="text/html", body=b"x", status=404)
    assert kind_of(document, settings) == Kind.HTML
