import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.crawluri import Hop
from nacre.extract.css import css_urls, extract_css
from nacre.extract.document import Document
from nacre.extract.links import LinkCollector
from nacre.extract.settings import ExtractSettings


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("a{b:url(x.png)}", ["x.png"]),
        ("a{b:URL( 'x.png' )}", ["x.png"]),
        ('a{b:url("a)b.png")}', ["a)b.png"]),
        ("a{b:url(x.png),url(y.png),url(x.png)}", ["x.png", "y.png"]),
        ('@import "a.css";@IMPORT url(b.css) screen;', ["a.css", "b.css"]),
        ("@import/**/'a.css'", ["a.css"]),
        ("@media print{a{b:url(x)}}", ["x"]),
        ("/* url(no.png) */a{b:url(x)}", ["x"]),
        ("/* never closed url(no.png)", []),
        ('a{content:"url(no.png)";b:url(x)}', ["x"]),
        ('a{content:"it\\"s url(no)";b:url(x)}', ["x"]),
        ('a{content:"open\nb:url(x)}', ["x"]),
        (r".it\'s{b:url(x)}", ["x"]),
        (r".c-\[\'\'\]{content:''}a{b:url(x)}", ["x"]),
        (r"a\/*b{c:url(x)}", ["x"]),
        ("url(\\000041.png)", ["A.png"]),
        ("url(a\\ b\\).png)", ["a b).png"]),
        ('url("a\\\nb.png")', ["ab.png"]),
        ("url('\\110000 x')", ["\ufffdx"]),
        ("url(my photo.png)", ["my photo.png"]),
        ("url(a\nb)", []),
        ("url()url('')url(' ')", []),
        ("url(data:image/png;base64,AA)url( 'DATA:x' )", []),
        ("url(x.png", ["x.png"]),
        ("url('x.png", ["x.png"]),
        ('@font-face{src:local("a"),url(a.woff2) format("woff2")}', ["a.woff2"]),
        (
            "b:image-set('a.png' 1x, url(b.png) 2x, \"c.avif\" type('image/avif') 3x) d:url(e)",
            ["a.png", "b.png", "c.avif", "e"],
        ),
        ("b:-webkit-image-set(url(a.png) 1x)", ["a.png"]),
        ('b:src("a.png")', ["a.png"]),
        ("color:red", []),
        ("", []),
    ],
)
def test_css_urls(text, urls):
    assert css_urls(text) == urls


def test_a_document_gives_embeds_in_its_own_charset():
    body = '@charset "gbk";a{b:url(图.png)}'.encode("gbk")
    links = LinkCollector(Document("http://a.test/c/s.css", body=body), ExtractSettings())
    extract_css(links.document, links)
    assert [(o.url, o.hop, o.context) for o in links.outlinks] == [
        ("http://a.test/c/%E5%9B%BE.png", Hop.EMBED, "=EMBED_MISC")
    ]


_PIECES = ["url(", "src(", "image-set(", "@import ", '"', "'", "\\", "/*", "*/", ")", "\n", "a"]


_LONGER = ['url("', "url('\\", "@import'", "image-set((", "\\(", "src('", "/*/", "url( "]


@given(st.lists(st.sampled_from(_PIECES), max_size=60).map("".join))
def test_no_nonsense_raises(text):
    assert all(url and url == url.strip() for url in css_urls(text))


@pytest.mark.parametrize(
    "piece", [*_PIECES, 'url("', "url('\\", "@import'", "image-set((", "\\\\("]
)
def test_large_hostile_sheets_are_read_in_linear_time(piece):
    text = "url(first.png)" + piece * (400_000 // len(piece))
    assert css_urls(text)[0] == "first.png"
