"""A job that was never crawled, with a store that knows three pages and a run."""

from pathlib import Path

from msgspec import structs

from nacre.core.history import FetchRow, HistoryRecord
from nacre.core.pagerow import PageRow
from nacre.core.states import ExitStatus
from nacre.history.dedup import History
from nacre.machine.layout import Layout
from nacre.planner.change_rate.rates import NO_EVIDENCE, observe
from nacre.recrawl.pagestore import FetchLog, PageStore
from nacre.runs.runs import RunRow, write_run
from nacre.store.store import Store
from tests.cli.site import nacre

TIME = 1_795_168_800.0
"""2026-11-20T10:00:00Z."""
NEWS, OLD, GONE = "http://a.test/news", "http://a.test/old", "http://b.test/gone"


def new_job(job: Path) -> Path:
    """A job that has not run yet."""
    assert nacre("new", job, "http://a.test/").code == 0
    return job


def known_job(job: Path) -> Path:
    """One page that changes each day, one that never does, and one that is gone."""
    layout = Layout(new_job(job))
    layout.store.parent.mkdir(parents=True)
    often = seldom = NO_EVIDENCE
    for _ in range(20):
        often, seldom = observe(often, 1.0, changed=True), observe(seldom, 1.0, changed=False)
    with Store.open(str(layout.store)) as store:
        pages, history, visits = PageStore(store), History(store), FetchLog(store)
        for row, status in (
            (PageRow(NEWS, visits=21, changes=20, evidence=often, last_visit=TIME), 200),
            (PageRow(OLD, visits=21, evidence=seldom, last_visit=TIME), 304),
            (PageRow(GONE, visits=2, life="gone", last_visit=TIME), 404),
        ):
            pages.put(row)
            history.put(HistoryRecord(row.url, status, int(TIME * 1e6), visits=row.visits))
        visits.add(FetchRow(NEWS, TIME, 1, 200, "there", "minor"))
        run = RunRow("20261120T100000Z", 1, TIME, exit=ExitStatus.FINISHED)
        write_run(store, structs.replace(run, elapsed=90.0, ended=TIME + 90.0))
        store.commit()
    return job
