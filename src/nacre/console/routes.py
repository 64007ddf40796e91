"""The table of all requests: the routes, the required roles, and the summaries for the docs.

A row has a verb, a path, the role that it needs, the handler, and the structs of its query, body
and answer. `app.py` serves the rows; `openapi.py` describes the rows of the API by their structs.
To add a page or a noun, add a function and a row.
"""

from nacre.console.admin.routes import ACCESS_ROUTES
from nacre.console.captures.compare import COMPARE_ROUTES
from nacre.console.captures.routes import CAPTURE_ROUTES
from nacre.console.frontier.routes import FRONTIER_ROUTES
from nacre.console.interface import guide, monitoring
from nacre.console.jobs.listing import JobListQuery
from nacre.console.jobs.logs import LogTailQuery
from nacre.console.jobs.routes import JOB_ROUTES
from nacre.console.jobs.watch import WatchQuery
from nacre.console.library.handlers import LIBRARY_ROUTES
from nacre.console.parts import MonitorParts, StreamParts
from nacre.console.results.routes import RESULT_ROUTES
from nacre.console.rounds.handlers import ROUND_ROUTES
from nacre.console.route_row import API, Answer, AnyRow, RouteRow, of_noun
from nacre.console.schedules.calendar import SCHEDULE_ROUTES
from nacre.console.settings.routes import EDITING_ROUTES
from nacre.console.streams import regions, topics
from nacre.console.tasks.handlers import TASK_ROUTES
from nacre.console.webhooks.handlers import WEBHOOK_ROUTES
from nacre.ops.operation import Role

__all__ = ("API", "ROUTES", "Answer", "AnyRow", "RouteRow")

_V = Role.VIEWER

_INTERFACE: tuple[RouteRow[object], ...] = (
    RouteRow("GET", f"{API}/", _V, guide.show_guide, "The interface for programs, for people.",
             query=guide.ApiGuideQuery),
    RouteRow("GET", "/api/try/{operation}", _V, guide.try_it,
             "Ask an operation of the interface for programs; a form."),
    RouteRow("GET", "/health", Role.NOBODY, monitoring.health, "Whether the console answers.",
             answer=monitoring.Health),
)  # fmt: skip
_METRICS: RouteRow[MonitorParts] = RouteRow(
    "GET",
    "/metrics",
    Role.NOBODY,
    monitoring.metrics,
    "Metrics of the console and of all jobs; from other machines by key.",
    media="text/plain",
)
_STREAMS: tuple[RouteRow[StreamParts], ...] = (
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
)  # fmt: skip
ROUTES: tuple[AnyRow, ...] = (
    *_INTERFACE,
    *of_noun((_METRICS,), lambda parts: parts.monitor),
    *of_noun(_STREAMS, lambda parts: parts.streams),
    *of_noun(ACCESS_ROUTES, lambda parts: parts.admin),
    *EDITING_ROUTES,
    *FRONTIER_ROUTES,
    *of_noun(JOB_ROUTES, lambda parts: parts.jobs),
    *LIBRARY_ROUTES,
    *of_noun(RESULT_ROUTES, lambda parts: parts.actions),
    *of_noun(COMPARE_ROUTES, lambda parts: parts.actions),
    *of_noun(CAPTURE_ROUTES, lambda parts: parts.actions),
    *of_noun(ROUND_ROUTES, lambda parts: parts.actions),
    *of_noun(SCHEDULE_ROUTES, lambda parts: parts.books.schedules),
    *TASK_ROUTES,
    *of_noun(WEBHOOK_ROUTES, lambda parts: parts.webhooks),
)  # fmt: skip
"""All rows."""
