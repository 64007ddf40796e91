"""The table of all that can be requested: the routes, the matrix of roles, and what is documented.

A row names verb, path, the role that it needs, the function that answers, and the structs of its
query, body and answer. `app.py` answers by it; `openapi.py` describes the rows of the interface for
programs by their structs. A new page or noun is a function and a row.
"""

from nacre.console.access.roles import Role
from nacre.console.access_routes import ACCESS_ROUTES
from nacre.console.action_routes import ACTION_ROUTES
from nacre.console.api import frontier, health, jobs, tasks
from nacre.console.background.answers import TaskFacts, TaskList
from nacre.console.background.frontier_work import FrontierWish
from nacre.console.editing_routes import EDITING_ROUTES
from nacre.console.pages import job_list, job_overview
from nacre.console.route_row import API, Answer, RouteRow
from nacre.console.streams import regions, topics

__all__ = ("API", "ROUTES", "Answer", "RouteRow")

_V, _O = Role.VIEWER, Role.OPERATOR
_JOB = f"{API}/jobs/{{job}}"

ROUTES: tuple[RouteRow, ...] = (
    # pages
    RouteRow("GET", "/", _V, job_list.page, "All jobs."),
    RouteRow("GET", "/j/{job}", _V, job_overview.page, "What a job does now."),
    RouteRow("GET", "/live/jobs", _V, regions.jobs, "The list of all jobs, live."),
    RouteRow("GET", "/live/j/{job}", _V, regions.overview, "What a job does now, live."),
    # programs
    RouteRow("GET", "/health", Role.NOBODY, health.health, "Whether the console answers.",
             answer=health.Health),
    RouteRow("GET", f"{API}/jobs", _V, jobs.list_jobs, "All jobs, with state and sentence.",
             query=jobs.JobsQuery, answer=jobs.JobList),
    RouteRow("GET", f"{API}/jobs/{{job}}", _V, jobs.get_job,
             "A job: its numbers, its sentence, and what can be done with it.",
             answer=jobs.JobDetails),
    # the frontier, and what takes longer than a request
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
    RouteRow("POST", f"{_JOB}/frontier/{{action}}", _O, frontier.change,
             "Delete, retire, unretire, wake, forget, reconsider or bring to the front.",
             body=FrontierWish, answer=frontier.FrontierChanged),
    RouteRow("GET", f"{API}/tasks", _V, tasks.list_tasks, "What goes on in the background.",
             answer=TaskList),
    RouteRow("GET", f"{API}/tasks/{{task}}", _V, tasks.get_task,
             "A task: how far it is, and what came of it.", answer=TaskFacts),
    RouteRow("DELETE", f"{API}/tasks/{{task}}", _O, tasks.cancel_task, "End a task.", status=204),
    *ACCESS_ROUTES,
    *ACTION_ROUTES,
    *EDITING_ROUTES,
    RouteRow("GET", f"{API}/stream", _V, topics.stream,
             "What changes, as server-sent events.", query=topics.StreamQuery,
             media="text/event-stream"),
)  # fmt: skip
"""All rows."""
