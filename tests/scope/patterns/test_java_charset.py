"""Sets of characters as Java names them."""

import re

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from nacre.scope.patterns.java_charset import (
    LAST,
    POSIX,
    CharSet,
    JavaRegexError,
    class_named,
    negation,
    plain,
    shorthand,
    union,
)


def members(found, text):
    """Characters of a text that are in a set, by the class that is written for it."""
    return "".join(regex.findall(found.text, text, regex.V1))


CODES = st.integers(0, LAST).filter(lambda code: not 0xD800 <= code < 0xE000)
RANGES = st.lists(st.tuples(CODES, CODES).map(lambda pair: (min(pair), max(pair))), max_size=5)


@given(RANGES, RANGES, CODES)
def test_sets_of_ranges_are_those_of_arithmetic(one, other, code):
    def within(ranges):
        return any(first <= code <= last for first, last in ranges)

    joined = union(plain(one), plain(other))
    assert within(joined.ranges) is (within(one) or within(other))
    flat = joined.ranges
    assert all(flat[n][1] + 1 < flat[n + 1][0] for n in range(len(flat) - 1)), "sorted, apart"
    assert (re.fullmatch(joined.text, chr(code)) is not None) is within(flat)
    assert (re.fullmatch(negation(joined).text, chr(code)) is None) is within(flat)


@pytest.mark.parametrize(
    ("letter", "inside", "outside"),
    [
        ("d", "09", "a٣"), ("D", "a٣", "09"), ("w", "a_9", "-é"), ("W", "-é", "a_9"),
        ("s", " \t\n", "a\u00a0"), ("S", "a\u00a0", " \t"), ("h", "\t\u00a0", "\n"),
        ("v", "\n\u2028", "\t"), ("H", "\n", "\t"), ("V", "\t", "\n"),
    ],
)  # fmt: skip
def test_classes_of_one_letter_are_ascii_as_in_java(letter, inside, outside):
    assert members(shorthand(letter), inside + outside) == inside


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("Lower", "az", "AZ0"), ("Upper", "AZ", "az"), ("ASCII", "a\x7f", "é"),
        ("Punct", "!_~", "a "), ("Graph", "!a", " \x7f"), ("Print", " a", "\x7f\t"),
        ("Blank", " \t", "\n"), ("Cntrl", "\x00\x7f", "a"), ("XDigit", "09afAF", "gG"),
        ("Space", " \t\n\x0b", "a"), ("javaLowerCase", "aé", "A1"), ("javaUpperCase", "AÉ", "a"),
        ("javaWhitespace", " \t\u2028", "a\u00a0"), ("javaISOControl", "\x00\x9f", "a"),
        ("L", "aé中", "1"), ("Lu", "AÉ", "a"), ("IsL", "aé", "1"), ("gc=Nd", "1٣", "a"),
        ("IsAlphabetic", "a中", "1"), ("IsHex_Digit", "aF9", "g"), ("IsWhite_Space", " \x85", "a"),
        ("IsGreek", "Ω", "a"), ("script=Han", "中", "a"), ("InGreek", "Ω", "a"),
    ],
)  # fmt: skip
def test_named_classes(name, inside, outside):
    assert members(class_named(name, negated=False), inside + outside) == inside
    assert members(class_named(name, negated=True), inside + outside) == outside


@pytest.mark.parametrize("name", ["", "lower", "posix", "is_", "a b", "gc=Xyz1"])
def test_unknown_classes_are_named(name):
    with pytest.raises(JavaRegexError, match=re.escape(rf"`\p{{{name}}}` is a class")):
        class_named(name, negated=False)


def test_nothing_and_everything_can_be_written():
    assert members(CharSet(), "a\n中") == ""
    assert members(negation(CharSet()), "a\n中") == "a\n中"
    assert members(POSIX["word"], "a-b_1") == "ab_1"


def test_a_set_with_properties_is_not_plain():
    assert class_named("Lower", negated=False).is_plain
    assert not class_named("L", negated=False).is_plain
    assert not CharSet(nested="[a&&b]").is_plain
    assert CharSet(nested="[a&&b]").text == "[a&&b]"
    both = union(class_named("Digit", negated=False), class_named("Lu", negated=False))
    assert members(both, "aA1") == "A1"
