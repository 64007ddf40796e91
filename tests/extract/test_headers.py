from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.headers import (
    extract_headers,
    header_directives,
    header_text,
    link_hop,
    redirect_location,
    refresh_target,
)
from nacre.extract.links import LinkCollector
from nacre.extract.settings import ExtractSettings
from nacre.wire.robots_tag import directives


def taken(*headers: tuple[bytes, bytes]) -> list[tuple[str, str, str]]:
    document = Document(url="http://a.test/dir/x", headers=headers)
    links = LinkCollector(document, ExtractSettings())
    extract_headers(document, links)
    return [(link.hop.value, link.url, link.context) for link in links.outlinks]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        (b"Location", b"//b.test/x", ("R", "http://b.test/x", "Location:")),
        (b"location", "/é".encode(), ("R", "http://a.test/%C3%A9", "Location:")),
        (b"Location", b"/\xe9", ("R", "http://a.test/%E9", "Location:")),
        (
            b"Location",
            "/p?q=中 文".encode("gbk"),
            ("R", "http://a.test/p?q=%D6%D0%20%CE%C4", "Location:"),
        ),
        (b"Location", "/図書".encode("cp932"), ("R", "http://a.test/%90%7D%8F%91", "Location:")),
        (
            b"Location",
            "/é/".encode() + b"x?q=\xd6\xd0#\xd6",
            ("R", "http://a.test/%C3%A9/x?q=%D6%D0", "Location:"),
        ),
        (
            b"Location",
            "http://例子.test/é".encode(),
            ("R", "http://xn--fsqu00a.test/%C3%A9", "Location:"),
        ),
        (b"Location", b" /%d6%D0?\xa0 ", ("R", "http://a.test/%d6%D0?%A0", "Location:")),
        (
            b"Refresh",
            "0; url='/中文'".encode("gbk"),
            ("R", "http://a.test/%D6%D0%CE%C4", "Refresh:"),
        ),
        (
            b"Content-Location",
            "x.中".encode("gbk"),
            ("I", "http://a.test/dir/x.%D6%D0", "Content-Location:"),
        ),
        (
            b"Link",
            '</中?文>; title="中"; rel=next'.encode("gbk"),
            ("L", "http://a.test/%D6%D0?%CE%C4", "Link:"),
        ),
        (b"Refresh", b"0; url=y", ("R", "http://a.test/dir/y", "Refresh:")),
        (b"Content-Location", b"x.en", ("I", "http://a.test/dir/x.en", "Content-Location:")),
        (
            b"Link",
            b"</s.css>; rel=stylesheet",
            ("E", "http://a.test/s.css", "link[rel='stylesheet']/@href"),
        ),
        (
            b"Link",
            b'</p>; as="Style"; rel=preload',
            ("E", "http://a.test/p", "link[rel='preload'][as='style']/@href"),
        ),
        (b"Link", b"</p>; rel=preload; as=image", ("E", "http://a.test/p", "Link:")),
        (b"Link", b'<y>; title="a, b"; rel="next last"', ("L", "http://a.test/dir/y", "Link:")),
    ],
)
def test_each_header_has_its_hop(name: bytes, value: bytes, expected: tuple[str, str, str]):
    assert taken((name, value)) == [expected]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"Location", b""),
        (b"Refresh", b"5"),
        (b"Content-Location", b""),
        (b"Link", b"<https://b.test>; rel=preconnect"),
        (b"Link", b"</x>"),
        (b"Link", b"/x; rel=next"),
        (b"Link", b""),
        (b"Server", b"</x>; rel=next"),
    ],
)
def test_what_names_nothing_to_fetch(name: bytes, value: bytes):
    assert taken((name, value)) == []


def test_several_links_in_one_header_and_in_several():
    found = taken((b"Link", b'<a>; rel=next, <b>; rel="prev"'), (b"LINK", b"<c>; rel=up"))
    assert [url[-1] for _, url, _ in found] == ["a", "b", "c"]


def test_the_first_location_counts():
    assert [url for _, url, _ in taken((b"Location", b"/1"), (b"Location", b"/2"))] == [
        "http://a.test/1"
    ]


