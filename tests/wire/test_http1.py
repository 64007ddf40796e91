from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.wire.http1 import MAX_INTERIM, MAX_TAIL, ReplyReader
from tests.examples import examples

OK = b"HTTP/1.1 200 OK\r\n"
Facts = tuple[object, ...]


def facts(reader: ReplyReader, body: bytes) -> Facts:
    """All that a reader says of a reply."""
    return (
        reader.interim, reader.head, body, reader.status, reader.reason, reader.headers,
        reader.protocol, reader.framing, list(reader.chunks), reader.payload_length,
        reader.body_length, reader.truncated, reader.failure, reader.annotations, reader.excess,
        reader.complete, reader.reusable,
    )  # fmt: skip


def read(pieces: list[bytes], method: str = "GET", **limits: int) -> tuple[ReplyReader, bytes]:
    reader = ReplyReader(method, **limits)
    body = b"".join([reader.feed(piece) for piece in pieces])
    return reader, body + reader.eof()


def payload(reader: ReplyReader, body: bytes) -> bytes:
    if reader.framing != "chunked":
        return body
    return b"".join(body[offset : offset + size] for offset, size in reader.chunks)


# reply, status, framing, payload, truncated, annotations
WHOLE = [
    (OK + b"Content-Length: 2\r\n\r\nhi", 200, "length", b"hi", "", []),
    (OK + b"Content-Length: 0\r\n\r\n", 200, "length", b"", "", []),
    (OK + b"\r\nhi", 200, "close", b"hi", "", []),
    (b"HTTP/1.1 204 No Content\r\n\r\n", 204, "none", b"", "", []),
    (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, "none", b"", "", []),
    (b"HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", 404, "length", b"", "", ["noReason"]),
    (b"HTTP/1.1 99 Odd\r\nContent-Length: 0\r\n\r\n", 99, "length", b"", "", ["oddStatus"]),
    (b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", 999, "length", b"", "", ["oddStatus"]),
    (b"HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n", 200, "length", b"", "", ["badStatusLine"]),
    (b"HTTP/1.1 200OK\r\nContent-Length: 0\r\n\r\n", 200, "length", b"", "", ["badStatusLine"]),
    (b"ICY 200 OK\r\nicy-name: x\r\n\r\nmp3", 200, "close", b"mp3", "", ["icy"]),
    (b"220 mail ESMTP\r\n", 200, "close", b"220 mail ESMTP\r\n", "", ["http09"]),
    (b"<html>old</html>", 200, "close", b"<html>old</html>", "", ["http09"]),
    (b"\r\n" + OK + b"Content-Length: 1\r\n\r\nx", 200, "length", b"x", "", ["leadingBlankLine"]),
    (b"\r\n" * 9 + OK + b"Content-Length: 1\r\n\r\nx", 200, "length", b"x", "",
     ["leadingBlankLine"]),
    (b"\n" * 9, 200, "close", b"\n" * 9, "", ["http09"]),
    (b"\r\n\r\n\r\nHTML\n\nx", 200, "close", b"\r\n\r\n\r\nHTML\n\nx", "", ["http09"]),
    (b"HTTP/1.0 200 OK\nContent-Length: 1\n\nx", 200, "length", b"x", "", ["bareLf"]),
    (OK + b"no colon\r\nContent-Length: 1\r\n\r\nx", 200, "length", b"x", "",
     ["headerWithoutColon"]),
    (OK + b"Content-Length : 1\r\n\r\nx", 200, "length", b"x", "", ["spaceBeforeColon"]),
    (OK + b"X: a\r\n b\r\nContent-Length: 1\r\n\r\nx", 200, "length", b"x", "", ["foldedHeader"]),
    (OK + b"X: a\0b\r\nContent-Length: 1\r\n\r\nx", 200, "length", b"x", "", ["nulInHeader"]),
    (OK + b"Content-Length: 1\0\r\n\r\nx", 200, "length", b"x", "", ["nulInHeader"]),
    (OK + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", 200, "length", b"x", "",
     ["repeatedLength"]),
    (OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxyz", 200, "close", b"xyz", "",
     ["conflictingLength"]),
    (OK + b"Content-Length: -1\r\n\r\nxyz", 200, "close", b"xyz", "", ["badLength"]),
    (OK + b"Content-Length: 9223372036854775808\r\n\r\nxyz", 200, "close", b"xyz", "",
     ["badLength"]),
    (OK + b"Content-Length: %s\r\n\r\nxyz" % (b"9" * 5000), 200, "close", b"xyz", "",
     ["badLength"]),
    (OK + b"Content-Length: 5\r\n\r\nabc", 200, "length", b"abc", "disconnect", ["shortBody"]),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 200, "chunked", b"hi", "", []),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n2;a=\"b\"\nhi\n0\nX: y\n\n", 200, "chunked", b"hi",
     "", []),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n0002 \r\nhi\r\n0\r\n", 200, "chunked", b"hi", "",
     ["trailerCut"]),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhi", 200, "chunked", b"hi", "disconnect",
     ["shortBody"]),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nzz\r\nrest", 200, "chunked", b"hi", "",
     ["badChunk"]),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi!!\r\n0\r\n\r\n", 200, "chunked", b"hi", "",
     ["badChunk"]),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n<html>", 200, "chunked", b"", "disconnect",
     ["shortBody"]),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n<html>\n", 200, "close", b"<html>\n", "",
     ["badChunk"]),
    (OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx", 200, "close",
     b"ffffffffffffffff\r\nx", "", ["badChunk"]),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\nx", 200, "close", b"-1\r\nx", "", ["badChunk"]),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n0x2\r\nhi\r\n", 200, "close", b"0x2\r\nhi\r\n", "",
     ["badChunk"]),
    (OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", 200,
     "chunked", b"a", "", ["lengthAndChunked"]),
    (OK + b"Transfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nabc", 200, "close", b"abc", "",
     ["badTransferEncoding"]),
    (OK + b"Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\na", 200, "length", b"a", "",
     []),
    (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", 101, "none", b"", "", ["unasked101"]),
    (b"HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\nx", 200,
     "length", b"x", "", []),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "status", "framing", "content", "truncated", "notes"), WHOLE)
