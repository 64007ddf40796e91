"""Style sheets in replay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.replay.page_urls import PageAddress, UrlRewriter
from nacre.replay.rewrite_css import rewrite_css, rewrite_style

SHEET = PageAddress("", "2026", "http://h.test/css/main.css")


def rewritten(text: str, charset: str = "utf-8") -> str:
    return rewrite_css(text.encode(charset), charset, SHEET).decode(charset)


@pytest.mark.parametrize(
    ("sheet", "result"),
    [
        ("a{b:url(/x.png)}", "a{b:url(/2026mp_/http://h.test/x.png)}"),
        ("a{b:url( 'http://o.test/x' )}", "a{b:url( '/2026mp_/http://o.test/x' )}"),
        ('a{b:URL("//o.test/x")}', 'a{b:URL("/2026mp_/http://o.test/x")}'),
        ("@import '/x.css' print;", "@import '/2026mp_/http://h.test/x.css' print;"),
        ("@import url(//o.test/x);", "@import url(/2026mp_/http://o.test/x);"),
        ("a{b:url(../../../x)}", "a{b:url(/2026mp_/http://h.test/x)}"),
        ("a{b:url(http:\\2f\\2fo.test/x)}", "a{b:url(/2026mp_/http://o.test/x)}"),
        ("a{b:u\\72l(/x)}", "a{b:url(/2026mp_/http://h.test/x)}"),
        ("a{b:url('http://o.test/a(1)\\'')}", "a{b:url('/2026mp_/http://o.test/a\\(1\\)\\'')}"),
        (
            "a{b:image-set('/1.png' 1x, url(/2.png) 2x)}",
            "a{b:image-set('/2026mp_/http://h.test/1.png' 1x, url(/2026mp_/http://h.test/2.png) "
            "2x)}",
        ),
        ("a{b:url(http://o.test/图.png)}", "a{b:url(/2026mp_/http://o.test/%E5%9B%BE.png)}"),
        (
            "@font-face{src:url(/f.woff2) format('woff2'),local('x')}",
            "@font-face{src:url(/2026mp_/http://h.test/f.woff2) format('woff2'),local('x')}",
        ),
    ],
)
def test_url_of_a_style_sheet(sheet: str, result: str):
    assert rewritten(sheet) == result


@pytest.mark.parametrize(
    "sheet",
    [
        "a{b:url(x.png)} c{d:url('../x.png')} @import 'x.css';",
        "a{b:url(#id)} c{d:url(data:image/png;base64,AA==)}",
        "/* url(http://o.test/) */ a{content:'url(http://o.test/)'}",
        "@namespace svg url(http://www.w3.org/2000/svg); @namespace 'http://o.test/';",
        "a{b:url()} c{d:url('')} e{f:url(   )}",
        "a{b:url(about:blank)}",
    ],
)
def test_sheet_that_stays(sheet: str):
    assert rewritten(sheet) == sheet


@pytest.mark.parametrize("charset", ["gbk", "big5", "shift_jis", "euc_kr", "utf-8", "utf-16-le"])
def test_only_the_url_changes_in_any_encoding(charset: str):
    # In Big5, GBK and Shift_JIS the second byte of one of these is a backslash.
    sign = {"big5": "功", "gbk": "誠", "shift_jis": "表"}.get(charset, "一")
    if charset == "euc_kr":
        sign = "가"
    sheet = f"a:after{{content:'{sign}'}} b{{c:url('{sign}/x')}} d{{e:url(/{sign}.png)}}"
    result = rewritten(sheet, charset)
    head, _, tail = result.partition("/2026mp_/")
    assert head == f"a:after{{content:'{sign}'}} b{{c:url('{sign}/x')}} d{{e:url("
    assert tail.startswith("http://h.test/%")
    assert tail.endswith(".png)}")


def test_half_a_unit_at_the_end_stays():
    body = "a{b:url(/x)}".encode("utf-16-le") + b"\x01"
    assert rewrite_css(body, "utf-16-le", SHEET).endswith(b"\x01")


@given(st.binary(), st.sampled_from(["utf-8", "gbk", "big5", "cp932", "utf-16-be", "latin-1"]))
def test_sheet_without_urls_is_the_same(body: bytes, charset: str):
    body = body.translate(None, b"()@\\")
    assert rewrite_css(body, charset, SHEET) == body


@given(st.binary())
def test_any_bytes_are_read(body: bytes):
    assert rewrite_css(b"a{b:url(" + body, "gbk", SHEET).startswith(b"a{b:url(")


def test_hostile_sheets_take_linear_time():
    for part in ("url(", "'", "/*", "image-set(", "@import ", "\\", "u\\72l(", '("'):
        sheet = part * (200_000 // len(part))
        assert rewritten(sheet) == sheet


def test_style_attribute():
    rewrite = UrlRewriter(SHEET).rewrite
    assert rewrite_style("color:red", rewrite) == "color:red"
    assert rewrite_style('b:url("/x")', rewrite) == 'b:url("/2026mp_/http://h.test/x")'
