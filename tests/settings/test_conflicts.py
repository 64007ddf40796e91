from collections.abc import Iterable

import pytest

from nacre.config.check import Loaded, load
from nacre.config.document import read_yaml
from nacre.errors import Problem
from nacre.scope.compile import compile_scope
from nacre.scope.seeds import parse_seed
from nacre.scope.state import ScopeState
from nacre.settings.conflicts import conflict_problems, conflict_warnings, scope_warnings
from nacre.settings.settings import JobSettings


def loaded(yaml: str) -> Loaded[JobSettings]:
    return load(JobSettings, [read_yaml(yaml, "crawl.yaml")])


def paths(problems: Iterable[Problem]) -> list[str]:
    return [problem.path for problem in problems]


@pytest.mark.parametrize("yaml", ["", "politeness: {min_delay: 1, max_delay: 1}"])
def test_settings_without_a_conflict(yaml: str):
    assert paths(conflict_problems(loaded(yaml))) == []
    assert paths(conflict_warnings(loaded(yaml))) == []


@pytest.mark.parametrize(
    ("yaml", "path"),
    [
        ("politeness: {min_delay: 9, max_delay: 3}", "politeness.min_delay"),
        ("frontier: {retry_delay: 9, retry_delay_max: 3}", "frontier.retry_delay"),
        ("fetch: {connect_timeout: 9, timeout: 3}", "fetch.connect_timeout"),
        ("fetch: {handshake_timeout: 9, timeout: 3}", "fetch.handshake_timeout"),
        ("fetch: {silence_timeout: 9, timeout: 3}", "fetch.silence_timeout"),
    ],
)
def test_two_given_values_that_contradict_each_other_are_an_error(yaml: str, path: str):
    problems = list(conflict_problems(loaded(yaml)))
    assert paths(problems) == [path]
    assert "9 s" in problems[0].message
    assert "3 s" in problems[0].message
    assert path not in paths(conflict_warnings(loaded(yaml)))


def test_a_value_that_contradicts_a_default_is_a_warning():
    found = loaded("politeness: {min_delay: 500}")
    assert paths(conflict_problems(found)) == []
    assert paths(conflict_warnings(found)) == ["politeness.min_delay"]


def test_a_floor_below_all_queues_is_an_error():
    yaml = "frontier: {precedence_floor: 3, queue_precedence: {base: 3}}"
    assert paths(conflict_problems(loaded(yaml))) == ["frontier.precedence_floor"]
    assert paths(conflict_problems(loaded(yaml.replace("floor: 3", "floor: 4")))) == []


@pytest.mark.parametrize(
    ("yaml", "path"),
    [
        ("robots: {custom: 'User-agent: *'}", "robots.custom"),
        ("robots: {policy: custom}", "robots.policy"),
        ("politeness: {delay: 1, delay_factor: 2}", "politeness.delay_factor"),
        ("politeness: {delay: 1, max_delay: 20}", "politeness.max_delay"),
        ("fetch: {send_range: true}", "fetch.send_range"),
        ("network: {proxy_resolves: true}", "network.proxy_resolves"),
        ("frontier: {cost: zero, queue_total_budget: 9}", "frontier.queue_total_budget"),
        ("robots: {fetch: false}", "robots.fetch"),
        ("recrawl: {gap_probes: 50, recall: 1}", "recrawl.gap_probes"),
        ("recrawl: {drift: 4.0}", "recrawl.drift"),
        ("fetch: {credentials: [{origin: 'http://a.test', username: me, password: x}]}",
         "fetch.credentials.0.password"),
    ],
)  # fmt: skip
def test_a_value_without_effect_is_a_warning(yaml: str, path: str):
    assert paths(conflict_warnings(loaded(yaml))) == [path]


def told(yaml: str, *seeds: str) -> list[tuple[str, str]]:
    """The warnings about a scope, with these seeds."""
    found = loaded(yaml)
    state = ScopeState()
    parsed = [parse_seed(line) for line in seeds]
    for seed in parsed:
        state.add_seed(seed.url)
    scope = compile_scope(found.settings.scope, state)
    return [(one.path, one.message) for one in scope_warnings(found, scope, parsed)]


STOCK = "scope:\n- {rule: reject}\n- {rule: surt-prefixed, seeds_as_prefixes: true}\n"


@pytest.mark.parametrize("yaml", ["", STOCK])
def test_a_scope_without_warnings(yaml: str):
    assert told(yaml, "http://a.test/") == []


def test_a_rule_that_can_never_speak():
    yaml = STOCK + "- {rule: matches-list-regex, comment: mine}\n"
    [(path, message)] = told(yaml, "http://a.test/")
    assert path == "scope.2"
    assert "matches-list-regex (mine) can never match" in message


def test_rules_before_one_that_always_speaks():
    yaml = STOCK + "- {rule: accept}\n"
    [(path, message)] = told(yaml, "http://a.test/")
    assert path == "scope.2"
    assert message.endswith("never decide: reject, surt-prefixed")


def test_a_scope_that_accepts_nothing():
    found = told("scope:\n- {rule: reject}\n", "http://a.test/")
    assert ("scope", "no rule can accept anything: only the seeds will be fetched") in found


def test_seeds_that_their_scope_refuses():
    yaml = STOCK + "- {rule: matches-regex, regex: '.*/x.*', decision: REJECT}\n"
    seeds = [f"http://a.test/x{number}" for number in range(23)]
    found = told(yaml, "http://a.test/", *seeds)
    assert len(found) == 21
    assert found[0][0] == "scope.2"
    assert "http://a.test/x0 is out of scope itself" in found[0][1]
    assert found[-1] == ("scope", "and 3 more seeds that are out of scope themselves")


def test_an_expression_that_may_run_long():
    yaml = STOCK + "- {rule: matches-list-regex, regexes: ['(.*)x\\1'], decision: REJECT}\n"
    [(path, message)] = told(yaml, "http://a.test/")
    assert path == "scope.2.regexes.0"
    assert "(.*)x" in message
