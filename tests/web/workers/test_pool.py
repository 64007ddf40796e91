import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvloop

from nacre.console.reader_tasks import READER_TASKS, TASKS, find_task
from nacre.errors import JobError, NacreError
from nacre.fleet.refusals import RefusedRequestError
from nacre.job.control import ControlServer
from nacre.machine.layout import Layout
from nacre.web.workers import pool as pool_module
from nacre.web.workers.pool import ALONE, TRIES, ReaderPool
from nacre.web.workers.worker import ReaderRequest, answer_to
from nacre_migrate.component import MIGRATE
from tests.cli.site import nacre


def test_a_task_answers_or_says_why_not(tmp_path: Path):
    (tmp_path / "crawl.yaml").touch()
    request = ReaderRequest("stored-status", str(tmp_path))
    assert answer_to(request, find_task).data["overview"]["state"] == "NASCENT"
    nothing = answer_to(ReaderRequest("stored-status", str(tmp_path / "none")), find_task)
    assert (nothing.error, nothing.data) == ("JobError", None)
    assert answer_to(ReaderRequest("nothing", str(tmp_path)), find_task).error == "Exception"


def test_a_process_that_dies_or_hangs_is_replaced(tmp_path: Path):
    (tmp_path / "crawl.yaml").touch()

    async def play() -> None:
        pool = ReaderPool(READER_TASKS, 1)
        (process,) = pool._processes
        try:
            answer = await pool.ask("stored-status", tmp_path)
            assert answer["overview"]["state"] == "NASCENT"
            assert process._process is not None
            first = process._process.pid
            with pytest.raises(JobError, match="is not a job"):
                await pool.ask("stored-status", tmp_path / "none")
            with pytest.raises(NacreError, match="KeyError: 'nothing'"):
                await pool.ask("nothing", tmp_path)
            os.kill(first, signal.SIGSTOP)
            with pytest.raises(RefusedRequestError, match="could not be read"):
                await pool.ask("stored-status", tmp_path, 0.01)
            with pytest.raises(ProcessLookupError):
                os.kill(first, 0)
            assert (await pool.ask("stored-status", tmp_path))["slowest"] == []
        finally:
            await pool.close()

    asyncio.run(play())


@pytest.mark.parametrize(
    ("run", "when"),
    [
        pytest.param(run, when, marks=marks, id=f"{when}-{run.__module__.partition('.')[0]}")
        for run, marks in ((uvloop.run, ()), (asyncio.run, pytest.mark.slow))
        for when in ("before", "noticed", "over")
    ],
)
def test_a_question_is_asked_again_when_the_process_dies(
    run: Callable[[Coroutine[Any, Any, None]], None], tmp_path: Path, when: str
):
    (tmp_path / "crawl.yaml").touch()

    async def play() -> None:
        pool = ReaderPool(READER_TASKS, 1)
        (process,) = pool._processes
        try:
            await pool.ask("stored-status", tmp_path)
            assert process._process is not None
            if when == "over":
                asking = asyncio.ensure_future(pool.ask("stored-status", tmp_path))
                await asyncio.sleep(0)
                os.kill(process._process.pid, signal.SIGKILL)
                assert (await asking)["overview"]["state"] == "NASCENT"
                return
            os.kill(process._process.pid, signal.SIGKILL)
            if when == "noticed":
                await process._process.wait()
            assert (await pool.ask("stored-status", tmp_path))["slowest"] == []
        finally:
            await pool.close()

    run(play())


@pytest.mark.parametrize(("task", "times"), [("stored-status", TRIES), ("operate", 1)])
def test_a_process_that_dies_each_time_is_named_and_what_writes_is_begun_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, times: int
):
    begun = []

    async def dies(*_: object) -> None:
        begun.append(task)
        raise asyncio.IncompleteReadError(b"", 4)

    monkeypatch.setattr(pool_module, "_exchanged", dies)

    async def play() -> None:
        pool = ReaderPool(READER_TASKS, 1)
        try:
            with pytest.raises(RefusedRequestError, match="the reader process ended"):
                await pool.work(task, tmp_path, lambda *_: None)
        finally:
            await pool.close()

    asyncio.run(play())
    assert len(begun) == times


