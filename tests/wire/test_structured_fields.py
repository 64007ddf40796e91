"""Structured fields (RFC 9651): each type, mistakes, limits, and the working group's own tests."""

import json
from base64 import b32decode
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.wire.structured_fields import (
    LARGEST,
    LONGEST,
    BareItem,
    DisplayText,
    FieldDate,
    FieldItem,
    FieldSyntaxError,
    FieldToken,
    InnerList,
    parse_dictionary,
    parse_item,
    parse_list,
    serialize_dictionary,
    serialize_item,
    serialize_list,
)
from tools import cache

SUITE = cache.folder("structured-field-tests")
"""A clone of github.com/httpwg/structured-field-tests; its tests are skipped if it is missing."""

PARSERS: dict[str, Any] = {
    "item": (parse_item, serialize_item),
    "list": (parse_list, serialize_list),
    "dictionary": (parse_dictionary, serialize_dictionary),
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("?1", True),
        ("?0", False),
        ("0", 0),
        ("-15", -15),
        (str(LARGEST), LARGEST),
        ("1.5", Decimal("1.5")),
        ("-0.125", Decimal("-0.125")),
        ('"a \\"b\\" \\\\"', 'a "b" \\'),
        ("y", FieldToken("y")),
        ("*/a:b", FieldToken("*/a:b")),
        (":aGk=:", b"hi"),
        ("::", b""),
        ("@1659578233", FieldDate(1659578233)),
        ("@-1", FieldDate(-1)),
        ('%"%e4%b8%ad%e6%96%87 100%25 %22"', DisplayText('中文 100% "')),
    ],
)
def test_each_type_is_parsed_and_serialized(text: str, value: BareItem):
    item = parse_item(text)
    assert (type(item.value), item.value, item.parameters) == (type(value), value, {})
    assert serialize_item(FieldItem(value)) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "?", "?2", "-", "--1", "+1", "1" * 16, "1.", ".5", "1.2345", "1" * 13 + ".1"),
        *('"', '"a', '"中"', '"\\a"', "'a'", "a b", "1,2", "A\tb", "中"),
        *(":a:", ":a=b:", ":YQ==", ":Y Q==:", "@1.5", "@", "@a"),
        *('%"', "%a", '%"%FF"', '%"%ff"', '%"%e4%b8"', '%"中"', '%"%4"'),
        *("1;", "1; A", "1;a=", "1;a=中", "1 ;a", "(1)", "\x00", "1\n"),
    ],
)
def test_what_is_no_item(text: str):
    with pytest.raises(FieldSyntaxError):
        parse_item(text)


@pytest.mark.parametrize("text", ["a,", ",a", "a,,b", "a b", "(a", "(a,b)", '("a""b")', "(a\tb)"])
def test_what_is_no_list(text: str):
    with pytest.raises(FieldSyntaxError):
        parse_list(text)


@pytest.mark.parametrize(
    "text", ["a=", "A=1", "a=1,", "a=1 b=2", "a=(1", "a;B", "=1", "train ai=y"]
)
def test_what_is_no_dictionary(text: str):
    with pytest.raises(FieldSyntaxError):
        parse_dictionary(text)


def test_the_error_has_the_place():
    with pytest.raises(FieldSyntaxError, match=r"^character 4: expected a key"):
        parse_dictionary("a, B")


def test_a_list_has_items_and_inner_lists():
    assert parse_list('  a;q=0.5 ,\t( "x" 1;b );c  ') == [
        FieldItem(FieldToken("a"), {"q": Decimal("0.5")}),
        InnerList((FieldItem("x"), FieldItem(1, {"b": True})), {"c": True}),
    ]
    assert parse_list("") == parse_list("  ") == []


def test_of_a_repeated_key_the_last_value_counts():
    found = parse_dictionary("train-ai=y, search;x, train-ai=n;a=1;a=2")
    assert found == {
        "train-ai": FieldItem(FieldToken("n"), {"a": 2}),
        "search": FieldItem(True, {"x": True}),
    }
    assert serialize_dictionary(found) == "train-ai=n;a=2, search;x"


@pytest.mark.parametrize(
    "value",
    [
        *(LARGEST + 1, -LARGEST - 1, FieldDate(10**15), Decimal(10**12), Decimal("nan")),
        *(Decimal("999999999999.9996"), Decimal("Infinity"), "中", "\n", FieldToken("a b")),
        *(FieldToken(""), FieldToken("1"), DisplayText("\ud800")),
    ],
)
def test_what_cannot_be_in_a_field(value: BareItem):
    with pytest.raises(FieldSyntaxError):
        serialize_item(FieldItem(value))


