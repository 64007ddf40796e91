"""DecideRules of Heritrix, in any nesting."""

import pytest
from pydantic import TypeAdapter

from nacre.scope.compile import compile_scope
from nacre.scope.rules.stock import AnyRule, stock_rules
from nacre.scope.state import ScopeState
from nacre.scope.subject import Facts, Need, Subject
from nacre_migrate.heritrix.convert import convert
from nacre_migrate.report import MigrationOutcome
from tests.cases.table import cases_folder, json_lines
from tests.migrate.heritrix.xmltext import cxml, migrated, prop, rule, rules, texts

_TABLE: TypeAdapter[tuple[AnyRule, ...]] = TypeAdapter(tuple[AnyRule, ...])


def test_the_stock_scope_decides_as_before(samples):
    draft, _ = convert(samples / "profile-crawler-beans.cxml")
    ours = _TABLE.validate_python(draft.settings["scope"])
    seen = 0
    for row in json_lines("decide_rules.jsonl")(cases_folder()):
        uri, config = row["uri"], row["config"]
        answers = []
        for one in (ours, stock_rules()):
            state = ScopeState()
            for seed in config.get("seeds", ()):
                state.add_seed(seed)
            subject = Subject(
                uri["url"],
                uri.get("hops", ""),
                uri.get("via", ""),
                is_seed=uri.get("is_seed", False),
                source=uri.get("source_tag", ""),
                facts=Facts(status=uri.get("status", 0)),
            )
            answers.append(compile_scope(one, state, Need(0)).decide(subject).decision)
        assert answers[0] == answers[1], uri
        seen += 1
    assert seen > 100


def test_a_scope_of_any_nesting(tmp_path):
    (tmp_path / "bad.txt").write_text("http://bad.example/\n")
    text = cxml(
        rule("surt.SurtPrefixedDecideRule", name="good"),
        rules(
            rule("RejectDecideRule"),
            '<ref bean="good"/>',
            rule("surt.NotOnDomainsDecideRule", '<property name="decision" value="REJECT"/>'),
            rule(
                "surt.SurtPrefixedDecideRule",
                prop(
                    "surtsSource",
                    '<bean class="org.archive.spring.ConfigFile">'
                    '<property name="path" value="bad.txt"/></bean>',
                )
                + '<property name="seedsAsSurtPrefixes" value="false"/>'
                '<property name="decision" value="REJECT"/>',
            ),
            rule(
                "DecideRuleSequence",
                prop(
                    "rules",
                    "<list>"
                    + rule("MatchesListRegexDecideRule", prop("regexList", texts(".*a", ".*b")))
                    + "</list>",
                ),
                name="inner",
            ),
            rule("TooManyHopsDecideRule", '<property name="maxHops" value="3"/>'),
        ),
    )
    said, report, found = migrated(tmp_path, text)
    assert [one.rule for one in said.scope] == [
        "reject", "surt-prefixed", "not", "surt-prefixed", "sequence", "too-many-hops",
    ]  # fmt: skip
    assert said.scope[3].files == ("bad.txt",)
    assert said.scope[4].rules[0].regexes == (".*a", ".*b")
    assert (said.scope[1].name, said.scope[4].name) == ("good", "inner")
    assert said.scope[5].max_hops == 3
    assert report.counts()["flagged"] == 0
    assert found["scope"].target == "scope"


@pytest.mark.parametrize(
    ("inner", "name", "words", "left"),
    [
        (
            rule("TooManyHopsDecideRule", '<property name="maxHops" value="many"/>'),
            "TooManyHopsDecideRule.maxHops", "left out", 2,
        ),
        (
            rule("MatchesRegexDecideRule", '<property name="regex" value="(a"/>'),
            "MatchesRegexDecideRule.regex", "left out", 2,
        ),
        (
            rule("TooManyHopsDecideRule", '<property name="maxHop" value="1"/>'),
            "TooManyHopsDecideRule.maxHop", "left out", 2,
        ),
        (
            rule("TooManyHopsDecideRule", '<property name="maxHops" value="#{1+1}"/>'),
            "TooManyHopsDecideRule.maxHops", "a sum is more than", 2,
        ),
    ],
)  # fmt: skip
def test_rules_that_cannot_be_had_are_flagged(tmp_path, inner, name, words, left):
    said, _, found = migrated(tmp_path, cxml(rules(rule("RejectDecideRule"), inner)))
    assert words in found[name].note
    assert found[name].outcome is MigrationOutcome.FLAGGED
    assert len(said.scope) == left
