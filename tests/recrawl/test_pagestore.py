"""Rows of pages and sites in a store: what was put is found, in another process too."""

from hypothesis import given
from hypothesis import strategies as st

from nacre.core.history import FetchRow
from nacre.core.pagerow import ChosenRow, DiscoveryRow, PageKind, PageRow, VersionRow
from nacre.planner.sites import SiteRow
from nacre.recrawl.pagestore import PAST, SITES, FetchLog, Named, PageStore, fetch_rows
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

URL = "http://a.test/page?x=1"


def reopened(store: Store) -> Store:
    """The same rows for another process."""
    store.commit()
    return Store(store.engine)


def test_a_row_is_found_by_its_url_whatever_is_in_memory():
    store = Store(MemoryEngine())
    pages = PageStore(store, capacity=2)
    for number in range(5):
        pages.put(PageRow(f"http://a.test/{number}", visits=number, told=("feed",)))
    assert pages.get("http://a.test/0") == PageRow("http://a.test/0", visits=0, told=("feed",))
    again = PageStore(reopened(store))
    assert [row.visits for row in again.scan()] == [0, 1, 2, 3, 4]
    assert again.get("http://a.test/5") is None


def test_rows_may_be_put_while_all_are_gone_through():
    store = Store(MemoryEngine())
    pages = PageStore(store)
    for number in range(1500):
        pages.put(PageRow(f"http://a.test/{number:04}"))
    for row in pages.scan():
        row.visits += 1
        pages.put(row)
    assert sum(row.visits for row in pages.scan()) == 1500


@given(st.text(min_size=1))
def test_any_url_is_a_key(path: str):
    pages = PageStore(Store(MemoryEngine()))
    url = f"http://a.test/{path}"
    pages.put(PageRow(url, kind=PageKind.FILE))
    assert [row.url for row in pages.scan()] == [url] or "\\ud" in ascii(path)


def test_ways_versions_and_names_are_kept_beside():
    store = Store(MemoryEngine())
    pages = PageStore(store)
    pages.put_way(URL, DiscoveryRow("http://a.test/", "L", "a/@href"))
    pages.put_version(URL, VersionRow("sha1:X", "chunked", "utf-8", 5.0))
    pages.put_name(b"k" * 16, URL)
    again = PageStore(reopened(store))
    assert again.way(URL) == DiscoveryRow("http://a.test/", "L", "a/@href")
    assert again.version(URL) == VersionRow("sha1:X", "chunked", "utf-8", 5.0)
    assert again.name(b"k" * 16) == URL
    assert (again.way("x:"), again.version("x:"), again.name(b"")) == (None, None, None)


def test_the_choices_of_a_step_are_known_until_the_next_begins():
    pages = PageStore(Store(MemoryEngine()))
    pages.choose(ChosenRow(URL, 0.5, "rate"))
    pages.choose(ChosenRow(URL, 0.0, "pair"))
    pages.choose(ChosenRow(URL, 0.5, "rate", done=True))
    assert [(one.reason, one.done) for one in pages.chosen()] == [("rate", True), ("pair", False)]
    pages.forget_step()
    assert not list(pages.chosen())


def test_visits_are_in_order_of_time_and_never_replaced():
    store = Store(MemoryEngine())
    log = FetchLog(store)
    log.add(FetchRow("http://b.test/", 2.5, 1, 200, wanted="lot"))
    log.add(FetchRow("http://a.test/", 1.0, 1, 404))
    log.add(FetchRow("http://b.test/", 2.5, 1, 200, wanted=""))
    assert [(row.url, row.wanted) for row in fetch_rows(store)] == [
        ("http://a.test/", ""),
        ("http://b.test/", "lot"),
    ]


def test_named_rows_change_in_place_and_are_written_when_a_group_is_sealed():
    store = Store(MemoryEngine())
    sites = Named(store, SITES, SiteRow, capacity=1)
    sites["a"] = SiteRow()
    sites["a"].listed = (1.0, 0.0)
    sites["b"] = SiteRow(doubted=2.0)
    sites.seal()
    again = Named(reopened(store), SITES, SiteRow)
    assert (again["a"].listed, again["b"].doubted) == ((1.0, 0.0), 2.0)
    assert (list(again), len(again), "c" in again) == (["a", "b"], 2, False)
    again["b"].doubted = 3.0
    del again["a"]
    again.seal()
    last = Named(reopened(again._store), SITES, SiteRow)
    assert (list(last), last["b"].doubted) == (["b"], 3.0)


def test_what_never_changes_in_place_is_only_written_when_it_is_set():
    store = Store(MemoryEngine())
    texts = Named(store, PAST, int, frozen=True)
    texts["a"] = 1
    texts.seal()
    store.commit()
    assert texts["a"] == 1
    texts.seal()
    assert store.group.empty
    assert len(texts) == 1
    texts["b"] = 2
    assert len(texts) == 2
