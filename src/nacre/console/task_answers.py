"""Answers that may take longer than a request waits: the result, or the task that will have it."""

from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from starlette.responses import Response

from nacre.console.call import Call
from nacre.console.links import ItemList
from nacre.core.clock import iso
from nacre.core.message_data import to_builtins, to_json
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import not_found
from nacre.web.problems import ProblemDetails
from nacre.web.workers.background import HeldTask, Tell
from nacre.web.workers.pool import ReaderPool
from nacre.web.workers.task import ReaderTask

Q = TypeVar("Q", bound=msgspec.Struct)
A = TypeVar("A")
NOWHERE: Final = Path("/dev/null/no-job")
"""In place of a job's directory, for questions about no job."""
ASK_PATIENCE: Final = 20.0
"""Timeout in seconds of a bounded answer, on a machine that is busy with crawls."""


class TaskFacts(msgspec.Struct, frozen=True):
    """A task in the background.

    Attributes:
        id: Its name in URLs.
        job: Id of the job that it works on.
        what: Its kind, such as `count` or `delete`.
        by: Name of the user who started it.
        state: `running`, `done` or `failed`.
        done: Steps done.
        total: Steps in all; 0 if not known.
        started: When it began, RFC 3339.
        ended: When it ended, RFC 3339; "" while it runs.
        asked: The fields of its request.
        result: Its result; null while it runs, and if it failed.
        problem: Why it failed; null if it did not fail.
    """

    id: str
    job: str
    what: str
    by: str
    state: str
    done: int
    total: int
    started: str
    ended: str
    asked: dict[str, Any]
    result: Any = None
    problem: ProblemDetails | None = None


class TaskList(ItemList[TaskFacts], frozen=True):
    """The tasks of a console."""


def facts_of(task: HeldTask) -> TaskFacts:
    """A task as answers have it."""
    return TaskFacts(
        task.id, task.job, task.what, task.by, task.state, task.done, task.total,
        iso(task.started), iso(task.ended) if task.ended else "", task.facts, task.result,
        task.problem,
    )  # fmt: skip


def seen_task(call: Call, name: str = "") -> HeldTask:
    """Return the task that the path or the query names.

    Args:
        call: The request.
        name: Its name; "" for that of the path.

    Raises:
        RefusedRequestError: There is none, or the requester does not see its job (404).
    """
    name = name or str(call.request.path_params["task"])
    task = call.tasks.task(name)
    if not call.sees(task.job):
        raise not_found("task", name)
    return task


def begin_reading(call: Call, job: FoundJob, task: str, /, **arguments: object) -> HeldTask:
    """Begin a task of a reader process for the caller.

    Args:
        call: The request.
        job: The job.
        task: A name of `reader_tasks.TASKS`.
        arguments: Of the task.
    """
    readers, root = call.readers, job.layout.root

    async def work(tell: Tell) -> Any:  # noqa: ANN401 - as the task gives it
        return await readers.work(task, root, tell, **arguments)

    return call.tasks.begin(job.id, task, call.identity.name, work, arguments)


def later(task: HeldTask) -> Response:
    """The answer of a request whose task goes on: 202, and where to ask for it."""
    data = to_json(facts_of(task))
    place = {"location": f"/api/v1/tasks/{task.id}"}
    return Response(data, 202, place, media_type="application/json")


async def read_or_later(
    call: Call, job: FoundJob, task: str, /, **arguments: object
) -> tuple[Any, HeldTask | None]:
    """The result of a reader task; or the task, where it goes on.

    Raises:
        NacreError: It failed.
    """
    tasks = call.tasks
    patience = call.readers.patience(task, job.layout.root, **arguments)
    waiting = tasks.same(job.id, task, call.identity.name, arguments)
    if waiting is None:
        waiting = begin_reading(call, job, task, **arguments)
        waiting.is_question = True
    try:
        result = await waiting.outcome(patience)
    finally:
        if waiting.ended:
            tasks.answered(waiting)
    if not waiting.ended:
        waiting.is_told = True
        return None, waiting
    return result, None


async def read(
    call: Call, task: ReaderTask[Q, A], request: Q, job: FoundJob | None = None
) -> A | HeldTask:
    """Read a job in a reader process; return the task if it takes longer.

    Args:
        call: The request.
        task: The task.
        request: Its request.
        job: The job; None for the job of the path.

    Raises:
        NacreError: The task failed.
    """
    fields = to_builtins(request)
    answer, waiting = await read_or_later(call, job or call.job(), task.name, **fields)
    return waiting if waiting is not None else msgspec.convert(answer, task.answer)


async def ask(
    call: Call, task: ReaderTask[Q, A], request: Q, patience: float = ASK_PATIENCE,
    root: Path | None = None,
) -> A:  # fmt: skip
    """Read a job in a reader process; the answer is bounded.

    Args:
        call: The request.
        task: The task.
        request: Its request.
        patience: Seconds that the answer may take.
        root: Directory of the job; None for the job of the path.

    Raises:
        NacreError: The task failed.
        RefusedRequestError: It took too long (503).
    """
    root = call.job().layout.root if root is None else root
    return await ask_readers(call.readers, root, task, request, patience)


async def ask_readers(
    readers: ReaderPool, root: Path, task: ReaderTask[Q, A], request: Q, patience: float
) -> A:
    """Read a job in a process of a pool; the answer is bounded.

    Args:
        readers: The pool.
        root: Directory of the job.
        task: The task.
        request: Its request.
        patience: Seconds that the answer may take.

    Raises:
        NacreError: The task failed.
        RefusedRequestError: It took too long (503).
    """
    answer = await readers.ask(task.name, root, patience, **to_builtins(request))
    return msgspec.convert(answer, task.answer)
