"""The past of a run, out of logs of any size."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from nacre.console.logs.progress import (
    DAY,
    POINTS,
    ProgressRow,
    past_of,
    progress_row,
    read_past,
)
from nacre.core.clock import iso_millis
from nacre.core.states import ExitStatus, JobState
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.report.progress import HEADER, FetchRates, ProgressCounts, ProgressLog, ProgressRates
from nacre.report.statistics import Tally

START = 1_795_000_000.0


def line(number: int, per_second: float = 2.0) -> str:
    """The row that the crawler writes at the end of an interval of 20 s."""
    totals = Tally(int(number * 20 * per_second), 0)
    counts = ProgressCounts(1000 + number, 500, number, 3, 1.5, 9, 4, 2048, 4096)
    rates = FetchRates(per_second, 10.0, per_second, 10.0)
    return ProgressRates(Tally(0, 0), 0.0).row(START + 20 * number, totals, rates, counts)


def logs(root: Path, files: Mapping[str, Iterable[str]]) -> Layout:
    """A job with logs of its last run."""
    layout = Layout(root)
    folder = root / "20261118T100000Z" / "logs"
    folder.mkdir(parents=True)
    layout.latest.symlink_to("20261118T100000Z")
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{one}\n" for one in lines))
    return layout


def test_a_row_has_the_numbers_that_the_crawler_wrote():
    assert progress_row(line(3)) == ProgressRow(
        START + 60, 1003, 500, 120, 10_240.0, 3, 3, 2048 * 1024
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER,
        "2026-11-20T15:11:00Z CRAWL PAUSED - Paused",
        line(3)[:60],
        line(3).replace("120", "many"),
        line(3).replace("2026", "20x6"),
        "\x00" * 200,
    ],
)
def test_what_is_no_row_is_left_out(text: str):
    assert progress_row(text) is None


def rows(numbers: Iterable[int]) -> list[ProgressRow]:
    found = [progress_row(line(number)) for number in numbers]
    return [row for row in found if row is not None]


def test_rates_are_exact_between_points():
    points, step = past_of(rows(range(601)))
    assert len(points) == POINTS
    assert step == 40.0
    assert {point.documents for point in points} == {2.0}
    assert points[-1].time == START + 12_000
    assert points[0].failed == pytest.approx(1 / 20)
    assert points[0].busy == 3.0


def test_a_time_without_rows_is_a_gap():
    points, _ = past_of(rows([*range(10), *range(100, 110)]))
    rates = [point.documents for point in points]
    assert rates.count(None) == 91
    assert {rate for rate in rates if rate is not None} == {2.0}
    assert points[50].queued is None


def test_a_count_that_went_back_has_no_rate():
    first, second, third = rows(range(1, 4))
    fallen = ProgressRow(second.time, 0, 0, 0, 0.0, 0, 0, 0)
    points, _ = past_of([first, fallen, third])
    assert [point.documents for point in points] == [None, 6.0]


def test_one_row_is_no_past():
    assert past_of(rows([1])) == ((), 0.0)


def test_a_day_is_counted_from_the_last_row(tmp_path: Path):
    layout = logs(tmp_path, {"progress-statistics.log": [HEADER, *map(line, range(5_000))]})
    past = read_past(layout, DAY)
    assert past.points[-1].time == START + 20 * 4_999
    assert past.points[0].time >= past.points[-1].time - DAY
    assert past.step == pytest.approx(DAY / POINTS)
    assert not past.is_sampled


def test_a_checkpoint_begins_a_new_file_and_no_new_past(tmp_path: Path):
    layout = logs(
        tmp_path,
        {
            "progress-statistics.log.cp00001-20261118110000": map(line, range(100)),
            "progress-statistics.log.cp00002-20261118120000": map(line, range(100, 200)),
            "progress-statistics.log": map(line, range(200, 300)),
            "crawl.log": [],
        },
    )
    points = read_past(layout, None).points
    assert len(points) == 299
    assert {point.documents for point in points} == {2.0}


def test_points_have_the_statuses_of_their_time(tmp_path: Path):
    fetched = f"{iso_millis(START + 30)}   404 - http://a.test/ L - text/html #001 - - - -"
    files = {"progress-statistics.log": map(line, range(4)), "crawl.log": [fetched]}
    past = read_past(logs(tmp_path, files), None)
    assert [point.statuses for point in past.points] == [{}, {"4xx": 0.05}, {}]
    assert not past.has_sampled_statuses


def test_of_a_large_log_only_parts_are_read(tmp_path: Path):
    layout = logs(tmp_path, {"progress-statistics.log": map(line, range(6_000))})
    budget = 30_000
    past = read_past(layout, None, budget)
    assert past.is_sampled
    assert past.points[-1].time == START + 20 * 5_999
    assert {round(p.documents, 6) for p in past.points if p.documents is not None} == {2.0}
    assert sum(point.documents is None for point in past.points) <= 1
    last = read_past(layout, DAY, budget)
    assert 0 < last.points[-1].time - last.points[0].time < DAY


def test_a_job_without_logs_has_no_past(tmp_path: Path):
    assert read_past(Layout(tmp_path), None).points == ()


def test_lines_of_the_crawler_are_understood(tmp_path: Path):
    """As `ProgressLog` writes them."""
    texts: list[str] = []

    class Lines:
        def progress(self, text: str) -> None:
            texts.append(text)

        def job(self, message: str) -> None: ...

    class Source:
        totals = Tally(0, 0)

        def counts(self) -> ProgressCounts:
            return ProgressCounts(0, 0, 0, 0, float("nan"), 0, 0, 1, 1)

    class Watch:
        elapsed = 0.0

    log = ProgressLog(Source(), Lines(), "r", Watch(), SystemClock())  # type: ignore[arg-type]
    log.begin()
    log.event(JobState.PREPARING, JobState.RUNNING, "")
    log.event(JobState.RUNNING, JobState.STOPPING, ExitStatus.FINISHED)
    assert [progress_row(text) is not None for text in texts] == [False, True, False, False, False]
