"""A world over real HTTP: virtual hosts, the clock, the proxy's form, the log."""

import asyncio
import json

import pytest

from nacre_simweb.answer import WorldServer
from nacre_simweb.calendar import DAY
from nacre_simweb.serve import Hands, serving
from nacre_simweb.servelog import read_log, write_log
from tests.simweb.requests import asked, row_of


async def get(port, target, host="www.small.test"):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    data = await reader.read()
    writer.close()
    await writer.wait_closed()
    return data


def test_serving(small):
    async def talk():
        async with serving(small, Hands()) as (server, port):
            first = await get(port, "/")
            proxied = await get(port, "http://www.small.test/", host="ignored")
            other = await get(port, "/", host="www.other.test")
            clock = await get(port, "/.simweb/time?day=30")
            later = await get(port, "/")
            wrong = await get(port, "/.simweb/time?day=x")
            return first, proxied, other, clock, later, wrong, server.answers.rows

    first, proxied, other, clock, later, wrong, rows = asyncio.run(talk())
    assert first.startswith(b"HTTP/1.1 200 OK\r\n")
    head, _, body = first.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert body == small.respond("http://www.small.test/", 0.0).body
    assert proxied.startswith(b"HTTP/1.1 200")
    assert other == b""
    assert json.loads(clock.partition(b"\r\n\r\n")[2]) == {"day": 30.0, "speed": 0.0}
    assert later.partition(b"\r\n\r\n")[2] != body
    assert wrong.startswith(b"HTTP/1.1 400")
    assert [(row.time, row.status, row.nonce) for row in rows] == [
        (0.0, 200, 0), (0.0, 200, 1), (0.0, 0, 0), (30 * DAY, 200, 2),
    ]  # fmt: skip


def test_the_log_is_read_back(small, tmp_path):
    answers = WorldServer(small, lambda: 5.0)
    rows = [
        row_of(answers, asked("www.small.test", path)) for path in ("/", "/none", "/static/e0.css")
    ]
    path = tmp_path / "server.log"
    write_log(path, rows)
    assert read_log(path) == rows
    path.write_bytes(path.read_bytes() + b"[1]\n")
    with pytest.raises(ValueError, match=r"server\.log, line 4: no row"):
        read_log(path)
