"""A world over real HTTP: virtual hosts, the clock, the proxy's form, the log."""

import asyncio
import json

import pytest

from nacre.simweb.answer import Answers, read_heading
from nacre.simweb.archetypes import archetype
from nacre.simweb.calendar import DAY
from nacre.simweb.serve import Hands, serving
from nacre.simweb.servelog import read_log, write_log
from nacre.simweb.world import World


def asked(host, path, more=""):
    heading = read_heading(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode())
    assert heading is not None
    return heading


def row_of(answers, heading):
    row = answers.answer(heading).row
    assert row is not None
    return row


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


def test_conditional_requests(small):
    answers = Answers(small, lambda: 0.0)
    tag = small.respond("http://www.small.test/", 0.0).header("ETag")
    heading = asked("www.small.test", "/", f"If-None-Match: {tag}\r\n")
    sending = answers.answer(heading)
    assert sending.pieces[0][1].startswith(b"HTTP/1.1 304 ")
    assert sending.pieces[0][1].endswith(b"\r\n\r\n")
    assert sending.row is not None
    assert sending.row.conditional
    assert sending.row.length == 0


def test_too_many_requests_a_minute():
    world = World(archetype("trap"), 1)
    now = 0.0
    answers = Answers(world, lambda: 0.0, lambda: now)
    heading = asked("www.trap.test", "/robots.txt")
    statuses = [row_of(answers, heading).status for _ in range(700)]
    assert statuses[:240] == [200] * 240
    assert statuses[240:600] == [429] * 360
    assert row_of(answers, heading).kind == "wall"
    now = 61.0
    assert row_of(answers, heading).kind == "robots"


def test_the_log_is_read_back(small, tmp_path):
    answers = Answers(small, lambda: 5.0)
    rows = [
        row_of(answers, asked("www.small.test", path)) for path in ("/", "/none", "/static/e0.css")
    ]
    path = tmp_path / "server.log"
    write_log(path, rows)
    assert read_log(path) == rows
    path.write_bytes(path.read_bytes() + b"[1]\n")
    with pytest.raises(ValueError, match=r"server\.log, line 4: no row"):
        read_log(path)
