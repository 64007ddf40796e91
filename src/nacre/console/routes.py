"""The table of all that can be requested: the routes, the matrix of roles, and what is documented.

A row names verb, path, the role that it needs, the function that answers, and the structs of its
query, body and answer. `app.py` answers by it; `openapi.py` describes the rows of the
interface for programs by their structs. A new page or noun is a function and a row.
"""

from nacre.console.admin.routes import ACCESS_ROUTES
from nacre.console.frontier.routes import FRONTIER_ROUTES
from nacre.console.interface import guide, monitoring
from nacre.console.jobs.listing import JobListQuery
from nacre.console.jobs.logs import LogTailQuery
from nacre.console.jobs.routes import JOB_ROUTES
from nacre.console.jobs.watch import WatchQuery
from nacre.console.library.handlers import LIBRARY_ROUTES
from nacre.console.results.routes import RESULT_ROUTES
from nacre.console.rounds.handlers import ROUND_ROUTES
from nacre.console.route_row import API, Answer, RouteRow
from nacre.console.schedules.calendar import SCHEDULE_ROUTES
from nacre.console.settings.routes import EDITING_ROUTES
from nacre.console.streams import regions, topics
from nacre.console.tasks.handlers import TASK_ROUTES
from nacre.console.webhooks.handlers import WEBHOOK_ROUTES
from nacre.ops.roles import Role

__all__ = ("API", "ROUTES", "Answer", "RouteRow")

_V = Role.VIEWER

ROUTES: tuple[RouteRow, ...] = (
    # the interface itself
    RouteRow("GET", f"{API}/", _V, guide.show_guide, "The interface for programs, for people.",
             query=guide.ApiGuideQuery),
    RouteRow("GET", "/api/try/{operation}", _V, guide.try_it,
             "Ask an operation of the interface for programs; a form."),
    RouteRow("GET", "/health", Role.NOBODY, monitoring.health, "Whether the console answers.",
             answer=monitoring.Health),
    RouteRow("GET", "/metrics", Role.NOBODY, monitoring.metrics,
             "Metrics of the console and of all jobs; from other machines by key.",
             media="text/plain"),
    # streams
    RouteRow("GET", "/live/jobs", _V, regions.jobs, "The list of all jobs, live.",
             query=JobListQuery),
    RouteRow("GET", "/live/j/{job}", _V, regions.overview, "What a job does now, live."),
    RouteRow("GET", "/live/j/{job}/watch", _V, regions.watch,
             "The speed and the fetches of a job, live.", query=WatchQuery),
    RouteRow("GET", "/live/j/{job}/log/{log}", _V, regions.log, "New lines of a log, live.",
             query=LogTailQuery),
    RouteRow("GET", "/live/j/{job}/tasks/{task}", _V, regions.task, "How far a task is, live."),
    RouteRow("GET", "/live/header", _V, regions.header, "The numbers of the header, live."),
    RouteRow("GET", "/header", _V, regions.header_part, "The numbers of the header."),
    RouteRow("GET", f"{API}/stream", _V, topics.stream,
             "What changes, as server-sent events.", query=topics.StreamQuery,
             media="text/event-stream", fields=("last-event-id",)),
    # nouns
    *ACCESS_ROUTES,
    *EDITING_ROUTES,
    *FRONTIER_ROUTES,
    *JOB_ROUTES,
    *LIBRARY_ROUTES,
    *RESULT_ROUTES,
    *ROUND_ROUTES,
    *SCHEDULE_ROUTES,
    *TASK_ROUTES,
    *WEBHOOK_ROUTES,
)  # fmt: skip
"""All rows."""
