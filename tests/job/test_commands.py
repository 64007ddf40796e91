import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from nacre.core.events import StateChanged
from nacre.core.states import ExitStatus, JobState
from nacre.errors import ConfigError, JobError
from nacre.job.commands import CommandHandlers, asking
from nacre.job.control import BY, PEER
from nacre.job.job import Job
from nacre.scope.patterns.matching import matcher
from nacre.settings.settings import JobSettings
from tests.job.opened import opened


def commands(root: Path) -> CommandHandlers:
    return CommandHandlers(Job(root, JobSettings(seeds=("http://a.test/",))))


@pytest.mark.parametrize(
    "name",
    [
        "toes", "pause", "resume", "stop", "checkpoint", "parallel", "explain", "report",
        "frontier-delete", "frontier-import",
    ],
)  # fmt: skip
def test_between_two_sessions_nothing_can_be_asked(tmp_path: Path, name: str):
    request: dict[str, Any] = {"command": name}
    with pytest.raises(JobError, match="try again"):
        asyncio.run(commands(tmp_path).table()[name](request))


def test_expressions_of_the_operator():
    assert matcher("")("anything")
    assert matcher(r"\.pdf$")("http://a/x.pdf")
    assert not matcher(r"\.pdf$")("http://a/x.pdf?y")
    with pytest.raises(ConfigError, match="not a regular expression"):
        matcher("(")


def state_of(job: Job) -> dict[str, Any]:
    answer = asyncio.run(CommandHandlers(job).status({"command": "status"}))
    return dict(answer["overview"])


def test_between_two_sessions_a_job_says_its_state_and_why(tmp_path: Path):
    fresh = Job(tmp_path / "new", JobSettings(seeds=("http://a.test/",)))
    assert (state_of(fresh)["state"], state_of(fresh)["queued"]) == ("PREPARING", 0)

    async def play() -> None:
        async with opened(tmp_path / "job", seeds=("http://a.test/", "http://b.test/")):
            pass

    asyncio.run(play())
    job = Job(tmp_path / "job", JobSettings())
    job.trouble = "the disk failed; opening the job again"
    told = state_of(job)
    assert (told["state"], told["queued"]) == ("PREPARING", 2)
    assert told["why"] == "the disk failed; opening the job again"


def test_after_its_last_session_a_job_says_how_it_ended(tmp_path: Path):
    job = Job(tmp_path, JobSettings(seeds=("http://127.0.0.1:9/",)))
    job.events.subscribe(
        lambda event: (
            job.session.stop(ExitStatus.ABORTED)
            if isinstance(event, StateChanged) and event.new is JobState.RUNNING and job.session
            else None
        )
    )
    assert asyncio.run(job.run()) is ExitStatus.ABORTED
    assert state_of(job)["state"] == "ABORTED"


@pytest.mark.parametrize(
    ("user", "by", "begin"),
    [
        (os.getuid(), "安娜 via console", "安娜 via console (uid "),
        (os.getuid(), "anna\nroot: stop", "anna root: stop (uid "),
        (os.getuid(), "a" * 1000, "a" * 100 + " (uid "),
        (os.getuid() + 1, "anna via console", ""),
    ],
)
def test_a_process_of_the_same_user_names_who_asked_it(user: int, by: str, begin: str):
    name = asking({PEER: user, BY: by})
    assert name.startswith(begin)
    assert name.endswith(f"(uid {user})")
    assert ("anna" in name) is (user == os.getuid() and "anna" in by)


@pytest.mark.parametrize("by", ["", " ", None, 3, ["anna"]])
def test_a_name_that_is_none_is_that_of_the_user(by: object):
    assert asking({PEER: os.getuid(), BY: by}) == asking({PEER: os.getuid()})
