import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import JobError
from nacre.fleet import launch
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.launch import Launcher, StartedProcess, lay_pause, lift_start_pause
from nacre.fleet.places import Fleet, FoundJob, RemovalBook, places_of
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play


class NoneRuns:
    """A watch that sees no job run."""

    def __init__(self) -> None:
        self.begun = set[str]()

    async def look(self, job: FoundJob) -> None:
        pass

    def is_running(self, job: FoundJob) -> bool:
        return False


@contextmanager
def given(folder: Path, most: int) -> Iterator[tuple[Launcher, FoundJob]]:
    """A launcher, and a job that never ran."""
    root = folder / "crawls" / "a"
    root.mkdir(parents=True)
    (root / "crawl.yaml").write_text("name: a\nseeds: seeds.txt\n")
    database = ConsoleDatabase(folder / "console")
    fleet = Fleet(places_of([folder / "crawls"]), RemovalBook(database))
    asyncio.run(fleet.scan())
    try:
        yield (
            Launcher(fleet, NoneRuns(), database, SystemClock(), most),
            fleet.job("crawls~a"),
        )
    finally:
        database.close()


def test_a_paused_start_that_is_taken_back_leaves_nothing(tmp_path: Path):
    with given(tmp_path, 0) as (launcher, job):
        pause = job.layout.control / "pause"
        facts = asyncio.run(launcher.order(job, ["run", "a"], paused=True))
        assert (facts.step, pause.exists()) == ("queued", True)
        assert launcher.withdraw(job)
        assert not pause.exists()
        assert not launcher.withdraw(job)


def test_a_start_without_a_pause_ends_that_of_an_earlier_one(tmp_path: Path):
    with given(tmp_path, 0) as (launcher, job):
        pause = job.layout.control / "pause"
        lay_pause(job.layout)
        asyncio.run(launcher.order(job, ["run", "a"]))
        assert not pause.exists()


@pytest.mark.parametrize("text", ["", "until monday\n"])
def test_a_pause_that_somebody_else_asked_for_stays(tmp_path: Path, text: str):
    with given(tmp_path, 0) as (launcher, job):
        job.layout.control.mkdir()
        pause = job.layout.control / "pause"
        pause.write_text(text)
        asyncio.run(launcher.order(job, ["run", "a"], paused=True))
        launcher.withdraw(job)
        asyncio.run(launcher.order(job, ["run", "a"]))
        assert pause.read_text() == text


def test_what_is_no_file_is_not_taken_away(tmp_path: Path):
    layout = Layout(tmp_path)
    (layout.control / "pause").mkdir(parents=True)
    lift_start_pause(layout)
    assert (layout.control / "pause").is_dir()


def test_a_paused_start_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuses(root: Path, arguments: object) -> StartedProcess:
        assert (root / "control" / "pause").exists()
        raise JobError(f"{root} cannot be started: no space")

    monkeypatch.setattr(launch, "start_process", refuses)
    with given(tmp_path, 1) as (launcher, job):
        facts = asyncio.run(launcher.order(job, ["run", "a"], paused=True))
        assert facts.step == "failed"
        assert "no space" in facts.text
        assert not (job.layout.control / "pause").exists()


def test_a_start_whose_end_nobody_awaits_is_not_shown_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    entered, released = threading.Event(), threading.Event()

    def slow(*_: object) -> Any:
        entered.set()
        released.wait()
        raise JobError("it cannot be started")

    monkeypatch.setattr(launch, "start_process", slow)
    (tmp_path / "crawls").mkdir()
    assert nacre("new", tmp_path / "crawls" / "demo", "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        parts = console.parts
        (job,) = parts.common.fleet.jobs
        ordered = asyncio.create_task(parts.launcher.order(job, ["run", "x"]))
        await asyncio.to_thread(entered.wait)
        await parts.common.poller.look(job)
        assert parts.common.poller.snapshot(job).state == "PREPARING"
        ordered.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ordered
        assert parts.common.poller.begun == set()
        await parts.common.poller.look(job)
        assert parts.common.poller.snapshot(job).state == "NASCENT"
        released.set()

    play(tmp_path, scene)
