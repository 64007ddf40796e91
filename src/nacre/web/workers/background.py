"""The tasks in the background: each was begun for somebody, and its result can be asked for.

A request waits for a task for some seconds. One that is not done by then goes on, and the answer
names it, so that a page or a program can look again.
"""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from nacre.core.clock import Clock
from nacre.errors import NacreError
from nacre.fleet.refusals import SOON, RefusedRequestError, not_found
from nacre.messages import message
from nacre.web.problems import ProblemDetails, problem_of

PATIENCE: Final = 5.0
"""Seconds that a request waits for a task."""
KEPT: Final = 1800.0
"""Seconds for which the result of a task is kept."""
MOST: Final = 500
"""Tasks that are kept; more that run are refused."""

_FRESH: Final = 60.0
"""Seconds for which the same question gets the result of a task that it began."""

Tell = Callable[[int, int], None]
"""Takes how many steps are done, and of how many; 0 where that is not known."""


class HeldTask:
    """A task: what it does, for whom, how far it is, and what came of it.

    Attributes:
        id: Its name in URLs, not to be guessed.
        job: Id of the job that it works on.
        what: Its kind, such as `count` or `delete`.
        by: Name of who began it.
        facts: What it was asked for, for the page that shows it.
        started: Seconds since the epoch.
        ended: The same; 0 while it runs.
        done: Steps done.
        total: Steps in all; 0 where that is not known.
        result: What came of it; None while it runs, and where it failed.
        problem: Why it failed; None where it did not.
    """

    def __init__(
        self,
        job: str,
        kind: str,
        by: str,
        facts: dict[str, object],
        now: float,
        changed: Callable[[str], None],
    ) -> None:
        self._changed = changed
        self.id = secrets.token_urlsafe(12)
        self.job = job
        self.what = kind
        self.by = by
        self.facts = facts
        self.started = now
        self.ended = 0.0
        self.done = 0
        self.total = 0
        self.result: Any = None
        self.is_question = False
        """Who asks the same again gets its result, once."""
        self.patience = PATIENCE
        """Seconds that a request of a program waits for its result."""
        self.is_told = False
        """Its id was answered, so that it may be asked for."""
        self.problem: ProblemDetails | None = None
        self._error: NacreError | None = None
        self._work: asyncio.Task[None] | None = None

    @property
    def state(self) -> str:
        """`running`, `done` or `failed`."""
        if not self.ended:
            return "running"
        return "failed" if self.problem is not None else "done"

    def tell(self, steps: int, total: int) -> None:
        """Note how far it is."""
        self.done, self.total = steps, total
        self._changed(self.id)

    def start(self, work: Coroutine[Any, Any, Any], clock: Clock) -> None:
        """Begin; called once."""
        # It outlives the request that began it; `TaskBook.close` ends it with the console.
        loop = asyncio.get_running_loop()
        self._work = loop.create_task(self._do(work, clock), name=f"{self.what} {self.job}")
        self.then(work.close)

    async def _do(self, work: Coroutine[Any, Any, Any], clock: Clock) -> None:
        try:
            self.result = await work
        except NacreError as error:
            self._error, self.problem = error, problem_of(error)
        except asyncio.CancelledError:
            self._error = RefusedRequestError(
                409, "cancelled", message("console.task-ended", "the task was ended")
            )
            self.problem = problem_of(self._error)
            raise
        finally:
            self.ended = clock.now()
            self._changed(self.id)

    def then(self, clean: Callable[[], None]) -> None:
        """Call something when it is over, also where it is ended before it has begun."""
        if self._work is not None:
            self._work.add_done_callback(lambda _: clean())

    async def wait(self, patience: float) -> bool:
        """Wait until it is over; whether it is, after some seconds."""
        if self._work is not None:
            with suppress(TimeoutError, asyncio.CancelledError):
                await asyncio.wait_for(asyncio.shield(self._work), patience)
        return bool(self.ended)

    async def outcome(self, patience: float) -> Any:  # noqa: ANN401 - as the work gives it
        """Its result; None where it goes on.

        Raises:
            NacreError: It failed.
        """
        if not await self.wait(patience):
            return None
        if self._error is not None:
            raise self._error
        return self.result

    async def cancel(self) -> None:
        """End it; what it has done stays done."""
        if self._work is not None and not self.ended:
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await self._work


class TaskBook:
    """All tasks of a console; those that are over are forgotten after half an hour.

    Args:
        clock: The time.
        changed: Called with the id of one that is further, or over.
    """

    def __init__(self, clock: Clock, changed: Callable[[str], None]) -> None:
        self._clock = clock
        self._changed = changed
        self._tasks: dict[str, HeldTask] = {}

    def begin(
        self,
        job: str,
        kind: str,
        by: str,
        work: Callable[[Tell], Coroutine[Any, Any, Any]],
        facts: dict[str, object] | None = None,
        patience: float = PATIENCE,
    ) -> HeldTask:
        """Begin a task.

        Args:
            job: Id of its job.
            kind: Its kind.
            by: Name of who began it.
            work: Makes the work, which tells how far it is.
            facts: What it was asked for.
            patience: Seconds that a request of a program waits for its result.

        Raises:
            RefusedRequestError: Too many run (429).
        """
        self._forget()
        if len(self._tasks) >= MOST:
            text = message(
                "console.tasks-limit",
                "{most} tasks run or wait to be looked at; try again later",
                most=MOST,
            )
            raise RefusedRequestError(429, "too-many-tasks", text, SOON)
        task = HeldTask(job, kind, by, facts or {}, self._clock.now(), self._changed)
        task.patience = patience
        self._tasks[task.id] = task
        task.start(work(task.tell), self._clock)
        return task

    def same(self, job: str, kind: str, by: str, facts: dict[str, object]) -> HeldTask | None:
        """The task that somebody began for the same a moment ago; None for none.

        A page that waits asks again, and is to get what was begun for it, not to begin it again.
        """
        now = self._clock.now()
        return next(
            (
                task for task in self._tasks.values()
                if task.is_question and task.facts == facts
                and (task.job, task.what, task.by) == (job, kind, by)
                and (not task.ended or now - task.ended < _FRESH)
            ),
            None,
        )  # fmt: skip

    def task(self, name: str) -> HeldTask:
        """The task of an id.

        Raises:
            RefusedRequestError: There is none (404).
        """
        self._forget()
        known_task = self._tasks.get(name)
        if known_task is None:
            raise not_found(
                message("console.no-task-result", "such task; results are kept for half an hour")
            )
        return known_task

    @property
    def tasks(self) -> list[HeldTask]:
        """All tasks, the newest first."""
        self._forget()
        return sorted(self._tasks.values(), key=lambda one: one.started, reverse=True)

    def answered(self, task: HeldTask) -> None:
        """A question has its answer: it is forgotten, unless somebody knows its id."""
        task.is_question = False
        if not task.is_told:
            self._tasks.pop(task.id, None)

    def _forget(self) -> None:
        now = self._clock.now()
        over = [task for task in self._tasks.values() if task.ended]
        old = [task for task in over if now - task.ended > KEPT]
        if len(self._tasks) >= MOST:  # rather the older results than no new task
            old = sorted(over, key=lambda task: task.ended)[: MOST // 2]
        for task in old:
            self._tasks.pop(task.id, None)

    async def close(self) -> None:
        """End all tasks."""
        for task in list(self._tasks.values()):
            await task.cancel()
