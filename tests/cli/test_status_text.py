import msgspec
import pytest

from nacre.cli.status_text import (
    Eta,
    MeasuredRates,
    RateMeter,
    live_words,
    state_words,
    status_lines,
)
from nacre.core.states import ExitStatus, JobState
from nacre.job.overview import JobOverview, SlowQueue


@pytest.mark.parametrize("state", [*ExitStatus, "CRASHED", "NASCENT"])
def test_every_end_has_words(state: str):
    words = state_words(JobOverview(state))
    assert "_" not in words.replace("max_wait", "").replace("novel_bytes", "")
    assert words == words[0].lower() + words[1:]


@pytest.mark.parametrize("state", list(JobState))
def test_every_state_has_words(state: JobState):
    words = live_words(JobOverview(str(state), parallel=1))
    assert "_" not in words
    assert words.islower()


def test_reasons():
    paused = JobOverview("PAUSED", why="disk, operator", parallel=1)
    assert state_words(paused) == "paused (for lack of disk space, by the operator)"
    stopping = JobOverview("STOPPING", why="FINISHED_TIME_LIMIT", parallel=1)
    assert state_words(stopping) == "stopping (stopped at the time limit (limits.time))"


def sample(elapsed: float, finished: int, received: int) -> JobOverview:
    return JobOverview("RUNNING", elapsed=elapsed, finished=finished, bytes=received)


def test_rates_now_and_on_average():
    meter = RateMeter()
    assert meter.rates(sample(10.0, 100, 0)) == MeasuredRates(0.0, 0.0, 0.0, 0.0)
    for second in range(11, 20):
        meter.rates(sample(second, 100, 0))
    rates = meter.rates(sample(20.0, 200, 50_000))
    assert rates == MeasuredRates(20.0, 10.0, 10.0, 5.0)


def test_what_the_operator_deleted_is_no_speed():
    meter = RateMeter()
    meter.rates(sample(10.0, 100, 0))
    deleted = JobOverview("RUNNING", elapsed=20.0, finished=1_110, deleted=1_000)
    assert meter.rates(deleted).uris == 1.0


def test_no_time_no_rate():
    meter = RateMeter()
    meter.rates(sample(5.0, 10, 10))
    assert meter.rates(sample(5.0, 20, 20)) == MeasuredRates()


def told(samples: list[tuple[float, int]], slowest: float = 0.0) -> float | None:
    eta = Eta()
    for elapsed, queued in samples:
        eta.note(elapsed, queued)
    return eta.seconds(slowest)


def test_a_queue_that_shrinks_steadily():
    seconds = told([(float(t), 1000 - 10 * t) for t in range(0, 50, 2)])
    assert seconds is not None
    assert 50 <= seconds <= 54


def test_the_slowest_queue_is_waited_for():
    assert told([(float(t), 1000 - 10 * t) for t in range(0, 50, 2)], 900.0) == 900.0


def test_nothing_is_said_too_early():
    assert told([(float(t), 1000 - 10 * t) for t in range(0, 12, 2)]) is None
    assert told([]) is None


def test_nothing_is_said_while_the_queue_grows_or_wavers():
    assert told([(float(t), 1000 + 10 * t) for t in range(0, 60, 2)]) is None
    assert told([(float(t), 1000 - 10 * t + (t // 8 % 2) * 200) for t in range(0, 60, 2)]) is None


def test_what_is_long_ago_counts_no_more():
    grew = [(float(t), 10 * t) for t in range(0, 100, 2)]
    shrank = [(float(t), 1000 - 5 * (t - 100)) for t in range(100, 190, 2)]
    assert told(grew + shrank) is not None


def test_slow_queues_name_the_jobs_that_share_them():
    slow = SlowQueue("test,a,", 9, 2.0, 18.0)
    sharer = {"job": "/crawls/\x1b[2J", "pid": 7, "delay": 40.0, "rests": 12.0}
    answer = {
        "overview": msgspec.to_builtins(JobOverview("RUNNING", parallel=1)),
        "sentence": None,
        "slowest": [{**msgspec.to_builtins(slow), "sharers": [sharer]}, msgspec.to_builtins(slow)],
        "fetching": [],
    }
    lines = "\n".join(status_lines(answer, "job", verbose=False))
    assert lines.count("the delay of 40 s of job /crawls/") == 1
    assert "(process 7) is in effect for 12.0 s more" in lines
    assert "\x1b" not in lines


@pytest.mark.parametrize("is_recording", [False, True])
def test_commands_have_the_directory_of_the_job(is_recording: bool):
    retrying = JobOverview("INTERRUPTED", gives_up=1e9, elapsed=5.0)
    answer = {
        "overview": msgspec.to_builtins(retrying), "sentence": None, "slowest": [], "fetching": [],
    }  # fmt: skip
    lines = "\n".join(status_lines(answer, "a/b", verbose=False, is_recording=is_recording))
    assert ("nacre record --out a/b` resumes it" in lines) is is_recording
    assert ("nacre run a/b` resumes it" in lines) is not is_recording
    assert "nacre stop a/b`" in lines
    assert "JOB" not in lines
