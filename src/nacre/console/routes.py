"""The table of all that can be requested: the routes, the matrix of roles, and what is documented.

A row names verb, path, the role that it needs, the function that answers, and the structs of its
query, body and answer. `app.py` answers by it; `openapi.py` describes the rows of the interface for
programs by their structs. A new page or noun is a function and a row.
"""

from nacre.console.action_routes import ACTION_ROUTES
from nacre.console.admin.routes import ACCESS_ROUTES
from nacre.console.api import health, jobs, trial
from nacre.console.fleet.label_book import JobLabelsWish
from nacre.console.frontier.routes import FRONTIER_ROUTES
from nacre.console.jobs import wanted_kinds
from nacre.console.library.routes import LIBRARY_ROUTES
from nacre.console.live_routes import LIVE_ROUTES
from nacre.console.pages import api_guide, job_labels, job_list, job_overview
from nacre.console.results.routes import RESULT_ROUTES
from nacre.console.route_row import API, Answer, RouteRow
from nacre.console.schedules.routes import SCHEDULE_ROUTES
from nacre.console.settings.routes import EDITING_ROUTES
from nacre.console.tasks.routes import TASK_ROUTES
from nacre.console.webhooks.routes import WEBHOOK_ROUTES
from nacre.ops.roles import Role

__all__ = ("API", "ROUTES", "Answer", "RouteRow")

_V = Role.VIEWER

ROUTES: tuple[RouteRow, ...] = (
    # pages
    RouteRow("GET", "/", _V, job_list.page, "All jobs.", query=job_list.JobListQuery),
    RouteRow("GET", "/j/{job}", _V, job_overview.page, "What a job does now."),
    RouteRow("GET", f"{API}/", _V, api_guide.page, "The interface for programs, for people.",
             query=api_guide.ApiGuideQuery),
    RouteRow("GET", "/api/try/{operation}", _V, trial.try_it,
             "Ask an operation of the interface for programs; a form."),
    # programs
    RouteRow("GET", "/health", Role.NOBODY, health.health, "Whether the console answers.",
             answer=health.Health),
    RouteRow("GET", f"{API}/jobs", _V, jobs.list_jobs, "All jobs, with state and sentence.",
             query=jobs.JobsQuery, answer=jobs.JobList),
    RouteRow("GET", f"{API}/jobs/{{job}}", _V, jobs.get_job,
             "A job: its numbers, its sentence, and what can be done with it.",
             answer=jobs.JobDetails,
             version_of=jobs.labels_version),
    RouteRow("PATCH", f"{API}/jobs/{{job}}", Role.OPERATOR, jobs.change_job,
             "Give a job another name, other tags, or another place.", body=JobLabelsWish,
             answer=jobs.JobItem,
             version_of=jobs.labels_version),
    RouteRow("POST", "/j/{job}/labels", Role.OPERATOR, job_labels.answer,
             "Give a job another name, other tags and another place; a form."),
    RouteRow("GET", f"{API}/jobs/{{job}}/wanted-kinds", _V, wanted_kinds.show_wanted,
             "The kinds of URLs of a job of which no banner warns.",
             answer=wanted_kinds.WantedKinds, version_of=wanted_kinds.wanted_version),
    RouteRow("PUT", f"{API}/jobs/{{job}}/wanted-kinds", Role.OPERATOR, wanted_kinds.set_wanted,
             "Say of which kinds of URLs no banner warns.", body=wanted_kinds.WantedKinds,
             answer=wanted_kinds.WantedKinds, version_of=wanted_kinds.wanted_version),
    RouteRow("POST", "/j/{job}/wanted", Role.OPERATOR, wanted_kinds.add_wanted,
             "Say that a kind of URLs is wanted; a button.", form=wanted_kinds.WantedForm),
    *ACCESS_ROUTES,
    *ACTION_ROUTES,
    *EDITING_ROUTES,
    *FRONTIER_ROUTES,
    *LIBRARY_ROUTES,
    *LIVE_ROUTES,
    *RESULT_ROUTES,
    *SCHEDULE_ROUTES,
    *TASK_ROUTES,
    *WEBHOOK_ROUTES,
)  # fmt: skip
"""All rows."""
