"""Seed redirects: a site that moved is crawled, unless a rule speaks against its new place."""

from typing import Any
from unittest.mock import Mock

import pytest

from nacre.config.effective import Effective, fixed
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Candidate, Result, Visit
from nacre.engine.candidates.candidates import (
    MAX_SEED_REDIRECTS,
    Candidates,
    Timeouts,
    is_seed_path,
)
from nacre.engine.candidates.identity import Identity
from nacre.engine.candidates.rejected_uris import Ignored, RejectedUris
from nacre.engine.candidates.scoping import JudgeScopeStep, PrepareStep
from nacre.engine.candidates.speculation import Speculation
from nacre.engine.chain.plan import Bound, CandidatePlan
from nacre.engine.counters import TIMEOUTS
from nacre.engine.settings import SeedRedirects
from nacre.frontier.frontier import Frontier
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.report.statistics import StepCounts
from nacre.scope.compile import compile_scope
from nacre.scope.rules.stock import stock_rules
from nacre.scope.state import ScopeState
from nacre.store.store import Store
from nacre.uri.canonical import Canonicalizer
from tests.report.visits import make_visit
from tests.store.memory import MemoryEngine


class Crawl:
    def __init__(self, plan: CandidatePlan | None = None, **others: Any) -> None:
        self.failures: list[str] = []
        self.ignored = Ignored()
        store = Store(MemoryEngine())
        settings = Effective([FrontierSettings()] * 2)
        self.state = ScopeState()
        self.state.add_seed("http://a.test/")
        self.new_seeds: list[str] = []
        self.identity = Identity(Canonicalizer(), settings)
        self.frontier = Frontier(store, settings, fixed(PolitenessSettings(delay=0.0)), 1e9, 0.0)
        self.outside = RejectedUris(store)
        self.candidates = Candidates(
            JudgeScopeStep(
                Effective([compile_scope(stock_rules(), self.state)] * 2),
                self.identity.key,
                self.outside,
                StepCounts("Candidate", "scope"),
            ),
            PrepareStep(
                self.identity,
                lambda uri: self.new_seeds.append(uri.url),
                StepCounts("Candidate", "prepare"),
            ),
            others.pop("overlay_of", None) or (lambda _: 0),
            frontier=self.frontier,
            speculation=others.pop("speculation", None) or Speculation(store),
            plans=Effective([plan] * 2),
            ignored=self.ignored,
            failed=self._failed,
            **others,
        )

    def _failed(self, step: str, error: Exception) -> None:
        assert isinstance(error, LookupError)
        self.failures.append(step)

    def redirect(self, seed: CrawlURI, target: str) -> int:
        link = Outlink(target, Hop.REDIRECT, "Location:")
        return self.candidates.admit(Visit(seed, status=301, outlinks=[link]), 1e9)


def test_the_new_place_of_a_seed_is_a_seed():
    crawl = Crawl()
    assert crawl.redirect(crawl.identity.seed("http://a.test/"), "https://moved.test/") == 1
    assert crawl.new_seeds == ["https://moved.test/"]


@pytest.mark.parametrize("target", ["http://no.test/x", "ftp://moved.test/"])
def test_a_rule_against_it_wins(target: str):
    crawl = Crawl()
    crawl.state.add_directives(["-http://no.test/"])
    assert crawl.redirect(crawl.identity.seed("http://a.test/"), target) == 0
    assert crawl.new_seeds == []
    refusal = crawl.outside.get(crawl.identity.key(target))
    assert refusal is not None
    assert refusal.rule != "reject"


