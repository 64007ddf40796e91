import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.wire.head import (
    framing_of,
    header_lines,
    is_persistent,
    parse_head,
    parse_status_line,
    request_head,
)

HEADERS = [
    (b"A: 1\r\nB:2\r\n", [(b"A", b"1"), (b"B", b"2")], []),
    (b"A: 1\r\na: 2\r\n", [(b"A", b"1"), (b"a", b"2")], []),
    (b"A:\t 1 \t\r\n", [(b"A", b"1")], []),
    (b"A: \xff\xe4\r\n", [(b"A", b"\xff\xe4")], []),
    (b"A: 1\r\n\tmore\r\n  still\r\n", [(b"A", b"1 more still")], ["foldedHeader"]),
    (b" A: 1\r\n", [(b"A", b"1")], ["foldedHeader"]),
    (b"garbage\r\nA: 1\r\n", [(b"A", b"1")], ["headerWithoutColon"]),
    (b"A : 1\r\n", [(b"A", b"1")], ["spaceBeforeColon"]),
    (b": 1\r\n", [], ["headerWithoutName"]),
    (b"A: 1\r\ngarbage\r\n more\r\n", [(b"A", b"1")], ["headerWithoutColon", "foldedHeader"]),
    (b"A: 1\nB: 2\r\n", [(b"A", b"1"), (b"B", b"2")], ["bareLf"]),
    (b"A: 1\rB: 2\r\n", [(b"A", b"1\rB: 2")], []),
    (b"\rA: 1\r\n", [(b"\rA", b"1")], []),
    (b"A: 1\0\r\n", [(b"A", b"1\0")], ["nulInHeader"]),
]


@pytest.mark.parametrize(("lines", "headers", "notes"), HEADERS)
def test_headers_are_read_with_tolerance(
    lines: bytes, headers: list[tuple[bytes, bytes]], notes: list[str]
) -> None:
    head = parse_head(b"HTTP/1.1 200 OK\r\n" + lines + b"\r\n")
    assert head.headers == headers
    assert head.annotations == notes


STATUS_LINES = [
    (b"HTTP/1.1 200 OK", "http/1.1", 200, b"OK", ()),
    (b"HTTP/1.0 404 Not Found", "http/1.0", 404, b"Not Found", ()),
    (b"HTTP/1.1 200 ", "http/1.1", 200, b"", ()),
    (b"HTTP/1.1 200", "http/1.1", 200, b"", ("noReason",)),
    (b"HTTP/1.1  200  OK", "http/1.1", 200, b"OK", ()),
    (b"HTTP/1.1\t200 OK", "http/1.1", 200, b"OK", ()),
    (b"http/1.1 200 OK", "http/1.1", 200, b"OK", ()),
    (b"HTTP/2 200 OK", "http/1.1", 200, b"OK", ("oddVersion",)),
    (b"HTTP 200 OK", "http/1.0", 200, b"OK", ("oddVersion",)),
    (b"HTTP/1.1 -12 OK", "http/1.1", 200, b"-12 OK", ("badStatusLine",)),
    (b"HTTP/1.1 2000 OK", "http/1.1", 200, b"OK", ("badStatusLine",)),
    (b"HTTP/1.1 5 OK", "http/1.1", 200, b"OK", ("badStatusLine",)),
    (b"HTTP/1.1 Hello", "http/1.1", 200, b"Hello", ("badStatusLine",)),
    (b"HTTP/1.1 600 Odd", "http/1.1", 600, b"Odd", ("oddStatus",)),
]


@pytest.mark.parametrize(("line", "protocol", "status", "reason", "notes"), STATUS_LINES)
def test_status_lines(
    line: bytes, protocol: str, status: int, reason: bytes, notes: tuple[str, ...]
) -> None:
    assert parse_status_line(line) == (protocol, status, reason, notes)


def test_framing_fields_count_even_when_odd() -> None:
    head = parse_head(b"HTTP/1.1 200 OK\r\nContent-Length : 3\r\nConnection:\r\n close\r\n\r\n")
    assert framing_of("GET", head).length == 3
    assert not is_persistent(head)


def test_a_chunked_body_in_http10_is_read_but_ends_the_connection() -> None:
    head = parse_head(b"HTTP/1.0 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n")
    framing = framing_of("GET", head)
    assert (framing.kind, framing.sound, framing.annotation) == (
        "chunked", False, "chunkedInHttp10",
    )  # fmt: skip


def test_a_request_is_written_as_given() -> None:
    lines = header_lines([("Host", "a.example"), ("X-Name", "b c"), ("X-Text", "ä")])
    assert request_head("GET", "/a?b=%20", lines) == (
        b"GET /a?b=%20 HTTP/1.1\r\nHost: a.example\r\nX-Name: b c\r\nX-Text: \xc3\xa4\r\n\r\n"
    )


@pytest.mark.parametrize("value", ["a\r\nX: y", "a\nb", "a\rb", "a\0"])
def test_no_value_begins_a_line(value: str) -> None:
    with pytest.raises(ValueError, match="CR, LF or NUL"):
        header_lines([("X", value)])


@pytest.mark.parametrize("name", ["", "A B", "A:", "A\r\n", "Ä"])
def test_a_name_is_a_token(name: str) -> None:
    with pytest.raises(ValueError, match="not a header name"):
        header_lines([(name, "x")])


@pytest.mark.parametrize("target", ["", "/a b", "/a\r\nX: y", "/\0", "/\t", "/\x7f"])
def test_a_target_has_no_blanks_and_controls(target: str) -> None:
    with pytest.raises(ValueError, match="not a request target"):
        request_head("GET", target, b"")


def test_a_method_is_a_token() -> None:
    with pytest.raises(ValueError, match="not a method"):
        request_head("GET /x HTTP/1.1\r\nX:", "/", b"")


@given(st.text(), st.text(), st.text())
def test_whatever_is_sent_is_one_request_with_one_field(target: str, name: str, value: str) -> None:
    try:
        head = request_head("GET", target, header_lines([(name, value)]))
    except ValueError:
        return
    assert head.count(b"\r\n") == 3
    assert head.count(b"\n") == 3
    assert head.count(b" HTTP/1.1\r\n") >= 1
    assert head.split(b"\r\n")[0].count(b" ") == 2
