"""Header fields of replay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.replay.headers import POLICY, replay_headers, replay_policy, script_cookies
from nacre.replay.page_urls import PageAddress

PAGE = PageAddress("", "2026", "http://h.test/a/page.html")


def sent(*captured: tuple[str, str], charset: str = "") -> list[tuple[str, str]]:
    """Fields of replay but for its own."""
    return replay_headers(captured, PAGE, charset=charset)[5:]


@pytest.mark.parametrize(
    "name",
    [
        *("Content-Security-Policy", "content-security-policy-report-only", "X-Frame-Options"),
        *("Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy", "Set-Cookie", "Link"),
        *("Cross-Origin-Resource-Policy", "Strict-Transport-Security", "Clear-Site-Data"),
        *("Service-Worker-Allowed", "Alt-Svc", "Access-Control-Allow-Origin", "Referrer-Policy"),
        *("Permissions-Policy", "Report-To", "NEL", "Reporting-Endpoints", "Origin-Agent-Cluster"),
        *("Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Keep-Alive"),
        *("WWW-Authenticate", "Cache-Control", "ETag", "Expires", "Vary", "Age", "Date", "Server"),
        *("Content-Location", "SourceMap", "Speculation-Rules", "Unknown", "X-Accel-Redirect"),
        *("X-DNS-Prefetch-Control", "X-Nacre-Worker", "X-Archive-Orig-X", "Memento-Datetime"),
        *("Critical-CH", "Accept-CH", "Document-Policy", "Supports-Loading-Mode", "Upgrade"),
    ],
)
def test_field_that_replay_does_not_obey(name: str):
    assert sent((name, "value")) == [(f"X-Archive-Orig-{name}", "value")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Content-Type", "text/html; charset=gbk"),
        ("content-disposition", "attachment; filename=x"),
        ("Content-Range", "bytes 0-1/2"),
        ("Last-Modified", "Sun, 22 Nov 2026 10:00:00 GMT"),
        ("X-Total-Count", "12"),
    ],
)
def test_field_that_is_sent(name: str, value: str):
    assert sent((name, value)) == [(name, value)]


@pytest.mark.parametrize(
    ("location", "new"),
    [
        ("http://o.test/x#part", "/2026mp_/http://o.test/x#part"),
        ("/x", "/2026mp_/http://h.test/x"),
        ("../../x", "/2026mp_/http://h.test/x"),
        ("other.html", "/2026mp_/http://h.test/a/other.html"),
        ("//o.test", "/2026mp_/http://o.test/"),
        ("/\xd6\xd0", "/2026mp_/http://h.test/%D6%D0"),
        ("/中", "/2026mp_/http://h.test/%E4%B8%AD"),
        ("", "/2026mp_/http://h.test/a/page.html"),
    ],
)
def test_redirect_stays_in_the_archive(location: str, new: str):
    assert sent(("Location", location))[-1] == ("Location", new)


@pytest.mark.parametrize("location", ["javascript:x", "data:text/html,x", "http://[", "mailto:x"])
def test_redirect_that_leads_nowhere(location: str):
    assert [name for name, _ in sent(("Location", location))] == ["X-Archive-Orig-Location"]


def test_the_first_redirect_counts():
    fields = sent(("Location", "/one"), ("location", "/two"))
    assert [value for name, value in fields if name.lower() == "location"] == [
        "/2026mp_/http://h.test/one"
    ]


@pytest.mark.parametrize(
    ("refresh", "new"),
    [
        ("5; url=http://o.test/", "5; url=/2026mp_/http://o.test/"),
        ("5; url='/x'", "5; url='/2026mp_/http://h.test/x'"),
        ("5", "5"),
        ("5; url=other.html", "5; url=other.html"),
    ],
)
def test_refresh(refresh: str, new: str):
    assert sent(("Refresh", refresh)) == [("X-Archive-Orig-Refresh", refresh), ("Refresh", new)]


def test_refresh_that_leads_nowhere():
    assert len(sent(("Refresh", "0; url=javascript:x"))) == 1


@pytest.mark.parametrize(
    ("captured", "codec", "label"),
    [
        ("text/html", "gbk", "gbk"),
        ("text/html; charset=utf-8", "big5hkscs", "big5"),
        ('text/html; charset="x"; a=b', "cp932", "shift_jis"),
        ("text/css", "cp1252", "windows-1252"),
        ("text/html", "cp874", "windows-874"),
        ("text/html", "utf-16-le", "utf-16le"),
        ("text/html", "mac-roman", "macintosh"),
    ],
)
def test_charset_is_declared(captured: str, codec: str, label: str):
    value = sent(("Content-Type", captured), charset=codec)[0][1]
    assert value.partition("charset=")[2] == label
    assert value.count("charset") == 1


def test_policy_names_no_other_origin_than_the_viewer():
    fields = dict(replay_headers([], PAGE, viewer="http://replay.localhost:8411"))
    policy = fields["Content-Security-Policy"]
    assert policy.endswith("frame-ancestors 'self' http://replay.localhost:8411")
    assert "//" not in "".join(POLICY)
    assert " *" not in policy
    assert replay_policy().endswith("frame-ancestors 'self'")


@given(st.lists(st.tuples(st.text(), st.text())))
def test_any_field_can_be_sent(captured: list[tuple[str, str]]):
    for name, value in replay_headers(captured, PAGE):
        assert name.isascii()
        assert not set(value.encode("latin-1")) & set(b"\r\n\0")


def test_many_and_long_fields_are_bounded():
    fields = replay_headers([("X-A", "a" * 100_000)] * 1000, PAGE)
    assert sum(len(value) for _, value in fields) < 2_000_000


def test_cookies_that_scripts_can_read():
    captured = [
        ("Set-Cookie", "a=1; Path=/"),
        ("set-cookie", "b=\u4e2d\r\nX: y"),
        ("Set-Cookie", "c=1; HttpOnly"),
        ("Set-Cookie", "d=1;httponly ; Secure"),
        ("Set-Cookie", f"long={'x' * 9000}; HttpOnly"),
        ("Set-Cookie", "httponly=1"),
        ("Cookie", "e=1"),
    ]
    assert script_cookies(captured) == ["a=1; Path=/", "b=\u4e2dX: y", "httponly=1"]
    assert len(script_cookies([("Set-Cookie", "a=1")] * 1000)) == 50
