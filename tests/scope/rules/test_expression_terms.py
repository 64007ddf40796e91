"""Attributes and operators of expressions."""

import pytest

from nacre.scope.rules.expression_terms import (
    ATTRIBUTES,
    NUMBER,
    OF_ORIGIN,
    TEXT,
    TRUTH,
    WORDS,
    Operand,
    compare,
    word,
)
from nacre.scope.state import ScopeState
from nacre.scope.subject import Facts, Need, Subject

STATE = ScopeState()
PAGE = Subject("https://www.a.co.uk:8443/x/y.html?q=1", "LLE", "http://b.test/from")


def constant(value, kind=None):
    kind = kind or (TEXT if isinstance(value, str) else NUMBER)
    return Operand(kind, Need.NOTHING, lambda _: lambda subject: value, 0, value)


def attribute(name):
    found = ATTRIBUTES[name]
    return Operand(found.kind, found.needs, found.get, 3)


def texts(*values):
    return constant(frozenset(values), f"list of {TEXT}s")


def holds(operand, subject=PAGE):
    return operand.make(STATE)(subject)


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_every_attribute_can_be_asked_of_anything(name):
    found = ATTRIBUTES[name]
    kind = {TEXT: str, NUMBER: int, TRUTH: bool}[found.kind]
    for subject in (PAGE, Subject("dns:a.test"), Subject("urn:x"), Subject("http://[::1]/")):
        assert isinstance(found.get(STATE)(subject), kind | None)
    assert found.doc.endswith((".", "…"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scheme", "https"), ("host", "www.a.co.uk"), ("domain", "a.co.uk"), ("port", 8443),
        ("path", "/x/y.html"), ("query", "q=1"), ("path_depth", 2), ("hop_count", 3),
        ("link_hops", 2), ("last_hop", "E"), ("via_host", "b.test"), ("source", None),
        ("status", 0), ("length", None), ("ip", None),
    ],
)  # fmt: skip
def test_values(name, value):
    assert ATTRIBUTES[name].get(STATE)(PAGE) == value


@pytest.mark.parametrize(
    ("url", "port"), [("http://a.test/", 80), ("https://a.test/", 443), ("dns:a.test", None)]
)
def test_the_port_is_that_of_the_scheme_where_none_is_named(url, port):
    assert ATTRIBUTES["port"].get(STATE)(Subject(url)) == port


def test_the_queue_is_the_one_it_was_put_into_else_that_of_its_url():
    queue = ATTRIBUTES["queue"].get(STATE)
    assert queue(Subject("http://a.test/", facts=Facts(queue="other"))) == "other"
    assert queue(Subject("http://a.test/")) == "test,a,"


def test_what_is_known_only_later_says_so():
    needs = {name: found.needs for name, found in ATTRIBUTES.items() if found.needs}
    assert needs == {
        "ip": Need.ADDRESS, "status": Need.HEADERS, "content_type": Need.HEADERS,
        "media_type": Need.HEADERS, "header_length": Need.HEADERS, "length": Need.RESPONSE,
        "identical": Need.DIGEST,
    }  # fmt: skip
    assert set(ATTRIBUTES) >= OF_ORIGIN


@pytest.mark.parametrize(
    ("sign", "left", "right", "expected"),
    [
        ("==", 1, 1, True), ("!=", 1, 1, False), ("<", 1, 2, True), ("<=", 2, 2, True),
        (">", 2, 2, False), (">=", 2, 2, True), ("<", "a", "b", True), ("==", "a", "b", False),
    ],
)  # fmt: skip
def test_comparisons(sign, left, right, expected):
    assert holds(compare(sign, constant(left), constant(right))) is expected


@pytest.mark.parametrize("sign", ["==", "!=", "<"])
def test_nothing_is_true_of_what_is_not_known(sign):
    assert holds(compare(sign, attribute("length"), constant(1))) is False
    assert holds(compare(sign, constant(1), attribute("length"))) is False


def test_a_comparison_needs_what_both_sides_need():
    both = compare("<", attribute("header_length"), attribute("length"))
    assert both.needs == Need.HEADERS | Need.RESPONSE
    assert (both.kind, both.position) == (TRUTH, 3)


@pytest.mark.parametrize(
    ("sign", "left", "right", "says"),
    [
        ("==", constant(1), constant("a"), "a number cannot be compared with a text"),
        ("<", attribute("is_seed"), attribute("is_seed"), "`<` compares texts or numbers"),
    ],
)
def test_what_cannot_be_compared(sign, left, right, says):
    with pytest.raises(ValueError, match=says):
        compare(sign, left, right)


@pytest.mark.parametrize(
    ("name", "left", "right", "expected"),
    [
        ("in", attribute("host"), texts("www.a.co.uk", "b"), True),
        ("in", attribute("host"), texts(), False),
        ("in", attribute("port"), constant(frozenset((1, 8443)), f"list of {NUMBER}s"), True),
        ("contains", attribute("url"), constant("co.uk"), True),
        ("contains", attribute("url"), texts("zz", "y.html"), True),
        ("contains", attribute("url"), texts("zz"), False),
        ("contains", attribute("url"), attribute("host"), True),
        ("startswith", attribute("url"), constant("https:"), True),
        ("startswith", attribute("path"), texts("/a", "/x"), True),
        ("endswith", attribute("path"), texts("/x", ".html"), True),
        ("endswith", attribute("path"), constant("/x"), False),
        ("endswith", attribute("host"), attribute("domain"), True),
        ("startswith", attribute("host"), attribute("domain"), False),
        ("matches", attribute("path"), constant(r"/x/.*"), True),
        ("matches", attribute("path"), constant(r"/x/"), False),
        ("finds", attribute("path"), constant(r"/x/"), True),
        ("finds", attribute("path"), texts("zz", "yy"), False),
        ("matches", attribute("source"), constant(".*"), False),
        ("contains", attribute("source"), constant(""), False),
    ],
)
def test_words(name, left, right, expected):
    assert holds(word(name, left, right)) is expected


@pytest.mark.parametrize(
    ("name", "left", "right", "says"),
    [
        ("in", attribute("is_seed"), texts("a"), "`in` takes a text or a number"),
        ("in", attribute("port"), texts("a"), "`in` takes a list of numbers"),
        ("contains", attribute("port"), constant("a"), "`contains` takes a text, not a number"),
        ("endswith", attribute("host"), constant(1), "text or a list of texts, not a number"),
        ("matches", attribute("host"), attribute("domain"), "takes a text in quotes"),
        ("finds", attribute("host"), constant("a("), "not a regular expression"),
    ],
)
def test_what_does_not_suit_a_word(name, left, right, says):
    with pytest.raises(ValueError, match=says):
        word(name, left, right)


def test_time_outs_of_expressions_are_counted_with_those_of_the_scope():
    state = ScopeState()
    word("matches", attribute("path"), constant(r"(a)\1")).make(state)
    assert len(state.counts) == 1
    assert set(WORDS) == {"in", "contains", "startswith", "endswith", "matches", "finds"}
