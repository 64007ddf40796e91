"""A job from its first session to its last."""

import asyncio
from pathlib import Path

import pytest

from nacre.config.layer import SettingOrigin
from nacre.core.events import Event, StateChanged
from nacre.core.states import ExitStatus, JobState
from nacre.errors import ConfigError
from nacre.inspect.stored_job import read_only
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.runs.runs import read_run
from nacre.settings.settings import JobSettings

SEED = "http://127.0.0.1:9/"


def job(root: Path, **sections: object) -> Job:
    return Job(root, JobSettings.model_validate({"seeds": [SEED], **sections}))


def stop_when(one: Job, state: JobState) -> list[Event]:
    """Stop the job when it comes to a state; all events."""
    heard: list[Event] = []

    def hear(event: Event) -> None:
        heard.append(event)
        if isinstance(event, StateChanged) and event.new is state and one.session:
            one.session.stop(ExitStatus.ABORTED)

    one.events.subscribe(hear)
    return heard


def states(heard: list[Event]) -> list[JobState]:
    return [event.new for event in heard if isinstance(event, StateChanged)]


def test_a_job_passes_through_its_states_and_can_be_resumed(tmp_path: Path):
    first = job(tmp_path)
    heard = stop_when(first, JobState.RUNNING)
    assert asyncio.run(first.run()) is ExitStatus.ABORTED
    assert states(heard) == [
        JobState.PREPARING, JobState.RUNNING, JobState.STOPPING, JobState.FINISHED,
    ]  # fmt: skip
    assert (first.session, first.is_over) == (None, True)
    with read_only(str(Layout(tmp_path).store)) as store:
        run = read_run(store)
    assert run is not None
    assert run.exit is ExitStatus.ABORTED

    again = job(tmp_path)
    stop_when(again, JobState.RUNNING)
    assert asyncio.run(again.run()) is ExitStatus.ABORTED
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [run.name]


def test_a_job_that_is_paused_at_its_start_fetches_nothing(tmp_path: Path):
    one = job(tmp_path, engine={"pause_at_start": True})
    heard = stop_when(one, JobState.PAUSED)
    assert asyncio.run(one.run()) is ExitStatus.ABORTED
    assert JobState.RUNNING not in states(heard)


def test_a_public_site_without_a_contact_is_refused_before_anything_is_written(tmp_path: Path):
    one = Job(tmp_path / "job", JobSettings(seeds=("http://example.org/",)))
    with pytest.raises(ConfigError, match="say who is crawling"):
        asyncio.run(one.run())
    assert not (tmp_path / "job").exists()


def test_a_private_seed_opens_no_other_private_network(tmp_path: Path):
    guard = asyncio.run(job(tmp_path).guard())
    assert guard.refusal("127.0.0.1") == ""
    assert guard.refusal("10.0.0.1") != ""


def test_a_setting_comes_from_where_the_job_was_told(tmp_path: Path):
    origin = SettingOrigin("file", "crawl.yaml", 3)
    one = Job(tmp_path, JobSettings(), origin=lambda path: origin)
    assert one.origin_now("politeness.delay") is origin
