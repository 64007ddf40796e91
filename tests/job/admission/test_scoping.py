import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Result, Visit
from nacre.errors import URIError
from nacre.job.admission.rulefiles import RuleFiles
from nacre.job.admission.scoping import dump_prefixes, scope_doubts, scope_problems, scope_state
from nacre.job.configuration.settings import JobSettings
from nacre.job.seeding.seedbook import SeedBook, own_scope
from nacre.job.seeding.seeds import parse_seed, seed_line
from nacre.job.visit.names import HostAnswers
from nacre.job.visit.recheck import Recheck
from nacre.scope.coercion import ScopeKind
from nacre.scope.compile import compile_scope
from nacre.scope.own import OwnScope
from nacre.scope.rule import Place, Subject
from nacre.scope.state import ScopeState
from nacre.store.disk import RealDisk
from nacre.store.store import Store
from tests.scope.asking import RULE, scope_of
from tests.store.memory import MemoryEngine

ADDRESS = {"rule": "ip-address-set", "addresses": ["192.0.2.1"], "decision": "REJECT"}


def problems(root: Path, **values: Any) -> list[tuple[str, str]]:
    settings = JobSettings.model_validate(values)
    found = scope_problems(settings, root, RuleFiles(root))
    return [(problem.path, problem.message) for problem in found]


def test_rules_that_cannot_work_where_they_stand(tmp_path: Path):
    ((path, message),) = problems(tmp_path, scope=[{"rule": "reject"}, ADDRESS])
    assert path == "scope.1"
    assert "chains.fetch.recheck-scope.enabled: true" in message
    assert not problems(
        tmp_path, scope=[ADDRESS], chains={"fetch": {"recheck-scope": {"enabled": True}}}
    )
    assert not problems(tmp_path, fetch={"midfetch": [ADDRESS]})
    late = [{"rule": "identical-digest"}]
    assert problems(tmp_path, fetch={"midfetch": late})[0][0] == "fetch.midfetch.0"
    tags = [{"rule": "source-seed", "seeds": ["s"]}]
    assert "source tags" in problems(tmp_path, scope=tags)[0][1]
    assert not problems(tmp_path, scope=tags, engine={"source_tags": True})


def test_files_that_rules_name(tmp_path: Path):
    rules = [{"rule": "surt-prefixed", "files": ["s.txt"]}]
    assert "cannot be read" in problems(tmp_path, scope=rules)[0][1]
    (tmp_path / "s.txt").write_text("http://a.test/\nmailto:x\n")
    assert "mailto:x" in problems(tmp_path, scope=rules)[0][1]
    geo = [{"rule": "geo-location", "countries": ["IS"], "database": "no.mmdb"}]
    assert "no.mmdb cannot be used" in problems(tmp_path, fetch={"midfetch": geo})[0][1]


def test_an_address_that_should_let_something_in_is_doubted():
    accepting = {**ADDRESS, "decision": "ACCEPT"}
    settings = JobSettings.model_validate({"scope": [ADDRESS, accepting]})
    assert [doubt.path for doubt in scope_doubts(settings)] == ["scope.1"]


def test_prefixes_are_written_for_the_run(tmp_path: Path):
    state = scope_state(tmp_path, RuleFiles(tmp_path))
    scope_of({"rule": "SurtPrefixedDecideRule"}, state=state)
    state.add_seed("http://a.test/x/")
    dump_prefixes(state, RealDisk(), tmp_path, "20260101T000000Z")
    dumped = tmp_path / "runs/20260101T000000Z/surts.dump"
    assert dumped.read_text() == "http://(test,a,)/x/\n"


@pytest.mark.parametrize(
    ("url", "result"), [("http://192.0.2.1/", Result.FINISH), ("http://192.0.2.2/", Result.PROCEED)]
)
def test_the_scope_is_asked_again_with_the_address(url: str, result: Result):
    rules = [RULE.validate_python(rule) for rule in ({"rule": "accept"}, ADDRESS)]
    assert compile_scope(rules, ScopeState()).decide(Subject(url)).accepted
    scope = compile_scope(rules, ScopeState(), Place.RECHECK.offers)
    answers = HostAnswers(Store(MemoryEngine()))
    recheck = Recheck(fixed(scope), lambda visit: answers.address(visit.uri.url))
    visit = Visit(CrawlURI(url=url, key=b"", queue="q"))
    assert recheck.accepts(visit)
    assert asyncio.run(recheck.process(visit)) is result
    assert visit.status == (-5000 if result is Result.FINISH else 0)


def test_seeds_with_a_scope_of_their_own():
    seed = parse_seed("https://a.test/x scope=host depth=2")
    assert (seed.text, seed.own) == ("https://a.test/x", OwnScope(ScopeKind.HOST, 2))
    assert parse_seed("https://a.test/?scope=host").own is None
    assert parse_seed("a.test depth=0").own == OwnScope(None, 0)
    for bad in ("http://a.test/ scope=hosts", "http://a.test/ depth=-1", "http://a.test/ x=1"):
        with pytest.raises(URIError, match="behind a seed"):
            parse_seed(bad)
    assert seed_line({"url": "http://a.test/", "scope": "site"}) == "http://a.test/ scope=site"
    assert JobSettings.model_validate({"seeds": [{"url": "http://a.test/", "depth": 3}]}).seeds == (
        "http://a.test/ depth=3",
    )
    with pytest.raises(ValueError, match="`url`"):
        seed_line({"uri": "x"})


def test_own_scopes_are_durable_and_follow_redirects():
    store = Store(MemoryEngine())
    book = SeedBook(store, ScopeState())
    assert book.add(parse_seed("http://a.test/ scope=host depth=1"))
    assert book.add(parse_seed("http://b.test/"))
    own = own_scope("http://a.test/")
    moved = CrawlURI("http://moved.test/", b"", "q", via="http://a.test/", heritable=own)
    book.redirected(moved)
    assert book.has_owners
    assert [book.owner(f"http://{name}.test/") for name in ("a", "b", "moved")] == [
        "http://a.test/",
        "",
        "http://a.test/",
    ]
    again = ScopeState()
    scope = scope_of({"rule": "reject"}, {"rule": "surt-prefixed"}, state=again)
    SeedBook(store, again).load()
    for url, seed, accepted in (
        ("http://moved.test/x", "http://a.test/", True),
        ("http://moved.test/x", "", False),
        ("http://b.test/x", "", True),
        ("http://b.test/x", "http://a.test/", False),
    ):
        assert scope.decide(Subject(url, "L", seed=seed)).accepted is accepted
    assert not scope.decide(Subject("http://a.test/x", "LL", seed="http://a.test/")).accepted
