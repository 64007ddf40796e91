"""Seed redirects: a site that moved is crawled, unless a rule speaks against its new place."""

import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Visit
from nacre.frontier.frontier import Frontier
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.job.admission.candidates import Candidates
from nacre.job.admission.identity import Identity
from nacre.job.admission.outside import Outside
from nacre.job.admission.speculation import Speculation
from nacre.scope.options import compile_scope
from nacre.scope.rules import stock_rules
from nacre.scope.state import ScopeState
from nacre.store.store import Store
from nacre.uri.canonical import Canonicalizer
from tests.store.memory import MemoryEngine


class Crawl:
    def __init__(self) -> None:
        store = Store(MemoryEngine())
        settings = fixed(FrontierSettings())
        self.state = ScopeState()
        self.state.add_seed("http://a.test/")
        self.new_seeds: list[str] = []
        self.identity = Identity(Canonicalizer(), settings)
        self.frontier = Frontier(store, settings, fixed(PolitenessSettings(delay=0.0)), 1e9, 0.0)
        self.outside = Outside(store)
        self.candidates = Candidates(
            fixed(compile_scope(stock_rules(), self.state)),
            lambda _: 0,
            identity=self.identity,
            frontier=self.frontier,
            outside=self.outside,
            speculation=Speculation(store),
            new_seed=lambda uri: self.new_seeds.append(uri.url),
            plans=fixed(None),
        )

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


def test_a_redirect_further_on_is_no_seed():
    crawl = Crawl()
    page = crawl.identity.child(
        crawl.identity.seed("http://a.test/"), Outlink("http://a.test/b", Hop.LINK, "a/@href")
    )
    crawl.redirect(page, "http://a.test/c")
    assert crawl.new_seeds == []
