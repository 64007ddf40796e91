import asyncio
from typing import Any

import pytest

from nacre.errors import JobError
from nacre.fleet.refusals import RefusedRequestError
from nacre.web.live.hub import ViewerHub, task_topic
from nacre.web.workers.background import KEPT, TaskBook, Tell
from tests.engine.visiting import ManualClock


def test_a_task_goes_on_and_its_result_is_kept_for_a_while():
    async def play() -> None:
        clock = ManualClock()
        book, go = TaskBook(clock, ViewerHub().task_changed), asyncio.Event()

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
        book = TaskBook(ManualClock(), ViewerHub().task_changed)

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


def test_who_looks_at_a_task_is_told_how_far_it_is():
    async def play() -> None:
        hub = ViewerHub()
        book, go = TaskBook(ManualClock(), hub.task_changed), asyncio.Event()

        async def work(tell: Tell) -> str:
            await go.wait()
            tell(3, 10)
            return "done"

        task = book.begin("j", "count", "anna", work)
        with hub.viewing((task_topic(task.id),)) as viewer:
            go.set()
            assert await viewer.changes(5) == frozenset((task_topic(task.id),))
            await task.wait(5)
            assert task.state == "done"

    asyncio.run(play())


def test_the_same_question_gets_the_task_that_was_begun_for_it_once():
    async def play() -> None:
        clock = ManualClock()
        book = TaskBook(clock, ViewerHub().task_changed)

        async def work(_: Tell) -> str:
            return "done"

        task = book.begin("j", "seeds", "anna", work, {"state": ""})
        assert book.same("j", "seeds", "anna", {"state": ""}) is None  # it was no question
        task.is_question = task.is_told = True
        assert book.same("j", "seeds", "anna", {"state": ""}) is task
        assert book.same("j", "seeds", "anna", {"state": "got"}) is None
        assert book.same("j", "seeds", "bert", {"state": ""}) is None
        await task.wait(5)
        assert book.same("j", "seeds", "anna", {"state": ""}) is task
        clock.passed += 61
        assert book.same("j", "seeds", "anna", {"state": ""}) is None
        clock.passed -= 61
        book.answered(task)
        assert book.same("j", "seeds", "anna", {"state": ""}) is None
        assert book.task(task.id) is task  # somebody knows its id
        task.is_told = False
        book.answered(task)
        with pytest.raises(RefusedRequestError, match="no such task"):
            book.task(task.id)

    asyncio.run(play())


def test_what_is_to_be_done_at_the_end_is_done_also_where_a_task_never_began():
    async def play() -> None:
        book, done = TaskBook(ManualClock(), ViewerHub().task_changed), list[str]()

        async def works(_: Tell) -> str:
            return "done"

        task = book.begin("j", "import", "anna", works)
        task.then(lambda: done.append("over"))
        assert await task.outcome(1) == "done"
        never = book.begin("j", "import", "anna", works)
        never.then(lambda: done.append("never began"))
        await never.cancel()
        await asyncio.sleep(0)
        assert done == ["over", "never began"]

    asyncio.run(play())
