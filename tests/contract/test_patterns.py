r"""Regular expressions that mean the same on all versions of Python.

Where the body of a possessive group fails after it has gone some way, Python before 3.11.5 forgets
to go back: `(?:ab?c)*+` on `abcab` matches `abca` (cpython issue 100061, first seen as 106052).
An alternative that fails at once, `(?:ab?c|(?!))*+`, sets the place right again, because a branch
goes back before it tries one. It costs nothing where the group ends and needs no memory for each
turn, as an atomic group `(?>(?:...)*)` would: 90 bytes for each character of a hostile script.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("src", "migrate", "simweb", "tools", "bench")
    for path in (ROOT / folder).rglob("*.py")
)
POSSESSIVE = re.compile(r"(?<!\\)\)(?:[?*+]|\{[0-9,]+\})\+")
SAFE = re.compile(r"\|\s*\(\?!\)\s*\Z")


def unsafe(text: str) -> list[int]:
    """Lines where a possessive group ends that may go wrong."""
    return [
        text.count("\n", 0, end.start()) + 1
        for end in POSSESSIVE.finditer(text)
        if not SAFE.search(text, 0, end.start())
    ]


def test_no_pattern_depends_on_the_version_of_python():
    assert len(FILES) > 100
    found = {str(path.relative_to(ROOT)): unsafe(path.read_text("utf-8")) for path in FILES}
    assert not {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize(
    "group", ["(?:ab)*+", "(?:a|b\n)?+", "(?:ab){2,}+", "(a(?!))++", "(\\))*+"]
)
def test_the_search_finds_them(group: str):
    assert unsafe("\n" + group) == [2 + group.count("\n")]


@pytest.mark.parametrize("group", ["(?:ab|(?!))*+", "( a | (?!) \n)?+", "(?:ab)*", r"\)++", "a++"])
def test_the_search_passes_over(group: str):
    assert unsafe(group) == []


@pytest.mark.parametrize(
    ("pattern", "text", "end"),
    [
        (r"(?:ab?c|(?!))*+", "abcab", 3),
        (r"(?:ab?c|(?!))?+", "ab", 0),
        (r"(?:ab?c|(?!))++", "abcabcab", 6),
        (r"(?:a[bc]*+d|x|(?!))*+", "abdxabc", 4),
        (r"(?:a(?=b)b(?!c)|(?!))*+", "ababc", 2),
    ],
)
def test_the_form_that_is_used_is_right_here(pattern: str, text: str, end: int):
    match = re.match(pattern, text)
    assert match
    assert match.end() == end
