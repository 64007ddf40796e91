"""Rows of the cookie family."""

from nacre.fetch.cookie_row import decode_cookies, encode_cookies
from nacre.fetch.set_cookie import Cookie


def test_a_row_keeps_every_field():
    cookies = [
        Cookie("a", "\udcff\u4e2d", "site-a.test", "/x", False, True, True, 12.5, 7, 3.25),
        Cookie("b", "", "site-a.test", "/"),
    ]
    assert list(decode_cookies(encode_cookies(cookies))) == cookies