@pytest.mark.slow
def test_processes_that_are_killed_at_random_lose_no_question(tmp_path: Path):
    (tmp_path / "crawl.yaml").touch()
    chance = random.Random(23)

    async def play() -> None:
        pool = ReaderPool(READER_TASKS, 2)
        try:
            for _ in range(8):
                asking = asyncio.ensure_future(pool.ask("stored-status", tmp_path))
                for _ in range(chance.randrange(12)):
                    await asyncio.sleep(0)
                living = [one._process for one in pool._processes if one._process is not None]
                if living and (killed := chance.choice(living)).returncode is None:
                    os.kill(killed.pid, signal.SIGKILL)
                assert (await asking)["overview"]["state"] == "NASCENT"
        finally:
            await pool.close()

    uvloop.run(play())


def _fault(command: str, error: Exception) -> str:
    return f"{command}: {error}"


class HeldJob:
    """A job whose process answers an import when it is let go: a question that takes long."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "job"
        assert nacre("new", self.root, "http://127.0.0.1:9/").code == 0
        self._lines = folder / "lines.txt"
        self._lines.write_text("http://127.0.0.1:9/a\n")
        self.go = asyncio.Event()
        self.asked = asyncio.Event()
        self.number = 0

    async def _answer(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self.number += 1
        self.asked.set()
        await self.go.wait()
        return {"imported": ({}, [])}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the block runs, its process does."""
        layout = Layout(self.root)
        layout.socket.parent.mkdir(exist_ok=True)
        server = ControlServer(layout.socket, {"frontier-import": self._answer}, _fault)
        await server.start()
        try:
            yield
        finally:
            self.go.set()
            await server.close()

    def take_lines(self, pool: ReaderPool) -> Awaitable[Any]:
        """The question."""
        return pool.work(
            "import-uris", self.root, lambda _, __: None, file=str(self._lines), modes=["import"],
            scoped=False, force=False, retain_failures=False, by="anna",
        )  # fmt: skip


async def _ask_more_than_may_run(job: HeldJob, pool: ReaderPool) -> None:
    """More long questions than may be answered at a time, and short ones meanwhile."""
    async with job.running():
        long = [asyncio.ensure_future(job.take_lines(pool)) for _ in range(ALONE + 1)]
        await job.asked.wait()
        for _ in range(3):
            # It runs, and so has no numbers in a store yet.
            assert (await pool.ask("stored-status", job.root, 60.0))["slowest"] == []
        assert not any(one.done() for one in long)
        job.go.set()
        for one in long:
            assert (await one)["changed"] == 0


@pytest.mark.slow
def test_a_question_is_answered_while_more_long_ones_are_asked_than_may_run(tmp_path: Path):
    job = HeldJob(tmp_path)

    async def play() -> None:
        pool = ReaderPool(READER_TASKS, 1)
        try:
            await _ask_more_than_may_run(job, pool)
            assert pool.times["import-uris"][0] == ALONE + 1
        finally:
            await pool.close()

    asyncio.run(play())


@pytest.mark.slow
def test_a_question_that_holds_others_up_is_answered_apart(tmp_path: Path, monkeypatch):
    quick = READER_TASKS._replace(long=frozenset())
    monkeypatch.setattr(pool_module, "HELD_UP", 0.0)
    monkeypatch.setattr(pool_module, "START", 0.0)  # a new process gets no time to load either
    job = HeldJob(tmp_path)

    async def play() -> None:
        pool = ReaderPool(quick, 1)
        try:
            await pool.warm()
            await _ask_more_than_may_run(job, pool)
            assert pool.times["import-uris"][0] == ALONE + 1
        finally:
            await pool.close()

    asyncio.run(play())


def test_a_job_at_rest_takes_lines_of_several_in_turn(tmp_path: Path):
    job = HeldJob(tmp_path)

    async def play() -> None:
        pool = ReaderPool(READER_TASKS, 1)
        try:
            taken = await asyncio.gather(*(job.take_lines(pool) for _ in range(ALONE + 1)))
            assert sorted(one["changed"] for one in taken) == [0, 0, 1]
        finally:
            await pool.close()

    asyncio.run(play())


def test_what_is_long_is_known_by_its_name_or_its_arguments():
    assert READER_TASKS.is_long("report", {})
    assert not READER_TASKS.is_long("tree", {"whole": False})
    assert READER_TASKS.is_long("tree", {"whole": True})
    assert {*TASKS, *MIGRATE.reader_tasks} >= READER_TASKS.long
    assert not {*TASKS} & {*MIGRATE.reader_tasks}
