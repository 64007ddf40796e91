"""The jar: who may set what, who gets what back, and how much is kept."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.fetch.cookie import Cookie
from nacre.fetch.cookie_jar import CookieJar, CookieSettings

NOW = 1_790_000_000.0


def filled(url: str, *fields: str, settings: CookieSettings | None = None) -> CookieJar:
    jar = CookieJar(settings)
    jar.store(url, [field.encode() for field in fields], NOW)
    return jar


def test_an_empty_jar_sends_nothing():
    assert CookieJar().header("http://site-a.test/", NOW) == ""


def test_a_host_cookie_stays_on_its_host():
    jar = filled("http://site-a.test/x/y", "a=1")
    assert jar.header("http://site-a.test/x", NOW) == "a=1"
    assert jar.header("http://site-a.test/x/z?q", NOW) == "a=1"
    assert jar.header("http://site-a.test:8080/x", NOW) == "a=1"
    assert jar.header("http://site-a.test/xy", NOW) == ""
    assert jar.header("http://www.site-a.test/x", NOW) == ""


def test_a_domain_cookie_goes_to_subdomains():
    jar = filled("http://www.site-a.test/", "a=1; Domain=site-a.test")
    for host in ("site-a.test", "www.site-a.test", "x.y.site-a.test"):
        assert jar.header(f"http://{host}/", NOW) == "a=1"
    assert jar.header("http://site-b.test/", NOW) == ""


@pytest.mark.parametrize(
    ("url", "field"),
    [
        ("http://site-a.test/", "a=1; Domain=site-b.test"),
        ("http://site-a.test/", "a=1; Domain=www.site-a.test"),
        ("http://site-a.test/", "a=1; Domain=test"),
        ("http://foo.co.uk/", "a=1; Domain=co.uk"),
        ("http://bar.com.cn/", "a=1; Domain=.com.cn"),
        ("http://x.github.io/", "a=1; Domain=github.io"),
        ("http://10.9.1.1/", "a=1; Domain=9.1.1"),
        ("http://10.9.1.1/", "a=1; Domain=1.1"),
        ("http://site-a.test/", "a=1; Secure"),
        ("http://site-a.test/", "__Secure-a=1"),
        ("https://site-a.test/", "__Secure-a=1"),
        ("https://site-a.test/", "__Host-a=1; Secure"),
        ("https://site-a.test/", "__HOST-a=1; Secure; Path=/; Domain=site-a.test"),
    ],
)
def test_what_may_not_be_set(url, field):
    assert len(filled(url, field)) == 0


@pytest.mark.parametrize(
    ("url", "field"),
    [
        ("http://github.io/", "a=1; Domain=github.io"),
        ("http://localhost/", "a=1; Domain=localhost"),
        ("http://10.9.1.1/", "a=1; Domain=10.9.1.1"),
        ("http://[::1]:8080/", "a=1"),
        ("https://site-a.test/", "__Secure-a=1; Secure; Domain=site-a.test"),
        ("https://site-a.test/", "__Host-a=1; Secure; Path=/"),
    ],
)
def test_what_may_be_set(url, field):
    jar = filled(url, field)
    assert jar.header(url, NOW).endswith("a=1")


def test_a_public_suffix_keeps_its_own_cookie_to_itself():
    jar = filled("http://github.io/", "a=1; Domain=github.io")
    assert jar.header("http://x.github.io/", NOW) == ""


def test_secure_cookies_go_over_https_only_and_http_does_not_touch_them():
    jar = filled("https://site-a.test/", "a=1; Secure")
    assert jar.header("http://site-a.test/", NOW) == ""
    assert jar.store("http://site-a.test/", [b"a=2"], NOW) == []
    assert jar.header("https://site-a.test/", NOW) == "a=1"


def test_order_is_longest_path_then_oldest():
    jar = filled(
        "http://site-a.test/x/", "c=1; Path=/", "b=2; Path=/x", "a=3; Path=/", "b=4; Path=/x"
    )
    assert jar.header("http://site-a.test/x/", NOW + 1) == "b=4; c=1; a=3"


def test_expiry_and_removal():
    jar = filled("http://site-a.test/", "a=1; Max-Age=10", "b=2")
    assert jar.header("http://site-a.test/", NOW + 9) == "a=1; b=2"
    assert jar.header("http://site-a.test/", NOW + 10) == "b=2"
    removed = jar.store("http://site-a.test/", [b"b=; Max-Age=0"], NOW)
    assert [cookie.name for cookie in removed] == ["b"]
    assert jar.store("http://site-a.test/", [b"b=; Max-Age=0"], NOW) == []
    assert len(jar) == 1


def test_a_new_cookie_at_every_hit_is_bounded():
    jar = CookieJar()
    for number in range(300):
        jar.store("http://site-a.test/", [b"c%d=%s" % (number, b"x" * 4000)], NOW + number)
    assert len(jar) == 50
    header = jar.header("http://site-a.test/", NOW + 300)
    assert len(header) <= 16384
    assert header.startswith("c250=")


def test_the_least_recently_used_goes_first():
    jar = filled("http://site-a.test/a/", *(f"c{n}=1" for n in range(50)))
    jar.store("http://site-a.test/b/", [b"used=1; Path=/a", b"c0=2; Path=/a"], NOW)
    assert jar.header("http://site-a.test/a", NOW).startswith("c2=1")
    for number in range(48):
        jar.store("http://site-a.test/b/", [b"n%d=1" % number], NOW)
    assert len(jar) == 50
    assert jar.header("http://site-a.test/a", NOW).count("=") == 2


def test_expired_ones_go_before_used_ones():
    jar = filled("http://site-a.test/", "old=1", *(f"e{n}=1; Max-Age=5" for n in range(49)))
    jar.store("http://site-a.test/", [b"new=1"], NOW + 6)
    assert jar.header("http://site-a.test/", NOW + 6) == "old=1; new=1"


def test_the_total_is_bounded_and_evictions_are_told():
    jar = CookieJar(CookieSettings(total=100))
    changed = []
    for number in range(101):
        changed = jar.store(f"http://h{number}.test/", [b"a=1"], NOW + number)
    assert [cookie.domain for cookie in changed] == ["h100.test", "h0.test"]
    assert len(jar) == 100
    assert jar.row("h0.test") == b""


def test_ten_thousand_fields_in_one_reply():
    jar = CookieJar()
    jar.store("http://site-a.test/", [b"c%d=1" % n for n in range(10_000)], NOW)
    assert len(jar) == 50


def test_rows_bring_everything_back():
    jar = filled("https://www.site-a.test/x/", "a=1; Secure; Path=/", "b=2; Max-Age=9; HttpOnly")
    jar.store("https://www.site-a.test/x/", [b"c=\xff\xe4; Domain=site-a.test"], NOW)
    again = CookieJar()
    for domain in ("www.site-a.test", "site-a.test"):
        again.load_row(jar.row(domain), NOW)
    assert list(again) == list(jar)
    url = "https://www.site-a.test/x/"
    assert again.header(url, NOW) == jar.header(url, NOW)
    assert again.header(url, NOW).encode("utf-8", "surrogateescape").startswith(b"b=2; c=\xff\xe4")
    later = CookieJar()
    later.load_row(jar.row("www.site-a.test"), NOW + 10)
    assert [cookie.name for cookie in later] == ["a"]


def test_a_file_brings_everything_back():
    jar = filled("https://www.site-a.test/", "a=1; Secure", "b=2; Max-Age=9; Domain=site-a.test")
    again = CookieJar()
    assert again.load(jar.save(), NOW) == []
    assert again.save() == jar.save()
    assert again.header("https://www.site-a.test/", NOW) == "a=1; b=2"
    assert again.header("https://m.site-a.test/", NOW) == "b=2"


FIELDS = st.lists(
    st.binary(max_size=60) | st.binary(max_size=20).map(lambda b: b"a=" + b), max_size=4
)


@given(FIELDS)
def test_no_line_end_ever_comes_out(fields):
    jar = CookieJar()
    jar.store("https://site-a.test/", fields, NOW)
    header = jar.header("https://site-a.test/", NOW)
    assert not {"\r", "\n", "\0"} & set(header)
    again = CookieJar()
    again.load_row(jar.row("site-a.test") or b"\x90", NOW)
    assert again.header("https://site-a.test/", NOW) == header


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(-1, 9)), max_size=60))
def test_the_count_is_always_right(steps):
    jar = CookieJar(CookieSettings(per_domain=3, total=8))
    for time, (host, name, age) in enumerate(steps):
        jar.store(f"http://h{host}.test/", [b"n%d=1; Max-Age=%d" % (name, age)], NOW + time)
        assert len(jar) == len(list(jar)) <= 8


# ---- browsers


def test_cookies_of_a_site_are_those_of_its_domain_and_below():
    jar = filled("http://www.site-a.test/", "a=1; Domain=site-a.test", "b=2")
    jar.store("http://site-b.test/", [b"c=3"], NOW)
    jar.store("http://xsite-a.test/", [b"d=4"], NOW)
    jar.store("http://site-a.test/", [b"e=5; Max-Age=1"], NOW)
    assert sorted(cookie.name for cookie in jar.of_site("site-a.test", NOW + 2)) == ["a", "b"]


def browser_cookie(name: str = "a", value: str = "1", **parts: Any) -> Cookie:
    return Cookie(name, value, **{"domain": "site-a.test", "path": "/"} | parts)


@pytest.mark.parametrize(
    "cookie",
    [
        browser_cookie(""),
        browser_cookie(value="1\r\nX: y"),
        browser_cookie(value="1; Domain=b.test"),
        browser_cookie(value="x" * 5000),
        browser_cookie(domain=""),
        browser_cookie(domain="co.uk", host_only=False),
        browser_cookie(path="/\x00"),
    ],
)
def test_cookies_that_no_reply_could_set_are_not_adopted(cookie: Cookie):
    jar = CookieJar()
    assert jar.adopt([cookie], NOW) == []
    assert len(jar) == 0


def test_adopted_cookies_are_sent_and_reported_where_they_changed():
    jar = filled("http://site-a.test/", "a=1", "b=2", "c=3")
    cookies = [browser_cookie(), browser_cookie("b", "new"), browser_cookie("c", expires=NOW - 1)]
    changed = jar.adopt([*cookies, browser_cookie("d", "广告", host_only=False)], NOW)
    assert {cookie.name for cookie in changed} == {"b", "c", "d"}
    assert jar.header("http://site-a.test/", NOW) == "a=1; b=new; d=广告"
    assert jar.header("http://www.site-a.test/", NOW) == "d=广告"
