"""Reading Set-Cookie headers, and matching paths and domains.

Cookie files.

Rows of the cookie family.
"""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.fetch.cookie import (
    Cookie,
    SetCookie,
    decode_cookies,
    default_path,
    domain_matches,
    encode_cookies,
    format_netscape,
    parse_netscape,
    parse_set_cookie,
    path_matches,
)

NOW = 1_000_000.0


def parse(field: bytes) -> SetCookie | None:
    return parse_set_cookie(field, NOW, 4096)


def test_everything_at_once():
    field = b' id = a="b"; Path=/x; Domain=.Site-A.Test; Secure; HttpOnly; SameSite=Lax; Max-Age=60'
    assert parse(field) == SetCookie(
        "id", 'a="b"', "site-a.test", "/x", secure=True, http_only=True, expires=NOW + 60
    )


@pytest.mark.parametrize("field", [b"", b"name", b"=value", b" = ", b";a=b", b"a\x01=b", b"a=\x7f"])
def test_no_cookie(field):
    assert parse(field) is None


@pytest.mark.parametrize("field", [b"a=b\r\nSet-Cookie: c=d", b"a=b\0c", b"a=b\nInjected: x"])
def test_nothing_after_a_line_end(field):
    assert parse(field) == SetCookie("a", "b")


@pytest.mark.parametrize(
    ("attributes", "domain"),
    [
        (b"Domain=a.test; Domain=b.test", "b.test"),
        (b"Domain=a.test; Domain=", "a.test"),
        (b"Domain=a.test; Domain=.", ""),
    ],
)
def test_the_last_domain_that_is_not_empty_counts(attributes, domain):
    cookie = parse(b"a=b; " + attributes)
    assert cookie
    assert cookie.domain == domain


@pytest.mark.parametrize(
    ("attributes", "expires"),
    [
        (b"Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", NOW + 60),
        (b"Expires=Thu, 01 Jan 1970 00:01:00 GMT; max-age=x", 60),
        (b"Max-Age=60; Max-Age=70", NOW + 70),
        (b"Max-Age=60; Max-Age=soon", NOW + 60),
        (b"Max-Age=0", -math.inf),
        (b"Max-Age=-5", -math.inf),
        (b"Max-Age=" + b"9" * 900, math.inf),
        (b"Max-Age=+5", math.inf),
        (b"Expires=some day", math.inf),
    ],
)
def test_expiry(attributes, expires):
    cookie = parse(b"a=b; " + attributes)
    assert cookie
    assert cookie.expires == expires


def test_size_limits():
    assert parse(b"a=" + b"x" * 4095)
    assert parse(b"a=" + b"x" * 4096) is None
    long_path = parse(b"a=b; path=/" + b"x" * 1024)
    assert long_path == SetCookie("a", "b")


@given(st.binary(max_size=200))
def test_reading_never_raises_and_lets_no_line_end_through(field):
    cookie = parse(field)
    if cookie:
        assert not {"\r", "\n", "\0", ";"} & set(cookie.name + cookie.value + cookie.path)


def test_default_path():
    assert default_path("/a/b/c") == "/a/b"
    assert default_path("/a/") == "/a"
    assert default_path("/a") == "/"
    assert default_path("/") == "/"


def test_path_matches():
    assert path_matches("/a", "/a")
    assert path_matches("/a/b", "/a")
    assert path_matches("/a/b", "/a/")
    assert not path_matches("/ab", "/a")
    assert not path_matches("/", "/a")


def test_domain_matches():
    assert domain_matches("www.site-a.test", "site-a.test")
    assert domain_matches("site-a.test", "site-a.test")
    assert not domain_matches("notsite-a.test", "site-a.test")


FILE = (
    "# Netscape HTTP Cookie File\r\n"
    "\n"
    ".site-a.test\tTRUE\t/\tFALSE\t0\tsession\tx y\n"
    "site-a.test\tTRUE\t/x\ttrue\t1790000000\tall\t1\n"
    "#HttpOnly_www.site-a.test\tFALSE\t/\tFALSE\t1790000000.5\thost\ta\tb\n"
    ".odd.test\tFALSE\tx\tFALSE\t0\tempty\n"
)


def test_every_column():
    cookies, problems = parse_netscape(FILE)
    assert problems == []
    assert cookies == [
        Cookie("session", "x y", "site-a.test", "/", host_only=False),
        Cookie("all", "1", "site-a.test", "/x", host_only=False, secure=True, expires=1790000000),
        Cookie("host", "a\tb", "www.site-a.test", "/", http_only=True, expires=1790000000.5),
        Cookie("empty", "", "odd.test", "/"),
    ]
    assert cookies[0].expires == math.inf


def test_problems_name_their_line():
    text = (
        "a\tb\n\nd\tX\t/\tTRUE\t0\tn\tv\nd\tTRUE\t/\tTRUE\tsoon\tn\tv\n\tTRUE\t/\tTRUE\t0\tn\tv\n"
    )
    text += "d\tTRUE\t/\tTRUE\t0\tn\tv\x01\n"
    cookies, problems = parse_netscape(text)
    assert cookies == []
    assert problems == [
        "line 1: 2 columns; expected 7, separated by tabs",
        "line 3: 'X' is neither TRUE nor FALSE",
        "line 4: 'soon' is not a time in seconds since 1970",
        "line 5: domain or name is empty",
        "line 6: control characters",
    ]


def test_what_is_written_is_read_back():
    cookies, _ = parse_netscape(FILE)
    text = format_netscape(cookies)
    again, problems = parse_netscape(text)
    assert problems == []
    assert format_netscape(again) == text
    assert again[:2] == cookies[:2]


def test_what_the_format_cannot_hold_is_left_out():
    assert format_netscape([Cookie("a\tb", "1", "site-a.test", "/")]).count("\n") == 1


def test_a_row_keeps_every_field():
    cookies = [
        Cookie("a", "\udcff\u4e2d", "site-a.test", "/x", False, True, True, 12.5, 7, 3.25),
        Cookie("b", "", "site-a.test", "/"),
    ]
    assert list(decode_cookies(encode_cookies(cookies))) == cookies
