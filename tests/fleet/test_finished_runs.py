from datetime import UTC, datetime
from pathlib import Path

import pytest

from nacre.fleet import job_files as module
from nacre.fleet.job_files import FinishedRun, finished_runs
from nacre.fleet.places import FoundJob
from nacre.machine.layout import Layout


def moment(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def add_run(
    root: Path, name: str, last: str, report: str | None = '{"status": "FINISHED"}'
) -> None:
    run = root / "runs" / name
    (run / "logs").mkdir(parents=True)
    (run / "logs" / "progress-statistics.log").write_text("x" * 600 + "\n" + last)
    if report is not None:
        (run / "reports").mkdir()
        (run / "reports" / "crawl-report.json").write_text(report)


def found(root: Path, begin: str = "2026-11-01", end: str = "2026-12-01") -> list[FinishedRun]:
    job = FoundJob("crawls~馆", "馆", "crawls", Layout(root))
    return finished_runs([job], moment(begin), moment(end))


def test_runs_of_a_month_are_those_that_ended_in_it(tmp_path: Path):
    ends = ("2026-10-31T23:59:59Z", "2026-11-01T00:00:00Z", "2026-11-30T23:59:59Z",
            "2026-12-01T00:00:00Z")  # fmt: skip
    names = ("20261031T200000Z", "20261031T235959Z", "20261102T000000Z", "20261130T235959Z")
    for name, ended in zip(names, ends, strict=True):
        add_run(tmp_path, name, f"{ended} CRAWL ENDED - Finished\n")
    add_run(tmp_path, "20261201T010000Z", "2026-12-01T02:00:00Z CRAWL ENDED - Finished\n")
    assert found(tmp_path) == [
        FinishedRun(moment("2026-11-30T23:59:59"), "crawls~馆", names[2], "FINISHED"),
        FinishedRun(moment("2026-11-01"), "crawls~馆", names[1], "FINISHED"),
    ]


@pytest.mark.parametrize(
    "last",
    [
        "2026-11-03T00:00:00Z CRAWL ENDED - x\n2026-11-03T01:00:00Z CRAWL RUNNING\n",
        "2026-11-03T00:00:00Z CRAWL ENDING - Finished\n",
        "2026-11-31T00:00:00Z CRAWL ENDED - Finished\n",
        "",
    ],
)
def test_a_run_that_goes_on_or_was_cut_off_is_none(tmp_path: Path, last: str):
    add_run(tmp_path, "20261102T000000Z", last)
    assert found(tmp_path) == []


@pytest.mark.parametrize("report", [None, "", "[1]", "{", '{"seconds": 1}'])
def test_a_run_whose_report_cannot_be_read_is_there(tmp_path: Path, report: str | None):
    add_run(tmp_path, "20261102T000000Z", "2026-11-03T00:00:00Z CRAWL ENDED - Finished", report)
    assert [(one.name, one.exit) for one in found(tmp_path)] == [("20261102T000000Z", "")]


def test_no_link_is_followed(tmp_path: Path):
    add_run(tmp_path / "other", "20261102T000000Z", "2026-11-03T00:00:00Z CRAWL ENDED - Finished")
    (tmp_path / "job" / "runs").mkdir(parents=True)
    link = tmp_path / "job" / "runs" / "20261102T000000Z"
    link.symlink_to(tmp_path / "other" / "runs" / "20261102T000000Z")
    assert found(tmp_path / "job") == []


def test_of_many_runs_the_newest_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MOST", 2)
    for day in (1, 2, 3):
        add_run(tmp_path, f"2026110{day}T000000Z", f"2026-11-0{day}T01:00:00Z CRAWL ENDED - x\n")
    assert [one.name[:8] for one in found(tmp_path)] == ["20261103", "20261102"]
