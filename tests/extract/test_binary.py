import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.binary import (
    LIMIT,
    MAX_INFLATED,
    doc_urls,
    inflate,
    pdf_urls,
    swf_urls,
    urls_among,
)

ANNOTATION = b"<< /A << /S /URI /URI (http://a.test/x) >> >>"


def stream(data: bytes, more: bytes = b"") -> bytes:
    packed = zlib.compress(data)
    return b"7 0 obj << /Filter /FlateDecode %b >>\nstream\n%b\nendstream endobj\n" % (more, packed)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"%PDF-1.7 " + ANNOTATION, ["http://a.test/x"]),
        (b"/URI (http://a.test/\\(x\\)\\057y) /URI(http://a.test/(z))", [
            "http://a.test/(x)/y", "http://a.test/(z)"]),
        (b"/URI <687474703A2F2F612E74657374 2F>", ["http://a.test/"]),
        (b"%PDF " + stream(ANNOTATION), ["http://a.test/x"]),
        (b"%PDF " + stream(ANNOTATION, b"/Subtype /Image"), []),
        (b"%PDF " + stream(ANNOTATION)[:-20], ["http://a.test/x"]),
        (stream(b" ") * 3 + stream(ANNOTATION), ["http://a.test/x"]),
        (b"/FlateDecode stream\nxxxx /URI ( ) /URI", []),
        (ANNOTATION * 3, ["http://a.test/x"]),
    ],
)  # fmt: skip
def test_links_of_pdf_files(data: bytes, expected: list[str]):
    assert pdf_urls(data) == expected


def test_inflation_has_a_limit():
    bomb = zlib.compress(bytes(1_000_000))
    assert len(inflate(b"xx" + bomb, 2, 1000)) == 1000
    assert inflate(bomb, 0, 0) == b""
    assert MAX_INFLATED < 100_000_000


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le"])
def test_links_of_word_files(encoding: str):
    text = 'x\x13HYPERLINK "http://a.test/x"\x14x\x15 \x13 HYPERLINK http://b.test/ \x14'
    assert doc_urls(text.encode(encoding)) == ["http://a.test/x", "http://b.test/"]


def test_links_of_flash_files():
    body = b"\x07http://example.com/x\0"
    assert swf_urls(b"FWS\x08\0\0\0\0" + body) == ["http://example.com/x"]
    assert swf_urls(b"CWS\x08\0\0\0\0" + zlib.compress(body)) == ["http://example.com/x"]
    assert swf_urls(b"CWS\x08nothing") == []


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes):
    for find in (pdf_urls, doc_urls, swf_urls):
        urls = find(b"/FlateDecode stream\n/URI(" + data)
        assert all(urls)
        assert len(urls) == len(set(urls))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", [b"/Fl stream\n", b"stream\nendstream", b"/URI(", b"/URI (("])
def test_a_hostile_file_is_read_once(piece: bytes):
    assert pdf_urls(piece * (4_000_000 // len(piece))) == []


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x00(http://a.test/x)\x00", []),
        (b"/URI (http://example.com/a.pdf)>>", ["http://example.com/a.pdf"]),
        (b"\x01https://example.org/x?y=1.\x00www.example.net/z", [
            "https://example.org/x?y=1", "http://www.example.net/z"]),
        (b"http://192.0.2.1/x http://nonsense.zzzz/ http://x", ["http://192.0.2.1/x"]),
        ("xhttp://example.com/wide\0".encode("utf-16-le"), ["http://example.com/wide"]),
        (b" " * LIMIT + b"http://example.com/", []),
        (b"awww.example.com", []),
    ],
)  # fmt: skip
def test_urls_among_bytes(data: bytes, expected: list[str]):
    assert urls_among(data) == expected
