"""The routes of jobs: their list and overview, actions on them, and new and removed jobs."""

from typing import Final

from nacre.console import actions
from nacre.console.answering import with_page
from nacre.console.jobs import (
    buttons,
    labels,
    listing,
    logs,
    new_job_form,
    new_jobs,
    overview,
    removals,
    watch,
)
from nacre.console.logs.lines import LogPageQuery, LogQuery, LogsQuery
from nacre.console.parts import JobParts
from nacre.console.route_row import API, RouteRow, RouteView
from nacre.fleet.job_books import JobLabelsWish
from nacre.ops.lifecycle import CHECKPOINT, END, PARALLEL, PAUSE, RESUME, STOP
from nacre.ops.operation import Role

_V, _O = Role.VIEWER, Role.OPERATOR
_JOB = f"{API}/jobs/{{job}}"
_STARTS = {
    "start": "Start or resume a job.",
    "recrawl": "Crawl a job again, in a new run.",
    "run-rounds": "Crawl rounds of a batch crawl.",
    "stop-after-step": "End the rounds after the step that runs.",
}
_OPERATIONS = (PAUSE, RESUME, STOP, CHECKPOINT, END)

_LISTS: Final[tuple[RouteRow[JobParts], ...]] = (
    *with_page(RouteRow("GET", f"{API}/jobs", _V, listing.list_jobs,
                        "All jobs, with state and sentence.", query=listing.JobsQuery,
                        answer=listing.JobList),
               "/", RouteView("jobs.html", listing.list_facts), listing.JobListQuery),
    *with_page(RouteRow("GET", _JOB, _V, overview.get_job,
                        "A job: its numbers, its sentence, and what can be done with it.",
                        answer=overview.JobDetails, version_of=labels.labels_version),
               "/j/{job}", RouteView("overview.html", overview.page_facts)),
    RouteRow("PATCH", _JOB, _O, labels.change_job,
             "Give a job another name, other tags, or another place.", body=JobLabelsWish,
             answer=listing.JobItem, version_of=labels.labels_version),
    RouteRow("POST", "/j/{job}/labels", _O, labels.submit_labels,
             "Give a job another name, other tags and another place; a form."),
    RouteRow("GET", f"{_JOB}/wanted-kinds", _V, labels.show_wanted,
             "The kinds of URLs of a job of which no banner warns.",
             answer=labels.WantedKinds, version_of=labels.wanted_version),
    RouteRow("PUT", f"{_JOB}/wanted-kinds", _O, labels.set_wanted,
             "Say of which kinds of URLs no banner warns.", body=labels.WantedKinds,
             answer=labels.WantedKinds, version_of=labels.wanted_version),
    RouteRow("POST", "/j/{job}/wanted", _O, labels.add_wanted,
             "Say that a kind of URLs is wanted; a button.", form=labels.WantedForm),
    RouteRow("GET", "/j/{job}/watch", _V, watch.watch_page, "The speed and the fetches of a job.",
             query=watch.WatchQuery),
    RouteRow("GET", f"{_JOB}/toes", _V, watch.get_toes, "The fetches in process.",
             answer=watch.FetchSlotList),
    RouteRow("GET", f"{_JOB}/progress", _V, watch.get_progress,
             "The speed of a run over a day, or over all of it.", query=watch.ProgressQuery,
             answer=watch.ProgressAnswer),
    actions.operation_row(PARALLEL, "PUT"),
)  # fmt: skip

_ACTIONS: Final[tuple[RouteRow[JobParts], ...]] = (
    RouteRow("POST", "/act", _O, buttons.submit_action,
             "Take an action on jobs; a form of the pages."),
    *(RouteRow("POST", f"{_JOB}/{name}", _O, actions.take_action, summary,
               body=actions.REQUESTS[name], answer=actions.ActionDone, status=202)
      for name, summary in _STARTS.items()),
    *(RouteRow("POST", f"{_JOB}/{operation.name}", operation.role, actions.take_action,
               operation.summary, body=operation.request, answer=actions.ActionDone, status=202)
      for operation in _OPERATIONS),
)  # fmt: skip

_NEW: Final[tuple[RouteRow[JobParts], ...]] = (
    RouteRow("GET", "/new", _O, new_job_form.new_job_page, "The form of a new job."),
    RouteRow("POST", "/new", _O, new_job_form.submit,
             "Check, make, or make and start a job; a form."),
    RouteRow("POST", "/new/look", _O, new_job_form.look_at,
             "Queries of the form of a new job, before the job exists.", changes=False),
    RouteRow("POST", "/new/fields", _O, new_job_form.fields_at,
             "All settings of a new job, as a part of its form.", changes=False),
    RouteRow("POST", f"{API}/jobs", _O, new_jobs.make_job, "Make a job.",
             body=new_jobs.NewJobWish, answer=new_jobs.MadeJob, status=201, makes=("job", "id")),
    RouteRow("POST", f"{API}/jobs/dry-run", _O, new_jobs.look_at_job,
             "The decisions on URLs of a job that is not made yet.", body=new_jobs.DryRunWish,
             answer=new_jobs.DryRunOfNewJob, changes=False),
)  # fmt: skip

_REMOVED: Final[tuple[RouteRow[JobParts], ...]] = (
    RouteRow("POST", f"{_JOB}/remove", _O, removals.remove_job,
             "Remove a job at rest from the console; its files stay.", answer=removals.RemovedJob),
    RouteRow("GET", f"{API}/removed-jobs", _V, removals.list_removed,
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
)  # fmt: skip

_LOGS: Final[tuple[RouteRow[JobParts], ...]] = (
    RouteRow("GET", "/j/{job}/log", _V, logs.log_page, "A log of a run.",
             query=LogPageQuery),
    RouteRow("GET", "/alerts", _V, logs.alerts_page, "The last alerts of all jobs."),
    RouteRow("GET", f"{_JOB}/alerts", _V, logs.list_alerts, "The alerts of the last run.",
             query=logs.AlertsQuery, answer=logs.AlertList),
    RouteRow("GET", f"{_JOB}/logs", _V, logs.list_logs, "The logs of a run.",
             query=LogsQuery, answer=logs.LogList),
    RouteRow("GET", f"{_JOB}/logs/{{log}}", _V, logs.get_log,
             "Lines of a log, by bytes of a file of any size.", query=LogQuery,
             answer=logs.LogLineList),
)  # fmt: skip

JOB_ROUTES: Final = (*_LISTS, *_ACTIONS, *_NEW, *_REMOVED, *_LOGS)
"""Its rows."""