@pytest.mark.parametrize("key", ["", "A", "1", "a b", "a=", "ä"])
def test_keys_are_checked(key: str):
    with pytest.raises(FieldSyntaxError):
        serialize_item(FieldItem(1, {key: 1}))
    with pytest.raises(FieldSyntaxError):
        serialize_dictionary({key: FieldItem(1)})


@pytest.mark.parametrize(
    ("value", "text"), [("0.0005", "0.0"), ("0.0015", "0.002"), ("2", "2.0"), ("-1.10", "-1.1")]
)
def test_decimals_are_rounded_to_even(value: str, text: str):
    assert serialize_item(FieldItem(Decimal(value))) == text


def test_the_length_is_limited():
    assert parse_item(f'"{"a" * (LONGEST - 2)}"').value == "a" * (LONGEST - 2)
    with pytest.raises(FieldSyntaxError, match="at most 65536"):
        parse_item(f'"{"a" * LONGEST}"')


BARE = st.one_of(
    st.booleans(),
    st.integers(-LARGEST, LARGEST),
    st.decimals(-(10**12) + 1, 10**12 - 1, places=3),
    st.text(st.characters(min_codepoint=32, max_codepoint=126)),
    st.binary(),
    st.from_regex(r"[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*", fullmatch=True).map(FieldToken),
    st.text().map(DisplayText),
    st.integers(-LARGEST, LARGEST).map(FieldDate),
)
KEYS = st.from_regex(r"[a-z*][a-z0-9_.*-]*", fullmatch=True)
PARAMETERS = st.dictionaries(KEYS, BARE, max_size=3)
ITEMS = st.builds(FieldItem, BARE, PARAMETERS)
MEMBERS = ITEMS | st.builds(InnerList, st.lists(ITEMS, max_size=3).map(tuple), PARAMETERS)


@given(st.dictionaries(KEYS, MEMBERS, max_size=4))
def test_what_is_serialized_is_parsed_again(members: dict[str, Any]):
    assert parse_dictionary(serialize_dictionary(members)) == members
    assert parse_list(serialize_list(list(members.values()))) == list(members.values())


@given(st.text(st.sampled_from('aA1.-"\\:=@%?;,() \tf中*~')))
def test_a_text_is_parsed_or_refused(text: str):
    for parse, serialize in PARSERS.values():
        try:
            found = parse(text)
        except FieldSyntaxError:
            continue
        assert parse(serialize(found)) == found


def _bare(value: Any) -> BareItem:
    """Return a value as the suite writes it."""
    if not isinstance(value, dict):
        return Decimal(repr(value)) if isinstance(value, float) else value
    made = {"token": FieldToken, "displaystring": DisplayText, "date": FieldDate}
    return made.get(value["__type"], b32decode)(value["value"])


def _item(value: Any) -> FieldItem:
    return FieldItem(_bare(value[0]), {key: _bare(one) for key, one in value[1]})


def _member(value: Any) -> FieldItem | InnerList:
    if not isinstance(value[0], list):
        return _item(value)
    parameters = {key: _bare(one) for key, one in value[1]}
    return InnerList(tuple(_item(item) for item in value[0]), parameters)


def _field(kind: str, value: Any) -> Any:
    if kind == "item":
        return _item(value)
    if kind == "list":
        return [_member(member) for member in value]
    return {key: _member(member) for key, member in value}


@pytest.mark.skipif(not SUITE.is_dir(), reason=f"no {SUITE}")
def test_the_tests_of_the_working_group():
    tests = [test for file in sorted(SUITE.rglob("*.json")) for test in _tests(file)]
    wrong = [test["name"] for test in tests if not _holds(test)]
    assert (wrong, len(tests) > 1000) == ([], True)


def _tests(file: Any) -> list[dict[str, Any]]:
    found = json.loads(file.read_text())
    return found if isinstance(found, list) else []  # the schemas are none


def _holds(test: dict[str, Any]) -> bool:
    """Parse and serialize a test of the suite, and compare."""
    kind = test["header_type"]
    parse, serialize = PARSERS[kind]
    try:
        if "raw" in test:
            found = parse(", ".join(test["raw"]))
            if test.get("must_fail") or found != _field(kind, test["expected"]):
                return False
        text = serialize(_field(kind, test["expected"]))
    except FieldSyntaxError:
        return bool(test.get("must_fail") or test.get("can_fail"))
    return not test.get("must_fail") and text == "".join(test.get("canonical", test.get("raw", [])))
