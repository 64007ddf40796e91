import time

import pytest

from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.settings import ExtractSettings
from nacre.extract.xhtml import with_end_tags


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (b"<title/>", b"<title></title>"),
        (b'<script src="a/b.js" />x', b'<script src="a/b.js" ></script>x'),
        (b"<style a='/>'/>", b"<style a='/>'></style>"),
        (b"<iframe\nsrc='x'/><br/>", b"<iframe\nsrc='x'></iframe><br/>"),
        (b"<script>a/>b</script>", b"<script>a/>b</script>"),
        (b"<titles/>", b"<titles/>"),
        (b"<title", b"<title"),
    ],
)
def test_empty_elements_are_ended(body, read):
    assert with_end_tags(body) == read


@pytest.mark.parametrize(
    ("mime", "contexts"),
    [
        ("application/xhtml+xml", ["script/@src", "a/@href"]),
        ("text/xml", ["script/@src", "a/@href"]),
        ("text/html", ["script/@src"]),
    ],
)
def test_a_page_goes_on_behind_them_where_a_browser_reads_xml(mime, contexts):
    body = b"<html><script src='a.js'/><a href='b'>c</a></html>"
    document = Document("http://a.test/", mime=mime, body=body)
    found = extract(document, ExtractSettings(infer_favicon=False))
    assert [link.context for link in found.outlinks] == contexts


@pytest.mark.parametrize("piece", [b"<title ", b"<title '", b'<style "/', b"<xmp /", b"'/>\""])
def test_hostile_pages_take_linear_time(piece):
    start = time.process_time()
    with_end_tags(b"/>" + piece * 200_000)
    assert time.process_time() - start < 2
