"""Cookie files."""

import math

from nacre.fetch.netscape import format_netscape, parse_netscape
from nacre.fetch.set_cookie import Cookie

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
        "line 4: 'soon' is no time in seconds since 1970",
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
