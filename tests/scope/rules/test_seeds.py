"""Rules on seeds and on what descends from them."""

import pytest

from nacre.scope.rules.seeds import HasVia, SeedAccept, SeedScope, SourceSeed
from nacre.scope.scope import Decision
from nacre.scope.seed_scope import ScopeKind, SeedOwnScope
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject
from tests.scope.asking import says, scope_of

A, R, N = "ACCEPT", "REJECT", "NONE"


def test_seeds_are_accepted():
    assert says({"rule": "seed-accept"}, is_seed=True) == A
    assert says({"rule": "seed-accept"}) == N
    assert SeedAccept().seed_scope is ScopeKind.PAGE
    assert SeedAccept(decision=Decision.REJECT).seed_scope is None


def own_state():
    state = ScopeState()
    state.add_seed("http://own.test/a/", SeedOwnScope(ScopeKind.PREFIX), "own")
    return state


@pytest.mark.parametrize(
    ("url", "seed", "expected"),
    [
        ("http://own.test/a/x", "own", A),
        ("http://own.test/b", "own", R),
        ("http://own.test/b", "", N),
        ("http://own.test/b", "unknown", N),
        ("http://listed.test/", "own", N),
    ],
)
def test_a_seed_with_a_scope_of_its_own_says_how_far_its_descendants_go(url, seed, expected):
    state = own_state()
    state.add_directives(["+http://listed.test/"])
    assert says({"rule": "seed-scope"}, url, state, seed=seed, path="L") == expected


def test_directives_that_come_later_count():
    state = own_state()
    scope = scope_of({"rule": "seed-scope"}, state=state)
    subject = Subject("http://late.test/", "L", seed="own")
    assert str(scope.decide(subject).decision) == R
    state.add_directives(["+http://late.test/"])
    assert str(scope.decide(subject).decision) == N


def test_what_a_seed_leaves_open_is_what_the_rule_says():
    state = ScopeState()
    state.add_seed("http://own.test/a/", SeedOwnScope(depth=3), "own")
    for scope, expected in (("host", A), ("prefix", R)):
        rule = {"rule": "seed-scope", "scope": scope}
        assert says(rule, "http://own.test/b", state, seed="own", path="L") == expected


def test_a_disabled_rule_on_own_scopes_is_silent():
    rule = {"rule": "seed-scope", "enabled": False}
    assert says(rule, "http://own.test/b", own_state(), seed="own", path="L") == N


def test_source_tags_are_compared_as_they_are():
    rule = {"rule": "source-seed", "seeds": ["http://a.test/"]}
    assert says(rule, source="http://a.test/") == A
    assert says(rule, source="http://a.test") == N
    assert says({"rule": "source-seed"}, source="") == N


def test_what_was_found_on_a_page_is_no_seed_of_the_list():
    assert says({"rule": "has-via"}, via="http://b.test/") == A
    assert says({"rule": "has-via"}) == N


@pytest.mark.parametrize(
    ("url", "via", "path", "expected"),
    [
        ("http://www.a.test/home", "http://a.test/", "R", A),
        ("http://a.test/home", "https://www2.a.test/?x", "LR", A),
        ("http://a.test/home", "http://a.test/deep", "R", N),
        ("http://b.test/home", "http://a.test/", "R", N),
        ("http://a.test/home", "http://a.test/", "L", N),
        ("http://a.test/home", "ftp://a.test/", "R", N),
        ("urn:x", "http:", "R", N),
    ],
)
def test_a_redirect_from_a_start_page_becomes_a_seed(url, via, path, expected):
    subject = Subject(url, path, via)
    assert str(scope_of({"rule": "add-redirect-from-root"}).decide(subject).decision) == expected
    assert subject.is_seed is (expected == A)


def test_the_mark_is_set_even_where_a_later_rule_decides():
    subject = Subject("http://a.test/home", "R", "http://a.test/")
    scope = scope_of({"rule": "add-redirect-from-root"}, {"rule": "reject"})
    assert str(scope.decide(subject).decision) == R
    assert subject.is_seed
    silent = scope_of({"rule": "add-redirect-from-root", "enabled": False})
    other = Subject("http://a.test/home", "R", "http://a.test/")
    silent.decide(other)
    assert not other.is_seed


def test_rules_on_the_origin_say_so():
    assert [rule.asks_origin for rule in (SeedAccept(), SeedScope(), SourceSeed(), HasVia())] == [
        False, True, True, True,
    ]  # fmt: skip
