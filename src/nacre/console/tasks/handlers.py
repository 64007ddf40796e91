"""`/api/v1/tasks` and `/j/J/tasks`: what runs in the background, and its results."""

from starlette.responses import Response

from nacre.console.call import Call
from nacre.console.problems import not_found
from nacre.console.task_answers import TaskFacts, TaskList, facts_of, seen_task
from nacre.core.clock import iso
from nacre.messages import message


async def list_tasks(call: Call) -> TaskList:
    """All tasks, the newest first."""
    items = tuple(facts_of(task) for task in call.services.tasks.tasks if call.sees(task.job))
    return TaskList(items, None, iso(call.services.clock.now()))


async def get_task(call: Call) -> TaskFacts:
    """A task: its progress, and its result.

    Raises:
        RefusedRequestError: There is none, also of the job of the path (404).
    """
    task = seen_task(call)
    if "job" in call.request.path_params and task.job != call.job().id:
        raise not_found(message("console.task-of-job", "such task of this job"))
    return facts_of(task)


async def cancel_task(call: Call) -> Response:
    """End a task; what it has done stays done. One that is over stays as it is."""
    await seen_task(call).cancel()
    return Response(status_code=204)
