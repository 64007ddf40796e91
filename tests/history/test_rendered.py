"""Documents of pages that were run in a browser, as the store has them."""

from nacre.history.rendered import MOST, RenderedDocuments, RenderedRow, dom_digest
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


def test_long_documents_are_cut_and_broken_ones_are_empty() -> None:
    documents = RenderedDocuments(Store(MemoryEngine()))
    documents.put(URL, b"x" * (MOST + 9), 7, judged=True)
    row = documents.get(URL, judged=True)
    assert row is not None
    assert len(row.dom) == MOST
    assert RenderedRow("dom:x", 1, b"no zlib").dom == b""
