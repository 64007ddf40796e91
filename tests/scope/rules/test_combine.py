from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from nacre.scope.compile import compile_gate, find_misplaced
from nacre.scope.scope import Decision, Logged
from nacre.scope.seed_scope import ScopeKind, SeedOwnScope
from nacre.scope.state import ScopeState
from nacre.scope.subject import Need, RulePlace, Subject
from tests.scope.asking import RULE, scope_of

LEAVES = st.sampled_from(
    [
        {"rule": "accept"},
        {"rule": "reject"},
        {"rule": "has-via", "decision": "REJECT"},
        {"rule": "matches-regex", "regex": ".*a.*"},
        {"rule": "matches-list-regex", "regexes": [".*b.*", ".*/"], "decision": "REJECT"},
        {"rule": "matches-list-regex", "regexes": [".*c.*"]},
        {"rule": "seed-accept", "enabled": False},
        {"rule": "content-length", "threshold": 5},
    ]
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4).map(lambda r: {"rule": "sequence", "rules": r}),
)


def plainly(rule: dict[str, Any], subject: Subject) -> str:
    """Heritrix's own order: every rule in turn, the last opinion wins."""
    if rule["rule"] != "sequence":
        return str(scope_of(rule).decide(subject).decision)
    found = [plainly(inner, subject) for inner in rule["rules"]]
    return next((one for one in reversed(found) if one != "NONE"), "NONE")


@given(
    TREES, st.sampled_from(["http://a.test/", "http://b.test/c", "http://x.test/d"]), st.booleans()
)
@example(rule={"rule": "content-length", "threshold": 5}, url="http://a.test/", has_via=False)
def test_nested_sequences_are_their_members(rule: dict[str, Any], url: str, has_via: bool):
    subject = Subject(url, via="http://v.test/" if has_via else "")
    scope = scope_of(rule)
    assert str(scope.decide(subject).decision) == plainly(rule, subject)
    # In a sequence, for there are rules that have two opinions.
    whole = scope_of({"rule": "sequence", "rules": [rule]})
    assert str(whole.trace(subject)[0].decision) == plainly(rule, subject)


def test_neighbouring_lists_are_asked_together_and_keep_their_names():
    scope = scope_of(
        *(
            {"rule": "matches-list-regex", "regexes": [f".*{word}.*"], "name": word}
            for word in ("one", "two", "three")
        )
    )
    assert len(scope._steps) == 1
    for url, name in (("one", "one"), ("onetwo", "two"), ("twothree", "three"), ("x", "(no rule)")):
        assert scope.decide(Subject(f"http://{url}.test/")).rule == name


def test_a_gate_is_closed_by_reject_alone():
    rules = [RULE.validate_python({"rule": "has-via", "decision": "REJECT"})]
    gate = compile_gate(rules, ScopeState(), RulePlace.AFTER_FETCH)
    assert gate is not None
    assert gate.opens(Subject("http://a.test/"))
    assert not gate.opens(Subject("http://a.test/", via="http://b.test/"))
    assert not scope_of({"rule": "has-via"}).decide(Subject("http://a.test/")).accepted
    assert compile_gate([], ScopeState(), RulePlace.AFTER_FETCH) is None


def test_every_sequence_logs_by_itself():
    heard: list[Logged] = []
    scope = scope_of(
        {"rule": "reject"},
        {
            "rule": "sequence",
            "name": "inner",
            "log_to_file": True,
            "feed": True,
            "rules": [{"rule": "has-via", "decision": "REJECT"}, {"rule": "seed-accept"}],
        },
        {"rule": "accept"},
        state=ScopeState(write=heard.append),
    )
    assert scope.logs
    assert scope.decide(Subject("http://a.test/", is_seed=True)).accepted
    assert [(one.log.name, one.log.feed, one.number, one.kind) for one in heard] == [
        ("inner", False, 1, "SeedAcceptDecideRule"),
        ("inner", True, 1, "SeedAcceptDecideRule"),
    ]
    scope.decide(Subject("http://a.test/"))
    assert (heard[-1].number, heard[-1].decision) == (-1, Decision.NONE)
    scope.judge(Subject("http://a.test/"))
    assert len(heard) == 4


def test_rules_in_the_wrong_place_are_named_with_the_right_ones():
    nested = {"rule": "sequence", "rules": [{"rule": "ip-address-set", "addresses": ["192.0.2.1"]}]}
    rules = [RULE.validate_python(rule) for rule in ({"rule": "reject"}, nested)]
    ((number, message),) = find_misplaced(rules, RulePlace.CANDIDATES)
    assert number == 1
    assert "the server's address" in message
    assert "fetch.midfetch" in message
    assert not list(find_misplaced(rules, RulePlace.RECHECK))
    expression = RULE.validate_python({"rule": "expression", "expression": "length > 5"})
    assert expression.needs is Need.RESPONSE
    assert list(find_misplaced([expression], RulePlace.MID_FETCH))
    off = RULE.validate_python({"rule": "fetch-status", "statuses": [404], "enabled": False})
    assert not list(find_misplaced([off], RulePlace.CANDIDATES))
    silent = scope_of({"rule": "fetch-status", "statuses": [0]}, offers=Need.NOTHING)
    assert silent.decide(Subject("http://a.test/")).decision is Decision.NONE


def test_descendants_of_a_seed_are_judged_by_its_own_scope():
    state = ScopeState()
    scope = scope_of({"rule": "reject"}, {"rule": "surt-prefixed"}, state=state)
    state.add_seed("http://a.test/")
    before = len(scope.opinions)
    state.add_seed("http://b.test/x/", SeedOwnScope(ScopeKind.HOST, 1))
    state.add_seed("http://c.test/", SeedOwnScope(ScopeKind.ANY))
    state.add_directives(["+http://extra.test/"])
    assert len(scope.opinions) == before + 2
    own = "http://b.test/x/"
    for url, path, seed, accepted in (
        ("http://b.test/y", "L", own, True),
        ("http://b.test/y", "LL", own, False),
        ("http://b.test/y", "L", "", False),
        ("http://a.test/y", "L", own, False),
        ("http://extra.test/y", "LLL", own, True),
        ("http://a.test/y", "LL", "", True),
        ("http://any.test/", "LLL", "http://c.test/", True),
    ):
        assert scope.decide(Subject(url, path, seed=seed)).accepted is accepted, (url, seed)
