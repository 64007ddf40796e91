import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.likely import is_very_likely_uri, known_extension, speculative_fixup

LIKELY = [
    "http://example.com",
    "https://example.com/a?b=c#d",
    "HTTPS://EXAMPLE.COM/",
    "//cdn.example.com/x.js",
    "http://例子.中国/页",
    "/",
    "/?p=12",
    "/about",
    "/a/",
    "a/b",
    "../img/x.png",
    "../../x",
    "./x.css",
    "page.php?a=1&b=2",
    "page.php?a=",
    "page.html?a=b#top",
    "lib/jquery-ui-1.12.1/jquery.ui.min.js",
    "my photo.jpg",
    "图片/首页.png",
    "style.css",
    "text/page.html",
]
UNLIKELY = [
    "",
    "word",
    "foo bar",
    "a b/c",
    "年/月/日",
    "../",
    "0.99",
    "1.2.3",
    "v1.12",
    "1.5em",
    ".menu",
    "div.menu",
    "a.php",
    "text/html",
    "application/vnd.api+json",
    "image/svg+xml",
    "video/x-msvideo",
    "<b>a/b</b>",
    "http://localhost",
    "https://www",
    "https:",
    "ftp://example.com/x",
    'http://example.com/"+x+"',
    "http://example.com/a b",
    "page.html?",
    "page.html?foo",
    "page.html?a=b#x!y",
    "/bad!/x.html",
    "foo.bar.baz",
    "x.y/z.foo",
    "a/" * 2000,
]


@pytest.mark.parametrize("text", LIKELY)
def test_likely(text):
    assert is_very_likely_uri(text)


@pytest.mark.parametrize("text", UNLIKELY)
def test_unlikely(text):
    assert not is_very_likely_uri(text)


@pytest.mark.parametrize(
    ("text", "base", "fixed"),
    [
        ("www.example.com/a", "", "http://www.example.com/a"),
        ("example.co.uk", "https://other.example/", "http://example.co.uk"),
        ("intranet/a", "https://intranet/x", "https://intranet/a"),
        ("example.org/a", "https://example.org/b", "https://example.org/a"),
        ("example.organic/a", "https://example.org", "http://example.organic/a"),
        ("http%3A%2F%2Fexample.com%2Fa", "", "http://example.com/a"),
        ("/a?b=1&amp;c=2", "", "/a?b=1&c=2"),
        ("user@example.com/x", "", "http://user@example.com/x"),
        ("user@example.com", "", "user@example.com"),
        ("data.map", "", "data.map"),
        ("shown.bs.tab", "", "shown.bs.tab"),
        ("bs.tab/x", "", "http://bs.tab/x"),
        ("example.xn--fiqs8s", "", "http://example.xn--fiqs8s"),
        ("www.data.map", "", "http://www.data.map"),
        ("readme.md", "", "readme.md"),
        ("photo.jpg", "", "photo.jpg"),
        (".example.com", "", ".example.com"),
        ("/a/b", "https://example.org/", "/a/b"),
    ],
)
def test_fixup(text, base, fixed):
    assert speculative_fixup(text, base) == fixed


def test_known_extension():
    assert known_extension("HTML") == "html"
    assert known_extension("foo") == ""


@given(st.text(max_size=300), st.sampled_from(["", "https://example.org/x", "no url"]))
def test_never_raises(text, base):
    fixed = speculative_fixup(text, base)
    assert fixed.endswith(text) or "&amp;" in text or "%" in text
    assert is_very_likely_uri(text) in {True, False}
