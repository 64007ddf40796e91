from typing import Any

import msgspec
import pytest

from nacre.job.diagnosis import CrowdedKind, diagnose
from nacre.job.diagnosis_facts import (
    crowded_kind,
    crowded_queue,
    diagnosis_facts,
    job_status,
    job_time,
    path_branch,
    time_left,
    unwanted,
)
from nacre.job.diagnosis_text import diagnosis_text
from nacre.job.lately import LastLines
from nacre.job.overview import JobOverview, SlowQueue
from nacre.report.log_fields import CrawlLogFields, crawl_log_fields

NOW = 1_763_651_460.0  # 2025-11-20T15:11:00Z
RUNNING = JobOverview("RUNNING", parallel=25, busy=1, queued=600, finished=50)
SLOW = SlowQueue("org,example,", 600, 1.0, 700.0, host="example.org")


def lines(url: str, status: int) -> list[CrawlLogFields]:
    text = "2025-11-20T15:10:30.000Z {} - {}{} LLLLLLLLL - text/html #001 - - - -"
    found = [crawl_log_fields(text.format(status, url, n)) for n in range(30)]
    return [one for one in found if one is not None]


def said(crawl: list[CrawlLogFields], tries: list[CrawlLogFields], **more: Any) -> str:
    answer = {"overview": msgspec.to_builtins(RUNNING), **more}
    return diagnosis_text(
        diagnose(diagnosis_facts(job_status(answer), NOW, LastLines(crawl, tries)))
    )


def test_pace_and_logs_decide_what_is_said():
    pace = {"rate": 2.0, "bytes_rate": 0.0}
    assert said([], [], pace=pace) == "2.0 URIs/s; about 5 min left"
    assert said([], [], pace={**pace, "grows": True}) == "2.0 URIs/s; 600 URIs wait"
    trapped = said(lines("http://a.test/cal/", 200), [], pace={**pace, "outgrows": True})
    assert trapped == "looks like a trap: http://a.test/cal/ gave 100 % of the new URLs"
    slow = msgspec.to_builtins([SlowQueue("test,a,", 1, 60.0, 60.0, host="a.test")])
    refused = said([], lines("http://a.test/", 429), pace=pace, slowest=slow)
    assert refused == "a.test answers 429; its delay is 1 min now"


@pytest.mark.parametrize("now", [0.0, 2 * NOW])
def test_the_clock_of_a_running_job_counts(now: float):
    running = msgspec.structs.replace(RUNNING, as_of=NOW)
    answer = {"overview": msgspec.to_builtins(running), "committed": NOW - 1}
    refusals = lines("http://a.test/", 429)
    facts = diagnosis_facts(job_status(answer), now, LastLines([], refusals))
    assert facts.now == NOW
    assert "nothing was committed" not in diagnosis_text(diagnose(facts))
    assert facts.troubled is not None


@pytest.mark.parametrize(("ended", "time"), [(0.0, NOW), (NOW - 9, NOW), (NOW + 9, NOW + 9)])
def test_the_present_of_a_job_at_rest_is_never_before_its_end(ended: float, time: float):
    assert job_time(JobOverview("FINISHED", ended_at=ended), NOW) == time


def test_what_a_job_does_not_say_is_not_known():
    facts = diagnosis_facts(job_status({"overview": {"state": "CRASHED"}}), NOW, LastLines())
    assert (facts.rate, facts.seconds_left, facts.committed, facts.trap) == (None, None, None, None)
    with pytest.raises(msgspec.ValidationError):
        job_status({"overview": 7})


@pytest.mark.parametrize(
    ("rate", "slowest", "left"),
    [(None, (), None), (0.0, (), None), (2.0, (), 300.0), (2.0, (SLOW,), 700.0)],
)
def test_the_time_that_is_left(
    rate: float | None, slowest: tuple[SlowQueue, ...], left: float | None
):
    assert time_left(RUNNING, slowest, rate) == left


def test_no_time_is_left_to_say_while_it_is_held():
    for state in ("PAUSING", "PAUSED"):
        assert time_left(msgspec.structs.replace(RUNNING, state=state), (), 2.0) is None


LARGE = SlowQueue("test,a,", 1_000, 1.0, 1_000.0, host="a.test")
SMALL = SlowQueue("test,b,", 10, 9.0, 2_000.0, host="b.test")


@pytest.mark.parametrize(
    ("queued", "grows", "found"),
    [(1_100, True, LARGE), (1_100, False, None), (2_000, True, None), (500, True, None)],
)
def test_a_queue_is_full_where_it_has_most_and_grows(
    queued: int, grows: bool, found: SlowQueue | None
):
    overview = JobOverview("RUNNING", queued=queued)
    assert crowded_queue(overview, (SMALL, LARGE), grows=grows) == found
    assert crowded_queue(overview, (), grows=grows) is None


def test_a_kind_is_a_directory_or_a_program_that_has_most():
    found = crowded_kind("test,a,#8080", "/rili?", 990, 1_000)
    assert found == CrowdedKind("test,a,#8080", "http://a.test:8080/rili?", 990, 1_000)
    assert found.share == 0.99
    calendar = crowded_kind("test,a,", "/cal/", 800, 1_000)
    assert calendar is not None
    assert calendar.prefix == "http://a.test/cal/"
    for branch, number, looked in (
        ("/cal/", 799, 1_000), ("/page.html", 990, 1_000), ("/", 990, 1_000), ("", 0, 1_000),
        ("/cal/", 9, 0),
    ):  # fmt: skip
        assert crowded_kind("test,a,", branch, number, looked) is None


def test_a_kind_that_is_wanted_is_none():
    kind = CrowdedKind("test,a,", "http://a.test/cal/", 9, 10)
    assert unwanted(kind, ("http://b.test/",)) == kind
    assert unwanted(kind, (kind.prefix,)) is None
    assert unwanted(None, ()) is None


@pytest.mark.parametrize(
    ("url", "path", "branch"),
    [
        ("http://a.test/cal/2024/1", "", "/cal/"),
        ("http://a.test/cal/2024/1", "/cal/", "/cal/2024/"),
        ("http://a.test/rili?y=1/2", "", "/rili?"),
        ("http://a.test/one.html", "", "/one.html"),
        ("http://a.test/one.html", "/cal/", ""),
        ("http://a.test", "", "/"),
    ],
)
def test_a_branch_is_one_level_below_a_path(url: str, path: str, branch: str):
    assert path_branch(url, path) == branch
