"""The rows of the table of routes for actions on jobs."""

from nacre.console.actions import REQUESTS, ActionDone
from nacre.console.api import actions, new_jobs, rounds
from nacre.console.jobs import removals
from nacre.console.new_jobs import MadeJob, NewJobWish
from nacre.console.pages import acting, dry_round, new_job
from nacre.console.route_row import API, RouteRow
from nacre.ops.lifecycle import CHECKPOINT, END, PAUSE, RESUME, STOP
from nacre.ops.roles import Role

_O = Role.OPERATOR
_JOB = f"{API}/jobs/{{job}}"
_STARTS = {
    "start": "Start a job, or go on with it.",
    "recrawl": "Crawl a job again, in a new run.",
    "run-rounds": "Crawl rounds of a batch crawl.",
    "stop-after-step": "End the rounds after the step that runs.",
}
_OPERATIONS = (PAUSE, RESUME, STOP, CHECKPOINT, END)

ACTION_ROUTES: tuple[RouteRow, ...] = (
    RouteRow("GET", "/new", _O, new_job.page, "The form of a new job."),
    RouteRow("POST", "/new", _O, new_job.answer, "Check, make, or make and start a job; a form."),
    RouteRow("POST", "/new/look", _O, new_job.look_at,
             "What the form of a new job asks for, before it is made.", changes=False),
    RouteRow("POST", "/new/fields", _O, new_job.fields_at,
             "All settings of a new job, as a part of its form.", changes=False),
    RouteRow("POST", f"{API}/jobs", _O, new_jobs.make_job, "Make a job.", body=NewJobWish,
             answer=MadeJob, status=201, makes=("job", "id")),
    RouteRow("POST", f"{API}/jobs/dry-run", _O, new_jobs.look_at_job,
             "The decisions on URLs of a job that is not made yet.", body=new_jobs.DryRunWish,
             answer=new_jobs.DryRunOfNewJob, changes=False),
    RouteRow("POST", "/act", _O, acting.answer, "Take an action on jobs; a form of the pages."),
    RouteRow("POST", f"{_JOB}/remove", _O, removals.remove_job,
             "Remove a job at rest from the console; its files stay.", answer=removals.RemovedJob),
    RouteRow("GET", f"{API}/removed-jobs", Role.VIEWER, removals.list_removed,
             "The jobs that were removed from the console.", answer=removals.RemovedJobList),
    RouteRow("DELETE", f"{API}/removed-jobs/{{job}}", _O, removals.show_job,
             "Show a removed job again.", status=204),
    RouteRow("POST", f"{_JOB}/forget", _O, removals.forget,
             "Delete a job that never ran, with its directory.", body=removals.ForgetWish,
             status=204),
    RouteRow("POST", "/j/{job}/forget", _O, removals.forget_form,
             "Delete a job that never ran, with its directory; a form."),
    RouteRow("POST", "/j/{job}/remove", _O, removals.remove_form,
             "Remove a job at rest from the console; a form."),
    RouteRow("POST", "/j/{job}/show-again", _O, removals.show_form,
             "Show a removed job again; a form."),
    RouteRow("POST", f"{_JOB}/dry-run-rounds", _O, rounds.dry_run,
             "What the next round of a batch crawl would list.", answer=rounds.DryRound,
             changes=False),
    RouteRow("GET", f"{_JOB}/versions", Role.VIEWER, rounds.list_versions,
             "The versions of a batch crawl.", answer=rounds.CycleVersionList),
    RouteRow("POST", f"{_JOB}/versions/{{number}}/restore", _O, rounds.restore_version,
             "Go back to a version of a batch crawl.", answer=rounds.RestoredVersion),
    RouteRow("GET", "/j/{job}/versions", Role.VIEWER, dry_round.versions,
             "The versions of a batch crawl; a page."),
    RouteRow("POST", "/j/{job}/versions", _O, dry_round.restore,
             "Go back to a version of a batch crawl; a form."),
    RouteRow("POST", "/j/{job}/dry-run-rounds", _O, dry_round.page,
             "What the next round of a batch crawl would list; a page.", changes=False),
    *(RouteRow("POST", f"{_JOB}/{name}", _O, actions.take_action, summary, body=REQUESTS[name],
               answer=ActionDone, status=202)
      for name, summary in _STARTS.items()),
    *(RouteRow("POST", f"{_JOB}/{each.name}", each.role, actions.take_action, each.summary,
               body=each.request, answer=ActionDone, status=202)
      for each in _OPERATIONS),
)  # fmt: skip
"""Its rows."""
