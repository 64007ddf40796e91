"""The state of a job on the port."""

import asyncio
import os
from pathlib import Path

import pytest

from nacre.errors import JobError
from nacre.fleet.places import FoundJob
from nacre.fleet.reach import PortOptions
from nacre.fleet.requester import NOBODY
from nacre.fleet.snapshot import UNREADABLE, JobSnapshot
from nacre.job.diagnosis import Diagnosis
from nacre.job.overview import JobOverview
from nacre.machine.layout import Layout
from nacre_migrate.port import actions
from nacre_migrate.port.actions import BuiltJobs, HeritrixJobs, _Context, _state_of
from tests.cli.site import nacre
from tests.console.given import given_console


def test_a_job_that_is_too_busy_to_answer_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "crawls").mkdir()
    assert nacre("new", tmp_path / "crawls" / "x", "http://127.0.0.1:9/").code == 0
    seen = [
        JobSnapshot("crawls~x", 1.0, state, True, Diagnosis("x"), overview)
        for state, overview in (
            (UNREADABLE, None), ("PAUSED", JobOverview("PAUSED", queued=7)), (UNREADABLE, None),
        )
    ]  # fmt: skip

    async def story() -> None:
        async with given_console(tmp_path) as console:

            async def fresh(_: FoundJob) -> JobSnapshot:
                return seen.pop(0)

            monkeypatch.setattr(console.parts.common.poller, "fresh", fresh)
            jobs = HeritrixJobs(
                console.parts.port(console.port_keys), PortOptions(0), BuiltJobs(), NOBODY
            )
            states = [await jobs.facts("x", "", logs=False) for _ in range(3)]
            assert [one.status() for one in states] == [
                "Active: RUNNING", "Active: PAUSED", "Active: PAUSED",
            ]  # fmt: skip
            assert states[2].overview is not None
            assert states[2].overview.queued == 7

    asyncio.run(story())


def test_a_job_is_finished_once_it_is_known_how_its_run_ended():
    context = _Context()
    context.launched = True
    assert _state_of(context, "FINISHED", running=True) == ("STOPPING", "")
    assert _state_of(context, "PAUSED", running=True) == ("PAUSED", "")
    assert _state_of(context, "ABORTED", running=False) == ("FINISHED", "ABORTED")


class _Process:
    """A process that runs for ever."""

    def code(self) -> int | None:
        return None


def test_a_launch_from_a_checkpoint_is_told_until_the_job_is_torn_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root, words = tmp_path / "crawls" / "x", list[str]()
    root.parent.mkdir()
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0
    for number, name in enumerate(("late", "early")):
        made = Layout(root).checkpoints / name / "CURRENT"
        made.parent.mkdir(parents=True)
        made.touch()
        os.utime(made, (1000 - number, 1000 - number))

    def started(_: Path, arguments: list[str]) -> _Process:
        words.extend(arguments)
        return _Process()

    monkeypatch.setattr(actions, "start_process", started)

    async def story() -> None:
        async with given_console(tmp_path) as console:
            built = BuiltJobs()
            jobs = HeritrixJobs(
                console.parts.port(console.port_keys), PortOptions(0), built, NOBODY
            )
            with pytest.raises(JobError, match="no checkpoint"):
                await jobs.launch("x", "anna", "../early")
            assert (await jobs.facts("x", "")).checkpoint == ""
            await jobs.launch("x", "anna", "latest")
            assert words[:4] == ["run", str(root), "--checkpoint", "late"]
            facts = await jobs.facts("x", "")
            assert (facts.checkpoint, facts.checkpoints) == ("late", ("early", "late"))
            built.contexts[root].process = None
            await jobs.teardown("x", "anna")
            assert (await jobs.facts("x", "")).checkpoint == ""

    asyncio.run(story())