@pytest.mark.parametrize("target", ["https://moved.test/", "http://a.test/b", "mailto:a@b.test"])
def test_the_new_place_of_a_seed_may_be_a_link(target: str):
    led: list[tuple[str, str]] = []
    crawl = Crawl(redirects=fixed("link"), led=lambda url, to: led.append((url, to)))
    seed = crawl.identity.seed("http://a.test/")
    entered = crawl.redirect(seed, target)
    assert (entered, crawl.new_seeds) == (int(target != "mailto:a@b.test"), [])
    assert led == [("http://a.test/", target)]
    if entered:
        uri = crawl.frontier.next(1e9, 0.0)
        assert uri is not None
        assert (uri.url, uri.path, uri.is_seed, uri.force_fetch) == (target, "R", False, False)
        link = Outlink("https://moved.test/page", Hop.LINK, "a/@href")
        assert crawl.candidates.admit(Visit(uri, status=200, outlinks=[link]), 1e9) == 0


def test_each_target_of_a_chain_of_redirects_of_a_seed_is_noted():
    led: list[tuple[str, str]] = []
    crawl = Crawl(redirects=fixed("link"), led=lambda url, to: led.append((url, to)))
    seed = crawl.identity.seed("http://a.test/")
    crawl.redirect(seed, "https://b.test/")
    link = Outlink("https://b.test/", Hop.REDIRECT, "Location:")
    second = crawl.identity.child(seed, link, 0)
    crawl.redirect(second, "https://c.test/")
    assert led == [("http://a.test/", "https://b.test/"), ("https://b.test/", "https://c.test/")]


def test_a_sheet_may_make_the_new_place_of_a_seed_a_link():
    both: Effective[SeedRedirects] = Effective(["seed", "link"])
    crawl = Crawl(redirects=both, overlay_of=lambda subject: int("moved" in subject.url))
    seed = crawl.identity.seed("http://a.test/")
    crawl.redirect(seed, "https://moved.test/")
    crawl.redirect(seed, "https://other.test/")
    assert crawl.new_seeds == ["https://other.test/"]


@pytest.mark.parametrize(
    ("path", "redirects", "is_seed"),
    [
        ("", "seed", True), ("R", "seed", True), ("RRRRR", "seed", True), ("RRRRRR", "seed", False),
        ("LR", "seed", False), ("", "link", True), ("R", "link", False),
    ],
)  # fmt: skip
def test_paths_of_seeds(path: str, redirects: SeedRedirects, is_seed: bool):
    assert is_seed_path(path, redirects) is is_seed


def test_a_redirect_further_on_is_no_seed():
    crawl = Crawl()
    page = crawl.identity.child(
        crawl.identity.seed("http://a.test/"), Outlink("http://a.test/b", Hop.LINK, "a/@href")
    )
    crawl.redirect(page, "http://a.test/c")
    assert crawl.new_seeds == []


def test_they_are_noted_at_the_page_and_kept_over_sessions():
    state, store = ScopeState(), Store(MemoryEngine())
    given_up = [0]
    state.counts.append(lambda: given_up[0])
    store.set_counter(TIMEOUTS, 5)
    timeouts = Timeouts(state, store)
    quiet, slow = make_visit(), make_visit()
    timeouts.annotate(quiet)
    given_up[0] = 3
    timeouts.annotate(slow)
    assert (quiet.annotations, slow.annotations) == ([], ["regexTimeout:3"])
    assert timeouts.total == 8
    timeouts.seal()
    assert store.counter(TIMEOUTS) == 8


class Added:
    """A processor that was added to the chain."""

    def __init__(self, result: Result = Result.PROCEED, rule: str = "", *, fails: bool = False):
        self._result, self._rule, self._fails = result, rule, fails
        self.met: list[tuple[str, bool]] = []

    def accepts(self, candidate: Candidate) -> bool:
        return not candidate.link.url.endswith("/skip")

    def process(self, candidate: Candidate) -> Result:
        self.met.append((candidate.link.url, candidate.uri is not None))
        if self._fails:
            raise LookupError("a bug")
        candidate.rule = self._rule
        return self._result


PAGE = "http://a.test/page"


def along(plan: CandidatePlan, url: str = PAGE) -> tuple[Crawl, int]:
    crawl = Crawl(plan)
    seed = crawl.identity.seed("http://a.test/")
    link = Outlink(url, Hop.LINK, "a/@href")
    return crawl, crawl.candidates.admit(Visit(seed, status=200, outlinks=[link]), 1e9)


