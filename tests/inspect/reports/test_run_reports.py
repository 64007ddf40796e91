import json
from pathlib import Path

import pytest

from nacre.errors import JobError, StorageError
from nacre.inspect.reports.run_reports import (
    RUN_REPORTS,
    run_report_data,
    write_checkpoint_reports,
    write_reports,
    write_run_reports,
)
from nacre.inspect.reports.source import JobReportSource
from nacre.inspect.view import LiveFigures, View
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.store.disk import RealDisk
from nacre.store.store import Store
from tests.inspect.reports.given import RUN, SETTINGS, Given, fill, queue
from tests.store.memory import MemoryEngine

NAMES = (
    "crawl-report", "seeds-report", "hosts-report", "source-report", "mimetype-report",
    "responsecode-report", "processors-report", "frontier-summary-report", "threads-report",
)  # fmt: skip


class FullDisk(RealDisk):
    def pwrite(self, handle: int, data: bytes, offset: int) -> None:
        if "hosts" in self._paths[handle]:
            raise StorageError("no space")
        super().pwrite(handle, data, offset)


@pytest.fixture
def store() -> Store:
    made = Store(MemoryEngine())
    fill(made)
    return made


def test_no_such_report_and_no_run():
    view = View(Layout(Path("job")), SETTINGS, Store(MemoryEngine()), SystemClock())
    with pytest.raises(JobError, match="no report of a run 'gossip'; there are: crawl-summary, s"):
        run_report_data(view, "gossip")
    with pytest.raises(JobError, match="has not run yet"):
        run_report_data(view, "hosts")


def test_files_of_a_run(store: Store, tmp_path: Path):
    layout = Layout(tmp_path)
    assert write_run_reports(RealDisk(), layout, JobReportSource(store, SETTINGS, RUN)) == ""
    found = json.loads((layout.run(RUN.name) / "reports" / "seeds-report.json").read_text())
    assert [row["code"] for row in found["rows"]] == [0, 0, 301, 200]


def test_reports_that_cannot_be_written_are_no_disaster(store: Store, tmp_path: Path):
    (tmp_path / "runs").write_text("a file in the way")
    told = write_run_reports(RealDisk(), Layout(tmp_path), JobReportSource(store, SETTINGS, RUN))
    assert told.startswith("reports were not written")


def test_reports_of_a_checkpoint(tmp_path: Path):
    layout = Layout(tmp_path)
    checkpoint = layout.checkpoints / "cp00001"
    with Store.open(str(layout.store)) as store:
        fill(store)
        store.commit()
        layout.checkpoints.mkdir()
        store.engine.checkpoint(str(checkpoint))
        live = LiveFigures(25, (), 0.0)
        layout.scratch.mkdir()
        told = write_checkpoint_reports(RealDisk(), layout, SETTINGS, checkpoint, live)
    assert told == ""
    text = (layout.run(RUN.name) / "reports" / "crawl-report.txt").read_text()
    assert "seeds crawled: 2\n" in text
    told = write_checkpoint_reports(RealDisk(), layout, SETTINGS, tmp_path / "none", live)
    assert told.startswith("reports were not written")


def test_the_files_are_those_of_heritrix_and_json(tmp_path: Path):
    given = Given()
    given.visited("http://a.test/", mime="\ud800")
    given.given_queues = [queue("a,")]
    directory = tmp_path / "reports"
    for _ in range(2):  # the second time over the files of the first
        write_reports(RealDisk(), str(directory), given)
    found = {path.name for path in directory.iterdir()}
    assert found == {f"{name}.{kind}" for name in NAMES for kind in ("txt", "json")}
    for report in (kind() for kind in RUN_REPORTS):
        if report.default:
            path = directory / report.file
            assert path.read_text("utf-8") == report.text(report.build(given))
            assert json.loads(path.with_suffix(".json").read_text()) == report.build(given)


def test_a_long_report_is_written_in_pieces(tmp_path: Path):
    given = Given()
    given.visited(*(f"http://h{number}.test/" for number in range(3000)))
    write_reports(RealDisk(), str(tmp_path), given)
    assert (tmp_path / "hosts-report.txt").stat().st_size > 1 << 16
    assert len((tmp_path / "hosts-report.txt").read_text().splitlines()) == 3001
    assert len(json.loads((tmp_path / "hosts-report.json").read_text())["rows"]) == 3000


def test_a_failure_leaves_the_former_file_and_nothing_half_done(tmp_path: Path):
    given = Given()
    write_reports(RealDisk(), str(tmp_path), given)
    before = (tmp_path / "hosts-report.txt").read_text()
    given.visited("http://a.test/")
    disk = FullDisk()
    with pytest.raises(StorageError):
        write_reports(disk, str(tmp_path), given)
    assert (tmp_path / "hosts-report.txt").read_text() == before
    assert not list(tmp_path.glob("*.new"))
    assert not disk._paths
