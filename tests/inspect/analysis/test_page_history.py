"""What runs found, told apart.

Pages picked out of what is known.
"""

import pytest
from msgspec import structs

from nacre.core.history import Base, FetchRow, HistoryRecord
from nacre.core.pagerow import PageRow, VersionRow
from nacre.core.states import ExitStatus
from nacre.errors import ConfigError
from nacre.history.dedup import History
from nacre.inspect.analysis.page_history import (
    COLUMNS,
    PageFilter,
    by_host,
    closed_studies,
    found_by,
    page,
    pages,
    run_list,
    statistics,
    top,
)
from nacre.planner.change_rate.rates import NO_EVIDENCE, observe
from nacre.recrawl.pagestore import FetchLog, PageStore
from nacre.runs.runs import RunRow, write_run
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

STARTED = 2e9
RUN = RunRow("now", 2, STARTED, mode="incremental")


@pytest.fixture
def store() -> Store:
    store = Store(MemoryEngine())
    pages = PageStore(store)
    for name, life, since in (
        *(("kept", "live", 0.0), ("vanished", "suspect", STARTED)),
        *(("missed", "gone", STARTED - 9e5), ("dead", "suspect", STARTED - 9e5)),
    ):
        pages.put(PageRow(name, visits=2, life=life, life_since=since))
        if name != "dead":
            pages.put_version(name, VersionRow(f"sha1:{name}"))
    log = FetchLog(store)
    log.add(FetchRow("kept", STARTED, 2, 200, "there", "minor"))
    log.add(FetchRow("kept", STARTED + 1, 2, 200, "there", "none", reason="pair"))
    log.add(FetchRow("slow", STARTED, 2, -4, "silent", "none"))
    for name in ("vanished", "missed", "dead"):
        log.add(FetchRow(name, STARTED + 2, 2, 404, "missing", "none"))
    return store


def test_what_is_missing_anew_is_told_from_what_was_missing_before_and_from_dead_links(
    store: Store,
):
    assert found_by(store, RUN) == {
        "minor": 1, "missing": 1, "still missing": 1, "never there": 1, "silent": 1,
    }  # fmt: skip


def test_a_visit_that_found_no_page_found_no_page_unchanged(store: Store):
    assert statistics(store)["visits"]["2"] == {"minor": 1, "missing": 3, "none": 1, "silent": 1}


@pytest.mark.parametrize(
    ("ended", "is_running", "told"),
    [
        (ExitStatus.NONE, True, "RUNNING"),
        (ExitStatus.NONE, False, "CRASHED"),
        (ExitStatus.INTERRUPTED, False, "INTERRUPTED"),
    ],
)
def test_a_run_without_an_end_runs_or_was_cut_off(
    store: Store, ended: ExitStatus, is_running: bool, told: str
):
    write_run(store, structs.replace(RUN, exit=ended))
    assert [run["exit"] for run in run_list(store, is_running=is_running)] == [told]


NEWS, OLD, GONE = "http://a.test/news", "http://a.test/old", "http://b.test/gone"


@pytest.fixture
def known_pages() -> Store:
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


def urls(known_pages: Store, wanted: PageFilter) -> set[str]:
    return {row["url"] for row in pages(known_pages, wanted)}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (PageFilter(), {NEWS, OLD, GONE}),
        (PageFilter("new|old"), {NEWS, OLD}),
        (PageFilter("^old"), set()),
        (PageFilter(life="gone"), {GONE}),
        (PageFilter(status=304), {OLD}),
        (PageFilter(r"a\.test", "live", 200), {NEWS}),
        (PageFilter(r"a\.test", "gone"), set()),
        (PageFilter(sample=0.0), set()),
    ],
)
def test_pages_are_picked_by_all_that_is_asked_for(
    known_pages: Store, wanted: PageFilter, found: set[str]
):
    assert urls(known_pages, wanted) == found


def test_a_sample_is_the_same_each_time(known_pages: Store):
    rows = PageStore(known_pages)
    for number in range(300):
        rows.put(PageRow(f"http://c.test/{number}", visits=1))
    some = urls(known_pages, PageFilter("c.test", sample=0.5))
    assert 100 < len(some) < 200
    assert urls(known_pages, PageFilter("c.test", sample=0.5)) == some


def test_each_row_has_the_columns_of_the_table(known_pages: Store):
    for row in pages(known_pages):
        assert set(COLUMNS) <= set(row)


def test_what_is_no_expression_is_refused(known_pages: Store):
    with pytest.raises(ConfigError, match="is not a regular expression"):
        list(pages(known_pages, PageFilter("(")))


def test_what_changes_most_comes_first(known_pages: Store):
    assert [url for _, url in top(known_pages, 1)] == [NEWS]
    every = top(known_pages, 9)
    assert len(every) == 2, "one that is gone changes no more"
    assert top(known_pages, 9, least=every[0][0]) == every[:1]


def test_pages_are_counted_by_host(known_pages: Store):
    assert by_host(known_pages) == {"a.test": {"live": 2}, "b.test": {"gone": 1, "unvisited": 1}}


def test_of_one_page_all_is_told_by_name(known_pages: Store):
    found = page(known_pages, NEWS)
    assert found is not None
    assert found["capture"]["base"]["record_id"] == "urn:uuid:1"


@pytest.mark.parametrize(
    ("captures", "visits", "closed"),
    [
        (0, [], {"timeline", "diff", "decisions"}),
        (1, [], {"diff", "decisions"}),
        (2, [], {"decisions"}),
        (1, [(200, "novel")], {"diff", "decisions"}),
        (2, [(200, "novel"), (304, "not-modified")], {"diff", "decisions"}),
        (2, [(200, "novel"), (200, "delta")], {"decisions"}),
        (2, [(200, "novel"), (-2, "")], {"decisions"}),
        (2, [(200, "novel"), (-2, ""), (-9998, ""), (304, "")], {"diff", "decisions"}),
    ],
)
def test_a_study_is_closed_if_the_page_has_no_data_for_it(
    captures: int, visits: list[tuple[int, str]], closed: set[str]
):
    store = Store(MemoryEngine())
    if captures:
        history, log = History(store), FetchLog(store)
        history.put(HistoryRecord(NEWS, 200, visits=captures))
        for number, (status, stored) in enumerate(visits):
            log.add(FetchRow(NEWS, STARTED + number, 2, status, "there", "none", stored=stored))
    data = page(store, NEWS) or {}
    assert set(closed_studies(data, is_captured=bool(captures))) == closed
