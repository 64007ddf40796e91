"""The recording proxy, with plain sockets, TLS clients and curl."""

import asyncio
import shutil
from base64 import b64encode
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from nacre.browser import proxy as proxy_module
from nacre.browser.authority import CertificateAuthority
from nacre.core.rendered import BrowserRequest, ReplyWriter
from tests.browser.proxying import HELLO, Answers, Client, proxying, wait_until

AUTHORITY = CertificateAuthority()
GET = b"GET http://h.test/a HTTP/1.1\r\nHost: h.test\r\nProxy-Connection: keep-alive\r\n\r\n"


def run(main: Coroutine[Any, Any, None]) -> None:
    uvloop.run(main)


def test_requests_of_a_connection_reach_the_handler_in_turn() -> None:
    async def main() -> None:
        handler = Answers()
        async with proxying(handler) as listener:
            client = await Client.to(listener)
            assert await client.ask(GET) == HELLO
            post = b"POST http://h.test/p HTTP/1.1\r\nHOST: h.test\r\ncontent-LENGTH: 3\r\n\r\nabc"
            assert await client.ask(post) == HELLO
        first, second = handler.requests
        assert first == BrowserRequest("GET", "http://h.test/a", ((b"Host", b"h.test"),))
        assert second.headers == ((b"HOST", b"h.test"), (b"content-LENGTH", b"3"))
        assert (second.method, second.body) == ("POST", b"abc")

    run(main())


@pytest.mark.parametrize("line", [b"Connection: close", b"Proxy-Connection: close"])
def test_a_client_that_wants_no_other_reply_gets_the_end(line: bytes) -> None:
    async def main() -> None:
        async with proxying(Answers()) as listener:
            client = await Client.to(listener)
            client.writer.write(b"GET http://h.test/ HTTP/1.1\r\n" + line + b"\r\n\r\n")
            assert await asyncio.wait_for(client.reader.read(), 60) == HELLO

    run(main())


def test_pipelined_requests_are_answered_in_order() -> None:
    async def main() -> None:
        handler = Answers(
            lambda r: (
                b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(r.url), r.url.encode())
            )
        )
        async with proxying(handler) as listener:
            client = await Client.to(listener)
            urls = [f"http://h.test/{number}" for number in range(500)]
            client.writer.write(
                b"".join(f"GET {url} HTTP/1.1\r\nHost: h.test\r\n\r\n".encode() for url in urls)
            )
            got = b""
            while not got.endswith(urls[-1].encode()):
                got += await client.read()
            assert [request.url for request in handler.requests] == urls

    run(main())


def test_a_refusal_closes_without_a_byte() -> None:
    async def main() -> None:
        async with proxying(Answers(lambda _: b"")) as listener:
            client = await Client.to(listener)
            assert await client.ask(GET) == b""

    run(main())


def test_a_request_that_a_browser_repeats_after_a_refusal_is_asked_once() -> None:
    async def main() -> None:
        handler = Answers(lambda request: HELLO if request.url.endswith("a") else b"")
        refused = GET.replace(b"/a ", b"/b ")
        async with proxying(handler) as listener:
            client = await Client.to(listener)
            assert await client.ask(GET) == HELLO
            assert await client.ask(refused) == b""
            assert await (await Client.to(listener)).ask(refused) == b""
            assert len(handler.requests) == 2
            assert await (await Client.to(listener)).ask(refused) == b""
            assert len(handler.requests) == 3

    run(main())


def test_a_tunnel_is_tls_with_http11_alone() -> None:
    async def main() -> None:
        handler = Answers()
        async with proxying(handler, AUTHORITY) as listener:
            for name in ("h.test", "127.0.0.1"):
                client = await Client.to(listener)
                assert (await client.connect(f"{name}:8443")).startswith(b"HTTP/1.1 200 ")
                await client.begin_tls(AUTHORITY, name)
                assert client.alpn == "http/1.1"
                for _ in range(2):
                    head = f"GET /x HTTP/1.1\r\nHost: {name}:8443\r\nCookie: a=b\r\n\r\n"
                    assert await client.ask(head.encode()) == HELLO
        assert [request.url for request in handler.requests[1:3]] == [
            "https://h.test:8443/x",
            "https://127.0.0.1:8443/x",
        ]

    run(main())


