import pytest
from pydantic import TypeAdapter, ValidationError

from nacre.errors import ConfigError
from nacre.scope.compile import compile_scope
from nacre.scope.rules.stock import AnyRule
from nacre.scope.scope import Decision
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject

RULES = TypeAdapter(list[AnyRule])
FILES = {"r.txt": ["-secret", "+."], "s.txt": ["+", ".gif"], "e.txt": [r"+\.png$"]}


def read_lines(name):
    if name not in FILES:
        raise FileNotFoundError(2, "No such file", name)
    return FILES[name]


def scope(*rules):
    return compile_scope(
        RULES.validate_python([{"rule": "accept"}, *rules]), ScopeState(read_lines=read_lines)
    )


def refuses(rule, url, **facts):
    return scope(rule).decide(Subject(url, **facts)).decision is Decision.REJECT


@pytest.mark.parametrize(
    ("rule", "kept", "refused"),
    [
        ({"rule": "nutch-regex", "file": "r.txt"}, "http://a/", "http://a/secret"),
        ({"rule": "nutch-automaton", "rules": "+http:.*\n"}, "http://a/", "ftp://a/"),
        ({"rule": "nutch-domain", "rules": "a.org"}, "http://x.a.org/", "http://b.org/"),
        ({"rule": "nutch-domain-denylist", "rules": "a.org"}, "http://b.org/", "http://a.org/"),
        ({"rule": "nutch-prefix", "rules": "http:"}, "http://a/", "ftp://a/"),
        ({"rule": "nutch-suffix", "file": "s.txt"}, "http://a/", "http://a/x.gif"),
        ({"rule": "nutch-fast", "rules": "Host a\nDenyPath x"}, "http://b/x", "http://a/x"),
        ({"rule": "nutch-fast", "max_length": 9}, "http://a/", "http://a/x"),
        ({"rule": "nutch-validator"}, "http://a.org/", "http://a/"),
        (
            {"rule": "nutch-filters", "chain": [{"file": "r.txt"}, {"filter": "validator"}]},
            "http://a.org/",
            "http://a.org/secret",
        ),
    ],
)
def test_rules_refuse_what_their_filter_refuses(rule, kept, refused):
    assert not refuses(rule, kept)
    assert refuses(rule, refused)
    accepting = [{"rule": "reject"}, {**rule, "decision": "accept"}]
    assert scope(*accepting).decide(Subject(kept)).accepted
    assert not scope(*accepting).decide(Subject(refused)).accepted


def test_each_filter_of_a_chain_counts():
    rule = {"rule": "nutch-filters", "chain": [{"file": "r.txt"}, {"filter": "validator"}]}
    assert refuses(rule, "http://localhost/")
    assert not refuses({"rule": "nutch-filters"}, "http://a/")


@pytest.mark.parametrize(
    ("facts", "refused"),
    [
        ({"via": "http://b.a.org/", "path": "L"}, True),
        ({"via": "http://x.a.org/", "path": "L"}, False),
        ({"via": "", "path": ""}, False),
        ({"via": "http://other.org/", "path": "LP"}, False),
        ({"via": "http://other.org/", "path": "LR"}, True),
    ],
)
def test_links_to_other_sites(facts, refused):
    assert refuses({"rule": "nutch-exempt"}, "http://x.a.org/", **facts) is refused


def test_exemptions_domains_and_redirects():
    away = {"via": "http://b.org/", "path": "L"}
    rule = {"rule": "nutch-exempt", "file": "e.txt"}
    assert refuses(rule, "http://a.org/x", **away)
    assert not refuses(rule, "http://a.org/x.png", **away)
    by_domain = {"rule": "nutch-exempt", "site": "byDomain", "also_redirects": False}
    assert not refuses(by_domain, "http://x.b.org/", **away)
    assert refuses(by_domain, "http://a.org/", **away)
    assert not refuses(by_domain, "http://a.org/", via="http://b.org/", path="LR")


def test_files_that_cannot_be_used():
    chain = [{"file": "absent.txt"}, {"rules": "x"}, {"file": "gone.txt"}]
    with pytest.raises(ConfigError) as caught:
        scope({"rule": "nutch-filters", "chain": chain})
    found = [(problem.file, problem.line) for problem in caught.value.problems]
    assert found == [("absent.txt", 0), ("rules", 1), ("gone.txt", 0)]
    with pytest.raises(ValidationError):
        scope({"rule": "nutch-validator", "file": "x"})


def test_time_outs_are_counted_where_there_can_be_some():
    state = ScopeState(read_lines=read_lines)
    rules = [{"rule": "nutch-regex", "rules": r"-^(a|aa)+(?=b)$"}, {"rule": "nutch-validator"}]
    found = compile_scope(RULES.validate_python([{"rule": "accept"}, *rules]), state)
    assert len(state.counts) == 1
    found.trace(Subject("a" * 100))
    assert state.timeouts() == 1
