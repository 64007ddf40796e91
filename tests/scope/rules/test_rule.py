"""What all rules have in common: names, defaults, and when they are silent."""

import pytest
from pydantic import TypeAdapter, ValidationError

from nacre.scope.rules.rule import RULES, Accept, AnyRule, Build, Reject
from nacre.scope.rules.server import FetchStatusIs
from nacre.scope.rules.stock import stock_rules
from nacre.scope.scope import Decision, never
from nacre.scope.seed_scope import ScopeKind
from nacre.scope.state import ScopeState
from nacre.scope.subject import Facts, Need, Subject

READ = TypeAdapter(AnyRule)
PAGE = Subject("http://a.test/", facts=Facts(status=404))


def opinion(rule, offers=Need.NOTHING):
    (found,) = rule.opinions(Build(ScopeState(), offers), depth=2)
    return found


def test_accept_and_reject_say_so_of_everything():
    for rule, decision in ((Accept(), Decision.ACCEPT), (Reject(), Decision.REJECT)):
        found = opinion(rule)
        assert found.test(PAGE)
        assert (found.decision, found.depth) == (decision, 2)
    assert Accept().seed_scope is ScopeKind.ANY
    assert Reject().seed_scope is None


def test_a_rule_that_is_disabled_never_speaks():
    assert opinion(Accept(enabled=False)).test is never


def test_a_rule_is_silent_where_what_it_needs_is_not_known():
    rule = FetchStatusIs(statuses=frozenset({404}))
    assert opinion(rule).test is never
    assert opinion(rule, Need.HEADERS).test(PAGE)
    assert opinion(rule, Need.HEADERS | Need.ADDRESS).test(PAGE)
    assert opinion(rule, Need.ADDRESS).test is never


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({}, "accept"),
        ({"name": "mine"}, "mine"),
        ({"comment": "all of it"}, "accept (all of it)"),
        ({"name": "mine", "comment": "all"}, "mine (all)"),
    ],
)
def test_labels_name_the_rule(fields, label):
    rule = Accept(**fields)
    assert rule.label == opinion(rule).name == label
    assert rule.kind == "AcceptDecideRule"


def test_a_name_has_no_dot():
    with pytest.raises(ValidationError, match="name"):
        Accept(name="a.b")


def test_a_decision_in_small_letters_will_do_and_none_is_no_answer():
    assert FetchStatusIs.model_validate({"decision": "reject"}).says is Decision.REJECT
    with pytest.raises(ValidationError, match="enabled: false"):
        FetchStatusIs(decision=Decision.NONE)


def test_a_rule_is_chosen_by_either_of_its_names():
    short = READ.validate_python({"rule": "reject"})
    long = READ.validate_python({"rule": "RejectDecideRule"})
    assert isinstance(short, Reject)
    assert isinstance(long, Reject)
    assert Accept.chosen({"rule": "reject"}) is Reject
    assert Accept.chosen({"rule": "unheard-of"}) is Accept
    assert Accept.chosen({}) is Accept


@pytest.mark.parametrize("value", [3, "unheard-of", {"rule": "unheard-of"}, {"max_hops": 3}])
def test_what_is_no_rule_is_refused(value):
    with pytest.raises(ValidationError):
        READ.validate_python(value)


@pytest.mark.parametrize("rule", stock_rules(), ids=lambda rule: rule.label)
def test_every_stock_rule_is_registered_under_its_name(rule):
    assert RULES.find(rule.rule_name) is type(rule)
    assert rule.parts == () or all(part.rule_name for part in rule.parts)
