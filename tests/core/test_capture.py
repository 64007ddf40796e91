import pytest

from nacre.core.capture import BytesBody, Capture, Trust


def capture(body: bytes = b"", **facts: object) -> Capture:
    made = Capture("http://a.test/", b"GET / HTTP/1.1\r\n\r\n", b"", BytesBody(body), 200)
    for name, value in facts.items():
        setattr(made, name, value)
    return made


def test_a_surplus_is_told_once():
    trust, heard = Trust(first=True), []
    trust.accuse()
    trust.tell(lambda: heard.append(1))
    trust.accuse()
    assert (trust.first, trust.suspect, heard) == (True, True, [])
    other = Trust()
    other.tell(lambda: heard.append(2))
    other.accuse()
    other.accuse()
    assert (other.first, heard) == (False, [2])


@pytest.mark.parametrize(
    ("offset", "size", "read"),
    [(0, 9, b"abcdef"), (0, 6, b"abcdef"), (0, 2, b"ab"), (4, 9, b"ef"), (6, 1, b"")],
)
def test_a_body_in_memory_is_read_from_a_place(offset: int, size: int, read: bytes):
    body = BytesBody(b"abcdef")
    assert (body.read(offset, size), body.length) == (read, 6)
    body.close()
    body.close()


def test_headers_are_found_whatever_their_case():
    headers = [(b"Via", b"a"), (b"X-Via", b"no"), (b"VIA", b"b")]
    made = capture(headers=headers)
    assert made.header(b"via") == b"a"
    assert made.header_values(b"via") == [b"a", b"b"]
    assert (made.header(b"age"), made.header_values(b"age")) == (None, [])


@pytest.mark.parametrize(
    ("limit", "payload"), [(0, b""), (2, b"ab"), (4, b"abcd"), (5, b"abcde"), (99, b"abcde")]
)
def test_a_payload_is_the_body_without_its_chunks(limit: int, payload: bytes):
    chunked = capture(
        b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
        framing="chunked",
        chunks=[(3, 3), (11, 2)],
        payload_length=5,
    )
    assert chunked.payload(limit) == payload
    assert capture(b"abcde", framing="length", payload_length=5).payload(limit) == payload


def test_what_came_behind_a_payload_is_no_part_of_it():
    assert capture(b"abcde", framing="length", payload_length=3).payload(99) == b"abc"
