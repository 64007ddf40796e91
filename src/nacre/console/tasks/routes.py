"""The routes of tasks in the background."""

from nacre.console.answering import with_page
from nacre.console.route_row import API, RouteRow, RouteView
from nacre.console.task_answers import TaskFacts, TaskList
from nacre.console.tasks import handlers as tasks
from nacre.console.tasks.handlers import task_facts
from nacre.ops.roles import Role

TASK_ROUTES: tuple[RouteRow, ...] = (
    *with_page(RouteRow("GET", f"{API}/tasks/{{task}}", Role.VIEWER, tasks.get_task,
                        "A task: how far it is, and what came of it.", answer=TaskFacts),
               "/j/{job}/tasks/{task}", RouteView("task.html", task_facts)),
    RouteRow("GET", f"{API}/tasks", Role.VIEWER, tasks.list_tasks,
             "What goes on in the background.", answer=TaskList),
    RouteRow("DELETE", f"{API}/tasks/{{task}}", Role.OPERATOR, tasks.cancel_task, "End a task.",
             status=204),
)  # fmt: skip
"""Its rows."""
