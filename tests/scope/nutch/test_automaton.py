import re

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from nacre.scope.nutch.automaton import MAX_DEPTH, parse_automaton

CASES = [
    ("a.*b", ["ab", "a\nb"], ["abc"]),
    ("~(a*)", ["b", "ab"], ["", "aa"]),
    ("~~a", ["a"], ["b"]),
    ("[a-z]*&~(.*x.*)", ["", "abc"], ["axc", "A"]),
    ('"a.[b"|c', ["a.[b", "c"], ["axb"]),
    ("@", ["", "x"], []),
    ("#", [], ["", "#"]),
    ("#|a", ["a"], [""]),
    ("()", [""], ["a"]),
    ("", [""], ["a"]),
    ("a?b+", ["b", "abb"], ["a"]),
    ("a{2}b{1,2}c{1,}", ["aabc", "aabbcc"], ["abc", "aabbb"]),
    ("a{2,1}", [], ["a", "aa"]),
    (r"[\]a^-b]+", ["]a", "_"], ["c"]),
    ("[^a-c]", ["d"], ["b"]),
    ("[a-]b", ["ab", "-b"], ["b", "]b"]),
    (r"\~\&\.", ["~&."], ["a"]),
    ("<8-12>", ["8", "012", "10"], ["7", "13"]),
    ("<08-12>", ["08", "12"], ["8", "012"]),
    ("<12-8>", ["9"], ["13"]),
    ("<0-5>", ["0", "5"], ["6", "05"]),
    ("x<98-1002>", ["x98", "x999", "x0100", "x1002"], ["x97", "x1003"]),
]


@pytest.mark.parametrize(("text", "inside", "outside"), CASES)
def test_languages(text, inside, outside):
    automaton = parse_automaton(text)
    assert [word for word in inside if not automaton.matches(word)] == []
    assert [word for word in outside if automaton.matches(word)] == []


@pytest.mark.parametrize(("text", "inside", "outside"), CASES)
def test_re2_and_derivatives_agree(text, inside, outside):
    regex = parse_automaton(text).regex
    assert (regex is None) == bool(re.search(r"(?<![\\~])~(?!~)|(?<!\\)&", text))
    if regex is not None:
        assert [word for word in inside if not re2.fullmatch(regex, word)] == []
        assert [word for word in outside if re2.fullmatch(regex, word)] == []


def test_counts_too_large_for_re2():
    automaton = parse_automaton("(a|bc){2,1500}")
    assert automaton.regex is None
    assert automaton.matches("abc" * 700)
    assert not automaton.matches("a" * 1501)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(a", "no \\)"),
        ("a)", "unexpected"),
        ("[a", "missing"),
        ('"a', "no end"),
        ("<name>", "there are none"),
        ("<1-2", "no end"),
        ("a{x}", "no count"),
        ("a|", "missing"),
        ("\\", "missing"),
        ("(" * (MAX_DEPTH + 2), "inside each other"),
    ],
)
def test_what_is_no_expression(text, words):
    with pytest.raises(ValueError, match=words):
        parse_automaton(text)


@given(st.integers(0, 3000), st.integers(0, 3000), st.integers(0, 3000))
def test_intervals(low, high, number):
    inside = min(low, high) <= number <= max(low, high)
    same_width = len(str(low)) == len(str(high))
    if not same_width or len(str(number)) == len(str(low)):
        assert parse_automaton(f"<{low}-{high}>").matches(str(number)) is inside


@given(st.text('ab|&~()*?+{}[]"<>-@#.\\1,', max_size=12), st.text("ab1", max_size=5))
def test_any_text_is_an_expression_or_an_error(text, word):
    try:
        automaton = parse_automaton(text)
    except ValueError:
        return
    found = automaton.matches(word)
    if automaton.regex is not None:
        assert bool(re2.fullmatch(automaton.regex, word)) is found