def bound(processor: Added) -> tuple[Bound[Any], ...]:
    return (Bound(processor, StepCounts("Candidate", "added")),)


def test_added_processors_meet_a_link_before_between_and_after():
    before, between, after = Added(), Added(), Added()
    plan = CandidatePlan(True, bound(before), bound(between), bound(after))
    _, entered = along(plan)
    assert entered == 1
    assert before.met == between.met == [(PAGE, False)]
    assert after.met == [(PAGE, True)]
    assert along(plan, "http://a.test/skip")[1] == 1
    assert len(before.met) == 1


@pytest.mark.parametrize("place", ["before", "between", "after"])
@pytest.mark.parametrize(("rule", "said"), [("mine", "mine"), ("", "added")])
def test_one_that_refuses_a_link_is_named(place: str, rule: str, said: str):
    refusing: Any = {place: bound(Added(Result.FINISH, rule))}
    crawl, entered = along(CandidatePlan(True)._replace(**refusing))
    row = crawl.outside.get(crawl.identity.key(PAGE))
    assert entered == 0
    assert row is not None
    assert row.rule == said


def test_one_that_fails_costs_the_one_link():
    crawl, entered = along(CandidatePlan(True, bound(Added(fails=True))))
    row = crawl.outside.get(crawl.identity.key(PAGE))
    assert entered == 0
    assert row is not None
    assert row.rule == "added failed: LookupError"
    assert crawl.failures == [f"added with the link {PAGE}"]


@pytest.mark.parametrize(("asks", "entered"), [(True, 0), (None, 1), (False, 1)])
def test_the_scope_is_asked_where_the_chain_has_it(asks: bool | None, entered: int):
    plan = CandidatePlan(asks or False, bound(Added()))
    assert along(plan, "http://elsewhere.test/")[1] == entered


def test_what_the_operator_ignores_is_remembered_as_such():
    crawl = Crawl()
    crawl.ignored.use(["/page"])
    seed = crawl.identity.seed("http://a.test/")
    links = [Outlink(url, Hop.LINK, "a/@href") for url in (PAGE, "http://a.test/x")]
    assert crawl.candidates.admit(Visit(seed, status=200, outlinks=links), 1e9) == 1
    row = crawl.outside.get(crawl.identity.key(PAGE))
    assert row is not None
    assert row.rule == "control/ignores"


def test_links_are_judged_without_entering_the_frontier():
    crawl = Crawl()
    seed = crawl.identity.seed("http://a.test/")
    urls = (PAGE, "http://elsewhere.test/", "http://elsewhere.test/")
    links = [Outlink(url, Hop.LINK, "a/@href") for url in urls]
    found = crawl.candidates.accepted(seed, links)
    assert [(link.url, uri.url) for link, uri in found] == [(PAGE, PAGE)]
    assert crawl.candidates.admit(Visit(seed, status=200, outlinks=links), 1e9) == 1


def test_each_decision_is_told_to_the_log():
    crawl = Crawl()
    told: list[str] = []
    crawl.candidates.trace_scope(lambda _, subject: told.append(subject.url))
    seed = crawl.identity.seed("http://a.test/")
    for _ in range(2):
        link = Outlink("http://elsewhere.test/", Hop.LINK, "a/@href")
        crawl.candidates.admit(Visit(seed, status=200, outlinks=[link]), 1e9)
    assert told == ["http://elsewhere.test/"] * 2
    assert not crawl.candidates.recent.refuses("http://elsewhere.test/", "L")
    crawl.candidates.trace_scope(None)
    assert crawl.candidates.recent.refuses("http://elsewhere.test/", "L")


