from hypothesis import given
from hypothesis import strategies as st

from nacre.scope.first import FirstMatch

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
