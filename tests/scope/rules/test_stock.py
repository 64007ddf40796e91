from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from nacre.errors import ConfigError
from nacre.scope.compile import compile_scope
from nacre.scope.rules.stock import (
    AnyRule,
    MatchesListRegex,
    Reject,
    SurtPrefixed,
    TooManyHops,
    Transclusion,
    rules_for,
    stock_rules,
)
from nacre.scope.scope import Decision
from nacre.scope.seed_scope import ScopeKind
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject

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


SEED = "http://www.a.test/dir/page"


def accepts(url, path="L", *, seed=SEED, is_seed=False, **options):
    return decided(url, path, seed=seed, is_seed=is_seed, **options).accepted


def decided(url, path="L", *, seed=SEED, is_seed=False, **options):
    state = ScopeState()
    scope = compile_scope(rules_for(**options), state)
    state.add_seed(seed)
    return scope.decide(Subject(url, path, seed, is_seed=is_seed))


def test_stock_order():
    stock = stock_rules()
    assert [rule.rule_name for rule in stock] == [
        "reject",
        "surt-prefixed",
        "too-many-hops",
        "transclusion",
        "surt-prefixed",
        "matches-list-regex",
        "pathological-path",
        "too-many-path-segments",
        "prerequisite-accept",
        "scheme-not-in-set",
    ]
    assert isinstance(stock[1], SurtPrefixed)
    assert isinstance(stock[4], SurtPrefixed)
    assert (stock[1].says, stock[1].seeds_as_prefixes) == (Decision.ACCEPT, True)
    assert (stock[4].says, stock[4].seeds_as_prefixes) == (Decision.REJECT, False)
    assert isinstance(stock[2], TooManyHops)
    assert isinstance(stock[3], Transclusion)
    assert stock[2].max_hops == 20
    assert (stock[3].max_trans_hops, stock[3].max_speculative_hops) == (2, 1)
    refusing = [rule.rule_name for rule in stock if rule.says is Decision.REJECT]
    assert refusing[1:] == [stock[at].rule_name for at in (2, 4, 5, 6, 7, 9)]


def test_no_options_are_the_stock_scope():
    assert rules_for() == stock_rules()


@pytest.mark.parametrize(
    ("url", "kinds"),
    [
        ("http://www.a.test/dir/other", "prefix host domain site any"),
        ("http://www.a.test/elsewhere", "host domain site any"),
        ("https://www.a.test/elsewhere", "host domain site any"),
        ("http://sub.a.test/", "domain site any"),
        ("http://b.test/", "any"),
        ("http://www.a.test:81/dir/", "domain site any"),
        ("ftp://www.a.test/dir/", ""),
    ],
)
def test_kinds(url, kinds):
    assert [kind for kind in ScopeKind if accepts(url, kind=kind)] == kinds.split()


def test_site_is_the_registered_domain():
    seed = "http://www.news.a.test/"
    assert not accepts("http://a.test/", seed=seed, kind=ScopeKind.DOMAIN)
    assert accepts("http://a.test/", seed=seed, kind=ScopeKind.SITE)


@pytest.mark.parametrize("kind", ScopeKind)
def test_every_kind_takes_seeds_embeds_redirects_and_prerequisites(kind):
    assert accepts(SEED, "", is_seed=True, kind=kind)
    assert accepts("http://cdn.test/a.png", "E", kind=kind)
    assert accepts("http://cdn.test/a.png", "LEE", kind=kind)
    assert accepts("http://b.test/", "R", kind=kind)
    assert accepts("dns:b.test", "LP", kind=kind)
    assert not accepts("mailto:a@b.test", "L", kind=kind)


def test_page_takes_no_link():
    assert not accepts(SEED + "2", "L", kind=ScopeKind.PAGE)


@pytest.mark.parametrize(
    ("path", "within"), [("", True), ("L", True), ("LL", False), ("LE", True), ("LRL", False)]
)
def test_depth(path, within):
    assert accepts("http://www.a.test/dir/x", path, is_seed=not path, depth=1) is within
    assert decided("http://www.a.test/dir/x", "LL", depth=1).rule == "too-many-link-hops"


def test_depth_0_is_the_seed_with_its_redirects_and_embeds():
    assert [accepts("http://www.a.test/dir/x", path, depth=0) for path in ("R", "E", "RE")] == [
        True
    ] * 3
    assert not accepts("http://www.a.test/dir/x", "L", depth=0)


def test_more_than_twenty_hops_but_for_embeds():
    assert not accepts("http://www.a.test/dir/x", "L" * 21)
    assert accepts("http://www.a.test/dir/x", "L" * 20 + "E")


def test_include_and_exclude_search_and_spare_what_pages_need():
    options = {"include": ["/keep/", "too"], "exclude": [r"\.zip$"]}
    page = "http://www.a.test/dir/"
    assert accepts(page + "keep/x", **options)
    assert accepts(page + "me-too", **options)
    assert decided(page + "x", **options) == (Decision.REJECT, "matches-list-regex (--include)")
    refused = decided(page + "keep/x.zip", **options)
    assert refused == (Decision.REJECT, "matches-list-regex (--exclude)")
    assert accepts(page + "x.zip", "E", **options)
    assert accepts(page + "x.zip", "", is_seed=True, **options)
    assert accepts("dns:x.zip", "P", **options)


def test_refusals_name_their_rule():
    page = "http://www.a.test/dir/"
    assert decided("http://b.test/").rule == "reject"
    assert decided(page + "a/a/a/a/b").rule == "pathological-path"
    assert decided(page + "/".join(map(str, range(21)))).rule == "too-many-path-segments"
    assert decided("ftp://www.a.test/dir/").rule == "scheme-not-in-set"
    assert decided(page).rule == "surt-prefixed"


def test_negative_directives_bind_embeds_too_but_no_prerequisites():
    state = ScopeState()
    scope = compile_scope(stock_rules(), state)
    state.add_seed("http://a.test/")
    state.add_directives(["-http://a.test/private/", "-http://ads.test/"])
    assert not scope.decide(Subject("http://a.test/private/x", "L")).accepted
    assert not scope.decide(Subject("http://ads.test/x.gif", "E")).accepted
    assert scope.decide(Subject("http://ads.test/robots.txt", "LP")).accepted


def test_disabled_and_empty_rules_are_traced_as_silent():
    state = ScopeState()
    rules = (Reject(), TooManyHops(enabled=False, max_hops=0), MatchesListRegex(comment="none"))
    scope = compile_scope(rules, state)
    assert [(v.rule, str(v.decision)) for v in scope.trace(Subject("http://a.test/", "L"))] == [
        ("reject", "REJECT"),
        ("too-many-hops", "NONE"),
        ("matches-list-regex (none)", "NONE"),
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"kind": "hots"},
            "scope: 'hots' is not a scope; one of: page, prefix, host, domain, site",
        ),
        ({"include": ["("]}, "--include: '(' is not a regular expression"),
        ({"depth": -3}, "depth: -3 is no depth"),
        ({"exclude": ["a", "["]}, "--exclude: '[' is not a regular expression"),
    ],
)
def test_what_is_no_option_is_an_error_of_the_configuration(options: dict[str, Any], said: str):
    with pytest.raises(ConfigError) as error:
        rules_for(**options)
    assert said in str(error.value)
