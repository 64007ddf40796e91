import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.planner.change_detection.line_difference import (
    LONGEST,
    MOST_LINES,
    common_lines,
    split_lines,
)

LINES = st.lists(st.sampled_from("abcdefgh") | st.text(max_size=2), max_size=60)


@given(LINES, LINES)
def test_common_lines_are_equal_in_order_and_at_both_ends(old, new):
    common = common_lines(old, new)
    at_old = at_new = 0
    for run in common.runs:
        assert run.size > 0
        assert run.old >= at_old
        assert run.new >= at_new
        assert old[run.old : run.old + run.size] == new[run.new : run.new + run.size]
        at_old, at_new = run.old + run.size, run.new + run.size
    if old and new and old[0] == new[0]:
        assert common.runs[0][:2] == (0, 0)
    if old and new and old[-1] == new[-1]:
        assert (at_old, at_new) == (len(old), len(new))


@given(LINES)
def test_equal_texts_have_all_lines_in_common(lines):
    assert common_lines(lines, lines) == ([(0, 0, len(lines))] if lines else [], False)


@pytest.mark.parametrize(
    ("old", "new", "runs"),
    [
        ("a b c", "a x c", [(0, 0, 1), (2, 2, 1)]),
        ("a b c d", "a c d", [(0, 0, 1), (2, 1, 2)]),
        ("a b", "c a b d", [(0, 1, 2)]),
        ("a", "b", []),
        ("", "a", []),
        # A block that moved: the longer order stays.
        ("1 2 3 4 5", "4 5 1 2 3", [(0, 2, 3)]),
        # Lines that are repeated, between anchors.
        ("x { a } y { b } z", "x { c } y { b } z", [(0, 0, 2), (3, 3, 6)]),
    ],
)
def test_differences(old, new, runs):
    assert common_lines(old.split(), new.split()).runs == runs


def hostile(kind: str) -> tuple[list[str], list[str]]:
    rnd = random.Random(1)
    numbers = [str(number) for number in range(MOST_LINES)]
    if kind == "two lines":
        return ([rnd.choice("ab") for _ in numbers], [rnd.choice("ab") for _ in numbers])
    if kind == "shuffled":
        return (numbers, rnd.sample(numbers, len(numbers)))
    if kind == "reversed":
        return (numbers, numbers[::-1])
    return (["x"] * MOST_LINES, ["x"] * (MOST_LINES - 1) + ["y"])


@pytest.mark.parametrize("kind", ["two lines", "shuffled", "reversed", "one line"])
def test_texts_without_anchors_take_bounded_work(kind):
    old, new = hostile(kind)
    common = common_lines(old, new)
    assert sum(run.size for run in common.runs) <= MOST_LINES
    assert common.is_coarse is (kind == "two lines")


@given(st.text(alphabet="<>a;{} \n\r,é", max_size=3000))
def test_lines_have_the_text_without_line_ends_and_are_short(text):
    lines = split_lines(text * 3)
    assert "".join(lines) == (text * 3).replace("\r", "").replace("\n", "")
    assert all(len(line) <= LONGEST for line in lines)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a\r\nb\rc\nd\n", 4),
        ("\n\na", 3),
        ("", 0),
        ("<p>a</p>" * 100, 100),
        ("a=1;b=2;" * 100, 200),
        ("word " * 200, 200),
        ("x" * 1001, 3),
        # Megabytes on a line, of each kind.
        ("x" * 4_000_000, 10_000),
        ("<a>" * 1_300_000, MOST_LINES + 1),
        (" " * 4_000_000, 10_000),
        ("\n" * 4_000_000, MOST_LINES + 1),
    ],
)
def test_long_lines_are_parted(text, count):
    assert len(split_lines(text)) == count


def test_an_insertion_into_a_minified_page_is_a_few_lines():
    page = "".join(f'<li><a href="/{number}">Item {number}</a></li>' for number in range(2_000))
    at = len(page) // 2
    old, new = split_lines(page), split_lines(page[:at] + "<b>new</b>" + page[at:])
    assert len(new) - sum(run.size for run in common_lines(old, new).runs) <= 4
