"""The server of a world, without sockets."""

import pytest

from nacre_simweb.answer import Heading, WorldServer, payload_digest, read_heading, without_port
from nacre_simweb.archetypes import archetype
from nacre_simweb.traps import SLOW
from nacre_simweb.world import World
from tests.simweb.requests import asked, row_of


def test_conditional_requests(small):
    answers = WorldServer(small, lambda: 0.0)
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
    answers = WorldServer(world, lambda: 0.0, lambda: now)
    heading = asked("www.trap.test", "/robots.txt")
    statuses = [row_of(answers, heading).status for _ in range(700)]
    assert statuses[:240] == [200] * 240
    assert statuses[240:600] == [429] * 360
    assert row_of(answers, heading).kind == "wall"
    now = 61.0
    assert row_of(answers, heading).kind == "robots"


def test_a_heading_is_read_from_bytes():
    found = read_heading(b"GET /x HTTP/1.1\r\nHOST:  a.test \r\nNoColon\r\n\r\n")
    assert found == Heading("GET", "/x", {"host": "a.test"})
    assert found.url == "http://a.test/x"
    assert Heading("GET", "http://b.test/y", {"host": "a.test"}).url == "http://b.test/y"


@pytest.mark.parametrize("data", [b"", b"GET /", b"GET / HTTP/1.1 more", b"\xff"])
def test_what_is_no_request_is_none(data):
    assert read_heading(data) is None


def test_methods_that_change_something_are_refused(small):
    sending = WorldServer(small, lambda: 0.0).answer(Heading("POST", "/", {"host": "x"}))
    assert sending.pieces[0][1].startswith(b"HTTP/1.1 405 ")
    assert (sending.close, sending.row) == (True, None)


def test_a_head_request_gets_the_length_without_the_body(small):
    answers = WorldServer(small, lambda: 0.0)
    body = small.respond("http://www.small.test/", 0.0).body
    sending = answers.answer(Heading("HEAD", "/", {"host": "www.small.test"}))
    ((_, head),) = sending.pieces
    assert head.endswith(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head


def test_the_log_says_what_was_answered(small):
    answers = WorldServer(small, lambda: 5.0, lambda: 9.0)
    row = row_of(answers, asked("www.small.test", "/"))
    body = small.respond("http://www.small.test/", 5.0).body
    assert (row.time, row.at, row.status, row.kind) == (5.0, 9.0, 200, "home")
    assert (row.length, row.digest, row.conditional) == (len(body), payload_digest(body), False)
    assert [row_of(answers, asked("www.small.test", "/")).nonce for _ in range(2)] == [1, 2]


def test_a_host_of_nobody_is_hung_up_on(small):
    sending = WorldServer(small, lambda: 0.0).answer(asked("www.other.test", "/"))
    assert (sending.pieces, sending.close) == ((), True)
    assert sending.row is not None
    assert sending.row.status == 0


def test_a_connection_ends_when_the_client_says_so(small):
    answers = WorldServer(small, lambda: 0.0)
    assert not answers.answer(asked("www.small.test", "/")).close
    assert answers.answer(asked("www.small.test", "/", "Connection: Close\r\n")).close


def test_pages_name_no_port_where_that_is_wanted(small):
    answers = WorldServer(small, lambda: 0.0)
    heading = asked("www.small.test:8080", "/")
    answers.bare = True
    assert b":8080" not in answers.answer(heading).pieces[0][1]
    assert without_port("http://a.test:8080/x?y") == "http://a.test/x?y"
    assert without_port("http://a.test/x") == "http://a.test/x"


def test_a_slow_reply_drips():
    answers = WorldServer(World(archetype("trap"), 1), lambda: 0.0)
    pieces = answers.answer(asked("www.trap.test", SLOW)).pieces
    assert pieces[0][1].endswith(b"\r\n\r\n")
    assert all(delay > 0 and len(byte) == 1 for delay, byte in pieces[1:])
    assert b"".join(byte for _, byte in pieces[1:]) == b"slow" * 64


def test_a_refusal_asks_to_come_back_later():
    answers = WorldServer(World(archetype("trap"), 1), lambda: 0.0)
    heading = asked("www.trap.test", "/robots.txt")
    texts = [answers.answer(heading).pieces[0][1] for _ in range(241)]
    assert texts[-1].startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
    assert b"Retry-After: 30\r\n" in texts[-1]
