"""Which URLs are pages of an index."""

import pytest

from nacre.indexing.page_document import PLUMBING, DocumentMaker, PageFacts, is_plumbing
from nacre.search.document import SearchDocument
from nacre.search.settings import IndexSettings
from tests.archive.captures import make_capture


@pytest.mark.parametrize(
    ("url", "is_for_programs"),
    [
        ("http://a.test/robots.txt", True),
        ("https://a.test/robots.txt?x", True),
        ("http://a.test/sitemap.txt", True),
        ("http://a.test/maps/post-sitemap-2.xml.gz", True),
        ("dns:a.test", True),
        ("whois:a.test", True),
        ("http://a.test/", False),
        ("http://a.test", False),
        ("http://a.test/about/robots.txt", False),
        ("http://a.test/robots.html", False),
        ("http://a.test/sitemap.html", False),
        ("http://a.test/?file=/sitemap.txt", False),
        ("ftp://a.test/readme.txt", False),
    ],
)
def test_urls_for_programs_are_no_pages(url, is_for_programs):
    assert is_plumbing(url) is is_for_programs


def test_robots_txt_has_no_document():
    page = PageFacts(key="http://a.test/robots.txt", mime="text/plain")
    with DocumentMaker(IndexSettings(), "nacre") as maker:
        assert maker.document(None, page) == PLUMBING


@pytest.mark.parametrize("mime", ["", "unknown/unknown", "*/*"])
@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"<p>\xe4\xbd\xa0\xe5\xa5\xbd</p>", "\u4f60\u597d"),
        (b"\xef\xbb\xbf<h1>x</h1>", "x"),
        (b"var x = '<p>y</p>'", ""),
        (b"GIF89a<p>y</p>", ""),
    ],
)
def test_a_page_whose_media_type_says_nothing_is_read_by_its_first_bytes(mime, body, text):
    headers = [(b"Content-Type", mime.encode())] if mime else []
    capture = make_capture(url="http://a.test/x", body=body, headers=headers)
    with DocumentMaker(IndexSettings(), "nacre") as maker:
        found = maker.document(capture, PageFacts(key="http://a.test/x", mime=mime))
    assert (found.content if isinstance(found, SearchDocument) else found) == (text or "type")
