"""Lines of indexes as captures."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.delta import MEDIA, TARGET
from nacre.catalogue.captures import (
    LONGEST_LINE,
    IndexedCapture,
    read_capture,
    read_position,
)


def line(key: str = "test,h)/", timestamp: str = "20261120100000", **fields: object) -> bytes:
    values = {"url": "http://h.test/", "offset": "7", "length": "9", "filename": "a.warc.gz"}
    return f"{key} {timestamp} {json.dumps(values | fields)}\n".encode()


def test_a_line_of_nacre():
    text = line(mime="text/html", status="200", digest="sha1:AAAA")
    assert read_capture(text, 3) == IndexedCapture(
        "test,h)/", "20261120100000", "http://h.test/", "text/html", 200, "sha1:AAAA",
        "a.warc.gz", 7, 9, "", "", 3,
    )  # fmt: skip


def test_a_post_has_its_method_and_query():
    capture = read_capture(line(method="POST", requestBody="a=1"))
    assert capture is not None
    assert (capture.method, capture.query) == ("POST", "a=1")


@pytest.mark.parametrize("number", [7, "7"])
def test_numbers_can_be_texts(number):
    capture = read_capture(line(offset=number, length=number, status=number))
    assert capture is not None
    assert (capture.offset, capture.length, capture.status) == (7, 7, 7)


def test_a_difference_is_a_capture_of_its_page():
    url = "http://www.h.test/A?b=2&a=1"
    capture = read_capture(line(f"{TARGET}{url}".lower(), url=TARGET + url, mime=MEDIA))
    assert capture is not None
    assert (capture.key, capture.url, capture.status) == ("test,h)/a?a=1&b=2", url, 200)
    assert capture.is_delta


@pytest.mark.parametrize(
    ("fields", "status", "mime"),
    [
        ({"status": "-", "mime": "-"}, 0, ""),
        ({"status": None, "mime": None}, 0, ""),
        ({"status": "", "mime": "warc/revisit"}, 0, "warc/revisit"),
        ({"status": "99999999999999999999"}, 0, ""),
    ],
)
def test_values_that_are_absent(fields, status, mime):
    capture = read_capture(line(**fields))
    assert capture is not None
    assert (capture.status, capture.mime) == (status, mime)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"!meta 0 {}",
        b" CDX N b a m s k r M S V g",
        b"test,h)/ 2026",
        b"test,h)/ 20261120100000",
        b"test,h)/ 20261120100000 []",
        b"test,h)/ 20261120100000 [" + b"[" * 100_000,
        line()[:-3],
        line(offset=-1),
        line(offset=1 << 64),
        line(offset="x"),
        line(offset="9" * 5000),
        line(filename=""),
        line(filename="folder/"),
        line(url=""),
        line(url=1),
        line("test,h)/", "2026112010000"),
        line("test,h)/", "\uff12\uff10" * 7),
        line("", "20261120100000"),
        line(query="x" * LONGEST_LINE),
    ],
)
def test_what_is_no_capture(text):
    assert read_capture(text) is None


def test_a_line_that_is_nested_too_deeply():
    deep = b"[" * 100_000 + b"]" * 100_000
    start = b'test,h)/ 20261120100000 {"url":"http://h.test/","filename":"a.warc","offset":0'
    assert read_capture(start + b"}") is not None
    assert read_capture(start + b',"x":' + deep + b"}") is None


def test_bytes_that_are_not_utf8_become_escapes():
    text = line("test,h)/中", url="http://h.test/中").replace(b"\\u4e2d", "中".encode())
    capture = read_capture(text.replace("中".encode(), "中".encode("gbk")))
    assert capture is not None
    assert (capture.key, capture.url) == ("test,h)/%d6%d0", "http://h.test/%D6%D0")


def test_folders_of_a_file_name_are_left_out():
    capture = read_capture(line(filename="../../etc/a.warc.gz"))
    assert capture is not None
    assert capture.id == "a.warc.gz:7"


@given(st.binary(max_size=200))
def test_any_bytes_are_read(data: bytes):
    for text in (data, b"a 20261120100000 " + data, line()[:40] + data):
        capture = read_capture(text)
        assert capture is None or capture.url


def test_a_position_is_text():
    capture = read_capture(line(filename="a b.warc.gz"), 2)
    assert capture is not None
    assert read_position(capture.position) == capture.order


@pytest.mark.parametrize("text", ["", "a", "a b c d e", "a 1 1 x e", f"a 1 {'9' * 99} 1 e"])
def test_other_texts_are_no_position(text):
    assert read_position(text) is None
