from collections.abc import Callable
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.crawluri import Hop, Outlink
from nacre.extract.dispatch import extract
from nacre.extract.document import Document, Extraction
from nacre.extract.settings import ExtractSettings
from tests.examples import examples
from tests.extract.pages import URL, extracted

MIMES = [
    "",
    "text/html",
    "text/css",
    "text/javascript",
    "application/json",
    "text/xml",
    "text/plain",
]


def run(body: bytes = b"", **fields: object) -> Extraction:
    return extract(Document(url=URL, body=body, **fields), ExtractSettings())  # type: ignore[arg-type]


def content(result: Extraction) -> list[Outlink]:
    return [link for link in result.outlinks if link.hop != Hop.INFERRED]


@pytest.mark.parametrize(
    ("fields", "hop"),
    [
        ({"mime": "text/html", "body": b"<a href=/x.html>"}, "L"),
        ({"mime": "text/css", "body": b"a{b:url(/x.html)}"}, "E"),
        ({"mime": "text/javascript", "body": b"x='/x.html'"}, "X"),
        ({"mime": "application/json", "body": b'["/x.html"]'}, "X"),
        ({"mime": "text/xml", "body": b"<x>http://www.example.com/x.html</x>"}, "X"),
        (
            {
                "is_sitemap": True,
                "body": b"<urlset><url><loc>http://www.example.com/x.html</loc></url></urlset>",
            },
            "M",
        ),
    ],
)
def test_each_kind_goes_to_its_extractor(fields: dict[str, object], hop: str):
    result = run(**fields)  # type: ignore[arg-type]
    assert [(link.hop.value, link.url) for link in content(result)] == [
        (hop, "http://www.example.com/x.html")
    ]
    assert result.claimed


def test_robots_txt_names_sitemaps():
    document = Document(url="http://a.test/robots.txt", body=b"Sitemap: http://a.test/s.xml")
    links = content(extract(document, ExtractSettings()))
    assert [(link.hop, link.url, link.sitemap) for link in links] == [
        (Hop.MANIFEST, "http://a.test/s.xml", True)
    ]


def test_each_extractor_can_be_left_out():
    bodies = {
        "html": ("text/html", b"<a href=x>"),
        "css": ("text/css", b"a{b:url(x)}"),
        "javascript": ("text/javascript", b"x='/x.html'"),
        "json": ("application/json", b'["/x.html"]'),
        "xml": ("text/xml", b"<x>http://a.test/</x>"),
    }
    for name, (mime, body) in bodies.items():
        result = extracted(body, mime=mime, **{f"extract_{name}": False})
        assert (result.outlinks, result.claimed) == ([], False)


def test_headers_come_first_at_any_status():
    result = run(b"<a href=x>", mime="text/html", status=404, headers=[(b"Location", b"/y")])
    assert [link.context for link in result.outlinks] == ["Location:", "=INFERRED_MISC"]


def test_a_favicon_is_inferred():
    assert [link.url for link in run().outlinks] == ["http://www.example.com/favicon.ico"]


def test_nothing_is_taken_from_dns():
    document = Document(url="dns:a.test", body=b"<html><a href=x>", status=1)
    assert extract(document, ExtractSettings()).outlinks == []


def test_the_charset_is_told_and_annotated_where_the_page_names_it():
    named = run(b"<meta charset=gbk><a href=x>", mime="text/html")
    assert (named.charset, named.annotations) == ("gbk", ["usingCharsetInHTML:GBK"])
    sent = run(b"<meta charset=gbk><a href=x>", mime="text/html", charset_header="utf-8")
    assert (sent.charset, sent.annotations) == ("utf-8", [])


def test_x_robots_tag_is_recorded_and_obeyed_when_asked_for():
    document = Document(
        url=URL, mime="text/html", body=b"<a href=x>", headers=[(b"X-Robots-Tag", b"nofollow")]
    )
    assert extract(document, ExtractSettings()).robots == {"nofollow"}
    assert content(extract(document, ExtractSettings()))
    assert not content(extract(document, ExtractSettings(obey_meta_robots=True)))


