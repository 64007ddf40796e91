from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.html.extractor import names_to_sweep
from nacre.extract.settings import ExtractSettings
from tests.examples import examples
from tests.extract.pages import URL, found, outlinks
from tests.extract.thorough import extract_thoroughly
from tools.debs import CACHE


def test_the_first_usable_base_counts_and_all_are_links():
    page = '<a href=x></a><base href="mailto:x"><base href="/b1/"><base href="/b2/">'
    assert found(page) == [
        ("L", "/b1/", "base/@href"),
        ("L", "/b2/", "base/@href"),
        ("L", "/b1/x", "a/@href"),
    ]


def test_a_relative_base_is_resolved_once():
    assert found('<base href="../up/"><img src=i.png>') == [
        ("L", "/up/", "base/@href"),
        ("E", "/up/i.png", "img/@src"),
    ]


def test_frames_outside_a_frameset_are_found():
    assert found('<p>text<frame name="m"src="f.html">') == [("E", "/dir/f.html", "frame/@src")]


def test_forms_that_are_never_closed_are_all_found():
    page = "<form action=a><form action=b method=get><form method=POST action=c><form action=d>"
    assert [url for _, url, _ in found(page)] == ["/dir/a", "/dir/b", "/dir/d"]


def test_conditional_comments_hold_elements_other_comments_do_not():
    page = "<!--[if lt IE 9]><script src=ie.js></script><![endif]--><!-- <a href=x> -->"
    assert found(page) == [("E", "/dir/ie.js", "script/@src")]


def test_documents_within_the_page():
    page = (
        "<noscript><img src=a.png style='background:url(b.png)'></noscript>"
        "<iframe srcdoc='<a href=c>&lt;iframe srcdoc=\"&lt;a href=d&gt;\"&gt;'></iframe>"
        "<frameset><noframes><a href=e></noframes></frameset>"
        "<template><a href=f></a></template>"
    )
    expected = {f"/dir/{name}" for name in ("a.png", "b.png", *"cdef")}
    assert {url for _, url, _ in found(page)} == expected
    assert found("<frameset><noframes><a href=e></noframes>") == [("L", "/dir/e", "a/@href")]


def test_srcdoc_within_srcdoc_ends_somewhere():
    page = "<a href=last>"
    for _ in range(8):
        page = f"<iframe srcdoc='{page.replace('&', '&amp;').replace(chr(39), '&#39;')}'></iframe>"
    assert found(page) == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-8"])
def test_pages_with_a_byte_order_mark(encoding: str):
    body = "\ufeff<a href=é onclick=\"go('/k.html')\"></a>".encode(encoding.removesuffix("-sig"))
    assert found(body) == [("L", "/dir/%C3%A9", "a/@href"), ("X", "/k.html", "=JS_MISC")]


def test_queries_follow_the_charset_of_the_page():
    body = '<meta charset="gbk"><a href="中?q=中">'.encode("gbk")
    assert [link.url for link in outlinks(body)] == [
        "http://www.example.com/dir/%E4%B8%AD?q=%D6%D0"
    ]


def assert_nothing_is_lost(document: Document, **wanted: bool) -> None:
    """The same links, whether or not work is saved."""
    asked = ExtractSettings.model_validate({"infer_favicon": False, **wanted})
    quick, thorough = extract(document, asked), extract_thoroughly(document, asked)
    assert {(link.url, link.hop, link.context) for link in quick.outlinks} == {
        (link.url, link.hop, link.context) for link in thorough.outlinks
    }
    assert quick.robots == thorough.robots
    assert set(quick.errors) == set(thorough.errors)


HREFS = [
    "x",
    "x#1",
    "./x",
    "#",
    "",
    " ",
    "y?q#f",
    "/y",
    "javascript:go('/z#.html')",
    "//[",
    "mailto:a",
]
VALUES = [
    "/v.html",
    "./v.html",
    "http://w.test/",
    '{"a":"/j.html"}',
    "text",
    "url(u.png)",
    "go('/g')",
]
ATTRIBUTES = [
    "href",
    "src",
    "style",
    "background",
    "onclick",
    "data-x",
    "data-src",
    "data-url",
    "cite",
]
TAGS = ["a", "img", "link", "p", "div", "body", "svg", "use", "td", "x-y", "iframe", "object", "b"]
attribute = st.one_of(
    st.tuples(st.sampled_from(["href", "src", "xlink:href"]), st.sampled_from(HREFS)),
    st.tuples(st.sampled_from(ATTRIBUTES), st.sampled_from(VALUES)),
    st.sampled_from([("rel", "nofollow"), ("rel", "stylesheet"), ("ping", "/p"), ("alt", "")]),
    st.sampled_from([("data-remote", "true"), ("srcset", "/s 1x, /t 2x"), ("usemap", "m")]),
)
element = st.builds(
    lambda tag, pairs, space: f"<{tag}" + "".join(f"{space}{n}='{v}'" for n, v in pairs) + ">",
    st.sampled_from(TAGS),
    st.lists(attribute.map(lambda pair: (pair[0], pair[1].replace("'", "&#39;"))), max_size=4),
    st.sampled_from([" ", "\n", "\t", " \r\n "]),
)
markup = st.lists(
    st.one_of(
        element,
        st.sampled_from(["</a>", "</p>", "</svg>", "text", "<!--[if IE]><a href=ie><![endif]-->"]),
        st.sampled_from(["<base href=/b/>", "<!-- [ -->", "<form action=f>", "</form>", "[[["]),
    ),
    max_size=25,
).map("".join)


