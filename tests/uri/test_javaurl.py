import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import URIError
from nacre.uri.javaurl import JavaURL, split_java


def test_all_parts():
    assert split_java(" HTTP://u:p@Ex.org:0080/a/./b/../c?q=1#r ") == JavaURL(
        "http", "u:p@Ex.org:0080", "u:p", "Ex.org", 80, "/a/./b/../c", "q=1", "r"
    )


@pytest.mark.parametrize(
    ("url", "host", "port", "file"),
    [
        ("http://[2001:DB8::1]:80/A", "[2001:DB8::1]", 80, "/A"),
        ("http://[::1]", "[::1]", -1, ""),
        ("http://a:/x", "a", -1, "/x"),
        ("http://a?x=/y", "a", -1, "?x=/y"),
        ("http:", "", -1, ""),
        ("http:////", "", -1, "////"),
        ("file:/x/../y", "", -1, "/x/../y"),
        ("file:///x/y/.", "", -1, "/x/y/."),
        ("ftp:x/y/..", "", -1, "x/y/.."),
        ("http://a:0000000000080/", "a", 80, "/"),
        ("mailto:a@b?c", "", -1, "a@b?c"),
        ("http://a/../../b", "a", -1, "/../../b"),
        ("http://u@v@a/b", "", -1, "/b"),
    ],
)
def test_odd_ones(url, host, port, file):
    found = split_java(url)
    assert (found.host, found.port, found.file) == (host, port, file)


@pytest.mark.parametrize(
    "url", ["not a url", "/a", "", "news://x/y", "http://a:x/", "http://[::1", "http://[::1]x/"]
)
def test_what_java_refuses(url):
    with pytest.raises(URIError):
        split_java(url)


@given(st.text(max_size=60))
def test_anything_is_parts_or_an_error(text):
    try:
        found = split_java("http:" + text)
    except URIError:
        return
    assert found.protocol == "http"
