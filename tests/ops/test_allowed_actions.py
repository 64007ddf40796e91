import pytest

from nacre.core.states import CRASHED, ExitStatus, JobState
from nacre.ops.allowed_actions import POSSIBLE, job_actions
from nacre.ops.operation import GROUPS


@pytest.mark.parametrize(
    ("state", "allowed"),
    [
        ("NASCENT", {"start", "start-paused", "edit"}),
        ("PREPARING", {"stop"}),
        ("RUNNING", {"pause", "stop", "checkpoint", "parallel", "change", "frontier"}),
        ("EMPTY", {"pause", "stop", "checkpoint", "parallel", "change", "frontier"}),
        ("PAUSED", {"resume", "stop", "checkpoint", "parallel", "change", "frontier"}),
        ("STOPPING", set()),
        ("ABORTED", {"go-on", "go-on-checkpoint", "edit", "frontier", "end"}),
        (CRASHED, {"go-on", "go-on-checkpoint", "edit", "frontier", "end"}),
        ("FINISHED_TIME_LIMIT", {"go-on", "go-on-checkpoint", "edit", "frontier", "end"}),
        ("FINISHED", {"recrawl", "recrawl-full", "edit"}),
        ("ROUNDS", {"run-rounds", "dry-run-rounds"}),
    ],
)
def test_what_a_state_allows(state: str, allowed: set[str]):
    actions = job_actions(state, "crawls/demo")
    assert {action.name for action in actions if action.allowed} == allowed
    assert all(action.why for action in actions if not action.allowed)
    assert [action.name for action in actions] == list(POSSIBLE)


def test_a_run_that_was_ended_for_good_is_followed_by_another():
    actions = job_actions("ABORTED", "crawls/demo", closed=True)
    allowed = {action.name for action in actions if action.allowed}
    assert allowed == {"recrawl", "recrawl-full", "edit"}


def test_each_state_of_a_job_has_its_group():
    states = {str(state) for state in JobState} | {str(end) for end in ExitStatus}
    assert states <= set(GROUPS)


def test_each_action_has_its_command():
    found = {action.name: action.command for action in job_actions("NASCENT", "'a job'")}
    assert found["start"] == "nacre run 'a job'"
    assert all("'a job'" in command for command in found.values())


def test_rounds_have_actions_of_their_own():
    running = {one.name: one for one in job_actions("ROUNDS", "demo", running=True)}
    assert {name for name, one in running.items() if one.allowed} == {"stop-after-step"}
    assert (running["run-rounds"].why, running["pause"].why) == ("rounds-running", "rounds")
    resting = {one.name: one.why for one in job_actions("ROUNDS", "demo")}
    assert (resting["stop-after-step"], resting["start"]) == ("rounds-rest", "rounds")
    other = {one.name: one.why for one in job_actions("RUNNING", "demo", running=True)}
    assert (other["run-rounds"], other["start"]) == ("no-rounds", "running")
