"""The rows of what is watched: streams, logs, and the pages that show them."""

from typing import Final

from nacre.console.api import logs, progress, toes
from nacre.console.pages import alert_list, job_list, job_log, job_watch
from nacre.console.route_row import API, RouteRow
from nacre.console.streams import regions, topics
from nacre.ops.lifecycle import PARALLEL
from nacre.ops.roles import Role

_V = Role.VIEWER
_JOB = f"{API}/jobs/{{job}}"

LIVE_ROUTES: Final[tuple[RouteRow, ...]] = (
    # pages
    RouteRow("GET", "/j/{job}/log", _V, job_log.page, "A log of a run.",
             query=job_log.LogPageQuery),
    RouteRow("GET", "/j/{job}/watch", _V, job_watch.page, "The speed and the fetches of a job.",
             query=job_watch.WatchQuery),
    RouteRow("GET", "/alerts", _V, alert_list.page, "The last alerts of all jobs."),
    # parts of pages
    RouteRow("GET", "/live/jobs", _V, regions.jobs, "The list of all jobs, live.",
             query=job_list.JobListQuery),
    RouteRow("GET", "/live/j/{job}", _V, regions.overview, "What a job does now, live."),
    RouteRow("GET", "/live/j/{job}/watch", _V, regions.watch,
             "The speed and the fetches of a job, live.", query=job_watch.WatchQuery),
    RouteRow("GET", "/live/j/{job}/log/{log}", _V, regions.log, "New lines of a log, live.",
             query=job_log.LogTailQuery),
    RouteRow("GET", "/live/j/{job}/tasks/{task}", _V, regions.task, "How far a task is, live."),
    RouteRow("GET", "/live/header", _V, regions.header, "The numbers of the header, live."),
    RouteRow("GET", "/header", _V, regions.header_part, "The numbers of the header."),
    # programs
    RouteRow("GET", f"{_JOB}/toes", _V, toes.get_toes, "The fetches in process.",
             answer=toes.FetchSlotList),
    RouteRow("GET", f"{_JOB}/progress", _V, progress.get_progress,
             "The speed of a run over a day, or over all of it.", query=progress.ProgressQuery,
             answer=progress.ProgressAnswer),
    RouteRow("PUT", f"{_JOB}/{PARALLEL.name}", PARALLEL.role, toes.put_parallel,
             PARALLEL.summary, body=PARALLEL.request, answer=PARALLEL.result),
    RouteRow("GET", f"{_JOB}/alerts", _V, logs.list_alerts, "The alerts of the last run.",
             query=logs.AlertsQuery, answer=logs.AlertList),
    RouteRow("GET", f"{_JOB}/logs", _V, logs.list_logs, "The logs of a run.",
             query=logs.LogsQuery, answer=logs.LogList),
    RouteRow("GET", f"{_JOB}/logs/{{log}}", _V, logs.get_log,
             "Lines of a log, by bytes of a file of any size.", query=logs.LogQuery,
             answer=logs.LogLineList),
    RouteRow("GET", f"{API}/stream", _V, topics.stream,
             "What changes, as server-sent events.", query=topics.StreamQuery,
             media="text/event-stream", fields=("last-event-id",)),
)  # fmt: skip
"""These rows of the table of routes."""
