"""Limits by domain for tasks: no line goes to two of them."""

from pathlib import Path

from nacre.crawldb.limits import read_limits
from nacre.crawldb.row import bucket_of_domain
from nacre.rounds.steps.limits import DividedLimits, TaskLimits
from nacre.rounds.tables.tables import TaskPlace

LINES = read_limits("".join(f"d{n}.example\t{n}\n" for n in range(1_000)))


def test_a_task_is_given_the_lines_of_its_buckets():
    divided = DividedLimits(LINES, 4)
    first, others = divided.of([0, 0]), divided.of([1, 2, 3])
    assert {bucket_of_domain(one.domain, 4) for one in first.lines} == {0}
    assert len(first.lines) + len(others.lines) == len(LINES)
    assert DividedLimits((), 4).of([1]) == TaskLimits()


def test_a_file_for_all_tasks_takes_the_place_of_lines(tmp_path: Path):
    with TaskPlace(str(tmp_path)).open() as work:
        DividedLimits(LINES, 1).of([0]).load(work)
        work.send("from limits", "exchange/limits.parquet")
        given = DividedLimits(LINES, 4, "exchange/limits.parquet").of([1])
        assert given.lines == ()
        given.load(work)
        assert work.kernel.rows("select count(*), sum(urls) from limits") == [(1_000, 499_500)]
