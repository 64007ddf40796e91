import asyncio
import bz2
import gzip
from pathlib import Path
from typing import Any

import pytest

from nacre.assembly.rule_checks import examine_rule_files, scope_doubts, scope_problems
from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Result, Visit
from nacre.engine.candidates import scope_state as scope_state_geo
from nacre.engine.candidates import scope_state as scope_state_rulefiles
from nacre.engine.candidates.scope_state import (
    RuleFiles,
    database_problem,
    dump_prefixes,
    open_countries,
    scope_state,
)
from nacre.engine.prerequisites import HostAnswers
from nacre.engine.seeding.seedbook import SeedBook, own_scope
from nacre.engine.steps.preselect import RecheckScopeStep
from nacre.errors import ConfigError, URIError
from nacre.scope.compile import compile_scope
from nacre.scope.seed_scope import ScopeKind, SeedOwnScope
from nacre.scope.seeds import parse_seed, seed_line
from nacre.scope.state import ScopeState
from nacre.scope.subject import RulePlace, Subject
from nacre.settings.settings import JobSettings
from nacre.store.disk import RealDisk
from nacre.store.store import Store
from tests.job.mmdb import database
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
    scope = compile_scope(rules, ScopeState(), RulePlace.RECHECK.offers)
    answers = HostAnswers(Store(MemoryEngine()))
    recheck = RecheckScopeStep(fixed(scope), lambda visit: answers.address(visit.uri.url))
    visit = Visit(CrawlURI(url=url, key=b"", queue="q"))
    assert recheck.accepts(visit)
    assert asyncio.run(recheck.process(visit)) is result
    assert visit.status == (-5000 if result is Result.FINISH else 0)


def test_seeds_with_a_scope_of_their_own():
    seed = parse_seed("https://a.test/x scope=host depth=2")
    assert (seed.text, seed.own) == ("https://a.test/x", SeedOwnScope(ScopeKind.HOST, 2))
    assert parse_seed("https://a.test/?scope=host").own is None
    assert parse_seed("a.test depth=0").own == SeedOwnScope(None, 0)
    for bad in ("http://a.test/ scope=hosts", "http://a.test/ depth=-1", "http://a.test/ x=1"):
        with pytest.raises(URIError, match="is no option of a seed"):
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


def test_countries_of_addresses(tmp_path: Path):
    path = tmp_path / "c.mmdb"
    records = {
        "192.0.2.0/25": {"country": {"iso_code": "IS"}},
        "192.0.2.128/25": {"registered_country": {"iso_code": "no"}},
        "198.51.100.0/24": {"country_code": "CN", "country": "China"},
        "203.0.113.0/24": {"city": "x"},
    }
    path.write_bytes(database(records))
    country = open_countries(path)
    asked = ["192.0.2.1", "192.0.2.200", "198.51.100.9", "203.0.113.1", "8.8.8.8", "no", "::1"]
    assert [country(address) for address in asked] == ["IS", "NO", "CN", "", "", "", ""]
    assert database_problem(path) == ""


def test_what_cannot_be_used_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert "GeoLite2-Country" in database_problem(tmp_path / "missing.mmdb")
    (tmp_path / "bad.mmdb").write_bytes(b"no database")
    assert "bad.mmdb cannot be used" in database_problem(tmp_path / "bad.mmdb")
    monkeypatch.setattr(scope_state_geo, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="-m pip install maxminddb"):
        open_countries(tmp_path / "bad.mmdb")


RULES = "-a\r\n+(.)\\1\n"


def test_lines_of_plain_and_packed_files(tmp_path):
    (tmp_path / "r.txt").write_bytes(RULES.encode() + b"\xff")
    (tmp_path / "r.gz").write_bytes(gzip.compress(RULES.encode()))
    (tmp_path / "r.bz2").write_bytes(bz2.compress(RULES.encode()))
    files = RuleFiles(tmp_path)
    assert files.read_lines("r.txt") == ["-a", "+(.)\\1", "\ufffd"]
    assert files.read_lines("r.gz") == files.read_lines("r.bz2") == ["-a", "+(.)\\1"]


@pytest.mark.parametrize(("name", "data"), [("cut.gz", b"\x1f\x8b\x08"), ("bad.gz", b"x" * 20)])
def test_what_cannot_be_read_is_one_kind_of_error(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(OSError, match=r"gzip|damaged"):
        RuleFiles(tmp_path).read_lines(name)
    with pytest.raises(FileNotFoundError):
        RuleFiles(tmp_path).read_lines("absent")


def test_files_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(scope_state_rulefiles, "MAX_BYTES", 3)
    (tmp_path / "r.txt").write_bytes(b"+abc")
    with pytest.raises(OSError, match="longer than 3"):
        RuleFiles(tmp_path).read_lines("r.txt")


def test_all_findings_of_a_job(tmp_path):
    (tmp_path / "slow.txt").write_text(RULES)
    (tmp_path / "bad.txt").write_text("+(\nx\n")
    xml = "<regex-normalize>\n<regex><pattern>(?&lt;!:)//</pattern></regex>\n</regex-normalize>"
    (tmp_path / "n.xml").write_text(xml)
    settings = JobSettings.model_validate(
        {
            "scope": [
                {"rule": "nutch-regex", "file": "slow.txt"},
                {"rule": "accept"},
                {"rule": "nutch-filters", "chain": [{"file": "bad.txt"}, {"file": "no.txt"}]},
                {"rule": "nutch-exempt", "rules": "(((\n"},
            ],
            "uri": {"normalize": [{"normalizer": "regex", "file": "n.xml"}]},
        }
    )
    found = examine_rule_files(settings, RuleFiles(tmp_path))
    places = [(problem.path, problem.file, problem.line) for problem in found.problems]
    assert places == [("scope.2", "bad.txt", 2), ("scope.2", "no.txt", 0), ("scope.3", "rules", 1)]
    notes = [(note.path, note.file, note.line) for note in found.warnings]
    assert notes == [("scope.0", "slow.txt", 2), ("uri.normalize", "n.xml", 2)]