def test_a_document_is_searched_up_to_its_limit():
    body = b"<a href=x></a>" + b" " * 1000 + b"<a href=y></a>"
    assert [link.url[-1] for link in extracted(body, max_document=500).outlinks] == ["x"]


@given(st.binary(max_size=300), st.sampled_from(MIMES), st.booleans())
@examples(300)
def test_no_bytes_raise(body: bytes, mime: str, is_sitemap: bool):
    result = run(body, mime=mime, is_sitemap=is_sitemap)
    assert all(link.url.count("#") == 0 for link in result.outlinks)


SOUP = st.lists(
    st.sampled_from(
        [
            *("<a href=", "<img srcset='", "<base href=", "<script>", "</script>", "<!--[if"),
            *("<meta http-equiv=refresh content='", "<iframe srcdoc='", "<object codebase="),
            *("<noscript>", "</noscript>", "<form action=", "<template>", "<svg>", "-->"),
            *(" onclick=", " data-src=", " style=", "url(", "javascript:", "http://[", "//"),
            *("'", '"', ">", "/>", " ", "x", "&#x0;", "&amp;", "\0", "é"),
        ]
    ),
    max_size=40,
)


@given(SOUP)
@examples(400)
def test_no_markup_raises(words: list[str]):
    result = run("".join(words).encode(), mime="text/html")
    assert [link.rank for link in result.outlinks] == list(range(len(result.outlinks)))
    assert all("\n" not in link.url and "#" not in link.url for link in result.outlinks)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "300,000 links": lambda: b"".join(b"<a href=/%d>" % n for n in range(300_000)),
    "5 MB attribute": lambda: b"<a href='" + b"x" * 5_000_000 + b"'>",
    "5 MB srcset": lambda: b"<img srcset='" + b"a 1x," * 1_000_000 + b"'>",
    "5 MB srcset in brackets": lambda: b"<img srcset='" + b"a (" * 1_600_000 + b"'>",
    "5 MB style": lambda: b"<p style='" + b"url(" * 1_250_000 + b"'>",
    "deep": lambda: b"<div>" * 500_000 + b"<a href=x>",
    "deep links in SVG": lambda: b"<svg>" + b"<a href=x>text" * 200_000,
    "one line": lambda: b"x" * 12_000_000,
    "unclosed script": lambda: b"<script>" + b"'/a.html' " * 300_000,
    "unclosed comment": lambda: b"<!--[if" * 500_000,
    "scripts in MathML": lambda: b"<math>" + b"<script>'/a.html'" * 50_000,
    "entities": lambda: b"<a href='" + b"&amp;" * 1_000_000 + b"'>",
    "attributes": lambda: b"<a " + b"".join(b"a%d=1 " % n for n in range(200_000)) + b">",
    "misnested": lambda: b"".join(b"<b id=%d><p>" % n for n in range(30_000)) + b"</b>" * 30_000,
    "forms": lambda: b"<form>" * 500_000,
    "bases": lambda: b"<base href=x>" * 200_000,
    "noscripts": lambda: b"<noscript><p></noscript>" * 100_000,
    "objects": lambda: b"<object codebase=a data=b>" * 100_000,
    "events": lambda: b"<p onclick=x>" * 300_000,
    "zip": lambda: b"PK\x03\x04" + bytes(range(256)) * 10_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_take_linear_time(name: str):
    body = HOSTILE[name]()
    began = process_time()
    result = run(body, mime="text/html")
    assert len(result.outlinks) <= 6001
    assert process_time() - began < 10


def test_links_beyond_the_limit_are_counted():
    body = b"".join(b"<a href=/%d>" % n for n in range(7000))
    result = extracted(body)
    assert (len(result.outlinks), result.dropped) == (6000, 1000)
