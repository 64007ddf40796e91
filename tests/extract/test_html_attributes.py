import pytest

from nacre.extract.html_attributes import names_to_sweep
from tests.extract.pages import found

FILLER = "<p>" + "plain text " * 200

CASES = [
    ("<p onclick=\"go('/k.html')\">", [("X", "/k.html", "=JS_MISC")]),
    ("<p\nonLoad = \"go('/k.html')\">", [("X", "/k.html", "=JS_MISC")]),
    ("<p\tonfocus=\"go('/k.html')\">", [("X", "/k.html", "=JS_MISC")]),
    ("<p style='background:url(b.png)'>", [("E", "/dir/b.png", "=EMBED_MISC")]),
    ("<table><tr><td background=b.png>", [("E", "/dir/b.png", "td/@background")]),
    (
        "<amp-img src=a srcset='b 2x'>",
        [
            ("E", "/dir/a", "amp-img/@src"),
            ("E", "/dir/b", "amp-img/@srcset"),
        ],
    ),
    ("<span href=a>", [("L", "/dir/a", "span/@href")]),
    (
        "<img data-src='a.png, b.png'>",
        [
            ("E", "/dir/a.png", "img/@data-src"),
            ("E", "/dir/b.png", "img/@data-src"),
        ],
    ),
    (
        "<div data-srcset='a 1x, b 2x'>",
        [
            ("E", "/dir/a", "div/@data-srcset"),
            ("E", "/dir/b", "div/@data-srcset"),
        ],
    ),
    ("<img data-src-small='a'>", [("E", "/dir/a", "img/@data-src-small")]),
    ("<div data-preview='http://www.example.com/p'>", [("X", "/p", "div/@data-preview")]),
    ('<div data-item=\'{"image": "/i/x.jpg"}\'>', [("X", "/i/x.jpg", "=JS_MISC")]),
    ("<div data-url=more.html>", [("X", "/dir/more.html", "div/@data-url")]),
    ("<div data-toggle=dropdown>", []),
]


@pytest.mark.parametrize("filler", ["", FILLER], ids=["small", "larger"])
@pytest.mark.parametrize(("page", "expected"), CASES, ids=[page for page, _ in CASES])
def test_attributes(page: str, expected: list[tuple[str, str, str]], filler: str):
    assert found(page + filler) == expected


def test_scripts_can_be_left_out():
    assert found("<p onclick=\"go('/k.html')\">", extract_javascript=False) == []


def test_names_are_looked_for_in_the_bytes():
    page = FILLER.encode() + b"<p onclick='' data-src=x data-x='/y' data-y=z>\ton on it = 1"
    assert names_to_sweep(page) == {"onclick", "data-src", "data-x"}
    assert names_to_sweep(FILLER.encode()) == set()
    assert names_to_sweep(b"<HTML>" + page) is None
    assert names_to_sweep(page + b"".join(b" on%b=" % (b"a" * n) for n in range(1, 99))) is None
