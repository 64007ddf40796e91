import math

from nacre.core.states import JobState
from nacre.report.progress import (
    HEADER,
    INTERVAL,
    FetchRates,
    ProgressCounts,
    ProgressLog,
    ProgressRates,
)
from nacre.report.statistics import CrawlTotals, Tally
from tests.report.visits import NOW

COUNTS = ProgressCounts(
    discovered=1234, queued=567, failed=8, busy=25, congestion=3.14159, deepest=90, average=12,
    memory=80_000, peak=90_000,
)  # fmt: skip


def test_the_header_is_that_of_heritrix():
    assert HEADER == (
        "           timestamp  discovered      queued   downloaded       doc/s(avg)  KB/s(avg)"
        "   dl-failures   busy-thread   mem-use-KB  heap-size-KB   congestion   max-depth"
        "   avg-depth"
    )


def test_a_row_stands_below_the_header():
    progress = ProgressRates(Tally(), 0.0)
    row = progress.row(
        NOW, Tally(urls=600, size=9_000_000), FetchRates(30.0, 450.4, 20.0, 300), COUNTS
    )
    assert row == (
        "2026-11-20T10:00:01Z        1234         567          600           30(20)   450(300)"
        "             8            25        80000         90000         3.14          90"
        "          12"
    )
    assert len(row) == len(HEADER)


def test_wide_values_do_not_run_together():
    progress = ProgressRates(Tally(), 0.0)
    wide = COUNTS._replace(discovered=10**13, queued=10**13, congestion=math.inf, memory=10**14)
    row = progress.row(NOW, Tally(urls=10**15), FetchRates(10**9, 10**9, 10**9, 10**9), wide)
    assert len(row.split()) == len(HEADER.split())
    assert row.split()[10] == "∞"


def test_events():
    progress = ProgressRates(Tally(), 0.0)
    told = progress.event(NOW, "PAUSED", "Paused (disk\nis full)")
    assert told == "2026-11-20T10:00:01Z CRAWL PAUSED - Paused (disk is full)"


def test_rates_of_now_and_on_average():
    progress = ProgressRates(Tally(), 0.0)
    assert progress.rates(Tally(urls=100, size=1_024_000), 20.0) == FetchRates(5, 50, 5, 50)
    assert progress.rates(Tally(urls=110, size=1_024_000), 40.0) == FetchRates(0.5, 0, 2.75, 25)


def test_after_a_resume_now_is_not_the_whole_past():
    progress = ProgressRates(Tally(urls=100_000, size=10**9), 1000.0)
    found = progress.rates(Tally(urls=100_040, size=10**9 + 81_920), 1020.0)
    assert (found.urls, found.kilobytes) == (2.0, 4.0)
    assert round(found.urls_average, 3) == round(100_040 / 1020, 3)


def test_no_time_no_rate():
    progress = ProgressRates(Tally(), 0.0)
    first = progress.rates(Tally(), 0.0)
    assert (first.urls, first.kilobytes, first.kilobytes_average) == (0, 0, 0)
    assert math.isnan(first.urls_average)
    progress.rates(Tally(urls=10, size=10), 10.0)
    assert progress.rates(Tally(urls=12, size=12), 10.0).urls == 0  # while it is paused


class Running:
    """A running job, its logs, its time and its clock."""

    def __init__(self) -> None:
        self.totals = CrawlTotals(urls=10, size=1024)
        self.mono = 100.0
        self.elapsed = 5.0
        self.progress_lines: list[str] = []
        self.job_lines: list[str] = []

    def counts(self) -> ProgressCounts:
        return COUNTS

    def progress(self, text: str) -> None:
        self.progress_lines.append(text)

    def job(self, message: str) -> None:
        self.job_lines.append(message)

    def now(self) -> float:
        return NOW

    def monotonic(self) -> float:
        return self.mono

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(f"a log does not wait, here {seconds} s")

    def log(self) -> ProgressLog:
        return ProgressLog(self, self, "20261120T100000Z", self, self)


def test_a_row_at_each_interval():
    job = Running()
    log = job.log()
    log.begin()
    for passed in (0.0, INTERVAL - 1.0, 1.0, 1.0, INTERVAL):
        job.mono += passed
        log.look()
    first, *rows = job.progress_lines
    assert first == HEADER
    assert len(rows) == 1 + 2
    assert rows[0].split()[1:4] == ["1234", "567", "10"]


def test_events_stand_between_the_rows_in_heritrix_words():
    job = Running()
    log = job.log()
    log.event(JobState.PAUSING, JobState.PAUSED, "by the operator")
    log.event(JobState.PREPARING, JobState.RUNNING, "")
    log.event(JobState.RUNNING, JobState.NASCENT, "")
    log.event(JobState.RUNNING, JobState.STOPPING, "FINISHED")
    assert [line.partition(" ")[2] for line in job.progress_lines] == [
        "CRAWL PAUSED - Paused (by the operator)",
        "CRAWL RUNNING - Preparing",
        "CRAWL ENDING - Finished",
        "CRAWL EMPTY - Running",
    ]
    assert [line.split()[0] for line in job.job_lines] == ["PAUSED", "RUNNING", "STOPPING", "EMPTY"]