@given(markup, st.sampled_from(["", " " * 1500, "[" * 100 + " " * 1500]), st.booleans())
@examples(300)
def test_saving_work_loses_no_links(text: str, more: str, obey_rel_nofollow: bool):
    document = Document(url=URL, mime="text/html", body=(text + more).encode())
    assert_nothing_is_lost(document, obey_rel_nofollow=obey_rel_nofollow)


def real_pages(number: int) -> list[Path]:
    """Some pages of each package in the cache; none where there is no cache."""
    return [
        page
        for package in sorted(CACHE.glob("[a-z]*"))
        for page in sorted(package.rglob("*.html"))[::997][:number]
        if page.is_file() and page.stat().st_size < 200_000
    ]


def test_saving_work_loses_no_links_of_real_pages():
    pages = real_pages(8)
    if not pages:
        pytest.skip("no packages in the cache of tools/debs.py")
    for page in pages:
        assert_nothing_is_lost(
            Document(
                url=f"http://a.test{page.as_posix()}", mime="text/html", body=page.read_bytes()
            )
        )


FILLER = "<p>" + "plain text " * 200

CASES = [
    ("<p onclick=\"go('/k.html')\">", [("X", "/k.html", "=JS_MISC")]),
    ("<p\nonLoad = \"go('/k.html')\">", [("X", "/k.html", "=JS_MISC")]),
    ("<p\tonfocus=\"go('/k.html')\">", [("X", "/k.html", "=JS_MISC")]),
    ("<p style='background:url(b.png)'>", [("E", "/dir/b.png", "=EMBED_MISC")]),
    ("<table><tr><td background=b.png>", [("E", "/dir/b.png", "td/@background")]),
    (
        "<amp-img src=a srcset='b 2x'>",
        [
            ("E", "/dir/a", "amp-img/@src"),
            ("E", "/dir/b", "amp-img/@srcset"),
        ],
    ),
    ("<span href=a>", [("L", "/dir/a", "span/@href")]),
    (
        "<img data-src='a.png, b.png'>",
        [
            ("E", "/dir/a.png", "img/@data-src"),
            ("E", "/dir/b.png", "img/@data-src"),
        ],
    ),
    (
        "<div data-srcset='a 1x, b 2x'>",
        [
            ("E", "/dir/a", "div/@data-srcset"),
            ("E", "/dir/b", "div/@data-srcset"),
        ],
    ),
    ("<img data-src-small='a'>", [("E", "/dir/a", "img/@data-src-small")]),
    ("<div data-preview='http://www.example.com/p'>", [("X", "/p", "div/@data-preview")]),
    ('<div data-item=\'{"image": "/i/x.jpg"}\'>', [("X", "/i/x.jpg", "=JS_MISC")]),
    ("<div data-url=more.html>", [("X", "/dir/more.html", "div/@data-url")]),
    ("<div data-toggle=dropdown>", []),
]


@pytest.mark.parametrize("filler", ["", FILLER], ids=["small", "larger"])
@pytest.mark.parametrize(("page", "expected"), CASES, ids=[page for page, _ in CASES])
def test_attributes(page: str, expected: list[tuple[str, str, str]], filler: str):
    assert found(page + filler) == expected


def test_scripts_can_be_left_out():
    assert found("<p onclick=\"go('/k.html')\">", extract_javascript=False) == []


def test_names_are_looked_for_in_the_bytes():
    page = FILLER.encode() + b"<p onclick='' data-src=x data-x='/y' data-y=z>\ton on it = 1"
    assert names_to_sweep(page) == {"onclick", "data-src", "data-x"}
    assert names_to_sweep(FILLER.encode()) == set()
    assert names_to_sweep(b"<HTML>" + page) is None
    assert names_to_sweep(page + b"".join(b" on%b=" % (b"a" * n) for n in range(1, 99))) is None
