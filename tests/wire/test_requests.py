from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.wire.http1 import ReplyReader
from nacre.wire.requests import (
    ReplyFramer,
    RequestHead,
    RequestReader,
    origin_of_tunnel,
    request_url,
    resource_of,
)
from tests.examples import examples

GET = b"GET http://h.test/a HTTP/1.1\r\nHost: h.test\r\n"
POST = b"POST / HTTP/1.1\r\nHost: h.test\r\n"
OK = b"HTTP/1.1 200 OK\r\n"


def read(data: bytes, **limits: int) -> RequestReader:
    reader = RequestReader(**limits)
    reader.feed(data)
    return reader


def head_of(reader: RequestReader) -> RequestHead:
    assert reader.head is not None, reader.failure
    return reader.head


def asks(*lines: bytes, target: bytes = b"/", method: bytes = b"GET") -> RequestHead:
    start = method + b" " + target + b" HTTP/1.1"
    return head_of(read(b"\r\n".join((start, *lines)) + b"\r\n\r\n"))


WHOLE = [
    (GET + b"\r\n", None),
    (b"\r\n" + GET + b"\r\n", None),
    (b"GET / HTTP/1.1\nHost: h.test\n\n", None),
    (POST + b"Content-Length: 0\r\n\r\n", b""),
    (POST + b"Content-Length: 3\r\n\r\nabc", b"abc"),
    (
        POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nT: r\r\n\r\n",
        b"abc",
    ),
    (POST + b"Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", b""),
]


@pytest.mark.parametrize(("data", "body"), WHOLE)
def test_a_whole_request(data: bytes, body: bytes | None) -> None:
    reader = read(data)
    assert (reader.complete, reader.failure, reader.body) == (True, "", body)


@pytest.mark.parametrize(("data", "body"), WHOLE)
@given(cuts=st.lists(st.integers(0, 200), max_size=6))
@examples(30)
def test_pieces_do_not_matter(data: bytes, body: bytes | None, cuts: list[int]) -> None:
    reader = RequestReader()
    for begin, end in pairwise([0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]):
        reader.feed(data[begin:end])
    assert (reader.complete, reader.body) == (True, body)


