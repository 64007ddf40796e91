import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.scope.patterns.matching import FirstMatch, PatternFinder, PatternList, examine


@pytest.mark.parametrize("pattern", ["a+b", "(?i)x", r"\.gif$", "^http", ""])
def test_what_re2_takes_needs_no_note(pattern):
    assert examine(pattern) is None


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?=a)b", "(?<!a)b", "(?>a|ab)c", "a++b"])
def test_what_needs_backtracking_is_noted(pattern):
    note = examine(pattern)
    assert note is not None
    assert note.usable
    assert "50 ms" in note.message


def test_what_is_no_expression():
    note = examine("a(")
    assert note is not None
    assert not note.usable
    assert "not a regular expression" in note.message


def test_both_engines_together():
    both = PatternList([r".*\.gif", r".*/(\w+)/\1/.*"])
    assert [both.matches(text) for text in ("/a.gif", "/x/x/y", "/x/y/z")] == [True, True, False]
    every = PatternList(["a", r"(b)\1", "a"], search=True, every=True)
    assert [every.matches(text) for text in ("abb", "a", "bb")] == [True, False, False]


def test_java_classes_with_intersection():
    assert [PatternList(["[a-z&&[^b]]"]).matches(c) for c in "abc"] == [True, False, True]


def test_an_empty_list():
    assert not PatternList([])
    assert not PatternList([]).matches("")
    assert not PatternList([], every=True).matches("")
    assert PatternList(["a"])


@pytest.mark.timeout(60)
def test_hostile_expressions_are_linear_or_given_up_and_counted():
    text = "x" * 40
    fast = PatternList(["((x+x+)+)y"])
    assert not fast.matches(text)
    assert fast.timeouts == 0
    slow = PatternList([r"(?!z)(x|x)*(?<!q)y"])
    assert not slow.matches(text + "zy")
    assert slow.timeouts == 1


@pytest.mark.parametrize("pattern", [r"(\w)=(\d+)?", r"(\w)=(?=.|$)(\d+)?"])
def test_groups_of_all_matches(pattern: str):
    finder = PatternFinder(pattern)
    assert finder.groups == 2
    assert list(finder.find("a=1 b= c=3")) == [
        ("a=1", "a", "1"),
        ("b=", "b", ""),
        ("c=3", "c", "3"),
    ]
    assert finder.whole("a=12") == ("a=12", "a", "12")
    assert finder.whole("a=12 ") is None
    assert finder.without("a=1 b= ü") == "  ü"
    assert finder.without("none") == "none"


def test_a_search_that_takes_too_long_ends():
    finder = PatternFinder(r"(?=(a+))(b|a+)+c", timeout=0.01)
    assert list(finder.find("a" * 60)) == []
    assert finder.whole("a" * 60) is None


SLOW = r"(.)\1"


def test_places_come_in_the_order_of_the_list():
    first = FirstMatch(["c", SLOW, "b", "^a", r"(?<!b)c"])
    assert list(first.places("abc")) == [0, 2, 3]
    assert list(first.places("aabc")) == [0, 1, 2, 3]
    assert list(first.places("")) == []


def test_the_whole_text_on_demand():
    first = FirstMatch(["ab", r"(a)\1", "a.*"], whole=True)
    assert list(first.places("aab")) == [2]
    assert list(first.places("aa")) == [1, 2]


def test_lists_of_one_kind():
    assert list(FirstMatch([]).places("a")) == []
    assert list(FirstMatch([SLOW]).places("aa")) == [0]


def test_slow_patterns_behind_the_answer_are_not_tried():
    first = FirstMatch(["a", r"(a*)*\1b$"])
    assert next(first.places("a" * 5000)) == 0
    assert first.timeouts == 0


@given(st.lists(st.sampled_from(["a", "b+", "^c", SLOW, "(?=d)d"])), st.text("abcd", max_size=8))
def test_as_one_by_one(patterns, text):
    one_by_one = [i for i, p in enumerate(patterns) if list(FirstMatch([p]).places(text))]
    assert list(FirstMatch(patterns).places(text)) == one_by_one
