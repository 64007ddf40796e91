import pytest

from nacre.errors import JobError
from nacre.job.states import EXIT_CODES, TRANSITIONS, ExitStatus, JobState, check_transition


def test_every_state_can_reach_finished():
    for start in JobState:
        reached, todo = {start}, [start]
        while todo:
            for after in TRANSITIONS[todo.pop()] - reached:
                reached.add(after)
                todo.append(after)
        assert JobState.FINISHED in reached


def test_a_transition_that_the_table_lacks_is_an_error():
    check_transition(JobState.RUNNING, JobState.PAUSING)
    with pytest.raises(JobError, match="a job that is FINISHED cannot become RUNNING"):
        check_transition(JobState.FINISHED, JobState.RUNNING)


def test_every_end_has_an_exit_code():
    assert set(EXIT_CODES) == set(ExitStatus) - {ExitStatus.NONE}
