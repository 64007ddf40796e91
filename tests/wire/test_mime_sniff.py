"""The tables and rules of the MIME Sniffing Standard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.wire.mime_sniff import (
    computed_type,
    has_nosniff,
    is_markup,
    is_unknown_type,
    is_xml_type,
    root_start,
    sniff_archive,
    sniff_feed,
    sniff_font,
    sniff_image,
    sniff_media,
    sniff_text,
    sniff_unknown,
)

TAGS = (
    *("!DOCTYPE HTML", "HTML", "HEAD", "SCRIPT", "IFRAME", "H1", "DIV", "FONT", "TABLE", "A"),
    *("STYLE", "TITLE", "B", "BODY", "BR", "P", "!--"),
)
MP3 = b"\xff\xfb\x90\x00"  # MPEG 1, layer III, 128 kbit/s, 44.1 kHz: 417 bytes
WEBM = b"\x1a\x45\xdf\xa3\x01\x00\x00\x00\x00\x00\x00\x1f\x42\x86\x81\x01\x42\x82\x84webm\x42\x87"
SIGNATURES = {
    b"\0\0\1\0": "image/x-icon",
    b"\0\0\2\0": "image/x-icon",
    b"BM": "image/bmp",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"RIFF????WEBPVP": "image/webp",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"FORM????AIFF": "audio/aiff",
    b"ID3": "audio/mpeg",
    b"OggS\0": "application/ogg",
    b"MThd\0\0\0\x06": "audio/midi",
    b"RIFF????AVI ": "video/avi",
    b"RIFF????WAVE": "audio/wave",
    b"\0\0\0\x10ftypmp42....": "video/mp4",
    b"\0\0\0\x18ftypisom\0\0\0\0avc1mp41": "video/mp4",
    WEBM: "video/webm",
    MP3 + bytes(413) + MP3 + bytes(413): "audio/mpeg",
    b"?" * 34 + b"LP": "application/vnd.ms-fontobject",
    b"\0\1\0\0": "font/ttf",
    b"OTTO": "font/otf",
    b"ttcf": "font/collection",
    b"wOFF": "font/woff",
    b"wOF2": "font/woff2",
    b"\x1f\x8b\x08": "application/x-gzip",
    b"PK\3\4": "application/zip",
    b"Rar!\x1a\x07\0": "application/x-rar-compressed",
    b"%!PS-Adobe-": "application/postscript",
    b"\xfe\xffab": "text/plain",
    b"\xff\xfe\0\0": "text/plain",
    b"\xef\xbb\xbf\x01": "text/plain",
    b"text": "text/plain",
    b"": "text/plain",
    b"\x01text": "application/octet-stream",
}


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("end", [">", " "])
def test_tags_of_html(tag: str, end: str):
    for text in (f"<{tag}{end}", f"\t\n\f\r <{tag.lower()}{end}x"):
        assert sniff_unknown(text.encode()) == "text/html"
    for text in (f"<{tag}x>", f"x<{tag}>", f"<{tag}\n", f"<{tag}"):
        assert sniff_unknown(text.encode()) == "text/plain"
    assert sniff_unknown(f"<{tag}{end}".encode(), scriptable=False) == "text/plain"


def test_other_types_that_may_hold_scripts():
    assert sniff_unknown(b" <?xml version") == "text/xml"
    assert sniff_unknown(b"%PDF-1.7\0") == "application/pdf"
    assert sniff_unknown(b"%PDF-1.7\0", scriptable=False) == "application/octet-stream"


@pytest.mark.parametrize("body", SIGNATURES)
@pytest.mark.parametrize("scriptable", [True, False])
def test_an_unknown_type_by_its_first_bytes(body: bytes, scriptable: bool):
    assert sniff_unknown(body, scriptable=scriptable) == SIGNATURES[body]


@pytest.mark.parametrize(
    "body",
    [
        *(b"RIFF????WEB", b"\x89PNG", b"\xff\xd8", b"OggS", b"ftypmp42", b"\0\0\0\x0fftypmp42...."),
        *(b"\0\0\0\xffftypmp42", b"\0\0\0\x18ftypisom\0\0\0\0avc1isom", b"\x1a\x45\xdf\xa3"),
        *(b"\x1a\x45\xdf\xa3\x42\x82", b"\x1a\x45\xdf\xa3\x42\x82\x88matroska", MP3 + bytes(413)),
        *(b"\xff\xfb", b"\xff\xfb\xf0\0", b"\xff\xfb\x9c\0", b"\xff\xfb\0\0", b"\xff\xfd\x90\0"),
        *(b"\x1f\x8b", b"Rar!\x1a\x07\1", b"OTT", b"LP"),
    ],
)
def test_no_signature(body: bytes):
    rules = (sniff_image, sniff_media, sniff_font, sniff_archive)
    assert [rule(body) for rule in rules] == [""] * 4


def test_only_the_first_bytes_count():
    assert sniff_unknown(b"x" * 1445 + b"\x01") == "text/plain"
    assert sniff_text(b"x" * 1445 + b"\x01") == "text/plain"
    assert sniff_text(b"x" * 1444 + b"\x01") == "application/octet-stream"


@pytest.mark.parametrize(
    ("body", "mime"),
    [
        (b"<rss version='2.0'>", "application/rss+xml"),
        (b"\xef\xbb\xbf <?xml version='1.0'?><!DOCTYPE x><!-- > -->\n<rss>", "application/rss+xml"),
        (b"<feed xmlns=", "application/atom+xml"),
        (b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
         b"xmlns='http://purl.org/rss/1.0/'>", "application/rss+xml"),
        (b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>", "text/html"),
        (b"<html><rss>", "text/html"),
        (b"x<rss>", "text/html"),
        (b"<!-- <rss>", "text/html"),
        (b"", "text/html"),
    ],
)  # fmt: skip
def test_feeds_that_are_called_html(body: bytes, mime: str):
    assert sniff_feed(body) == mime


@pytest.mark.parametrize(
    ("supplied", "body", "computed"),
    [
        ("", b"<p>", "text/html"),
        ("unknown/unknown", b"<p>", "text/html"),
        ("application/unknown", b"<p>", "text/html"),
        ("*/*", b"<p>", "text/html"),
        ("none", b"<p>", "text/html"),
        ("text/", b"<p>", "text/html"),
        ("text/xml", b"<rss>", "text/xml"),
        ("image/svg+xml", b"GIF89a", "image/svg+xml"),
        ("text/html", b"<rss>", "application/rss+xml"),
        ("text/html", b"GIF89a", "text/html"),
        ("image/png", b"GIF89a", "image/gif"),
        ("image/png", b"<p>", "image/png"),
        ("audio/mpeg", b"OggS\0", "application/ogg"),
        ("application/ogg", b"ID3", "audio/mpeg"),
        ("video/mp4", b"<p>", "video/mp4"),
        ("text/css", b"<p>", "text/css"),
    ],
)
def test_the_computed_type(supplied: str, body: bytes, computed: str):
    assert computed_type(supplied, (), body) == computed


def test_what_must_not_be_sniffed():
    headers = [(b"X-Content-Type-Options", b"NoSniff, x")]
    assert computed_type("", headers, b"<p>") == "text/plain"
    assert computed_type("text/html", headers, b"<rss>") == "text/html"
    assert computed_type("image/png", headers, b"GIF89a") == "image/png"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(b"nosniff", True), (b" NOSNIFF ", True), (b"nosniff,x", True), (b"x,nosniff", False),
     (b"'nosniff'", False), (b"", False)],
)  # fmt: skip
def test_nosniff(value: bytes, expected: bool):
    assert has_nosniff([(b"a", b"nosniff"), (b"x-content-type-OPTIONS", value)]) is expected


@pytest.mark.parametrize(
    ("value", "computed"),
    [
        (b"text/plain", "application/octet-stream"),
        (b"text/plain; charset=ISO-8859-1", "application/octet-stream"),
        (b"text/plain; charset=iso-8859-1", "application/octet-stream"),
        (b"text/plain; charset=UTF-8", "application/octet-stream"),
        (b"text/plain; charset=utf-8", "text/plain"),
        (b"text/plain;charset=UTF-8", "text/plain"),
    ],
)
def test_files_that_apache_called_text(value: bytes, computed: str):
    headers = [(b"Content-Type", b"text/html"), (b"content-type", value)]
    assert computed_type("text/plain", headers, b"a\0b") == computed
    assert computed_type("text/plain", headers, b"ab") == "text/plain"
    assert computed_type("text/plain", headers, b"\xff\xfea\0") == "text/plain"


@pytest.mark.parametrize("mime", ["text/html", "x/y", "application/vnd.x+json"])
def test_types_that_say_something(mime: str):
    assert not is_unknown_type(mime)


@pytest.mark.parametrize(
    "mime", ["", "*/*", "text", "/", "text/ html", "text html", "a/b/c", "é/x"]
)
def test_types_that_say_nothing(mime: str):
    assert is_unknown_type(mime)


def test_types_of_xml():
    assert [is_xml_type(x) for x in ("text/xml", "application/xml", "a/b+xml", "text/xmlx")] == [
        *(True, True, True, False)
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<!doctype html><p>", True), (b" \n<b>x", True), (b"<!-- c --><div>", True),
        (b"<!--\nvar x\n//-->", False), (b"<!-- var x", False), (b"var x = '<p>'", False),
        (b"< 3", False), (b"</p>", False), (b"", False), (b"<?php ?>x", False),
    ],
)  # fmt: skip
def test_markup(body: bytes, expected: bool):
    assert is_markup(body) is expected


@given(st.binary(max_size=60) | st.text("<!->? a", max_size=60).map(str.encode))
def test_no_bytes_raise(body: bytes):
    for mime in ("", "text/html", "image/png", "audio/mpeg", "text/plain"):
        assert computed_type(mime, [(b"Content-Type", b"text/plain")], body)
    assert 0 <= root_start(body) <= len(body)
    assert sniff_media(b"\xff\xfb" + body) in {"", "audio/mpeg"}
    assert sniff_media(b"\x1a\x45\xdf\xa3" + body) in {"", "video/webm"}
    assert sniff_media(b"\0\0\0\x10ftyp" + body) in {"", "video/mp4"}