@pytest.mark.parametrize("name", [b"Location", b"Refresh", b"Content-Location"])
def test_the_first_that_is_not_empty_counts(name: bytes):
    value = b"0; url=/%d" if name == b"Refresh" else b"/%d"
    found = taken((name, b""), (name.upper(), b"  "), (name, value % 1), (name, value % 2))
    assert [url for _, url, _ in found] == ["http://a.test/1"]


def test_the_location_of_a_redirect():
    headers = [(b"X", b"/x"), (b"location", b" "), (b"LOCATION", b"/\xd6"), (b"Location", b"/2")]
    assert redirect_location(headers) == "/%D6"
    assert redirect_location(headers[:2]) == ""


@given(st.binary(max_size=80))
def test_no_byte_of_a_location_is_lost(value: bytes):
    printable = bytes(byte for byte in value if byte > 0x20 and byte not in b"#%?\\/:")
    if printable.strip(b".") != b"":
        [(_, url, _)] = taken((b"Location", b"/q?" + printable))
        assert unquote_to_bytes(url.partition("?")[2]) == printable


def test_a_language_that_is_no_utf8_is_latin1():
    assert header_text(b" \xe9 ") == "é"


@given(st.binary(max_size=80))
def test_no_value_raises(value: bytes):
    for name in (b"Location", b"Refresh", b"Content-Location", b"Link"):
        assert len(taken((name, value))) <= len(value)


@pytest.mark.parametrize(
    ("rel", "expected"),
    [
        ("stylesheet", (Hop.EMBED, "link[rel='stylesheet']/@href")),
        ("my StyleSheet rocks", (Hop.EMBED, "link[rel='stylesheet']/@href")),
        ("shortcut icon", (Hop.EMBED, "link[rel='icon']/@href")),
        ("preload", (Hop.EMBED, "link[rel='preload']/@href")),
        ("manifest", (Hop.EMBED, "link[rel='manifest']/@href")),
        ("canonical", (Hop.LINK, "link/@href")),
        ("next", (Hop.LINK, "link/@href")),
        ("dns-prefetch", None),
        ("preconnect pingback", None),
        ("preconnect next", (Hop.LINK, "link/@href")),
        ("", None),
        ("  ", None),
    ],
)
def test_hop_and_context(rel: str, expected: tuple[Hop, str] | None):
    assert link_hop(rel) == expected


@pytest.mark.parametrize(
    ("value", "target"),
    [
        ("0;url=x.html", "x.html"),
        ("5; URL = 'x.html'", "x.html"),
        ('0,url="x y"z', "x y"),
        ("0; x.html", "x.html"),
        ("0 url=x", "x"),
        ("1.5;url=x", "x"),
        ("url=x", "x"),
        ("5", None),
        ("", None),
        ("5;", None),
        ("soon", None),
        (" soon", None),
        (";soon", None),
        (";url=x", "x"),
        ("0;url='x", "x"),
    ],
)
def test_target(value: str, target: str | None):
    assert refresh_target(value) == target


@given(st.text(alphabet="0.;, url='\"x", max_size=40))
def test_a_target_is_never_empty(value: str):
    assert refresh_target(value) != ""


def test_directives_are_split_and_lower_case():
    assert directives(" NoIndex, nofollow;;max-snippet:5 ") == {
        "noindex",
        "nofollow",
        "max-snippet:5",
    }


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["noindex"], {"noindex"}),
        (["noindex", "nofollow"], {"noindex", "nofollow"}),
        (["googlebot: nofollow"], set()),
        (["Nacre: nofollow, noindex"], {"nofollow", "noindex"}),
        (
            ["unavailable_after: 25 Jun 2010 15:00:00 PST"],
            {"unavailable_after: 25 jun 2010 15:00:00 pst"},
        ),
        (["noindex, max-snippet: 3"], {"noindex", "max-snippet: 3"}),
        ([], set()),
    ],
)
def test_headers_speak_to_all_or_to_one_agent(values: list[str], found: set[str]):
    headers = [(b"X-Robots-Tag", value.encode()) for value in values] + [(b"Server", b"nofollow")]
    assert header_directives(headers, "nacre") == found


def test_the_target_of_a_sitemap_is_a_sitemap():
    document = Document(url="http://a.test/s", headers=[(b"Location", b"/t")], is_sitemap=True)
    links = LinkCollector(document, ExtractSettings())
    extract_headers(document, links)
    assert [link.sitemap for link in links.outlinks] == [True]
