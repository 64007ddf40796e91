import asyncio
from typing import Any

import pytest

from nacre.annotations import SPECULATIVE_HOPELESS
from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.engine.candidates.speculation import Speculation
from nacre.engine.counters import untried_guesses
from nacre.engine.steps.preselect import (
    Blocks,
    Preselect,
    PreselectStep,
    RecheckScope,
    RecheckScopeStep,
    preselection,
)
from nacre.scope.scope import Decision, Opinion, Scope
from nacre.store.store import Store
from tests.store.memory import MemoryEngine


def guess(number: int) -> CrawlURI:
    url = f"http://a.test/dir/name{number}.rst"
    return CrawlURI(url, b"k" * 16, "test,a,", path="LX", context="=JS_MISC")


def taught(tries: int) -> Speculation:
    """Guesses of which none was a hit."""
    speculation = Speculation(Store(MemoryEngine()))
    for number in range(tries):
        speculation.learn(Visit(guess(number), status=404))
    return speculation


def selected(speculation: Speculation, uri: CrawlURI) -> tuple[Result, int]:
    visit = Visit(uri)
    return asyncio.run(PreselectStep(fixed(None), speculation).process(visit)), visit.status


def test_a_guess_is_tried_while_little_is_known():
    assert selected(taught(10), guess(1000)) == (Result.PROCEED, 0)


def test_hopeless_guesses_are_let_go_but_for_one_in_fifty():
    speculation = taught(200)
    results = [selected(speculation, guess(number)) for number in range(1000, 1500)]
    let_go = results.count((Result.FINISH, int(FetchStatus.OUT_OF_SCOPE)))
    assert 450 <= let_go < 500
    assert results.count((Result.PROCEED, 0)) == 500 - let_go


def test_new_links_are_judged_by_the_same_counts():
    speculation = taught(200)
    links = [Outlink(guess(n).url, Hop.SPECULATIVE, "=JS_MISC") for n in range(1000, 1500)]
    assert sum(speculation.worth_trying(link) for link in links) < 50


def test_only_speculative_uris_are_looked_at():
    step = PreselectStep(fixed(None), taught(0))
    assert step.accepts(Visit(guess(1)))
    assert not step.accepts(Visit(CrawlURI("http://a.test/", b"k" * 16, "q", path="L")))


def test_what_was_learned_survives_a_restart():
    store = Store(MemoryEngine())
    first = Speculation(store)
    for number in range(200):
        first.learn(Visit(guess(number), status=404))
    first.seal()
    again = Speculation(store)
    assert [again.still_worth(guess(n).url, "=JS_MISC") for n in range(300)].count(True) < 30


def test_all_guesses_are_tried_where_the_operator_wants_that():
    speculation = Speculation(Store(MemoryEngine()), tries_all=True)
    for number in range(200):
        speculation.learn(Visit(guess(number), status=404))
    results = [selected(speculation, guess(number)) for number in range(1000, 1500)]
    assert results == [(Result.PROCEED, 0)] * 500


def test_what_is_let_go_is_counted_and_remembered():
    store = Store(MemoryEngine())
    speculation = Speculation(store)
    gone = Visit(guess(1), status=FetchStatus.OUT_OF_SCOPE, annotations=[SPECULATIVE_HOPELESS])
    other = Visit(guess(2), status=FetchStatus.OUT_OF_SCOPE)
    assert [speculation.lets_go(visit) for visit in (gone, other, gone)] == [True, False, True]
    speculation.seal()
    assert untried_guesses(store) == 2
    assert Speculation(store).untried == 2


# ---- what an operator blocks


def blocks_of(**settings: Any) -> Blocks | None:
    return preselection([RecheckScope(), Preselect(**settings)])


def test_a_chain_that_blocks_nothing_has_no_blocks():
    assert blocks_of() is None
    assert preselection([RecheckScope()]) is None


@pytest.mark.parametrize(
    ("settings", "url", "setting"),
    [
        ({"block_all": True}, "http://a.test/", "block_all"),
        ({"allow_by_regex": ".*/ok"}, "http://a.test/ok", ""),
        ({"allow_by_regex": ".*/ok"}, "http://a.test/ok/not", "allow_by_regex"),
        ({"block_by_regex": ".*/bad"}, "http://a.test/bad", "block_by_regex"),
        ({"block_by_regex": ".*/bad"}, "http://a.test/bad/not", ""),
        ({"allow_by_regex": ".*/x.*", "block_by_regex": ".*bad"}, "http://a.test/x/bad", None),
    ],
)
def test_the_setting_that_blocks_a_url(settings: dict[str, Any], url: str, setting: str | None):
    blocks = blocks_of(**settings)
    assert blocks is not None
    expected = "block_by_regex" if setting is None else setting
    assert blocks.blocking_setting(url) == expected
    step = PreselectStep(fixed(blocks), taught(0))
    visit = Visit(CrawlURI(url, b"k" * 16, "q", path="L"))
    assert step.accepts(visit)
    result = asyncio.run(step.process(visit))
    if not expected:
        assert (result, visit.status, visit.error) == (Result.PROCEED, 0, "")
        return
    assert (result, visit.status) == (Result.FINISH, FetchStatus.BLOCKED_BY_USER)
    assert visit.error == f"blocked by {expected} of the preselector"


def test_what_another_uri_needs_is_not_blocked():
    step = PreselectStep(fixed(blocks_of(block_all=True)), taught(0))
    assert not step.accepts(Visit(CrawlURI("dns:a.test", b"k" * 16, "q", path="P")))


# ---- the scope once more


def test_the_scope_is_asked_again_with_the_address():
    rules = [
        Opinion("all", Decision.ACCEPT, lambda _: True),
        Opinion("address", Decision.REJECT, lambda one: one.facts.address == "10.9.1.1"),
    ]
    addresses = {"http://a.test/": "10.9.1.1", "http://b.test/": ""}
    step = RecheckScopeStep(fixed(Scope(rules)), lambda visit: addresses[visit.uri.url])
    out, kept = (Visit(CrawlURI(url, b"k" * 16, "q", path="L")) for url in addresses)
    assert asyncio.run(step.process(out)) is Result.FINISH
    assert out.status == FetchStatus.OUT_OF_SCOPE
    assert out.error == "out of scope when it was asked again, by the rule address"
    assert asyncio.run(step.process(kept)) is Result.PROCEED
    assert (kept.status, kept.error) == (0, "")


def test_the_scope_is_not_asked_again_of_what_another_uri_needs():
    step = RecheckScopeStep(fixed(Scope([])), lambda _: "")
    assert step.accepts(Visit(CrawlURI("http://a.test/", b"k" * 16, "q", path="L")))
    assert not step.accepts(Visit(CrawlURI("http://a.test/robots.txt", b"k" * 16, "q", path="P")))
