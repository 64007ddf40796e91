import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.httphead import head_end, header_value, index_facts


@pytest.mark.parametrize(
    ("block", "status", "mime"),
    [
        (b"", None, None),
        (b"HTTP/1.1 200 OK\r\n\r\n", "200", None),
        (b"HTTP/1.1 200\nContent-Type: text/html\n\nbody", "200", "text/html"),
        (b"HTTP/1.1 200 OK\r\ncontent-TYPE:text/html;charset=x\r\n\r\n", "200", "text/html"),
        (b"HTTP/1.1 404 No\r\nContent-Type: text/plain x\r\n\r\n", "404", "text/plain"),
        (b"HTTP/1.1 200 OK\r\nContent-Type:\r\n\r\n", "200", ""),
        (b"HTTP/1.1 200 OK\r\nContent-Type:\r\n text/css\r\n\r\n", "200", ""),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/\r\n css;x\r\n\r\n", "200", "text/"),
        (b"HTTP/1.1 200 OK\r\nContent-Type-X: a/b\r\n\r\n", "200", None),
        (b"HTTP/1.1 200 OK\r\nX: y\r\n\r\nContent-Type: a/b\r\n", "200", None),
        (b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Type: c/d\r\n\r\n", "200", "a/b"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/\xff\r\n\r\n", "200", "text/\xff"),
        (b"no status line", "status", None),
        (b" word 200 OK\n", "word", None),
        (b"HTTP/1.1 \x1c200 OK\r\n\r\n", "200", None),
        (
            b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000 + b"Content-Type: a/b\r\n\r\n",
            "200",
            "a/b",
        ),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 99_999 + b"\nContent-Type: a/b\n", "200", None),
        (b"HTTP/1.1\r\nX: y\r\n\r\n", "", None),
        (b"HTTP/1.1\r\nContent-Type: a/b\r\n\r\n", "", "a/b"),
        (b"HTTP/1.1\r\n\r\nno: header", None, None),
        (b"HTTP/1.1 \r\nno header\r\n\r\n", None, None),
    ],
)
def test_facts_for_the_index(block, status, mime):
    assert index_facts(block) == (status, mime)


@given(st.binary(max_size=200))
def test_no_bytes_raise(block):
    index_facts(b"HTTP/1.1 200 OK\r\n" + block)
    assert -1 <= head_end(block) <= len(block)


def test_other_headers_are_found_too():
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n"
    assert header_value(head, b"transfer-encoding") == "chunked"
