import pytest

from nacre.core.status import FetchStatus
from nacre.fetch.request import FetchRequest, FetchResult, request_bytes, split_url
from nacre.fetch.settings import FetchSettings


def test_a_request_asks_for_nothing_special() -> None:
    request = FetchRequest("http://a.test/")
    assert (request.method, request.body, request.check) == ("GET", None, None)


def test_results_do_not_share_their_annotations() -> None:
    one, two = FetchResult(FetchStatus.TIMEOUT), FetchResult(FetchStatus.TIMEOUT)
    one.annotations.append("x")
    assert two.annotations == []


SETTINGS = FetchSettings(user_agent="UA", accept=("Accept: */*",), accept_encoding="gzip")
COMMON = b"User-Agent: UA\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n"
END = b"Connection: keep-alive\r\n\r\n"


def sent(request: FetchRequest, settings: FetchSettings = SETTINGS) -> bytes:
    return request_bytes(request, settings, *split_url(request.url))


@pytest.mark.parametrize(
    ("url", "authority", "target", "sni"),
    [
        ("http://a.test/", "a.test", "/", ""),
        ("http://a.test:80/x?y=http://z/", "a.test", "/x?y=http://z/", ""),
        ("http://a.test:8080/x#f?", "a.test:8080", "/x", ""),
        ("https://user:pw@a.test:443/", "a.test", "/", "a.test"),
        ("https://a.test./", "a.test.", "/", "a.test"),
        ("http://a.test", "a.test", "/", ""),
        ("http://a.test?q=1", "a.test", "/?q=1", ""),
        ("http://a.test?q=/1", "a.test", "/?q=/1", ""),
        ("http://a.test/?", "a.test", "/?", ""),
        ("http://[2001:db8::1]:81/", "[2001:db8::1]:81", "/", ""),
        ("https://[2001:db8::1]/", "[2001:db8::1]", "/", ""),
    ],
)
def test_a_url_is_split(url: str, authority: str, target: str, sni: str) -> None:
    origin, found = split_url(url)
    assert (origin.authority, found) == (authority, target)
    assert (origin.sni if origin.scheme == "https" else "") == sni


@pytest.mark.parametrize("url", ["", "a.test", "ftp://a.test/", "http://", "http://a:99999/"])
def test_what_is_no_http_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        split_url(url)


def test_a_plain_request() -> None:
    assert sent(FetchRequest("http://a.test/x")) == (
        b"GET /x HTTP/1.1\r\nHost: a.test\r\n" + COMMON + END
    )


def test_what_depends_on_the_request() -> None:
    request = FetchRequest(
        "http://a.test/x",
        referer="http://me:pw@b.test/page#part",
        cookie="a=b",
        etag=b'W/"\xe4"',
        last_modified=b"Sat, 21 Nov 2026 10:00:00 GMT",
    )
    assert sent(request) == (
        b"GET /x HTTP/1.1\r\nHost: a.test\r\n" + COMMON
        + b"Referer: http://b.test/page\r\nCookie: a=b\r\n"
        + b'If-None-Match: W/"\xe4"\r\nIf-Modified-Since: Sat, 21 Nov 2026 10:00:00 GMT\r\n'
        + END
    )  # fmt: skip


def test_no_referer_from_https_to_http_nor_against_the_setting() -> None:
    secret = FetchRequest("http://a.test/", referer="https://b.test/")
    assert b"Referer" not in sent(secret)
    plain = FetchRequest("http://a.test/", referer="http://b.test/")
    quiet = SETTINGS.model_copy(update={"send_referer": False})
    assert b"Referer" in sent(plain)
    assert b"Referer" not in sent(plain, quiet)


def test_a_range_is_asked_for_where_there_is_a_limit() -> None:
    request = FetchRequest("http://a.test/")
    ranged = FetchSettings(send_range=True, max_length=1000)
    assert b"\r\nRange: bytes=0-999\r\n" in sent(request, ranged)
    assert b"Range" not in sent(request, FetchSettings(send_range=True))
    assert b"Range" not in sent(request, FetchSettings(max_length=1000))


def test_own_headers_replace_others_and_a_body_has_its_length() -> None:
    request = FetchRequest(
        "http://a.test/x",
        method="POST",
        body=b"a=b",
        headers=(("user-agent", "Other"), ("X-A", "1"), ("Host", "c.test"), ("Connection", "x")),
    )
    assert sent(request) == (
        b"POST /x HTTP/1.1\r\nHost: c.test\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n"
        b"Content-Length: 3\r\nuser-agent: Other\r\nX-A: 1\r\n" + END + b"a=b"
    )


@pytest.mark.parametrize(
    "request_",
    [
        FetchRequest("http://a.test/", cookie="a\r\nX: y"),
        FetchRequest("http://a.test/", referer="http://b.test/\n"),
        FetchRequest("http://a.test/", etag=b"a\0"),
        FetchRequest("http://a.test/", headers=(("X", "a\rb"),)),
        FetchRequest("http://a.test/", method="GET /"),
        FetchRequest("http://a.test/a b"),
    ],
)
def test_nothing_smuggles_a_line(request_: FetchRequest) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        sent(request_)


def test_text_outside_ascii_goes_out_in_utf8() -> None:
    assert sent(FetchRequest("http://a.test/ä")).startswith(b"GET /\xc3\xa4 HTTP/1.1\r\n")
