from pathlib import Path

import pytest

from nacre.core.history import FetchRow
from nacre.core.states import ExitCode, ExitStatus, RunCounts, SeedsEnd
from nacre.engine.counters import PLANNED, UNVISITED
from nacre.machine.layout import Layout
from nacre.ops.run_end import RunFindings, RunResult, read_findings
from nacre.recrawl.pagestore import FetchLog
from nacre.recrawl.recrawl import CUT
from nacre.runs.runs import RunRow, write_run
from nacre.settings.load import load_job
from nacre.store.store import Store
from tests.cli.known import NEWS, OLD, TIME, known_job


def findings_of(job: Path, run: RunRow) -> RunFindings:
    """The findings of a recrawl whose budget left three pages."""
    layout = Layout(known_job(job))
    with Store.open(str(layout.store)) as store:
        log = FetchLog(store)
        for url, kind, size in ((NEWS, "major", 300), (OLD, "noise", 100)):
            row = FetchRow(url, TIME + 5, 2, 200, "there", kind, stored="novel", bytes=size)
            log.add(row)
        for name, value in ((CUT, 1), (PLANNED, 2), (UNVISITED, 3)):
            store.set_counter(name, value)
        write_run(store, run)
        store.commit()
    return read_findings(layout, load_job(layout).settings)


@pytest.mark.parametrize(("keep", "noise"), [("strict", 0.25), ("lean", 0.0)])
def test_the_findings_of_a_recrawl(tmp_path: Path, keep: str, noise: float):
    run = RunRow("20261121T100000Z", 2, TIME, mode="incremental", keep=keep, budget="2")
    assert findings_of(tmp_path / "job", run) == RunFindings(
        {}, {"major": 1, "noise": 1}, {"changed": 1, "unchanged": 1, "new": 0, "gone": 0}, noise,
        is_recrawl=True, is_cut=True, budget="2", unvisited=3,
    )  # fmt: skip


def test_a_full_run_has_statuses_alone(tmp_path: Path):
    run = RunRow("20261121T100000Z", 2, TIME, budget="2")
    assert findings_of(tmp_path / "job", run) == RunFindings({})


@pytest.mark.parametrize(
    ("ended", "seeds", "code", "fetched"),
    [
        (ExitStatus.FINISHED, SeedsEnd.GOT, ExitCode.FINISHED, True),
        (ExitStatus.FINISHED, SeedsEnd.NO_REPLY, ExitCode.NOTHING_FETCHED, False),
        (ExitStatus.INTERRUPTED, SeedsEnd.GOT, ExitCode.INTERRUPTED, True),
    ],
)
def test_the_end_and_the_seeds_decide_the_exit_code(
    ended: ExitStatus, seeds: SeedsEnd, code: ExitCode, fetched: bool
):
    result = RunResult(ended, counts=RunCounts(seeds=seeds))
    assert (result.code, result.fetched) == (code, fetched)
