import json
from pathlib import Path

import pytest

from nacre.errors import StorageError
from nacre.report.files import write_reports
from nacre.report.reports import REPORTS
from nacre.store.disk import RealDisk
from tests.report.given import Given, queue

NAMES = {
    "crawl-report", "seeds-report", "hosts-report", "source-report", "mimetype-report",
    "responsecode-report", "processors-report", "frontier-summary-report", "threads-report",
}  # fmt: skip


class FullDisk(RealDisk):
    def pwrite(self, handle: int, data: bytes, offset: int) -> None:
        if "hosts" in self._paths[handle]:
            raise StorageError("no space")
        super().pwrite(handle, data, offset)


def test_the_files_are_those_of_heritrix_and_json(tmp_path: Path):
    given = Given()
    given.visited("http://a.test/", mime="\ud800")
    given.given_queues = [queue("a,")]
    directory = tmp_path / "reports"
    for _ in range(2):  # the second time over the files of the first
        write_reports(RealDisk(), str(directory), given)
    found = {path.name for path in directory.iterdir()}
    assert found == {f"{name}.{kind}" for name in NAMES for kind in ("txt", "json")}
    for report in REPORTS.values():
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
