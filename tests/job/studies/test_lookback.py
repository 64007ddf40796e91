"""What runs found, told apart."""

import pytest
from msgspec import structs

from nacre.core.fetchrow import FetchRow
from nacre.core.pagerow import PageRow
from nacre.core.wayrow import VersionRow
from nacre.history.pagestore import FetchLog, PageStore
from nacre.job.runrow import RunRow
from nacre.job.runs.runs import write_run
from nacre.job.states import ExitStatus
from nacre.job.studies.lookback import found_by, run_list, statistics
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
