"""`/api/v1/tasks`: what goes on in the background, and what came of it."""

from starlette.responses import Response

from nacre.console.background.answers import TaskFacts, TaskList, facts_of
from nacre.console.call import Call
from nacre.core.clock import iso


async def list_tasks(call: Call) -> TaskList:
    """All tasks, the newest first."""
    items = tuple(facts_of(task) for task in call.services.tasks.tasks)
    return TaskList(items, None, iso(call.services.clock.now()))


async def get_task(call: Call) -> TaskFacts:
    """A task: how far it is, and what came of it."""
    return facts_of(call.services.tasks.task(call.request.path_params["task"]))


async def cancel_task(call: Call) -> Response:
    """End a task; what it has done stays done. One that is over stays as it is."""
    await call.services.tasks.task(call.request.path_params["task"]).cancel()
    return Response(status_code=204)
