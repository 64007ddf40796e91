import pytest

from nacre.core.states import (
    EXIT_TABLE,
    TRANSITIONS,
    ExitCode,
    ExitStatus,
    JobState,
    RunCounts,
    SeedsEnd,
    check_transition,
    exit_code,
)
from nacre.errors import JobError


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
    for status in set(ExitStatus) - {ExitStatus.NONE}:
        assert exit_code(status, RunCounts()) in EXIT_TABLE


def test_the_exit_codes_are_what_they_were():
    """Scripts depend on them: a code is never given another meaning."""
    assert {int(code): code.name for code in EXIT_TABLE} == {
        0: "FINISHED",
        1: "ERROR",
        2: "USAGE",
        3: "INTERRUPTED",
        4: "LIMIT",
        5: "STOPPED",
        6: "NOTHING_FETCHED",
        7: "DAMAGED",
        8: "SEEDS_ERRONEOUS",
        9: "NOTHING_ARCHIVED",
        10: "NOTHING_DUE",
        11: "CONFLICT",
        12: "FAULTS",
    }
    assert set(EXIT_TABLE) == set(ExitCode)


S = ExitStatus


@pytest.mark.parametrize(
    ("status", "counts", "code"),
    [
        (S.FINISHED, RunCounts(), 0),
        (S.ABNORMAL, RunCounts(SeedsEnd.NO_REPLY), 1),
        (S.INTERRUPTED, RunCounts(SeedsEnd.NO_REPLY), 3),
        (S.INTERRUPTED, RunCounts(SeedsEnd.GOT, 5, 0), 3),
        (S.TIME_LIMIT, RunCounts(), 4),
        (S.DATA_LIMIT, RunCounts(), 4),
        (S.DOCUMENT_LIMIT, RunCounts(SeedsEnd.GOT, 5, 5), 4),
        (S.WRITE_LIMIT, RunCounts(), 4),
        (S.QUEUE_BUDGET, RunCounts(SeedsEnd.NO_REPLY), 4),
        (S.TIME_LIMIT, RunCounts(SeedsEnd.ERRONEOUS, 5, 5), 4),
        (S.ABORTED, RunCounts(), 5),
        (S.DISK_WAIT, RunCounts(), 5),
        (S.FINISHED, RunCounts(SeedsEnd.GOT, 5, 5, 1), 12),
        (S.DOCUMENT_LIMIT, RunCounts(SeedsEnd.GOT, 5, 5, 1), 4),
        (S.FINISHED, RunCounts(SeedsEnd.ERRONEOUS, 5, 5, 1), 8),
        (S.FINISHED, RunCounts(SeedsEnd.NO_REPLY), 6),
        (S.FINISHED, RunCounts(SeedsEnd.NO_REPLY, 3, 0), 6),
        (S.FINISHED, RunCounts(SeedsEnd.ERRONEOUS, 3, 3), 8),
        (S.FINISHED, RunCounts(SeedsEnd.ERRONEOUS, 3, 0), 9),
        (S.FINISHED, RunCounts(SeedsEnd.GOT, 3, 0), 9),
        (S.TIME_LIMIT, RunCounts(SeedsEnd.GOT, 3, 0), 9),
        (S.FINISHED, RunCounts(SeedsEnd.GOT, 3, None), 0),
        (S.FINISHED, RunCounts(SeedsEnd.GOT, 0, 0), 0),
    ],
)
def test_the_exit_code_follows_from_the_end_and_the_counts(
    status: ExitStatus, counts: RunCounts, code: int
):
    assert exit_code(status, counts) == code
