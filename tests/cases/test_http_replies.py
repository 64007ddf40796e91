import base64

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases.tables.http_replies import due, read

LINES = [
    b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 404 Gone\n", b"HTTP/1.1 204 x\r\n", b"HTTP/1.1 101 x\r\n",
    b"HTTP/1.1 100 C\r\n\r\n", b"ICY 200\r\n", b"Content-Length: 3\r\n", b"Content-Length: 4\r\n",
    b"Content-Length : 3\r\n", b"Content-Length: -3\r\n", b"Content-Length: 3, 3\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip, chunked\r\n",
    b"Transfer-Encoding: identity\r\n", b"Connection: close\r\n", b"\r\n", b"\n", b"\r\n\r\n",
    b" fold\r\n", b"X : y\r\n", b"0\r\n\r\n", b"3\r\n", b"3;x\r\nabc\r\n", b"3\r\nabc\r\n", b"abc",
]  # fmt: skip
STARTS = [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\n"]


@given(
    st.sampled_from(STARTS),
    st.lists(st.sampled_from(LINES), max_size=9),
    st.sampled_from(["", "-I"]),
)
@settings(max_examples=400, deadline=None)
def test_the_reader_keeps_what_the_raw_bytes_say(
    start: bytes, lines: list[bytes], option: str
) -> None:
    reply = start + b"".join(lines)
    row = {"reply_base64": base64.b64encode(reply).decode(), "curl_command": option}
    assert read(row, [reply]) == due(row)
