"""Which run a job is in."""

from pathlib import Path

import msgspec
import pytest

from nacre.core.states import ExitStatus
from nacre.errors import JobError, StorageError
from nacre.machine.layout import Layout, run_name
from nacre.runs.runs import (
    FULL,
    begin_run,
    clear_previous_run,
    close_run,
    is_over,
    plan_run,
    read_run,
    run_archives,
    set_back_warning,
    start_time_error,
    write_run,
)
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

NOW = 1_795_000_000.0


def test_a_run_begins_once_and_goes_on(tmp_path: Path):
    layout, store = Layout(tmp_path), Store(MemoryEngine())
    run, new = begin_run(store, layout, NOW)
    assert new
    assert read_run(store) == run
    assert layout.latest.resolve() == layout.run(run.name)
    assert {p.name for p in layout.run(run.name).iterdir()} == {"logs", "reports"}
    again, new = begin_run(store, layout, NOW + 100)
    assert not new
    assert again.name == run.name


def test_a_run_that_was_cut_off_is_ended_for_good(tmp_path: Path):
    layout, store = Layout(tmp_path), Store(MemoryEngine())
    with pytest.raises(JobError, match="has not run yet"):
        close_run(store, layout, NOW)
    run, _ = begin_run(store, layout, NOW)
    with pytest.raises(JobError, match="nacre end"):
        plan_run(store, layout, NOW, mode=FULL)
    closed = close_run(store, layout, NOW + 10)
    assert is_over(closed)
    assert (closed.exit, closed.ended) == (ExitStatus.ABORTED, NOW + 10)
    assert close_run(store, layout, NOW + 20) == closed
    following = plan_run(store, layout, NOW + 30, mode=FULL)
    assert (following.parent, following.closed) == (run.name, False)
    with pytest.raises(JobError, match="has not begun"):
        close_run(store, layout, NOW + 40)


def test_a_later_run_keeps_what_was_learned_of_pages_in_a_browser(tmp_path: Path):
    layout, store = Layout(tmp_path), Store(MemoryEngine())
    begin_run(store, layout, NOW)
    for key in (b"q-queue", b"pt-template", b"ph-site", b"pl-requests", b"pc-count", b"pw-walls"):
        store.put("hosts", key, b"1")
    store.commit()
    close_run(store, layout, NOW + 10)
    plan_run(store, layout, NOW + 30, mode=FULL)
    clear_previous_run(store)
    assert [key for key, _ in store.scan("hosts", b"")] == [
        *(b"ph-site", b"pl-requests", b"pt-template"),
    ]


def test_a_run_that_ended_is_as_it_was(tmp_path: Path):
    layout, store = Layout(tmp_path), Store(MemoryEngine())
    run, _ = begin_run(store, layout, NOW)
    finished = msgspec.structs.replace(run, exit=ExitStatus.FINISHED, ended=NOW + 1)
    write_run(store, finished)
    assert close_run(store, layout, NOW + 9) == finished


def test_a_directory_that_cannot_be_made_is_a_storage_error(tmp_path: Path):
    (tmp_path / "runs").write_text("in the way")
    with pytest.raises(StorageError, match="runs"):
        begin_run(Store(MemoryEngine()), Layout(tmp_path), NOW)


def test_archives_of_all_runs(tmp_path: Path):
    layout = Layout(tmp_path)
    assert run_archives(layout, ("archive",)) == ()
    for name in ("runs/1/archive", "runs/2/archive", "runs/2/more", "runs/3"):
        (tmp_path / name).mkdir(parents=True)
    assert run_archives(layout, ("archive", "more", "/elsewhere")) == (
        "runs/1/archive",
        "runs/2/archive",
        "runs/2/more",
    )


def test_a_run_of_the_future_ends_after_its_start_and_is_followed(tmp_path: Path):
    """`--now` may have moved its clock by years: no loop over seconds, no end before the start."""
    layout, store = Layout(tmp_path), Store(MemoryEngine())
    run, _ = begin_run(store, layout, NOW + 1e9)
    closed = close_run(store, layout, NOW)
    assert closed.ended == run.started
    following = plan_run(store, layout, NOW, mode=FULL)
    assert following.name > run.name
    assert following.name == run_name(NOW + 1e9 + 1)


LATEST = 1_767_225_600.5  # 2026-01-01T00:00:00.5Z


@pytest.mark.parametrize(("behind", "text"), [(0.25, "250 ms"), (86_400, "1 d")])
def test_a_time_before_the_last_run_is_refused(behind: float, text: str):
    error = start_time_error(LATEST - behind, LATEST, "crawls/档案")
    assert f"--now is {text} before the end of the last run of crawls/档案" in error
    assert "Use a time from 2026-01-01T00:00:01Z on" in error


@pytest.mark.parametrize("now", [LATEST, LATEST + 1])
def test_a_time_from_the_end_of_the_last_run_on_is_accepted(now: float):
    assert start_time_error(now, LATEST, "demo") == ""
    assert start_time_error(now, 0.0, "demo") == ""


@pytest.mark.parametrize("behind", [-5.0, 0.0, 60.0])
def test_a_clock_that_was_corrected_does_not_warn(behind: float):
    assert set_back_warning(LATEST - behind, LATEST, "demo") == ""


def test_a_clock_that_was_set_back_warns():
    warning = set_back_warning(LATEST - 61, LATEST, "demo")
    assert "the last run of demo ended 1 min 1 s after the present" in warning
    assert "use --now with a time from 2026-01-01T00:00:01Z on" in warning
