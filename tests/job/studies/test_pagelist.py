"""Pages picked out of what is known."""

import pytest

from nacre.core.history import Base, HistoryRecord
from nacre.core.pagerow import PageRow
from nacre.errors import ConfigError
from nacre.history.crawldb import History
from nacre.history.pagestore import PageStore
from nacre.history.worth.rates import NO_EVIDENCE, observe
from nacre.job.studies.lookback import page
from nacre.job.studies.pagelist import COLUMNS, Wanted, by_host, pages, top
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

NEWS, OLD, GONE = "http://a.test/news", "http://a.test/old", "http://b.test/gone"


@pytest.fixture
def store() -> Store:
    store = Store(MemoryEngine())
    rows, history = PageStore(store), History(store)
    often = seldom = NO_EVIDENCE
    for _ in range(20):
        often, seldom = observe(often, 1.0, changed=True), observe(seldom, 1.0, changed=False)
    rows.put(PageRow(NEWS, visits=21, changes=20, evidence=often))
    rows.put(PageRow(OLD, visits=21, evidence=seldom))
    rows.put(PageRow(GONE, visits=2, life="gone"))
    rows.put(PageRow("http://b.test/unvisited"))
    history.put(HistoryRecord(NEWS, 200, base=Base("urn:uuid:1", 5, "sha1:A")))
    history.put(HistoryRecord(OLD, 304))
    history.put(HistoryRecord(GONE, 404))
    return store


def urls(store: Store, wanted: Wanted) -> set[str]:
    return {row["url"] for row in pages(store, wanted)}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(), {NEWS, OLD, GONE}),
        (Wanted("new|old"), {NEWS, OLD}),
        (Wanted("^old"), set()),
        (Wanted(life="gone"), {GONE}),
        (Wanted(status=304), {OLD}),
        (Wanted(r"a\.test", "live", 200), {NEWS}),
        (Wanted(r"a\.test", "gone"), set()),
        (Wanted(sample=0.0), set()),
    ],
)
def test_pages_are_picked_by_all_that_is_asked_for(store: Store, wanted: Wanted, found: set[str]):
    assert urls(store, wanted) == found


def test_a_sample_is_the_same_each_time(store: Store):
    rows = PageStore(store)
    for number in range(300):
        rows.put(PageRow(f"http://c.test/{number}", visits=1))
    some = urls(store, Wanted("c.test", sample=0.5))
    assert 100 < len(some) < 200
    assert urls(store, Wanted("c.test", sample=0.5)) == some


def test_each_row_has_the_columns_of_the_table(store: Store):
    for row in pages(store):
        assert set(COLUMNS) <= set(row)


def test_what_is_no_expression_is_refused(store: Store):
    with pytest.raises(ConfigError, match="is not a regular expression"):
        list(pages(store, Wanted("(")))


def test_what_changes_most_comes_first(store: Store):
    assert [url for _, url in top(store, 1)] == [NEWS]
    every = top(store, 9)
    assert len(every) == 2, "one that is gone changes no more"
    assert top(store, 9, least=every[0][0]) == every[:1]


def test_pages_are_counted_by_host(store: Store):
    assert by_host(store) == {"a.test": {"live": 2}, "b.test": {"gone": 1, "unvisited": 1}}


def test_of_one_page_all_is_told_by_name(store: Store):
    found = page(store, NEWS)
    assert found is not None
    assert found["capture"]["base"]["record_id"] == "urn:uuid:1"