@pytest.mark.parametrize(
    "data",
    [
        b"GET /\r\n\r\n",
        b"GET  / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"G(T / HTTP/1.1\r\n\r\n",
        GET + b"no colon\r\n\r\n",
        GET + b" folded: x\r\n\r\n",
        GET + b"Name : x\r\n\r\n",
        GET + b"X: a\rb\r\n\r\n",
        GET + b"X: a\0b\r\n\r\n",
        POST + b"Content-Length: x\r\n\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
        POST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        POST + b"Content-Length: 17000000\r\n\r\n",
        GET + b"X: " + b"a" * 66_000,
        GET + b"X: " + b"a" * 66_000 + b"\r\n\r\n",
    ],
)
def test_what_contradicts_itself_is_refused(data: bytes) -> None:
    reader = read(data)
    assert reader.failure
    assert not reader.complete or reader.head is not None


def test_chunks_end_at_the_limit_too() -> None:
    data = POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"5\r\nabcde\r\n" * 9
    assert read(data, max_body=20).failure


@given(st.binary(max_size=300))
@examples(100)
def test_no_bytes_are_an_error_of_ours(data: bytes) -> None:
    for reader in (read(data), read(POST + data)):
        assert not reader.complete or reader.head is not None
        assert not (reader.is_idle and reader.failure)


def test_requests_follow_each_other() -> None:
    reader = read(POST + b"Content-Length: 1\r\n\r\nx" + GET + b"\r\n" + b"GET /2")
    assert reader.body == b"x"
    reader.begin_next()
    assert (head_of(reader).target, reader.complete) == ("http://h.test/a", True)
    reader.begin_next()
    assert (reader.head, reader.complete, reader.is_idle) == (None, False, False)


def test_a_body_that_waits_for_100() -> None:
    reader = read(POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    assert (reader.wants_continue, reader.complete) == (True, False)
    reader.feed(b"ab")
    assert (reader.wants_continue, reader.body) == (False, b"ab")


def test_fields_of_the_connection_are_not_forwarded() -> None:
    head = asks(
        b"Host: h.test", b"Proxy-Connection: keep-alive", b"PROXY-authorization: Basic x",
        b"X-One: 1", b"Connection: keep-alive, X-Hop", b"x-hop: 2", b"TE: trailers",
        b"Cookie: a=b", b"x-one: \xff", b"Upgrade: websocket", b"Keep-Alive: 5",
    )  # fmt: skip
    assert head.forwarded_headers() == (
        (b"Host", b"h.test"), (b"X-One", b"1"), (b"Cookie", b"a=b"), (b"x-one", b"\xff"),
    )  # fmt: skip
    assert not head.is_websocket  # Connection does not name Upgrade


@pytest.mark.parametrize(
    ("lines", "version", "persistent"),
    [
        (b"", b"1.1", True),
        (b"Connection: close\r\n", b"1.1", False),
        (b"Proxy-Connection: Close\r\n", b"1.1", False),
        (b"", b"1.0", False),
        (b"Connection: Keep-Alive\r\n", b"1.0", True),
    ],
)
def test_which_connections_go_on(lines: bytes, version: bytes, persistent: bool) -> None:
    head = head_of(read(b"GET / HTTP/" + version + b"\r\nHost: h\r\n" + lines + b"\r\n"))
    assert head.is_persistent is persistent


WEBSOCKET = (b"Connection: Upgrade", b"Upgrade: websocket")


@pytest.mark.parametrize(
    ("lines", "method", "resource"),
    [
        ((b"Sec-Fetch-Dest: document",), b"GET", "document"),
        ((b"Sec-Fetch-Dest: iframe",), b"GET", "frame"),
        ((b"Sec-Fetch-Dest: empty", b"Sec-Fetch-Mode: cors"), b"POST", "fetch"),
        ((b"Sec-Fetch-Dest: empty", b"Sec-Fetch-Mode: no-cors"), b"POST", "beacon"),
        ((b"Sec-Fetch-Dest: empty", b"Sec-Fetch-Mode: no-cors"), b"GET", "fetch"),
        ((b"Sec-Fetch-Dest: track",), b"GET", "media"),
        ((b"Sec-Fetch-Dest: newthing",), b"GET", "other"),
        ((b"Content-Type: text/ping",), b"POST", "beacon"),
        ((b"Accept: text/html,application/xhtml+xml",), b"GET", "document"),
        ((b"Accept: text/css,*/*;q=0.1",), b"GET", "style"),
        ((b"Accept: image/avif,image/webp",), b"GET", "image"),
        ((b"Accept: */*",), b"GET", "other"),
        ((), b"GET", "other"),
        (WEBSOCKET, b"GET", "websocket"),
    ],
)
def test_what_a_request_is_for(lines: tuple[bytes, ...], method: bytes, resource: str) -> None:
    assert resource_of(asks(*lines, method=method)) == resource


@pytest.mark.parametrize(
    ("target", "lines", "tunnel", "is_tls", "url"),
    [
        (b"http://H.test/a?b", (b"Host: h.test",), "", False, "http://h.test/a?b"),
        (b"http://h.test:80/", (b"Host: h.test:80",), "", False, "http://h.test/"),
        (b"http://h.test", (), "", False, "http://h.test/"),
        (b"http://h.test?q", (), "", False, "http://h.test/?q"),
        (b"http://h.test:8080/", (b"Host: h.test:8080",), "", False, "http://h.test:8080/"),
        (b"http://[::1]:81/", (), "", False, "http://[::1]:81/"),
        (b"/x", (b"Host: h.test",), "h.test:443", True, "https://h.test/x"),
        (b"/x", (b"Host: h.test:8443",), "h.test:8443", True, "https://h.test:8443/x"),
        (b"/x", (b"Host: h.test",), "h.test:80", False, "http://h.test/x"),
        (b"/x", (b"Host: h.test", *WEBSOCKET), "h.test:80", False, "ws://h.test/x"),
        (b"/x", (b"Host: h.test", *WEBSOCKET), "h.test:443", True, "wss://h.test/x"),
        (b"http://h.test/", (b"Host: other.test",), "", False, None),
        (b"/x", (b"Host: other.test",), "h.test:443", True, None),
        (b"http://me@h.test/", (), "", False, None),
        (b"http://h.test:x/", (), "", False, None),
        (b"http:///", (), "", False, None),
        (b"ftp://h.test/", (), "", False, None),
        (b"file:///etc/passwd", (), "", False, None),
        (b"/x", (b"Host: h.test",), "", False, None),
        (b"http://h.test/", (b"Host: h.test",), "h.test:443", True, None),
    ],
)
def test_the_url_of_a_request(
    target: bytes, lines: tuple[bytes, ...], tunnel: str, is_tls: bool, url: str | None
) -> None:
    assert request_url(asks(*lines, target=target), tunnel, is_tls=is_tls) == url


@pytest.mark.parametrize(
    ("target", "origin"),
    [
        ("H.test:443", "h.test:443"),
        ("[::1]:8443", "[::1]:8443"),
        ("h.test", ""),
        ("h.test:0", ""),
        ("h.test:99999", ""),
        ("me@h.test:443", ""),
        ("h.test:443/x", ""),
        ("http://h.test:443", ""),
        ("", ""),
    ],
)
def test_the_target_of_a_tunnel(target: str, origin: str) -> None:
    assert origin_of_tunnel(target) == origin


def framed(reply: bytes, method: str = "GET", step: int = 0) -> tuple[bytes, ReplyFramer]:
    """What a browser gets, in pieces of `step` bytes (0: at once), and the framer."""
    reader = ReplyReader(method)
    framer, sent = None, b""
    step = step or len(reply)
    for begin in range(0, len(reply), step):
        body = reader.feed(reply[begin : begin + step])
        if framer is None and reader.status:
            framer = ReplyFramer(method, reader.head, reader.framing)
            sent += framer.head
        if framer is not None and body:
            sent += framer.frame(body)
    assert framer is not None
    return sent, framer


CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n2;a\r\nhi\r\n3\r\nyou\r\n0\r\nT: x\r\n\r\n"


@pytest.mark.parametrize(
    ("reply", "method", "persistent"),
    [
        (OK + b"Content-Length: 2\r\n\r\nhi", "GET", True),
        (OK + b"content-LENGTH:2\r\nx:  y \r\n\r\nhi", "GET", True),
        (OK + b"Content-Length: 2\r\nConnection: close\r\n\r\nhi", "GET", False),
        (OK + b"Content-Length: 5\r\n\r\nhi", "GET", False),
        (OK + CHUNKED, "GET", True),
        (OK + CHUNKED[:-2], "GET", False),
        (OK + b"\r\nhi", "GET", False),
        (OK + b"Content-Length: 9\r\n\r\n", "HEAD", True),
        (b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n", "GET", True),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "GET", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", "GET", True),
        (b"HTTP/1.0 200 OK\r\n\r\nhi", "GET", False),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n", "GET", False),
        (OK + b"Content-Length: 2, 2\r\n\r\nhi", "GET", True),
    ],
)
@pytest.mark.parametrize("step", [0, 1])
def test_what_http11_allows_goes_on_verbatim(
    reply: bytes, method: str, persistent: bool, step: int
) -> None:
    sent, framer = framed(reply, method, step)
    assert (sent, framer.is_verbatim, framer.is_persistent) == (reply, True, persistent)


@pytest.mark.parametrize(
    ("reply", "head", "body"),
    [
        (b"<p>old", b"HTTP/1.1 200 OK\r\n", b"<p>old"),
        (b"ICY 200 OK\r\nicy-name: x\r\n\r\nmp3", b"HTTP/1.1 200 OK\r\nicy-name: x\r\n", b"mp3"),
        (b"HTTP/1.0 200 OK\r\nX: y\r\n" + CHUNKED, b"HTTP/1.1 200 OK\r\nX: y\r\n", b"hiyou"),
        (OK + b"Content-Length: 4\r\n" + CHUNKED, b"HTTP/1.1 200 OK\r\n", b"hiyou"),
        (
            OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxyz",
            b"HTTP/1.1 200 OK\r\n",
            b"xyz",
        ),
        (OK + b"Content-Length: x\r\n\r\nxyz", b"HTTP/1.1 200 OK\r\n", b"xyz"),
        (OK + b"Transfer-Encoding: gzip\r\n\r\nxyz", b"HTTP/1.1 200 OK\r\n", b"xyz"),
    ],
)
@pytest.mark.parametrize("step", [0, 1, 3])
def test_other_framing_is_made_new(reply: bytes, head: bytes, body: bytes, step: int) -> None:
    sent, framer = framed(reply, step=step)
    assert sent == head + b"Connection: close\r\n\r\n" + body
    assert (framer.is_verbatim, framer.is_persistent) == (False, False)
