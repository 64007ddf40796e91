import math

from nacre.report.progress import HEADER, Counts, Progress, Rates
from nacre.report.stats import Tally
from tests.report.visits import NOW

COUNTS = Counts(
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
    progress = Progress(Tally(), 0.0)
    row = progress.row(NOW, Tally(urls=600, size=9_000_000), Rates(30.0, 450.4, 20.0, 300), COUNTS)
    assert row == (
        "2026-11-20T10:00:01Z        1234         567          600           30(20)   450(300)"
        "             8            25        80000         90000         3.14          90"
        "          12"
    )
    assert len(row) == len(HEADER)


def test_wide_values_do_not_run_together():
    progress = Progress(Tally(), 0.0)
    wide = COUNTS._replace(discovered=10**13, queued=10**13, congestion=math.inf, memory=10**14)
    row = progress.row(NOW, Tally(urls=10**15), Rates(10**9, 10**9, 10**9, 10**9), wide)
    assert len(row.split()) == len(HEADER.split())
    assert row.split()[10] == "∞"


def test_events():
    progress = Progress(Tally(), 0.0)
    told = progress.event(NOW, "PAUSED", "Paused (disk\nis full)")
    assert told == "2026-11-20T10:00:01Z CRAWL PAUSED - Paused (disk is full)"


def test_rates_of_now_and_on_average():
    progress = Progress(Tally(), 0.0)
    assert progress.rates(Tally(urls=100, size=1_024_000), 20.0) == Rates(5, 50, 5, 50)
    assert progress.rates(Tally(urls=110, size=1_024_000), 40.0) == Rates(0.5, 0, 2.75, 25)


def test_after_a_resume_now_is_not_the_whole_past():
    progress = Progress(Tally(urls=100_000, size=10**9), 1000.0)
    found = progress.rates(Tally(urls=100_040, size=10**9 + 81_920), 1020.0)
    assert (found.urls, found.kilobytes) == (2.0, 4.0)
    assert round(found.urls_average, 3) == round(100_040 / 1020, 3)


def test_no_time_no_rate():
    progress = Progress(Tally(), 0.0)
    first = progress.rates(Tally(), 0.0)
    assert (first.urls, first.kilobytes, first.kilobytes_average) == (0, 0, 0)
    assert math.isnan(first.urls_average)
    progress.rates(Tally(urls=10, size=10), 10.0)
    assert progress.rates(Tally(urls=12, size=12), 10.0).urls == 0  # while it is paused
