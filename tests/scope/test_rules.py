import pytest
from pydantic import TypeAdapter, ValidationError

from nacre.scope.rule import Decision
from nacre.scope.rules import AnyRule, TooManyHops, stock_rules

RULE: TypeAdapter[AnyRule] = TypeAdapter(AnyRule)


def test_a_rule_is_found_by_either_name():
    for name in ("too-many-hops", "TooManyHopsDecideRule"):
        rule = RULE.validate_python({"rule": name, "max_hops": 3, "decision": "reject"})
        assert isinstance(rule, TooManyHops)
        assert (rule.max_hops, rule.says) == (3, Decision.REJECT)


@pytest.mark.parametrize(
    "values",
    [
        {"rule": "unheard-of"},
        {"rule": "accept", "decision": "REJECT"},
        {"rule": "too-many-hops", "max_hops": -1},
        {"rule": "too-many-hops", "maxHops": 1},
        {"rule": "surt-prefixed", "decision": "MAYBE"},
        {},
    ],
)
def test_what_is_no_rule(values):
    with pytest.raises(ValidationError):
        RULE.validate_python(values)


def test_labels():
    assert RULE.validate_python({"rule": "reject"}).label == "reject"
    assert RULE.validate_python({"rule": "accept", "comment": "all"}).label == "accept (all)"


def test_rules_survive_their_own_text():
    for rule in stock_rules():
        assert RULE.validate_json(rule.model_dump_json()) == rule
