"""Reading Set-Cookie headers, and matching paths and domains."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.fetch.set_cookie import (
    SetCookie,
    default_path,
    domain_matches,
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
