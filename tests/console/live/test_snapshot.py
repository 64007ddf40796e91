from pathlib import Path

import msgspec
import pytest

from nacre.console.fleet.places import FoundJob
from nacre.console.live.snapshot import (
    SPAN,
    JobActivity,
    RatePoint,
    rate_point,
    snapshot_of,
    time_left,
    unreadable,
)
from nacre.console.metrics import job_figures
from nacre.job.overview import JobOverview, SlowQueue
from nacre.store.layout import Layout

JOB = FoundJob("crawls~demo", "demo", "crawls", Layout(Path("crawls/demo")))
RUNNING = JobOverview("RUNNING", parallel=25, busy=1, queued=600, finished=50)
SLOW = SlowQueue("org,example,", 600, 1.0, 700.0, host="example.org")


def test_the_rate_is_that_of_the_last_half_minute():
    activity = JobActivity()
    assert activity.lately() is None
    for second in range(61):
        finished = second if second < 30 else 30 + 5 * (second - 30)
        activity.note(RatePoint(float(second), finished, finished * 100, 9))
        if second == 1:
            assert activity.lately() == (1.0, 100.0)
    assert activity.lately() == (5.0, 500.0)
    assert activity.rates[0] == pytest.approx(1.0)
    assert activity.rates[-1] == pytest.approx(5.0)


def test_points_are_ten_seconds_apart_and_ten_minutes_old_at_most():
    activity = JobActivity()
    for second in range(2000):
        activity.note(RatePoint(float(second), second, 0, 9))
    assert len(activity.rates) <= SPAN / 10 + 1
    assert sum(activity.rates) == pytest.approx(len(activity.rates))


def test_another_run_begins_anew():
    activity = JobActivity()
    activity.note(RatePoint(0.0, 1000, 0, 9))
    activity.note(RatePoint(1.0, 1001, 0, 9))
    activity.note(RatePoint(2.0, 3, 0, 9))
    assert activity.lately() is None


@pytest.mark.parametrize(
    ("rate", "slowest", "left"),
    [(None, (), None), (0.0, (), None), (2.0, (), 300.0), (2.0, (SLOW,), 700.0)],
)
def test_the_time_that_is_left(rate, slowest, left):
    assert time_left(RUNNING, slowest, rate) == left


def test_no_time_is_left_to_say_while_it_is_held():
    for state in ("PAUSING", "PAUSED"):
        assert time_left(msgspec.structs.replace(RUNNING, state=state), (), 2.0) is None


@pytest.mark.parametrize(("queued", "grows"), [(90, False), (110, False), (111, True)])
def test_what_waits_may_grow_faster_than_what_is_done(queued, grows):
    activity = JobActivity()
    activity.note(RatePoint(0.0, 10, 0, 100))
    assert not activity.grows()
    activity.note(RatePoint(10.0, 20, 0, queued))
    assert activity.grows() == grows


def test_what_the_operator_deleted_is_no_speed():
    deleted = msgspec.structs.replace(RUNNING, finished=900, deleted=840)
    assert rate_point({"overview": msgspec.to_builtins(deleted)}, 1.0).finished == 60


def test_an_answer_becomes_a_snapshot():
    answer = {
        "overview": msgspec.to_builtins(RUNNING),
        "slowest": msgspec.to_builtins([SLOW]),
        "fetching": [{"url": "http://example.org/书", "seconds": 2.0}],
    }
    activity = JobActivity()
    activity.note(rate_point(answer, 100.0))
    seen = snapshot_of(JOB, answer, 100.0, activity)
    assert (seen.state, seen.running, seen.sentence.code) == ("RUNNING", True, "one-host")
    assert seen.fetching[0].url == "http://example.org/书"
    assert seen.slowest == (SLOW,)


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