def test_a_tunnel_may_be_plain() -> None:
    async def main() -> None:
        handler = Answers()
        async with proxying(handler) as listener:
            client = await Client.to(listener)
            await client.connect("h.test:80")
            assert await client.ask(b"GET /x HTTP/1.1\r\nHost: h.test\r\n\r\n") == HELLO
            together = await Client.to(listener)
            together.writer.write(b"CONNECT h.test:80 HTTP/1.1\r\n\r\nGET /y HTTP/1.1\r\n\r\n")
            got = b""
            while not got.endswith(b"hello"):
                got += await together.read()
        assert [request.url for request in handler.requests] == [
            "http://h.test/x",
            "http://h.test/y",
        ]

    run(main())


@pytest.mark.parametrize("origin", ["h.test", "h.test:0", "h.test:80/x", "me@h.test:443"])
def test_a_tunnel_to_nowhere_is_refused(origin: str) -> None:
    async def main() -> None:
        async with proxying(Answers()) as listener:
            client = await Client.to(listener)
            assert (await client.connect(origin)).startswith(b"HTTP/1.1 502 ")
            assert await client.read() == b""

    run(main())


def test_without_a_handler_all_is_refused() -> None:
    async def main() -> None:
        async with proxying(None) as listener:
            assert await (await Client.to(listener)).ask(GET) == b""
            assert b" 502 " in await (await Client.to(listener)).connect("h.test:443")

    run(main())


def test_another_page_does_not_get_the_requests_of_the_last() -> None:
    async def main() -> None:
        first, second = Answers(), Answers()
        async with proxying(first) as listener:
            client = await Client.to(listener)
            assert await client.ask(GET) == HELLO
            listener.assign(second)
            assert await client.ask(GET) == b""
            assert await (await Client.to(listener)).ask(GET) == HELLO
        assert (len(first.requests), len(second.requests)) == (1, 1)

    run(main())


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: h.test\r\n\r\n",
        b"GET ftp://h.test/ HTTP/1.1\r\n\r\n",
        b"GET http://h.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n",
        b"GET http://h.test/ HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET http://h.test/ HTTP/1.1\r\nX: " + b"a" * 70_000,
        b"POST http://h.test/ HTTP/1.1\r\nContent-Length: 16777217\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
def test_odd_requests_never_reach_the_handler(data: bytes) -> None:
    async def main() -> None:
        handler = Answers()
        async with proxying(handler) as listener:
            assert await (await Client.to(listener)).ask(data) == b""
        assert handler.requests == []

    run(main())


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", b""),
        (b"GET http://h.test/ HTTP/1.1\r\nHo", b""),
        (b"CONNECT h.test:443 HTTP/1.1\r\n\r\n\x16\x03\x01", b"HTTP/1.1 200 "),
    ],
)
def test_slow_clients_are_left(sent: bytes, status: bytes) -> None:
    async def main() -> None:
        handler = Answers()
        async with proxying(handler, patience=0.05, idle_time=0.05) as listener:
            client = await Client.to(listener)
            client.writer.write(sent)
            got = b""
            while part := await client.read():
                got += part
            assert got[: got.find(b" ", 9) + 1] == status
        assert handler.requests == []

    run(main())


class Endless:
    """A handler that sends until the browser has left.

    Attributes:
        sent: Bytes written.
        left: Set when the browser has left.
    """

    def __init__(self) -> None:
        self.sent = 0
        self.left = asyncio.Event()

    async def handle(self, request: BrowserRequest, reply: ReplyWriter) -> None:
        reply.when_closed(self.left.set)
        reply.begin(200, b"HTTP/1.1 200 OK\r\n\r\n", "close")
        while not self.left.is_set():
            reply.write(b"x" * 65_536)
            self.sent += 65_536
            if reply.is_full:
                await reply.drain()
            await asyncio.sleep(0)


def test_a_browser_that_takes_nothing_stops_its_server() -> None:
    async def main() -> None:
        handler = Endless()
        async with proxying(handler, patience=0.3) as listener:
            client = await Client.to(listener)
            client.writer.transport.pause_reading()  # type: ignore[attr-defined]
            client.writer.write(GET)
            await asyncio.wait_for(handler.left.wait(), 60)
            assert handler.sent < 20_000_000

    run(main())