def test_a_reply_is_kept_whole_however_it_comes(
    reply: bytes, status: int, framing: str, content: bytes, truncated: str, notes: list[str]
) -> None:
    reader, body = read([reply])
    assert reader.interim + reader.head + body == reply
    assert (reader.status, reader.framing, reader.truncated) == (status, framing, truncated)
    assert payload(reader, body) == content
    assert reader.payload_length == len(content)
    assert reader.annotations == notes
    whole = facts(reader, body)
    for at in range(1, min(len(reply), 300)):
        assert facts(*read([reply[:at], reply[at:]])) == whole
    assert facts(*read([reply[at : at + 1] for at in range(len(reply))])) == whole


def test_every_split_in_three_of_a_chunked_reply() -> None:
    reply = (
        b"HTTP/1.1 100 C\r\n\r\n" + OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
    )
    whole = facts(*read([reply]))
    for one, two in combinations(range(len(reply)), 2):
        assert facts(*read([reply[:one], reply[one:two], reply[two:]])) == whole


FRAGMENTS = st.sampled_from([
    b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 404 Gone\n", b"HTTP/1.1 100 C\r\n\r\n", b"ICY 200\r\n",
    b"Content-Length: 3\r\n", b"Content-Length: 4\r\n", b"Transfer-Encoding: chunked\r\n",
    b"Connection: close\r\n", b"\r\n", b"\n", b"\r", b"\r\n" * 4, b" fold\r\n", b"X : y\r\n",
    b"0\r\n", b"3\r\n",
    b"3;x\r\nabc\r\n", b"3\r\nabc\r\n", b"abc", b"\x15\x03\x01", b"\0", b":",
    b"ffffffffffffffff\r\n",
])  # fmt: skip


@given(
    st.lists(st.one_of(FRAGMENTS, st.binary(max_size=6)), max_size=14).map(b"".join),
    st.data(),
    st.sampled_from(["GET", "HEAD"]),
)
@examples(400)
def test_no_split_of_any_bytes_changes_the_result(
    reply: bytes, data: st.DataObject, method: str
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=8)))
    pieces = [reply[a:b] for a, b in zip([0, *cuts], [*cuts, len(reply)], strict=True)]
    limits = data.draw(st.sampled_from([{}, {"max_header": 40}, {"max_body": 5}]))
    whole, body = read([reply], method, **limits)
    assert facts(*read(pieces, method, **limits)) == facts(whole, body)
    assert whole.complete
    kept = whole.interim + whole.head + body
    assert reply.startswith(kept)
    if not whole.truncated and not whole.failure:
        assert len(kept) + whole.excess == len(reply)


def test_bytes_behind_the_end_are_counted_and_spoil_the_connection() -> None:
    reader = ReplyReader()
    assert reader.feed(OK + b"Content-Length: 2\r\n\r\nhi") == b"hi"
    assert reader.reusable
    assert reader.feed(b"HTTP/1.1") == b""
    assert (reader.excess, reader.reusable, reader.annotations) == (8, False, ["excessData"])


@pytest.mark.parametrize(
    ("head", "reusable"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nProxy-Connection: close\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n", True),
        (b"HTTP/1.1 204 OK\r\n\r\n", True),
        (b"HTTP/1.1 101 OK\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
         False),
        (b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n"
         b"0\r\n\r\n", False),
    ],
)  # fmt: skip
def test_a_connection_is_reused_only_after_a_sound_reply(head: bytes, reusable: bool) -> None:
    reader = ReplyReader()
    reader.feed(head)
    assert reader.complete
    assert reader.reusable is reusable


