"""Expressions in JEXL become SQL."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre_migrate.nutch.jexl import sql_of, sql_of_document

COLUMNS = {"score": "score", "status": "status", "fetchTime": "fetch_time", "retries": "retries"}


@pytest.mark.parametrize(
    ("jexl", "sql"),
    [
        ("score > 0.5", "(score > 0.5)"),
        ("status == 'db_gone'", "(status = 'db_gone')"),
        ('status eq "db_gone" and retries lt 3', "((status = 'db_gone') and (retries < 3))"),
        ("!(score ge 1) || retries != 0", "((not (score >= 1)) or (retries <> 0))"),
        ("fetchTime - 86400000 > 0", "((fetch_time - 86400000) > 0)"),
        ("score * 2 + 1 <= -3", "(((score * 2) + 1) <= (- 3))"),
        ("lang == '中文'", "(md['lang'] = '中文')"),
        ("lang =~ 'z.*'", "(regexp_full_match(md['lang'], 'z.*'))"),
        ("x == null", "(md['x'] is null)"),
        (
            "score > 1 ? true : retries == 0",
            "case when (score > 1) then true else (retries = 0) end",
        ),
        ("name == 'it\\'s'", "(md['name'] = 'it''s')"),
        ("retries >= 1L;", "(retries >= 1)"),
    ],
)
def test_comparisons_and_arithmetic(jexl, sql):
    assert sql_of(jexl, COLUMNS, "md") == sql


@pytest.mark.parametrize(
    "jexl",
    [
        "if (score > 1) { return 3 }",
        "url.startsWith('http')",
        "size(url) > 3",
        "score = 3",
        "score >",
        "(score > 1",
        "'open",
        "a b",
        "",
        "score > 1 ? 2",
        "new('java.io.File', '/etc/passwd')",
        "(" * 5000,
        "!" * 5000 + "score",
    ],
)
def test_what_does_more_is_refused(jexl):
    with pytest.raises(ValueError, match=r"translated|variable|nested"):
        sql_of(jexl, COLUMNS, "md")


def test_an_unknown_variable_without_metadata():
    with pytest.raises(ValueError, match="variable"):
        sql_of("lang == 'zh'", COLUMNS)


@given(st.text())
def test_only_value_errors(text):
    with contextlib.suppress(ValueError):
        assert sql_of(text, COLUMNS, "md")


@pytest.mark.parametrize(
    ("jexl", "sql"),
    [
        ("doc.getFieldValue('host')=='example.org'", "(host = 'example.org')"),
        ('doc.getFieldValue("id").startsWith("http:")', "starts_with(id, 'http:')"),
        ("doc.getFieldValue('lang') == null", "(lang is null)"),
        ("doc.getFieldValue('anchor').contains('it\\'s')", "contains(anchor[1], 'it''s')"),
        ("doc.getFieldValue('kind') =~ '新.*'", "(regexp_full_match(more['kind'][1], '新.*'))"),
        ("!doc.getFieldValue('type').endsWith('{0}')", "(not ends_with(type, '{0}'))"),
        ("doc.getFieldValue('boost') > 1 && true", "((boost > 1) and true)"),
    ],
)
def test_fields_of_documents(jexl, sql):
    assert sql_of_document(jexl) == sql


@pytest.mark.parametrize(
    "jexl",
    [
        "",
        "doc.getFieldNames()",
        "doc.getFieldValue(name) == 1",
        "doc.getFieldValue('host').length() > 3",
        "doc.add('x', 1)",
        "host == 'x'",
        ".contains('x')",
        "doc.getFieldValue('host') = 'x'",
    ],
)
def test_what_does_more_with_a_document_is_refused(jexl):
    with pytest.raises(ValueError, match=r"translated|variable|empty"):
        sql_of_document(jexl)


def test_a_document_is_no_variable_elsewhere():
    with pytest.raises(ValueError, match="translated"):
        sql_of("doc.getFieldValue('host') == 'x'", COLUMNS, "md")
