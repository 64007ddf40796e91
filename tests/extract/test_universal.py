import pytest

from nacre.extract.universal import LIMIT, urls_among


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