def test_head_has_no_body_and_connect_neither() -> None:
    reply = OK + b"Content-Length: 2\r\n\r\nhi"
    for method in ("HEAD", "CONNECT"):
        reader = ReplyReader(method)
        assert reader.feed(reply) == b""
        assert (reader.complete, reader.framing, reader.excess) == (True, "none", 2)


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (b"", "noReply"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "tlsOnPlainPort"),
        (b"HTTP/1.1", "headerCut"),
        (b"HTTP/1.1 20", "headerCut"),
        (b"HTTP/1.1 100 Cont", "headerCut"),
        (b"HTTP/1.1 103 Early\r\nLink: </a>\r\n", "headerCut"),
        (b"HTTP/1.1 100 C\r\n\r\n", "noReply"),
        (b"HTTP/1.1 100 C\r\n\r\n" * (MAX_INTERIM + 1), "tooManyInterim"),
    ],
)
def test_some_bytes_are_no_usable_reply(reply: bytes, failure: str) -> None:
    reader, body = read([reply])
    assert (reader.status, body, reader.failure) == (0, b"", failure)
    assert reader.complete


@pytest.mark.parametrize("reset", [True, False])
@pytest.mark.parametrize(
    "head",
    [
        OK + b"Content-Type: text/html\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\nLocation: /x\n\n",
        b"ICY 200 OK\r\nX: y\r\n\r\n",
        b"\r\nHTTP/1.0 301 Moved\r\nLocation: /x\r\n\r\n",
        b"HTTP/1.1 100 C\r\n\r\n" + OK + b"\r\n",
    ],
)
def test_a_head_that_is_cut_anywhere_is_no_reply(head: bytes, reset: bool) -> None:
    blank = len(head) - len(head.lstrip(b"\r\n"))
    for at in range(blank + 1, len(head)):
        reader = ReplyReader("GET")
        assert reader.feed(head[:at]) == b""
        assert (reader.eof(reset=reset), reader.status, reader.head) == (b"", 0, b"")
        assert reader.failure in {"headerCut", "noReply"}
        assert (reader.failure == "noReply") is (head[:at] == b"HTTP/1.1 100 C\r\n\r\n")
    whole = ReplyReader("GET")
    whole.feed(head)
    assert whole.status >= 200


def test_blank_lines_and_a_reset_are_no_reply() -> None:
    reader = ReplyReader("GET")
    reader.feed(b"\r\n\r\n")
    assert (reader.eof(reset=True), reader.failure) == (b"", "headerCut")


def test_a_head_is_cut_at_its_limit() -> None:
    reply = OK + b"X: " + b"x" * 2000 + b"\r\nContent-Length: 2\r\n\r\nhi"
    for pieces in ([reply], [reply[at : at + 7] for at in range(0, len(reply), 7)]):
        reader, body = read(pieces, max_header=1000)
        assert (reader.head, body, reader.status) == (reply[:1000], b"", 200)
        assert (reader.truncated, reader.annotations) == ("length", ["headerTrunc"])


def test_a_field_that_is_cut_at_the_limit_is_not_read() -> None:
    reply = OK + b"Server: x\r\nLocation: http://a.test/long"
    reader, _ = read([reply], max_header=40)
    assert (reader.status, reader.headers) == (200, [(b"Server", b"x")])
    assert reader.head == reply[:40]


def test_many_short_header_lines_are_bounded_too() -> None:
    reader = ReplyReader()
    reader.feed(OK + b"a:b\r\n" * 100_000)
    assert reader.complete
    assert len(reader.head) == 300_000


def test_a_body_is_cut_at_its_limit_and_not_before() -> None:
    for reply in (OK + b"\r\n123456", OK + b"Content-Length: 6\r\n\r\n123456"):
        reader, body = read([reply], max_body=5)
        assert (body, reader.truncated, reader.annotations) == (b"12345", "length", ["lenTrunc"])
        reader, body = read([reply], max_body=6)
        assert (body, reader.truncated) == (b"123456", "")


def test_a_broken_chunk_behind_the_limit_is_not_seen_however_it_comes() -> None:
    reply = OK + b"Transfer-Encoding: chunked\r\n\r\nno size\r\n"
    whole = facts(*read([reply], max_body=5))
    assert "badChunk" not in read([reply], max_body=5)[0].annotations
    for at in range(len(reply)):
        assert facts(*read([reply[:at], reply[at:]], max_body=5)) == whole


def test_a_chunk_cut_at_the_limit_keeps_its_part_of_the_payload() -> None:
    reply = OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n4\r\nefgh\r\n0\r\n\r\n"
    reader, body = read([reply], max_body=14)
    assert payload(reader, body) == b"abcdef"
    assert reader.payload_length == 6


def test_a_tail_behind_a_broken_chunk_is_bounded() -> None:
    reader = ReplyReader()
    reader.feed(OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n")
    for _ in range(20):
        reader.feed(b"x" * 100_000)
    assert reader.complete
    assert (reader.body_length, reader.truncated) == (MAX_TAIL + 6, "length")


def test_a_reset_cuts_a_body_delimited_by_close() -> None:
    reader = ReplyReader()
    reader.feed(OK + b"\r\npart")
    reader.eof(reset=True)
    assert reader.truncated == "disconnect"


def test_an_abandoned_body_is_dropped() -> None:
    reader = ReplyReader()
    reader.feed(OK + b"Content-Length: 9\r\n\r\nabc")
    reader.abandon()
    assert (reader.body_length, reader.truncated, reader.complete) == (0, "unspecified", True)
    assert reader.annotations == ["midFetchAbort"]
