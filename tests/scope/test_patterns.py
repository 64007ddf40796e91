import pytest

from nacre.scope.patterns import PatternList, examine


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


@pytest.mark.timeout(5)
def test_hostile_expressions_are_linear_or_given_up_and_counted():
    text = "x" * 40
    fast = PatternList(["((x+x+)+)y"])
    assert not fast.matches(text)
    assert fast.timeouts == 0
    slow = PatternList([r"(?!z)(x|x)*(?<!q)y"])
    assert not slow.matches(text + "zy")
    assert slow.timeouts == 1
