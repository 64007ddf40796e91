"""The scope is asked, refusals are remembered, and accepted links become CrawlURIs."""

import tracemalloc
from typing import Any

import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.engine.candidates.identity import Identity
from nacre.engine.candidates.rejected_uris import RejectedUris
from nacre.engine.candidates.scoping import JudgeScopeStep, PrepareStep, RecentURLs
from nacre.frontier.settings import FrontierSettings
from nacre.report.statistics import StepCounts
from nacre.scope.compile import compile_scope
from nacre.scope.rules.stock import RULES
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject
from nacre.store.store import Store
from nacre.uri.canonical import Canonicalizer
from tests.store.memory import MemoryEngine


def knows(recent: RecentURLs, url: str) -> bool:
    return not recent.unknown([Outlink(url, Hop.LINK, "a/@href")])


def test_an_accepted_url_is_known_whatever_the_way():
    recent = RecentURLs(capacity=8)
    recent.add("http://a.test/")
    assert knows(recent, "http://a.test/")
    assert not knows(recent, "http://a.test/b")


def test_the_target_of_a_redirect_is_judged_although_it_is_known():
    recent = RecentURLs(capacity=8)
    recent.add("u")
    links = [Outlink("u", Hop.LINK, "a/@href"), Outlink("u", Hop.REDIRECT, "Location:")]
    assert recent.unknown(links) == links[1:]


def test_a_refusal_holds_only_for_its_way():
    recent = RecentURLs(capacity=8)
    recent.refuse("http://b.test/", "LL")
    assert recent.refuses("http://b.test/", "LL")
    assert not recent.refuses("http://b.test/", "E")


def test_memory_is_bounded_and_the_recent_ones_stay():
    recent = RecentURLs(capacity=100)
    for number in range(1000):
        recent.add(f"u{number}")
        recent.refuse(f"r{number}", "L")
    known = [number for number in range(1000) if knows(recent, f"u{number}")]
    refused = [number for number in range(1000) if recent.refuses(f"r{number}", "L")]
    assert 50 <= len(known) <= 100
    assert known == list(range(1000 - len(known), 1000))
    assert 50 <= len(refused) <= 100


def test_long_urls_take_no_more_memory_than_others():
    recent = RecentURLs()
    tracemalloc.start()
    try:
        for number in range(40_000):
            recent.add(f"http://a.test/{number:02000}")
            recent.refuse(f"http://b.test/{number:02000}", "L")
        assert tracemalloc.get_traced_memory()[0] < 40_000_000
    finally:
        tracemalloc.stop()
    assert knows(recent, f"http://a.test/{39_999:02000}")
    assert not knows(recent, f"http://a.test/{1:02000}")


def test_switched_off_or_told_to_forget_it_knows_nothing():
    recent = RecentURLs()
    recent.add("u")
    recent.remember(enabled=False)
    assert not knows(recent, "u")
    recent.remember(enabled=True)
    recent.forget()
    assert not knows(recent, "u")


IDENTITY = Identity(Canonicalizer(), fixed(FrontierSettings()))
OUT = "http://out.test/x"
NOT_OUT = {"rule": "matches-regex", "regex": ".*out.*", "decision": "REJECT"}
ONLY_A = [{"rule": "reject"}, {"rule": "surt-prefixed", "prefixes": ["http://a.test/"]}]


class Asked:
    """The step over a scope that accepts one site."""

    def __init__(self, rules: list[dict[str, Any]] | None = None) -> None:
        self.outside = RejectedUris(Store(MemoryEngine()))
        self.counts = StepCounts("Candidate", "scope")
        read = tuple(RULES.read(rule) for rule in rules or ONLY_A)
        scope = fixed(compile_scope(read, ScopeState()))
        self.step = JudgeScopeStep(scope, IDENTITY.key, self.outside, self.counts)

    def refused(self, url: str) -> str:
        row = self.outside.get(IDENTITY.key(url))
        return "" if row is None else row.rule


def test_what_is_accepted_is_counted_and_nothing_else_happens():
    asked = Asked()
    assert asked.step.accepts(Subject("http://a.test/x", "L"), 0)
    assert asked.counts.handled == 1
    assert not asked.step.recent.refuses("http://a.test/x", "L")
    assert asked.refused("http://a.test/x") == ""


def test_what_is_refused_is_remembered_with_its_rule_and_its_way():
    asked = Asked()
    assert not asked.step.accepts(Subject(OUT, "L", "http://a.test/"), 0)
    assert asked.counts.handled == 1
    assert asked.refused(OUT) == "reject"
    assert asked.step.recent.refuses(OUT, "L")
    assert not asked.step.recent.refuses(OUT, "E")


def test_a_scope_that_asks_where_a_uri_comes_from_is_asked_each_time():
    asked = Asked(
        [
            {"rule": "accept"},
            {"rule": "via-surt-prefixed", "prefixes": ["http://a.test/"], "decision": "REJECT"},
        ]
    )
    assert not asked.step.accepts(Subject(OUT, "L", "http://a.test/"), 0)
    assert not asked.step.recent.refuses(OUT, "L")
    assert asked.step.accepts(Subject(OUT, "L", "http://b.test/"), 0)


@pytest.mark.parametrize(
    ("rules", "accepted"),
    [
        (ONLY_A, True),
        (
            [
                {"rule": "accept"},
                {"rule": "matches-regex", "regex": ".*out.*", "decision": "REJECT"},
            ],
            False,
        ),
    ],
)
def test_a_promoted_target_is_refused_by_a_rule_of_its_own_alone(rules: Any, accepted: bool):
    asked = Asked(rules)
    assert asked.step.accepts(Subject(OUT, "R", "http://a.test/", is_seed=True), 0) is accepted
    assert bool(asked.refused(OUT)) is not accepted


def test_a_log_is_told_of_each_decision_and_memory_rests_meanwhile():
    asked = Asked()
    told: list[str] = []
    asked.step.trace(lambda _, subject: told.append(subject.url))
    for _ in range(2):
        assert not asked.step.accepts(Subject(OUT, "L"), 0)
    assert told == [OUT, OUT]
    assert not asked.step.recent.refuses(OUT, "L")
    asked.step.trace(None)
    assert asked.step.recent.refuses(OUT, "L")
    asked.step.accepts(Subject(OUT, "L"), 0)
    assert told == [OUT, OUT]


def test_a_refusal_may_name_the_url_that_the_link_had():
    asked = Asked()
    asked.step.refuse(Subject("http://a.test/new", "L"), "rule", "http://a.test/old")
    asked.step.refuse(Subject("http://a.test/other", "L"), "rule")
    urls = ("old", "new", "other")
    assert [asked.refused(f"http://a.test/{url}") for url in urls] == ["rule", "", "rule"]


@pytest.mark.parametrize("is_seed", [False, True])
def test_an_accepted_link_becomes_a_uri_and_a_promoted_one_a_seed(is_seed: bool):
    seeds: list[CrawlURI] = []
    counts = StepCounts("Candidate", "prepare")
    step = PrepareStep(IDENTITY, seeds.append, counts)
    parent = IDENTITY.seed("http://a.test/")
    link = Outlink("http://a.test/x", Hop.REDIRECT, "Location:")
    made = step.prepare(parent, link, Subject(link.url, "R", is_seed=is_seed), 0)
    assert (made.url, made.via, made.is_seed) == (link.url, parent.url, is_seed)
    assert made.key == IDENTITY.key(link.url)
    assert seeds == ([made] if is_seed else [])
    assert counts.handled == 1
