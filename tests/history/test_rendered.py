"""Documents of pages that were run in a browser, as the store has them."""

import pytest

from nacre.core.crawluri import CrawlURI
from nacre.core.processor import PageUnit, Visit
from nacre.core.rendered import RenderedPage, RenderedRoute
from nacre.history.rendered import MOST, RenderedDocuments, RenderedRow, dom_digest, final_dom
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

URL, DOM = "http://a.test/\u9875?x=1", "<p>\u5c55\u89c8</p>".encode()


def test_documents_that_were_judged_are_apart_from_the_others() -> None:
    documents = RenderedDocuments(Store(MemoryEngine()))
    documents.put(URL, DOM, 7, judged=False)
    assert documents.get(URL, judged=True) is None
    row = documents.get(URL, judged=False)
    assert row is not None
    assert (row.dom, row.began, row.digest) == (DOM, 7, dom_digest(DOM))
    documents.put(URL, b"<p>b</p>", 8, judged=True)
    documents.drop(URL, judged=False)
    assert documents.get(URL, judged=False) is None
    row = documents.get(URL, judged=True)
    assert row is not None
    assert row.dom == b"<p>b</p>"


@pytest.mark.parametrize(
    ("dom", "routes", "document"),
    [
        (b"<p>a", [], b"<p>a"),
        (b"<p>a", [b"<p>b", b"<p>c"], b"<p>a\n<p>b\n<p>c"),
        (b"", [b"<p>b"], b""),
        (b"<p>a", [b"x" * 1_400_000, b"y" * 200_000], b"<p>a\n" + b"x" * 1_400_000),
    ],
)
def test_documents_of_hash_routes_are_behind_that_of_the_page(
    dom: bytes, routes: list[bytes], document: bytes
) -> None:
    states = tuple(RenderedRoute(f"{URL}#/{number}", route) for number, route in enumerate(routes))
    page = PageUnit("id", "mount", RenderedPage("settled", URL, dom=dom, routes=states))
    assert final_dom(Visit(CrawlURI(URL, b"k", "q"), page=page)) == document
    assert final_dom(Visit(CrawlURI(URL, b"k", "q"))) == b""


def test_long_documents_are_cut_and_broken_ones_are_empty() -> None:
    documents = RenderedDocuments(Store(MemoryEngine()))
    documents.put(URL, b"x" * (MOST + 9), 7, judged=True)
    row = documents.get(URL, judged=True)
    assert row is not None
    assert len(row.dom) == MOST
    assert RenderedRow("dom:x", 1, b"no zlib").dom == b""
