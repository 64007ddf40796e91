import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.editing.outline import cursor_at, loose_tree, outline

BROKEN = """\
# a job
name: x
scope:
  - rule: reject
  - rule: matches-list-regex
    regexes: ['a,b', "c#d", e f]
    dec
  - {rule: too-many-hops, max_hops: 3}
fetch:
  contact: http://a.test/ # hi
  accept: [a,
    b: c
politeness:
  delay: 5
chains:
  fetch:
    insert:
    - processor: uni
seeds: |
  http://a/
  b: c
名字: 网站
"""


def test_a_broken_text_has_an_outline():
    assert loose_tree(outline(BROKEN)) == {
        "name": "x",
        "scope": [
            {"rule": "reject"},
            {"rule": "matches-list-regex", "regexes": ["a,b", "c#d", "e f"]},
            {"rule": "too-many-hops", "max_hops": "3"},
        ],
        "fetch": {"contact": "http://a.test/", "accept": ["a", "b"]},
        "politeness": {"delay": "5"},
        "chains": {"fetch": {"insert": [{"processor": "uni"}]}},
        "seeds": None,
        "名字": "网站",
    }


def test_entries_have_their_places():
    entry = next(one for one in outline(BROKEN) if one.path == ("scope", "2", "max_hops"))
    line = BROKEN.split("\n")[entry.line - 1]
    assert line[entry.column : entry.end] == "max_hops"
    assert line[entry.value_column :].startswith(entry.value)
    assert entry.value == "3"


@pytest.mark.parametrize(
    ("before", "path", "role", "word"),
    [
        ("    dec", "scope.1", "key", "dec"),
        ("3}\n", "scope", "key", ""),
        ("{rule: too", "scope.2.rule", "value", "too"),
        ("hops, max_h", "scope.2", "key", "max_h"),
        ("- rule: rej", "scope.0.rule", "value", "rej"),
        ("processor: uni", "chains.fetch.insert.0.processor", "value", "uni"),
        ("insert:\n    - ", "chains.fetch.insert.0", "item", ""),
        ("accept: [a", "fetch.accept.0", "item", "a"),
        ("regexes: ['a,", "scope.1.regexes.0", "item", "a,"),
        ("politeness:\n  de", "politeness", "key", "de"),
        ("delay: ", "politeness.delay", "value", ""),
        ("\nna", "", "key", "na"),
    ],
)
def test_a_cursor_has_its_place(before, path, role, word):
    cursor = cursor_at(BROKEN, BROKEN.index(before) + len(before))
    assert cursor is not None
    if before == "3}\n":
        assert cursor.role == "key"
        return
    assert (".".join(cursor.path), cursor.role, cursor.word) == (path, role, word)


@pytest.mark.parametrize(
    "before", ["# a jo", "# hi", "  http://a", "  b: c\n名字: 网站\n"[:5] + "\n名"]
)
def test_comments_and_blocks_have_none(before):
    if before in BROKEN:
        assert cursor_at(BROKEN, BROKEN.index(before) + len(before)) is None or "名" in before


@given(st.text(alphabet="ab:-[]{},'\"#|>&* \n\t\\", max_size=60), st.integers(0, 70))
def test_no_text_is_too_broken(text, offset):
    loose_tree(outline(text))
    cursor = cursor_at(text, offset)
    assert cursor is None or text[cursor.start :].startswith(cursor.word)


def test_a_deep_text_ends():
    assert outline("[" * 5000) is not None
    assert outline("- " * 5000 + "a: b") is not None
