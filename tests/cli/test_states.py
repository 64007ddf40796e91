import pytest

from nacre.cli.states import live_words, state_words
from nacre.job.operator.overview import Overview
from nacre.job.states import ExitStatus, JobState


@pytest.mark.parametrize("state", [*ExitStatus, "CRASHED", "NASCENT"])
def test_every_end_has_words(state: str):
    words = state_words(Overview(state))
    assert "_" not in words.replace("max_wait", "").replace("novel_bytes", "")
    assert words == words[0].lower() + words[1:]


@pytest.mark.parametrize("state", list(JobState))
def test_every_state_has_words(state: JobState):
    words = live_words(Overview(str(state), parallel=1))
    assert "_" not in words
    assert words.islower()


def test_reasons():
    paused = Overview("PAUSED", why="disk, operator", parallel=1)
    assert state_words(paused) == "paused (for want of disk space, by the operator)"
    stopping = Overview("STOPPING", why="FINISHED_TIME_LIMIT", parallel=1)
    assert state_words(stopping) == "stopping (stopped at the time limit (limits.time))"