def test_links_are_rewritten_first_and_those_without_a_form_are_refused():
    def form(url: str, *, is_redirect: bool) -> str | None:
        return None if url.endswith("bad") else url.replace("?s=1", "r" * is_redirect)

    crawl = Crawl(normalizing=Mock(link=form))
    seed = crawl.identity.seed("http://a.test/")
    urls = ("http://a.test/x?s=1", "http://a.test/bad", "http://a.test/plain")
    links = [Outlink(url, Hop.LINK, "a/@href") for url in urls]
    links.append(Outlink("http://a.test/y?s=1", Hop.REDIRECT, "Location:"))
    found = [link.url for link, _ in crawl.candidates.accepted(seed, links)]
    assert found == ["http://a.test/x", "http://a.test/plain", "http://a.test/yr"]
    assert crawl.candidates.admit(Visit(seed, status=200, outlinks=links), 1e9) == 3
    row = crawl.outside.get(crawl.identity.key(urls[1]))
    assert row is not None
    assert (row.rule, row.path, row.via) == ("uri.normalize", "L", "http://a.test/")


def test_a_page_is_annotated_when_an_expression_gave_up_on_its_links():
    timeouts = Mock()
    crawl = Crawl(timeouts=timeouts)
    visit = Visit(crawl.identity.seed("http://a.test/"), status=200)
    assert crawl.candidates.admit(visit, 1e9) == 0
    timeouts.annotate.assert_called_once_with(visit)


def test_what_links_promise_says_where_they_go_and_learns_which_are_new():
    prospects = Mock(met=Mock(side_effect=lambda uris, _: uris[::-1]))
    crawl = Crawl(prospects=prospects)
    seed = crawl.identity.seed("http://a.test/")
    links = [Outlink(f"http://a.test/{name}", Hop.LINK, "a/@href") for name in ("x", "y")]
    visit = Visit(seed, status=200, outlinks=links, overlay=0)
    assert crawl.candidates.admit(visit, 1e9) == 2
    met, overlay = prospects.met.call_args.args
    assert ([uri.url for uri in met], overlay) == (["http://a.test/x", "http://a.test/y"], 0)
    prospects.entered.assert_called_once_with([True, True])
    taken = [crawl.frontier.next(1e9, 1.0) for _ in range(1)]
    assert [uri and uri.url for uri in taken] == ["http://a.test/y"]


def test_a_guess_that_has_proved_hopeless_is_not_judged():
    speculation = Mock(worth_trying=Mock(side_effect=lambda link: not link.url.endswith("no")))
    crawl = Crawl(speculation=speculation)
    seed = crawl.identity.seed("http://a.test/")
    links = [Outlink(f"http://a.test/{end}", Hop.SPECULATIVE, "=JS") for end in ("no", "yes")]
    assert [link.url for link, _ in crawl.candidates.accepted(seed, links)] == [links[1].url]
    assert crawl.candidates.admit(Visit(seed, status=200, outlinks=links), 1e9) == 1


def test_a_redirect_behind_a_cookie_that_leads_back_is_forced():
    crawl = Crawl()
    seed = crawl.identity.seed("http://a.test/")
    crawl.frontier.schedule([seed], 1e9)
    link = Outlink("http://a.test/", Hop.REDIRECT, "Location:")
    plain = Visit(seed, status=302, outlinks=[link])
    assert crawl.candidates.admit(plain, 1e9) == 0
    with_cookie = Visit(seed, status=302, outlinks=[link], sets_cookies=True)
    assert crawl.candidates.admit(with_cookie, 1e9) == 1


def test_what_is_too_far_for_a_seed_is_none():
    crawl = Crawl()
    parent = crawl.identity.seed("http://a.test/")
    for number in range(MAX_SEED_REDIRECTS + 1):
        link = Outlink(f"http://s{number}.test/", Hop.REDIRECT, "Location:")
        crawl.candidates.admit(Visit(parent, status=301, outlinks=[link]), 1e9)
        parent = crawl.identity.redirected_seed(parent, link, 0)
    assert crawl.new_seeds == [f"http://s{number}.test/" for number in range(MAX_SEED_REDIRECTS)]
