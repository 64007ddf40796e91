"""Which URLs are pages of an index."""

import pytest

from nacre.engine.page_document import PLUMBING, DocumentMaker, PageFacts, is_plumbing
from nacre.search.settings import IndexSettings


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
