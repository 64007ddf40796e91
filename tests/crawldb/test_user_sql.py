"""Expressions and queries that users write."""

import pytest

from nacre.crawldb.kernels import Kernel, UserSqlError
from nacre.crawldb.user_sql import check_expression, check_query, fields_in, names_in


@pytest.fixture
def kernel():
    with Kernel() as made:
        made.execute("create table pages as select * from (values ('a', 1), ('国家', 2)) t(key, n)")
        yield made


@pytest.mark.parametrize("text", ["copy (select 1) to '/x'", "attach '/x'", "drop table pages"])
def test_what_is_no_query_is_refused(kernel, text):
    with pytest.raises(UserSqlError, match="not a query that only reads: it begins with select"):
        check_query(kernel, text)


@pytest.mark.parametrize("text", ["n > 1", "key like '%国%'", "n in (1, 2) and key <> 'b' -- why"])
def test_expressions_are_accepted(kernel, text):
    check_expression(kernel, text, "pages", ["key", "n"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("m > 1", r'"m" .*at character 1; columns: key, n'),
        ("n >", "syntax error"),
        ("n = = 2", "at character 5"),
        ("(select 1)", "has a query"),
        ("exists(from pages)", "has a query"),
        ("1), (2", "not one expression"),
        ("1; drop table pages", "syntax error"),
        ("1) from pages --", "syntax error"),
        ("read_text('/etc/passwd') = ''", "read_text"),
        ("", "syntax error"),
        ("n > random()", r"at character 5 random\(\) is another with every run"),
        ("n > 1 and now() > '2026-01-01'", r"at character 11 now\(\) is another"),
        ("current_timestamp is null", "at character 1 current_timestamp is another"),
        ("n < count(*)", r"at character 5 count\(\) counts other rows"),
        ("n = max(n)", r"max\(\) counts other rows"),
        ("row_number() over () < 5", "row_number.* asks for other rows"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(kernel, text, said):
    with pytest.raises(UserSqlError, match=said):
        check_expression(kernel, text, "pages", ["key", "n"])
    assert kernel.value("select count(*) from pages") == 2


def test_names_of_columns_are_found_in_expressions(kernel):
    text = "host.dns_failures > 3 and Status = 2 or md['a'] = \"my column\" -- not this"
    assert names_in(kernel, text) == {"host", "status", "md", "my column"}
    with pytest.raises(UserSqlError):
        names_in(kernel, "status =")


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("host.rank > 1 and coalesce(HOST.Delay, 0) < 3", {"rank", "delay"}),
        ("score > 1 and rank = 2 and md['host'] = 'x'", set()),
        ("host['rank'] > 1", {""}),
        ("host is not null", {""}),
    ],
)
def test_fields_of_a_column_are_found_in_expressions(kernel, text, fields):
    assert fields_in(kernel, text, "host") == fields


def test_only_queries_are_queries(kernel):
    check_query(kernel, "select * from pages order by 1; ")
    for text in ("drop table pages", "select 1; select 2", "selec 1"):
        with pytest.raises(UserSqlError):
            check_query(kernel, text)
