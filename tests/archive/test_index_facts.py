import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.index_facts import MAX_QUERY, head_end, header_value, index_facts, post_query


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


def request(kind: str, body: bytes) -> bytes:
    return b"POST / HTTP/1.1\r\nContent-Type: " + kind.encode() + b"\r\n\r\n" + body


MULTIPART = (
    b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1 2\r\n'
    b'--x\r\nContent-Disposition: form-data; name="f"; filename="n"\r\n\r\n\xff\r\n--x--\r\n'
)


@pytest.mark.parametrize(
    ("kind", "body", "query"),
    [
        ("application/x-www-form-urlencoded", b"a=1&b=%20+", "a=1&b=  "),
        ("application/x-www-form-urlencoded", b"\xff", "__wb_post_data=/w=="),
        ("application/json", b'{"a": 1, "b": [{"a": true}, null], "c": {"a": "x y"}}',
         "a=1&a.2_=True&b=None&a.3_=x+y"),
        ("application/json", b'{"a": 1}\n{"a": 2}', "a=1&a.2_=2"),
        ("application/json", b"{", ""),
        ("text/plain", b'{"a": 1}', "a=1"),
        ("text/plain", b"hi", "__wb_post_data=aGk="),
        ("multipart/form-data; boundary=x", MULTIPART, "a=1+2&f=%FF"),
        ("multipart/form-data", b"hi", "__wb_post_data=aGk="),
        ("", b"hi", "__wb_post_data=aGk="),
    ],
)  # fmt: skip
def test_bodies_as_queries(kind, body, query):
    found = post_query(request(kind, body))
    assert found is not None
    assert (found.method, found.query) == ("POST", query)


def test_the_url_that_the_key_is_made_of():
    found = post_query(b"PUT /x HTTP/1.1\r\n\r\n")
    assert found is not None
    assert (
        found.appended("http://e.test/?a=1") == "http://e.test/?a=1&__wb_method=PUT&__wb_post_data="
    )
    assert post_query(b"GET / HTTP/1.1\r\n\r\n") is None


KINDS = (
    "application/json",
    "text/plain",
    "multipart/x; boundary=a",
    "application/x-www-form-urlencoded",
)


@given(
    st.sampled_from(KINDS),
    st.binary(max_size=500) | st.integers(1, 200_000).map(lambda n: b"[" * n),
)
def test_no_body_raises_or_grows(kind, body):
    found = post_query(request(kind, body))
    assert found is not None
    assert len(found.query) <= MAX_QUERY
