"""Background tasks: each belongs to the user who began it, and its result can be requested.

A request waits some seconds for a task. A task that takes longer continues, and the response has
its id, so that a page or a program can ask again.
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
"""Maximum tasks; a new task is refused if more run."""

_FRESH: Final = 60.0
"""Seconds for which a repeated question gets the result of the first one."""

Tell = Callable[[int, int], None]
"""Receives the progress: steps done, and steps in all; 0 if that is not known."""


class HeldTask:
    """A background task with its user, its progress and its result.

    Attributes:
        id: Its id in URLs, which cannot be guessed.
        job: Id of the job that it works on.
        what: Its kind, such as `count` or `delete`.
        by: Name of the user who began it.
        facts: Parameters of the task, for the page that shows it.
        started: Start time, seconds since the epoch.
        ended: End time, seconds since the epoch; 0 while it runs.
        done: Steps done.
        total: Steps in all; 0 if that is not known.
        result: The result; None while the task runs, and if it failed.
        problem: The reason of a failure; None if the task did not fail.
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
        """Whether a repeated question gets the result of this task, once."""
        self.patience = PATIENCE
        """Seconds that a program's request waits for the result."""
        self.is_told = False
        """Whether a response had its id, so that a caller may ask for it."""
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
        """Note the progress."""
        self.done, self.total = steps, total
        self._changed(self.id)

    def start(self, work: Coroutine[Any, Any, Any], clock: Clock) -> None:
        """Begin the task; called once."""
        # The task outlives its request; `TaskBook.close` ends it with the console.
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
        """Call a function when the task ends, even if it is cancelled before it begins."""
        if self._work is not None:
            self._work.add_done_callback(lambda _: clean())

    async def wait(self, patience: float) -> bool:
        """Wait for the end of the task, at most `patience` seconds; return whether it has ended."""
        if self._work is not None:
            with suppress(TimeoutError, asyncio.CancelledError):
                await asyncio.wait_for(asyncio.shield(self._work), patience)
        return bool(self.ended)

    async def outcome(self, patience: float) -> Any:  # noqa: ANN401 - as the work gives it
        """Return the result; None if the task has not ended after `patience` seconds.

        Raises:
            NacreError: The task failed.
        """
        if not await self.wait(patience):
            return None
        if self._error is not None:
            raise self._error
        return self.result

    async def cancel(self) -> None:
        """Cancel the task; its changes so far remain."""
        if self._work is not None and not self.ended:
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await self._work


class TaskBook:
    """All tasks of a console; finished tasks are forgotten after half an hour.

    Args:
        clock: The time.
        changed: Called with the id of a task when it makes progress or ends.
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
            job: Id of the job.
            kind: Kind of the task, such as `count`.
            by: Name of the user who begins it.
            work: Returns the coroutine of the task, which reports its progress.
            facts: Parameters of the task.
            patience: Seconds that a program's request waits for the result.

        Raises:
            RefusedRequestError: Too many tasks run (429).
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
        """Return the recent task of the same user for the same question; None for none.

        A waiting page repeats its request: it must get the result of its task, not start another.
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
        """Return the task of an id.

        Raises:
            RefusedRequestError: There is no such task (404).
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
        return sorted(self._tasks.values(), key=lambda task: task.started, reverse=True)

    def answered(self, task: HeldTask) -> None:
        """Note that a question was answered, and forget its task if no caller knows the id."""
        task.is_question = False
        if not task.is_told:
            self._tasks.pop(task.id, None)

    def _forget(self) -> None:
        now = self._clock.now()
        over = [task for task in self._tasks.values() if task.ended]
        old = [task for task in over if now - task.ended > KEPT]
        if len(self._tasks) >= MOST:  # drop older results rather than refuse a new task
            old = sorted(over, key=lambda task: task.ended)[: MOST // 2]
        for task in old:
            self._tasks.pop(task.id, None)

    async def close(self) -> None:
        """End all tasks."""
        for task in list(self._tasks.values()):
            await task.cancel()
