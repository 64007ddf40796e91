import pytest
from pydantic import ValidationError

from nacre.scope.heritrix import CLASSES
from nacre.scope.rules.combine import Not, RuleSequence
from nacre.scope.rules.regex import MatchesListRegex
from nacre.scope.rules.surt import SurtPrefixed
from nacre.scope.scope import Decision
from tests.scope.asking import RULE

NEEDED: dict[str, dict[str, object]] = {
    "ScriptedDecideRule": {"scriptSource": "is_seed", "engineName": "beanshell"},
    "ExpressionDecideRule": {"groovyExpression": "is_seed"},
    "ExternalGeoLocationDecideRule": {"database": "c.mmdb", "countryCodes": ["is"]},
}


@pytest.mark.parametrize(
    "package", ["", "org.archive.modules.deciderules.", "org.archive.crawler.x."]
)
@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_class_loads_and_names_itself_in_logs(name: str, package: str):
    rule = RULE.validate_python({"rule": package + name, **NEEDED.get(name, {})})
    equals = {"ScriptedDecideRule": "ExpressionDecideRule"}
    wanted = equals.get(name, name.removesuffix("WithAMQPFeed"))
    assert rule.kind.replace("Not", "") == wanted.replace("Not", "")
    assert isinstance(rule, Not) is ("Not" in name and "SchemeNotInSet" not in name)
    assert RULE.validate_json(rule.model_dump_json()) == rule


def test_the_settings_have_heritrix_names():
    rule = RULE.validate_python(
        {
            "rule": "NotMatchesListRegexDecideRule",
            "regexList": [".*x"],
            "listLogicalOr": "false",
            "timeoutPerRegexSeconds": 2,
            "decision": "REJECT",
            "comment": "why",
        }
    )
    assert isinstance(rule, Not)
    assert isinstance(rule.of, MatchesListRegex)
    assert (rule.comment, rule.says) == ("why", Decision.REJECT)
    assert (rule.of.regexes, rule.of.all, rule.of.timeout) == ((".*x",), True, 2.0)
    surts = RULE.validate_python(
        {"rule": "SurtPrefixedDecideRule", "surtsSource": "+http://(org,\n\n# c\nexample.com"}
    )
    assert isinstance(surts, SurtPrefixed)
    assert surts.prefixes == ("+http://(org,", "# c", "example.com")
    assert surts.dump_file == "${launchId}/surts.dump"
    from_file = RULE.validate_python(
        {"rule": "OnHostsDecideRule", "surtsSource": {"path": "s.txt"}}
    )
    assert getattr(from_file, "files", ()) == ("s.txt",)
    feed = RULE.validate_python({"rule": "DecideRuleSequenceWithAMQPFeed"})
    assert isinstance(feed, RuleSequence)
    assert feed.feed


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"rule": "DecideRuleSequenceWithAMQPFeed", "amqpUri": "amqp://x"}, "amqp_uri"),
        ({"rule": "TooManyHopsDecideRul"}, "there is no rule"),
        ({"rule": "to-many-hops"}, "did you mean `too-many-hops`"),
        ({"rule": "not", "of": {"rule": "sequence"}}, "cannot be negated"),
        ({"rule": "accept", "decision": "REJECT"}, "decision"),
        (["accept"], "a mapping"),
        ({"rule": "has-via", "decision": "NONE"}, "enabled: false"),
        ({"rule": "geo-location", "countries": ["IS"]}, "no country database"),
        ({"rule": "geo-location", "countries": ["ISL"], "database": "x"}, "two letters"),
        ({"rule": "ip-address-set", "addresses": ["1.2.3"]}, "neither an IP address"),
        ({"rule": "file-pattern", "preset": "custom"}, "needs a `regex`"),
        ({"rule": "status-between", "lower": 5, "upper": 1}, "no status is between"),
        ({"rule": "matches-regex", "regex": r"\p{javaMirrored}"}, "javaMirrored"),
        ({"rule": "sequence", "name": "a/b"}, "names its log"),
        ({"rule": "expression", "expression": "host = 'a'"}, "write `==`"),
    ],
)
def test_what_is_wrong_is_said(said: object, words: str):
    with pytest.raises(ValidationError, match=words):
        RULE.validate_python(said)
