import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from nacre.scope.nutch.automaton import MAX_DEPTH, automaton_regex


def matches(expression: str, word: str) -> bool:
    return re2.fullmatch(automaton_regex(expression), word) is not None


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("a.*b", ["ab", "a\nb"], ["abc"]),
        (r"\~\&\.", ["~&."], ["a"]),
        ('"a.[b~&"|c', ["a.[b~&", "c"], ["axb"]),
        ("@", ["", "x", "a\nb"], []),
        ("#", [], ["", "#"]),
        ("#|a", ["a"], [""]),
        ("(#)*", [""], ["a"]),
        ("()", [""], ["a"]),
        ("", [""], ["a"]),
        ("a?b+", ["b", "abb"], ["a"]),
        ("a{2}b{1,2}c{1,}", ["aabc", "aabbcc"], ["abc", "aabbb"]),
        ("(ab){2}", ["abab"], ["abb", "ab"]),
        ("a{2,1}", [], ["", "a", "aa"]),
        ("xa{2,1}", [], ["", "x", "xaa"]),
        ("a+*?", ["", "aa"], ["b"]),
        (r"[\]a^-b]+", ["]a", "_"], ["c"]),
        ("[^a-c]", ["d"], ["b"]),
        ("[b-a]", [], ["a", "b", ""]),
        ("[^b-a]", ["a", "\n"], [""]),
        ("[a-]b", ["ab", "-b"], ["b", "]b"]),
        ("<8-12>", ["8", "012", "10"], ["7", "13"]),
        ("<08-12>", ["08", "12"], ["8", "012"]),
        ("<12-8>", ["9"], ["13"]),
        ("<0-5>", ["0", "5"], ["6", "05"]),
        ("x<98-1002>", ["x98", "x999", "x0100", "x1002"], ["x97", "x1003"]),
    ],
)
def test_languages(text: str, inside: list[str], outside: list[str]):
    assert [word for word in inside if not matches(text, word)] == []
    assert [word for word in outside if matches(text, word)] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(a", "no \\)"),
        ("a)", "unexpected"),
        ("[a", "missing"),
        ('"a', "no end"),
        ("<name>", "refers to an automaton, which is not supported"),
        ("<1-2", "no end"),
        ("a{x}", "no count"),
        ("a|", "missing"),
        ("\\", "missing"),
        ("(" * (MAX_DEPTH + 2), "inside each other"),
        ("~(a*)", r"a complement \(~\) at 0 is not supported"),
        ("[a-z]*&~(.*x.*)", r"an intersection \(&\) at 6 is not supported"),
        ("(a|bc){2,1500}", "counts are too large"),
    ],
)
def test_what_is_no_expression(text: str, words: str):
    with pytest.raises(ValueError, match=words):
        automaton_regex(text)


@given(st.integers(0, 3000), st.integers(0, 3000), st.integers(0, 3000))
def test_intervals(low: int, high: int, number: int):
    inside = min(low, high) <= number <= max(low, high)
    same_width = len(str(low)) == len(str(high))
    if not same_width or len(str(number)) == len(str(low)):
        assert matches(f"<{low}-{high}>", str(number)) is inside


@given(st.text('ab|&~()*?+{}[]"<>-@#.\\1,', max_size=12), st.text("ab1", max_size=5))
def test_any_text_is_an_expression_or_an_error(text: str, word: str):
    try:
        regex = automaton_regex(text)
    except ValueError:
        return
    found = re2.fullmatch(regex, word)  # RE2 takes what it gives
    assert found is None or found.group() == word
