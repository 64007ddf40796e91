"""`/api/v1/tasks`: what goes on in the background, and what came of it."""

from starlette.responses import Response

from nacre.console.background.answers import TaskFacts, TaskList, facts_of
from nacre.console.call import Call
from nacre.console.problems import not_found
from nacre.console.readers.background import HeldTask
from nacre.core.clock import iso


async def list_tasks(call: Call) -> TaskList:
    """All tasks, the newest first."""
    items = tuple(facts_of(task) for task in call.services.tasks.tasks if call.sees(task.job))
    return TaskList(items, None, iso(call.services.clock.now()))


async def get_task(call: Call) -> TaskFacts:
    """A task: how far it is, and what came of it."""
    return facts_of(seen_task(call))


async def cancel_task(call: Call) -> Response:
    """End a task; what it has done stays done. One that is over stays as it is."""
    await seen_task(call).cancel()
    return Response(status_code=204)


def seen_task(call: Call, name: str = "") -> HeldTask:
    """The task that the path names, or the query.

    Args:
        call: The request.
        name: Its name; "" for that of the path.

    Raises:
        RefusedRequestError: There is none, or the one who asks does not see its job (404).
    """
    name = name or str(call.request.path_params["task"])
    task = call.services.tasks.task(name)
    if not call.sees(task.job):
        raise not_found(f"task {name}")
    return task