@pytest.mark.parametrize("how", ["browser", "page"])
def test_the_handler_learns_that_nobody_waits(how: str) -> None:
    async def main() -> None:
        handler = Endless()
        async with proxying(handler) as listener:
            client = await Client.to(listener)
            client.writer.write(GET)
            await client.read()
            if how == "browser":
                client.writer.transport.abort()
            else:
                listener.assign(None)
            await asyncio.wait_for(handler.left.wait(), 60)
            await listener.wait_for_handlers(2)
            assert not listener.running

    run(main())


def test_a_handler_that_never_returns_is_cancelled() -> None:
    begun = asyncio.Event()

    class Stuck:
        async def handle(self, request: BrowserRequest, reply: ReplyWriter) -> None:
            begun.set()
            await asyncio.Event().wait()

    async def main() -> None:
        async with proxying(Stuck()) as listener:
            client = await Client.to(listener)
            client.writer.write(GET)
            await begun.wait()
            listener.close()
            await listener.wait_for_handlers(0.05)
            assert not listener.running

    run(main())


def test_an_upload_that_waits_for_100() -> None:
    async def main() -> None:
        handler = Answers()
        async with proxying(handler) as listener:
            client = await Client.to(listener)
            client.writer.write(
                b"PUT http://h.test/ HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
            )
            assert await client.read() == b"HTTP/1.1 100 Continue\r\n\r\n"
            assert await client.ask(b"ab") == HELLO
        assert handler.requests[0].headers == ((b"Content-Length", b"2"),)

    run(main())


def test_bodies_have_a_limit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_module, "MOST_BODIES", 1000)
    half = b"POST http://h.test/ HTTP/1.1\r\nContent-Length: 900\r\n\r\n" + b"x" * 600

    async def main() -> None:
        async with proxying(Answers()) as listener:
            first, second = await Client.to(listener), await Client.to(listener)
            first.writer.write(half)
            await asyncio.sleep(0.05)
            assert await second.ask(half) == b""

    run(main())


def test_connections_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_module, "MOST_CONNECTIONS", 1)

    async def main() -> None:
        async with proxying(Answers()) as listener:
            first = await Client.to(listener)
            assert await first.ask(GET) == HELLO
            assert await (await Client.to(listener)).ask(GET) == b""

    run(main())


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        (b"", False),
        (b"Proxy-Authorization: Basic " + b64encode(b"me:secret"), True),
        (b"Proxy-Authorization: basic " + b64encode(b":secret"), True),
        (b"Proxy-Authorization: Basic " + b64encode(b"me:Secret"), False),
        (b"Proxy-Authorization: Bearer secret", False),
        (b"Proxy-Authorization: Basic !", False),
    ],
)
def test_a_key(line: bytes, allowed: bool) -> None:
    lines = line + b"\r\n" if line else b""

    async def main() -> None:
        handler = Answers()
        async with proxying(handler, AUTHORITY, key="secret") as listener:
            client = await Client.to(listener)
            got = await client.ask(b"GET http://h.test/ HTTP/1.1\r\n" + lines + b"\r\n")
            assert (got == HELLO) is allowed
            assert got.startswith(b"HTTP/1.1 407 ") is not allowed
            client = await Client.to(listener)
            client.writer.write(b"CONNECT h.test:443 HTTP/1.1\r\n" + lines + b"\r\n")
            assert (b" 200 " in await client.read()) is allowed
            if allowed:
                await client.begin_tls(AUTHORITY, "h.test")
                assert await client.ask(b"GET / HTTP/1.1\r\n\r\n") == HELLO
        assert all(request.headers == () for request in handler.requests)

    run(main())


