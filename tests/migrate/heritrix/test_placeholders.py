import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre_migrate.heritrix.placeholders import read_properties
from tests.migrate.heritrix.xmltext import (
    bean,
    cxml,
    migrated,
    rule,
    rules,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", [("a", "b", 1)]),
        ("\n# c\n! d\n  a = b \n", [("a", "b ", 4)]),
        ("a: b\nc d", [("a", "b", 1), ("c", "d", 2)]),
        ("a=b\\\n   c\nd=e", [("a", "bc", 1), ("d", "e", 3)]),
        ("a=b\\\\\nd=e", [("a", "b\\", 1), ("d", "e", 2)]),
        ("a\\=b=c", [("a=b", "c", 1)]),
        ("a=\\u4e2d\\tb", [("a", "中\tb", 1)]),
        ("a", [("a", "", 1)]),
        ("a=b\r\nc=d", [("a", "b", 1), ("c", "d", 2)]),
        ("a=b\\", [("a", "b", 1)]),
        ("", []),
    ],
)
def test_property_lists(text, expected):
    assert [(key, value, line + 1) for key, value, line in read_properties(text)] == expected


@given(st.text("ab=:# \\\n!u0", max_size=40))
def test_any_text_is_read(text):
    lines = [line for _, _, line in read_properties(text)]
    assert lines == sorted(lines)
    assert all(0 <= line <= text.count("\n") for line in lines)


def test_overrides_of_all_kinds(tmp_path):
    override = "org.springframework.beans.factory.config.PropertyOverrideConfigurer"
    text = cxml(
        f"<bean id='simpleOverrides' class='{override}'><property name='properties'><value>",
        "# a comment",
        "crawlController.maxToeThreads=7",
        "nobody.x=1",
        "scope.rules[1].maxHops=4",
        "</value></property></bean>",
        f"<bean class='{override}'><property name='properties'><props>",
        "<prop key='crawlController.maxToeThreads'>9</prop></props></property></bean>",
        bean("crawlController", "CrawlController", maxToeThreads="1"),
        rules(rule("RejectDecideRule"), rule("TooManyHopsDecideRule")),
    )
    said, report, found = migrated(tmp_path, text)
    assert (said.engine.parallel, said.scope[1].max_hops) == (9, 4)
    assert "no bean nobody" in found["nobody.x"].note
    threads = [f for f in report.findings if f.name == "crawlController.maxToeThreads"]
    assert [(f.line, f.outcome.value) for f in threads] == [
        (4, "defaulted"),
        (9, "mapped"),
        (10, "defaulted"),
    ]


def test_lines_of_overrides_behind_a_comment(tmp_path):
    override = "org.springframework.beans.factory.config.PropertyOverrideConfigurer"
    text = cxml(
        f"<bean id='o' class='{override}'><property name='properties'>",
        "<value><!-- two",
        "lines -->",
        "c.maxToeThreads=7",
        "</value></property></bean>",
        bean("c", "CrawlController"),
    )
    _, _, found = migrated(tmp_path, text)
    assert found["c.maxToeThreads"].line == 5
