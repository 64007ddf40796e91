"""Pages in a browser are counted with each commit, and stay counted."""

import pytest
from msgspec import structs

from nacre.annotations import BROWSER_FAILED
from nacre.core.processor import PageUnit, RefusedRequest
from nacre.core.rendered import RenderedPage
from nacre.report.browser_tally import browser_tally
from nacre.report.statistics import Statistics, Stored
from nacre.store.store import Store
from tests.report.visits import NOW, make_visit
from tests.store.memory import MemoryEngine


@pytest.fixture
def store() -> Store:
    return Store(MemoryEngine())


def page(sign: str = "mount", ended: str = "settled", *rules: str) -> PageUnit:
    refused = [RefusedRequest(f"http://a.test/{rule}", "fetch", rule) for rule in rules]
    rendered = RenderedPage(ended, seconds=2.0, cpu=0.5, browser="Chromium/156")
    visits = [make_visit("http://a.test/app.js"), make_visit("http://a.test/api")]
    return PageUnit(
        "id", sign, rendered, visits, reused=["http://a.test/x.css"], refused=refused, sizes=700
    )


def test_pages_and_their_requests(store: Store):
    statistics = Statistics(store)
    for number, unit in enumerate((page(), page("thin", "pageTime", "robots", "robots", "scope"))):
        visit = structs.replace(make_visit(f"http://a.test/{number}"), page=unit)
        statistics.count(visit, Stored.NOVEL, NOW)
    statistics.count(make_visit("http://a.test/plain"), Stored.NOVEL, NOW)
    statistics.seal()
    tally = browser_tally(store)
    assert (tally.pages, tally.requests, tally.bytes, tally.reused) == (2, 4, 1400, 2)
    assert (tally.seconds, tally.cpu, tally.browser) == (4.0, 1.0, "Chromium/156")
    assert tally.signs == {"mount": 1, "thin": 1}
    assert tally.ends == {"settled": 1, "pageTime": 1}
    assert tally.refused == {"robots": 2, "scope": 1}
    assert (tally.robots_pages, tally.robots_requests) == (1, 6)
    assert tally.refused_urls["robots"] == ["http://a.test/robots"]
    assert tally.sign_pages["thin"] == ["http://a.test/1"]


def test_pages_for_which_no_browser_could_be_started(store: Store):
    statistics = Statistics(store)
    for number in range(5):
        visit = make_visit(f"http://a.test/{number}")
        visit.annotate(BROWSER_FAILED)
        statistics.count(visit, Stored.NOVEL, NOW)
    statistics.seal()
    tally = browser_tally(store)
    assert (tally.pages, tally.unrun, len(tally.unrun_pages)) == (0, 5, 3)


def test_the_counts_of_an_earlier_process_stay(store: Store):
    for _ in range(2):
        statistics = Statistics(store)
        visit = structs.replace(make_visit(), page=page())
        statistics.count(visit, Stored.NOVEL, NOW)
        statistics.seal()
    assert browser_tally(store).pages == 2


def test_reasons_without_bound_are_counted_together(store: Store):
    statistics = Statistics(store)
    unit = page("mount", "settled", *(f"rule{number}" for number in range(200)))
    statistics.count(structs.replace(make_visit(), page=unit), Stored.NOVEL, NOW)
    statistics.seal()
    refused = browser_tally(store).refused
    assert sum(refused.values()) == 200
    assert len(refused) <= 101
