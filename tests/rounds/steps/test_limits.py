"""Limits by domain for tasks: no line goes to two of them."""

from pathlib import Path

import pytest

from nacre.crawldb.limits import read_limits
from nacre.crawldb.row import bucket_of_domain
from nacre.frontier.settings import PolitenessSettings
from nacre.rounds.steps.limits import LATENCY, DividedLimits, TaskLimits, fetch_spacing
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


@pytest.mark.parametrize(
    ("polite", "delay", "latency", "expected"),
    [
        ({"delay": 3}, 0.0, 0.0, 3.0 + LATENCY),
        ({"delay": 3}, 0.0, 0.5, 3.5),
        ({"delay": 3}, 30.0, 0.5, 30.5),
        ({"delay": 0}, 0.0, 0.0, LATENCY),
        ({"delay": 0, "in_flight": 4}, 0.0, 0.4, 0.1),
        ({"min_delay": 1}, 0.0, 0.0, 1.0 + LATENCY),
        ({"min_delay": 1}, 0.0, 2.0, 12.0),
        ({"min_delay": 1, "max_delay": 8}, 0.0, 2.0, 10.0),
    ],
)
def test_the_time_from_one_fetch_to_the_next(polite, delay, latency, expected):
    settings = PolitenessSettings.model_validate(polite)
    assert fetch_spacing(settings, delay, latency) == pytest.approx(expected)
