"""The rows of the table of routes for what waits in a job, and for tasks in the background."""

from nacre.console.api import frontier, tasks
from nacre.console.background import task_page
from nacre.console.background.answers import TaskFacts, TaskList
from nacre.console.background.frontier_work import FrontierWish
from nacre.console.pages import frontier as frontier_page
from nacre.console.route_row import API, RouteRow
from nacre.ops.roles import Role

_V, _O = Role.VIEWER, Role.OPERATOR
_JOB = f"{API}/jobs/{{job}}"

FRONTIER_ROUTES: tuple[RouteRow, ...] = (
    # pages
    RouteRow("GET", "/j/{job}/frontier", _V, frontier_page.queues_page, "The queues of a job.",
             query=frontier_page.FrontierPageQuery),
    RouteRow("GET", "/j/{job}/uris", _V, frontier_page.uris_page, "The URIs that wait.",
             query=frontier_page.UrisPageQuery),
    RouteRow("GET", "/j/{job}/frontier/change", _V, frontier_page.change_page,
             "The wizard that changes the frontier.", query=frontier_page.ChangePageQuery),
    RouteRow("POST", "/j/{job}/frontier/preview", _V, frontier_page.preview,
             "Count for the wizard.", changes=False),
    RouteRow("POST", "/j/{job}/frontier/change", _O, frontier_page.do_change,
             "Change the frontier, by a form."),
    RouteRow("POST", "/j/{job}/frontier/delay", _O, frontier_page.set_delay,
             "Set the delay of a host, by a form."),
    RouteRow("GET", "/j/{job}/frontier/import", _V, frontier_page.import_page,
             "Import into the frontier, and export."),
    RouteRow("POST", "/j/{job}/frontier/import", _O, frontier_page.do_import,
             "Import into the frontier, by a form."),
    RouteRow("GET", "/j/{job}/tasks/{task}", _V, task_page.page,
             "How far a task is, and what came of it."),
    # programs
    RouteRow("GET", f"{_JOB}/queues", _V, frontier.list_queues, "The queues of a job, sorted.",
             query=frontier.QueuesQuery, answer=frontier.QueueList),
    RouteRow("GET", f"{_JOB}/queues/{{queue}}", _V, frontier.get_queue, "A queue.",
             answer=frontier.QueueItem),
    RouteRow("GET", f"{_JOB}/uris", _V, frontier.list_uris, "The URIs that wait.",
             query=frontier.UrisQuery, answer=frontier.UriList),
    RouteRow("GET", f"{_JOB}/uris/tree", _V, frontier.show_tree,
             "What waits by domain, host and path, with counts.",
             query=frontier.TreeQuery, answer=frontier.BranchList),
    RouteRow("POST", f"{_JOB}/frontier/count", _V, frontier.count,
             "Count what an action would be done to, with twenty samples.",
             body=frontier.PreviewWish, answer=frontier.FrontierPreview, changes=False),
    RouteRow("GET", f"{_JOB}/frontier/export", _V, frontier.export,
             "The waiting URIs as a recovery journal.", query=frontier.ExportQuery),
    RouteRow("POST", f"{_JOB}/frontier/import", _O, frontier.take_lines,
             "Take lines into the frontier.",
             body=frontier.ImportWish, answer=frontier.ImportedLines),
    RouteRow("POST", f"{_JOB}/frontier/{{action}}", _O, frontier.change,
             "Delete, retire, unretire, wake, forget, reconsider or bring to the front.",
             body=FrontierWish, answer=frontier.FrontierChanged),
    RouteRow("GET", f"{API}/tasks", _V, tasks.list_tasks, "What goes on in the background.",
             answer=TaskList),
    RouteRow("GET", f"{API}/tasks/{{task}}", _V, tasks.get_task,
             "A task: how far it is, and what came of it.", answer=TaskFacts),
    RouteRow("DELETE", f"{API}/tasks/{{task}}", _O, tasks.cancel_task, "End a task.", status=204),
)  # fmt: skip
"""Its rows."""
