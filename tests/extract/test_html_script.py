import pytest

from nacre.extract.html_script import json_strings
from tests.extract.pages import found


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<script src=a.js></script>", [("E", "/dir/a.js", "script/@src")]),
        ("<svg><script xlink:href=a.js /></svg>", [("E", "/dir/a.js", "script/@xlink:href")]),
        ("<script>x='/k.html'</script>", [("X", "/k.html", "=JS_MISC")]),
        ("<script type=module>x='/k.html'</script>", [("X", "/k.html", "=JS_MISC")]),
        ("<script type='TEXT/JavaScript; x'>x='/k.html'</script>", [("X", "/k.html", "=JS_MISC")]),
        ("<script type=text/x-other>x='/k.html'</script>", []),
        ("<script>var x = '<a href=no>'</script>", []),
        ("<script type=text/template><a href=t></script>", [("L", "/dir/t", "a/@href")]),
        (
            '<script type=application/ld+json>{"@id": ["/i/a.png"], "n": 1}</script>',
            [("X", "/i/a.png", "=JSON_MISC")],
        ),
        (
            '<script type=importmap>{"imports": {"a": "./a.js", "b": "bare"}}</script>',
            [("E", "/dir/a.js", "script[type='importmap']")],
        ),
        (
            '<script type=speculationrules>{"prefetch": [{"urls": ["/n.html"]}]}</script>',
            [("X", "/n.html", "=JSON_MISC")],
        ),
    ],
)
def test_script_elements(page: str, expected: list[tuple[str, str, str]]):
    assert found(page) == expected


def test_strings_of_json_in_order():
    assert list(json_strings('{"a": ["x", {"b": "y"}], "c": "z", "d": 1}')) == ["x", "y", "z"]


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "nonsense", "\ud800"])
def test_what_is_no_json_holds_none(text: str):
    assert list(json_strings(text)) == []