class Socket:
    """A handler that accepts a WebSocket, and echoes what it gets."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()
        self.reply: ReplyWriter | None = None
        self.resource = ""

    async def handle(self, request: BrowserRequest, reply: ReplyWriter) -> None:
        self.resource, self.reply = f"{request.resource} {request.url}", reply
        reply.begin(101, b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n", "none")
        reply.switch(self)

    def send(self, data: bytes) -> None:
        assert self.reply is not None
        self.reply.write(data.upper())

    def close(self) -> None:
        self.closed.set()


WEBSOCKET = b"GET /s HTTP/1.1\r\nHost: h.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


@pytest.mark.parametrize("port", [80, 443])
def test_a_websocket_passes_both_ways(port: int) -> None:
    async def main() -> None:
        handler = Socket()
        async with proxying(handler, AUTHORITY) as listener:
            client = await Client.to(listener)
            await client.connect(f"h.test:{port}")
            if port == 443:
                await client.begin_tls(AUTHORITY, "h.test")
            assert b" 101 " in await client.ask(WEBSOCKET)
            client.writer.write(b"abc")
            assert await client.read() == b"ABC"
            client.writer.write(b"d" * 100_000)
            got = b""
            while len(got) < 100_000:
                got += await client.read()
            assert listener.websockets == 1
            client.writer.transport.abort()
            await asyncio.wait_for(handler.closed.wait(), 60)
            assert listener.websockets == 0
        scheme = "wss" if port == 443 else "ws"
        assert handler.resource == f"websocket {scheme}://h.test/s"

    run(main())


@pytest.mark.parametrize("limit", ["refused", "number", "bytes"])
def test_the_limits_of_websockets(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if limit == "number":
        monkeypatch.setattr(proxy_module, "MOST_WEBSOCKETS", 0)
    monkeypatch.setattr(proxy_module, "WEBSOCKET_BYTES", 1000)

    async def main() -> None:
        handler = Socket()
        async with proxying(handler, websockets=limit != "refused") as listener:
            client = await Client.to(listener)
            await client.connect("h.test:80")
            got = await client.ask(WEBSOCKET)
            assert (b" 101 " in got) is (limit == "bytes")
            if limit == "bytes":
                client.writer.write(b"x" * 5000)
                await asyncio.wait_for(handler.closed.wait(), 60)
            while await client.read():
                pass

    run(main())


def test_a_connection_goes_on_when_a_websocket_is_not_accepted() -> None:
    async def main() -> None:
        async with proxying(Answers()) as listener:
            client = await Client.to(listener)
            await client.connect("h.test:80")
            assert await client.ask(WEBSOCKET) == HELLO
            assert listener.websockets == 0
            assert await client.ask(b"GET /x HTTP/1.1\r\nHost: h.test\r\n\r\n") == HELLO

    run(main())


def test_what_comes_before_the_handshake_is_passed_on_behind_it() -> None:
    async def main() -> None:
        handler = Socket()
        async with proxying(handler) as listener:
            client = await Client.to(listener)
            await client.connect("h.test:80")
            client.writer.write(WEBSOCKET + b"early " * 20_000)
            got = b""
            while not got.endswith(b"EARLY " * 20_000):
                part = await client.read()
                assert part, got[-100:]
                got += part
            assert got.count(b"EARLY ") == 20_000

    run(main())


def test_a_client_that_never_takes_the_end_is_left() -> None:
    body = b"x" * 3_000_000

    async def main() -> None:
        handler = Answers(lambda _: b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body)
        async with proxying(handler, patience=0.1) as listener:
            client = await Client.to(listener)
            client.writer.transport.pause_reading()  # type: ignore[attr-defined]
            client.writer.write(GET)
            await wait_until(lambda: bool(listener.clients))
            await wait_until(lambda: not listener.clients)
        assert [request.url for request in handler.requests] == ["http://h.test/a"]

    run(main())


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_curl(scheme: str, tmp_path: Path) -> None:
    handler = Answers()
    (tmp_path / "ca.pem").write_bytes(AUTHORITY.certificate)

    async def main() -> None:
        async with proxying(handler, AUTHORITY, key="k") as listener:
            port = listener.address[1]
            process = await asyncio.create_subprocess_exec(
                "curl", "-sS", "--cacert", str(tmp_path / "ca.pem"), "-x",
                f"http://me:k@127.0.0.1:{port}", f"{scheme}://h.test/1", f"{scheme}://h.test/2",
                stdout=-1,
            )  # fmt: skip
            assert process.stdout is not None
            assert await process.stdout.read() == b"hellohello"
            assert await process.wait() == 0

    run(main())
    assert [request.url for request in handler.requests] == [
        f"{scheme}://h.test/1",
        f"{scheme}://h.test/2",
    ]
