import asyncio
from typing import Any

import pytest

from nacre.console.problems import RefusedRequestError
from nacre.console.readers.background import KEPT, TaskBook, Tell
from nacre.errors import JobError
from tests.engine.visiting import ManualClock


def test_a_task_goes_on_and_its_result_is_kept_for_a_while():
    async def play() -> None:
        clock = ManualClock()
        book, go = TaskBook(clock), asyncio.Event()

        async def work(tell: Tell) -> str:
            tell(3, 10)
            await go.wait()
            return "done"

        task = book.begin("j", "count", "anna", work)
        assert await task.outcome(0) is None
        await asyncio.sleep(0)
        assert (task.state, task.done, task.total) == ("running", 3, 10)
        go.set()
        assert await task.outcome(1) == "done"
        assert book.task(task.id) is task
        clock.passed += KEPT + 1
        with pytest.raises(RefusedRequestError, match="no such task"):
            book.task(task.id)

    asyncio.run(play())


def test_a_task_that_fails_or_is_ended_says_why():
    async def play() -> None:
        book = TaskBook(ManualClock())

        async def fails(_: Tell) -> Any:
            raise JobError("no")

        async def waits(_: Tell) -> Any:
            await asyncio.Event().wait()

        task = book.begin("j", "count", "anna", fails)
        with pytest.raises(JobError, match="no"):
            await task.outcome(1)
        assert task.problem is not None
        assert (task.state, task.problem.detail) == ("failed", "no")
        other = book.begin("j", "count", "anna", waits)
        await asyncio.sleep(0)
        await other.cancel()
        assert other.state == "failed"
        await book.close()

    asyncio.run(play())
