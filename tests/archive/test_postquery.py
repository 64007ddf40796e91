import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.postquery import MAX_QUERY, post_query


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
