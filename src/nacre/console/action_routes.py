"""The rows of the table of routes for actions on jobs."""

from nacre.console.access.roles import Role
from nacre.console.actions import ActionDone
from nacre.console.api import actions
from nacre.console.pages import acting
from nacre.console.route_row import API, RouteRow

_O = Role.OPERATOR
_JOB = f"{API}/jobs/{{job}}"
_ACTIONS = (
    ("start", actions.StartWish, "Start a job, or go on with it."),
    ("pause", actions.NoWish, "Pause a job until it is resumed."),
    ("resume", actions.NoWish, "Resume a job that is paused."),
    ("stop", actions.NoWish, "Stop a job; it can be gone on with."),
    ("checkpoint", actions.CheckpointWish, "Save the present state of a job."),
    ("recrawl", actions.RecrawlWish, "Crawl a job again, in a new run."),
    ("end", actions.NoWish, "End a stopped run for good, so that a new one can begin."),
)

ACTION_ROUTES: tuple[RouteRow, ...] = (
    RouteRow("POST", "/act", _O, acting.answer, "Take an action on jobs; a form of the pages."),
    *(RouteRow("POST", f"{_JOB}/{name}", _O, actions.take_action, summary, body=body,
               answer=ActionDone, status=202)
      for name, body, summary in _ACTIONS),
)  # fmt: skip
"""Its rows."""
