from pathlib import Path

import msgspec
import pytest

from nacre.console.metrics import job_figures
from nacre.fleet.places import FoundJob
from nacre.fleet.snapshot import JobSnapshot, rate_point, snapshot_of, starting, unreadable
from nacre.job.activity import JobActivity
from nacre.job.diagnosis import Diagnosis
from nacre.job.overview import JobOverview, SlowQueue
from nacre.machine.layout import Layout

JOB = FoundJob("crawls~demo", "demo", "crawls", Layout(Path("crawls/demo")))
RUNNING = JobOverview("RUNNING", parallel=25, busy=1, queued=600, finished=50)
SLOW = SlowQueue("org,example,", 600, 1.0, 700.0, host="example.org")


def test_what_the_operator_deleted_is_no_speed():
    deleted = msgspec.structs.replace(RUNNING, finished=900, deleted=840)
    assert rate_point({"overview": msgspec.to_builtins(deleted)}, 1.0, 1.0).finished == 60


def test_an_answer_becomes_a_snapshot():
    answer = {
        "overview": msgspec.to_builtins(RUNNING),
        "slowest": msgspec.to_builtins([SLOW]),
        "fetching": [{"url": "http://example.org/书", "seconds": 2.0}],
    }
    activity = JobActivity()
    activity.note(rate_point(answer, 100.0, 7.0))
    seen = snapshot_of(JOB, answer, 100.0, activity)
    assert (seen.state, seen.running, seen.sentence.code) == ("RUNNING", True, "one-host")
    assert seen.fetching[0].url == "http://example.org/书"
    assert seen.slowest == (SLOW,)


def test_the_pace_is_what_the_job_says_or_what_was_seen_of_an_older_one():
    answer = {"overview": msgspec.to_builtins(RUNNING)}
    activity = JobActivity()
    activity.note(rate_point(answer, 90.0, -3.0))
    later = msgspec.structs.replace(RUNNING, finished=150, queued=900)
    answer["overview"] = msgspec.to_builtins(later)
    activity.note(rate_point(answer, 100.0, 7.0))
    old = snapshot_of(JOB, answer, 100.0, activity)
    assert (old.rate, old.grows, old.left) == (10.0, True, None)
    told = {"rate": 4.0, "bytes_rate": 9.0, "grows": False, "outgrows": False}
    seen = snapshot_of(JOB, {**answer, "pace": told}, 100.0, activity)
    assert (seen.rate, seen.bytes_rate, seen.grows, seen.left) == (4.0, 9.0, False, 225.0)


@pytest.mark.parametrize(
    ("rounds", "code"),
    [
        ({"version": 0, "step": "", "at": ""}, "rounds-new"),
        ({"version": 7, "step": "update", "at": ""}, "rounds"),
        ({"version": 7, "step": "update", "at": "fetch", "round": 2}, "rounds-at"),
    ],
)
def test_a_batch_crawl_is_a_kind_of_job(rounds, code):
    seen = snapshot_of(JOB, {"cycle": rounds}, 100.0, None)
    assert (seen.state, seen.sentence.code, seen.overview) == ("ROUNDS", code, None)


def test_a_job_that_cannot_be_read_says_why():
    seen = unreadable(JOB, "no permission", 5.0, running=False)
    assert (seen.state, seen.sentence.code) == ("UNREADABLE", "unreadable")
    assert unreadable(JOB, "", 5.0, running=True).sentence.code == "no-answer"


def test_the_last_good_numbers_of_a_job_stay_when_it_does_not_answer():
    answer = {"overview": msgspec.to_builtins(RUNNING), "slowest": [], "fetching": []}
    good = snapshot_of(JOB, answer, 5.0, JobActivity())
    seen = unreadable(JOB, "no answer in 2 s", 9.0, good, running=True)
    assert seen.overview == RUNNING
    assert (seen.state, seen.as_of, seen.stale) == ("UNREADABLE", 9.0, 5.0)
    assert seen.rate is None
    later = unreadable(JOB, "no answer in 2 s", 12.0, seen, running=True)
    assert (later.as_of, later.stale) == (12.0, 5.0)
    assert (
        unreadable(JOB, "", 12.0, unreadable(JOB, "", 9.0, running=True), running=True).stale == 0
    )


def test_the_ages_of_a_running_job_are_kept_for_its_metrics():
    answer = {"overview": msgspec.to_builtins(RUNNING), "committed": 97.5, "gap": 120.0}
    seen = snapshot_of(JOB, answer, 100.0, None)
    assert (seen.commit_age, seen.gap) == (2.5, 120.0)
    (figures,) = job_figures([(JOB, seen)], {})
    assert (figures.commit_age, figures.loop_gap) == (2.5, 0.12)
    later = snapshot_of(JOB, {**answer, "committed": 101.0}, 100.0, None)
    assert later.commit_age == 0.0
    rest = snapshot_of(JOB, {"overview": msgspec.to_builtins(RUNNING)}, 100.0, None)
    (figures,) = job_figures([(JOB, rest)], {})
    assert (figures.commit_age, figures.loop_gap) == (None, None)


def test_a_job_that_starts_keeps_the_numbers_of_the_run_before():
    over = JobOverview("FINISHED", run="a", started=1.0, finished=7)
    last = JobSnapshot("j", 1.0, "FINISHED", running=False, sentence=Diagnosis("x"), overview=over)
    seen = starting(JOB, 2.0, last)
    assert (seen.state, seen.running, seen.sentence.code) == ("PREPARING", False, "preparing")
    assert seen.overview == msgspec.structs.replace(over, state="PREPARING")
    assert starting(JOB, 2.0).overview == JobOverview("PREPARING")


@pytest.mark.parametrize(
    ("state", "running", "expected"),
    [("RUNNING", True, True), ("PAUSED", True, False), ("PAUSING", True, False),
     ("ROUNDS", True, True), ("RUNNING", False, False), ("FINISHED", False, False)],
)  # fmt: skip
def test_a_paused_job_does_not_count_as_running(state: str, running: bool, expected: bool):
    assert JobSnapshot("a", 1.0, state, running, Diagnosis("x")).is_crawling is expected
