import asyncio

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.job.admission.speculation import UNTRIED, Speculation
from nacre.job.counters import untried_guesses
from nacre.job.visit.preselect import Preselect
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
    return asyncio.run(Preselect(fixed(None), speculation).process(visit)), visit.status


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
    step = Preselect(fixed(None), taught(0))
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
    gone = Visit(guess(1), status=FetchStatus.OUT_OF_SCOPE, annotations=[UNTRIED])
    other = Visit(guess(2), status=FetchStatus.OUT_OF_SCOPE)
    assert [speculation.lets_go(visit) for visit in (gone, other, gone)] == [True, False, True]
    speculation.seal()
    assert untried_guesses(store) == 2
    assert Speculation(store).untried == 2
