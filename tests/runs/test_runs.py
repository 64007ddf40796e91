"""Which run a job is in."""

from pathlib import Path

import pytest

from nacre.errors import StorageError
from nacre.runs.runs import begin_run, read_run, run_archives
from nacre.store.layout import Layout
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
