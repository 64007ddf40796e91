"""What people type, read into clauses."""

import pytest

from nacre.errors import ConfigError
from nacre.search.analysis import QueryPhrase
from nacre.search.query import LONGEST_QUERY, QueryClause, parse_query

DAY = 86_400_000
NEW_YEAR = 1_767_225_600_000
"""2026-01-01T00:00:00Z, ms."""


def clauses(text: str) -> list[QueryClause]:
    return [clause for group in parse_query(text).groups for clause in group]


def test_words_phrases_and_what_must_not_be_there():
    one, two, three = clauses('fox "lazy dog" -cat')
    assert one.phrase == QueryPhrase(("fox",))
    assert two.phrase == QueryPhrase(("lazy", "dog"))
    assert (three.phrase, three.negative) == (QueryPhrase(("cat",)), True)


def test_either_of_several():
    groups = parse_query("type:pdf OR type:html 国家").groups
    assert [[one.value for one in group] for group in groups] == [["pdf", "html"], ["国家"]]
    assert len(parse_query("OR fox OR").groups) == 1


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("site:Example.ORG", "site", "example.org"),
        ("type:application/pdf", "type", "application/pdf"),
        ("lang:zh-CN", "lang", "zh-cn"),
        ("segment:20261123T101500.123Z", "segment", "20261123T101500.123Z"),
        ('id:"http://a.test/A"', "id", "http://a.test/A"),
    ],
)
def test_fields_of_exact_values(text, field, value):
    assert clauses(text) == [QueryClause("value", field, value=value)]


def test_a_url_or_a_name_with_colons_is_text():
    assert clauses("http://x.test/")[0].phrase.terms == ("http", "x", "test")
    assert clauses("std::vector")[0].phrase.terms == ("std", "vector")
    assert clauses("title:国家") == [QueryClause("words", "title", QueryPhrase(("国家",)), "国家")]


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("date:2026", NEW_YEAR, NEW_YEAR + 365 * DAY),
        ("date:2026-02", NEW_YEAR + 31 * DAY, NEW_YEAR + 59 * DAY),
        ("date:2026-01-01", NEW_YEAR, NEW_YEAR + DAY),
        ("date:2026-01..2026-02", NEW_YEAR, NEW_YEAR + 59 * DAY),
        ("date:2026..", NEW_YEAR, None),
        ("date:..2026", None, NEW_YEAR + 365 * DAY),
        ("before:2026", None, NEW_YEAR),
        ("after:2026-01-01", NEW_YEAR + DAY, None),
    ],
)
def test_dates(text, since, until):
    (clause,) = clauses(text)
    assert (clause.kind, clause.since, clause.until) == ("time", since, until)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing to look for"),
        ("!!! ???", "nothing to look for"),
        ("date:yesterday", "date:yesterday: no date"),
        ("after:2026-13", "no date"),
        ("date:0000", "no date"),
        ("x" * (LONGEST_QUERY + 1), "at most 4,096"),
        ("x " * 100, "at most 64"),
    ],
)
def test_what_cannot_be_read_is_told(text, said):
    with pytest.raises(ConfigError, match=said):
        parse_query(text)


@pytest.mark.parametrize("text", ['צה"ל', '"צה"ל חזק"', 'title:צה"ל'])
def test_a_quote_between_hebrew_letters_is_no_phrase(text):
    (group,) = parse_query(text).groups
    (clause,) = group
    assert clause.phrase.terms[:2] == ("צה", "ל")
