"""Requests as bytes, at a real server."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from nacre.web import connections
from nacre.web.connections import LARGEST_FIELDS, BoundedConnection
from nacre.web.middleware import RequestGuard


async def answers(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await PlainTextResponse(f"{len(body)} bytes\n")(scope, receive, send)


@asynccontextmanager
async def served() -> AsyncIterator[int]:
    """The port of a server with the guard of the console."""
    guard = RequestGuard(answers, frozenset({"localhost"}))
    config = uvicorn.Config(
        guard, port=0, http=BoundedConnection, ws="none", lifespan="off", log_config=None
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await server.shutdown()


async def exchanged(port: int, *parts: bytes) -> bytes:
    """All that is answered to some bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await reader.read()
    except ConnectionError:  # closed while it was sent
        return b""
    finally:
        writer.close()


HOST = b"Host: localhost\r\n"
END = b"Connection: close\r\n\r\n"


@pytest.mark.parametrize(
    ("request_bytes", "begin"),
    [
        (b"GET / HTTP/1.1\r\n" + HOST + END, b"HTTP/1.1 200"),
        (b"GET / HTTP/1.0\r\n" + HOST + b"\r\n", b"HTTP/1.1 200"),
        (b"GET / HTTP/1.0\r\n\r\n", b"HTTP/1.1 421"),
        (b"GET / HTTP/1.1\r\n" + END, b"HTTP/1.1 421"),
        (b"GET / HTTP/1.1\r\nHost: evil.test\r\n" + END, b"HTTP/1.1 421"),
        (b"GET / HTTP/1.1\r\n" + HOST + b"Host: evil.test\r\n" + END, b"HTTP/1.1 421"),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: -5\r\n" + END, b"HTTP/1.1 400"),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 99999999999\r\n" + END, b"HTTP/1.1 413"),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"
         + END + b"0\r\n\r\n", b"HTTP/1.1 400"),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n" + END + b"zz\r\n",
         b"HTTP/1.1 400"),
        (b"\x00\x01\r\n\r\n", b"HTTP/1.1 400"),
    ],
)  # fmt: skip
def test_asvs_4_2_1_a_request_has_one_meaning(request_bytes: bytes, begin: bytes):
    async def scene() -> bytes:
        async with served() as port:
            return await exchanged(port, request_bytes)

    assert asyncio.run(scene()).startswith(begin)


def test_requests_in_a_row_and_long_bodies_are_answered():
    async def scene() -> bytes:
        body = b"a" * (3 * LARGEST_FIELDS)
        post = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n" % len(body)
        async with served() as port:
            rows = (b"GET / HTTP/1.1\r\n" + HOST + b"\r\n") * 20
            return await exchanged(port, rows, post + END, body)

    answer = asyncio.run(scene())
    assert answer.count(b"HTTP/1.1 200 OK") == 21
    assert answer.endswith(b"196608 bytes\n")


def test_asvs_4_2_5_fields_without_end_are_refused():
    async def scene() -> bytes:
        async with served() as port:
            field = b"X: " + b"a" * 1000 + b"\r\n"
            return await exchanged(port, b"GET / HTTP/1.1\r\n" + HOST, *[field] * 100_000)

    assert asyncio.run(scene())[:12] in {b"HTTP/1.1 431", b""}


def test_what_is_no_request_is_refused_as_the_interface_does():
    async def scene(begin: bytes) -> bytes:
        async with served() as port:
            return await exchanged(port, begin + b" HTTP/1.1\r\n" + HOST + END)

    head, _, body = asyncio.run(scene(b"GET none")).partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json\r\n" in head
    assert json.loads(body)["status"] == 400
    long = asyncio.run(scene(b"GET /?" + b"%F3" * LARGEST_FIELDS))
    assert long[:12] in {b"HTTP/1.1 414", b"HTTP/1.1 431", b""}  # as its packets come


def test_fields_that_do_not_come_end_the_connection(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "LONGEST_WAIT", 0.0)

    async def scene() -> bytes:
        async with served() as port:
            return await exchanged(port, b"GET / HTTP/1.1\r\nX: ")

    assert asyncio.run(scene()) == b""


@pytest.mark.parametrize("body", [b"", b"a" * 500, b"1\r\na\r\n"])
def test_a_body_that_does_not_come_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch, body: bytes
):
    monkeypatch.setattr(connections, "LONGEST_WAIT", 0.05)
    size = b"Transfer-Encoding: chunked" if body.startswith(b"1\r\n") else b"Content-Length: 9999"

    async def scene() -> bytes:
        async with served() as port:
            return await exchanged(port, b"POST / HTTP/1.1\r\n" + HOST + size + b"\r\n\r\n", body)

    assert asyncio.run(scene()) == b""


def test_a_body_that_never_ends_ends_the_connection(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "LONGEST_WAIT", 0.01)
    monkeypatch.setattr(connections, "SLOWEST", -1)
    monkeypatch.setattr(connections, "LONGEST_BODY", 0.03)

    async def scene() -> bytes:
        async with served() as port:
            head = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 9999\r\n\r\n"
            return await exchanged(port, head, b"a" * 500)

    assert asyncio.run(scene()) == b""
