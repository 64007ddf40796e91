"""The answers of Heritrix's REST interface as trees (pure). Source: `CrawlJobModel`, `EngineModel`.

A job is built once its configuration was checked, and has a controller from then on until it is
torn down.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec

from nacre.core.clock import iso_millis
from nacre.job.overview import JobOverview
from nacre_migrate.port.scripts import ENGINES, VARIABLES

UNBUILT: Final = ""
"""The state of a job without a controller."""
READY: Final = "NASCENT"
OVER: Final = "FINISHED"
ACTIVE: Final = frozenset(("RUNNING", "EMPTY"))
WAITING: Final = frozenset(("PAUSED", "PAUSING"))

REPORTS: Final[Mapping[str, str]] = {
    "CrawlSummaryReport": "crawl-summary",
    "SeedsReport": "seeds",
    "HostsReport": "hosts",
    "SourceTagsReport": "source",
    "MimetypesReport": "mimetype",
    "ResponseCodeReport": "responsecode",
    "ProcessorsReport": "processors",
    "FrontierSummaryReport": "frontier-summary",
    "ToeThreadsReport": "threads",
}
"""Heritrix's classes of the reports that are listed, and the reports of Nacre."""
MORE_REPORTS: Final[Mapping[str, str]] = {**REPORTS, "FrontierNonemptyReport": "frontier-nonempty"}
"""Those that can be asked for."""


class HeapFacts(msgspec.Struct, frozen=True):
    """The memory of the console, bytes."""

    used: int
    total: int
    most: int

    def tree(self) -> dict[str, int]:
        """As `heapReport`."""
        return {"usedBytes": self.used, "totalBytes": self.total, "maxBytes": self.most}


class HeritrixJobFacts(msgspec.Struct, frozen=True):
    """The facts about a job that its answers are made of.

    Attributes:
        name: Its short name.
        root: Its directory.
        base: URL of the engine, without a slash at its end.
        config: Name of the file that it is configured by.
        profile: It is a profile, which is not launched.
        state: State of its controller; `UNBUILT` for none.
        exit: How its run ended; "" where it did not.
        launch: Id of the last launch, 14 digits; "" before the first.
        run: Directory of its run; "" before the first.
        launches: Number of launches.
        launched: When the last one was, seconds since the epoch; 0 for never.
        overview: Its numbers; None if there are none.
        rate: URIs a second, lately; None where that is not known.
        bytes_rate: Bytes a second, likewise.
        job_log: The last lines, newest first.
        crawl_log: Likewise.
        checkpoints: Names of checkpoints that can be gone back to.
        checkpoint: The one that the launch went back to; "" for none.
        on_disk: Bytes of the WARCs of the last launch.
        steps: Number of fetches in process by their step; None where the job was not asked.
        counts: `ProgressCounts` of a running job, by their names; None likewise.
    """

    name: str
    root: str
    base: str
    config: str
    profile: bool = False
    state: str = UNBUILT
    exit: str = ""
    launch: str = ""
    run: str = ""
    launches: int = 0
    launched: float = 0.0
    overview: JobOverview | None = None
    rate: float | None = None
    bytes_rate: float | None = None
    job_log: Sequence[str] = ()
    crawl_log: Sequence[str] = ()
    checkpoints: Sequence[str] = ()
    checkpoint: str = ""
    on_disk: int = 0
    steps: Mapping[str, int] | None = None
    counts: Mapping[str, float | None] | None = None

    @property
    def is_built(self) -> bool:
        """Whether it has a controller."""
        return self.state != UNBUILT

    @property
    def is_running(self) -> bool:
        """Whether a process works on it."""
        return self.state not in {UNBUILT, READY, OVER}

    @property
    def is_launchable(self) -> bool:
        """Whether it can be launched, as far as its controller goes."""
        return self.state in {UNBUILT, READY}

    @property
    def url(self) -> str:
        """Its URL, percent-escaped."""
        return f"{self.base}/job/{quote(self.name, safe='')}"

    def file_url(self, path: str) -> str:
        """URL of a file of the job, by its path below the job's directory."""
        return f"{self.url}/jobdir/{quote(path)}"

    def actions(self) -> list[str]:
        """The actions that are possible, in Heritrix's order."""
        possible = {
            "build": not self.is_built,
            "launch": self.is_launchable and not self.profile,
            "pause": self.state in ACTIVE,
            "unpause": self.state in WAITING,
            "checkpoint": self.is_running,
            "terminate": self.is_running and self.state != "STOPPING",
            "teardown": self.is_built,
        }
        if self.state == "STOPPING":
            possible["terminate"] = True
        return [name for name, can in possible.items() if can]

    def status(self) -> str:
        """The state in words."""
        if not self.is_built:
            return "Unbuilt"
        if self.state == READY:
            return "Ready"
        return f"Finished: {self.exit}" if self.state == OVER else f"Active: {self.state}"

    def controller(self) -> dict[str, str]:
        """State of the controller and exit, if there are such."""
        values = {"crawlControllerState": self.state} if self.is_built else {}
        return {**values, "crawlExitStatus": self.exit} if self.state == OVER else values


def engine_tree(
    version: str, heap: HeapFacts, jobs_dir: str, base: str, jobs: Sequence[HeritrixJobFacts],
    profiles: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    """The tree `engine`.

    Args:
        version: What is said to be the version of Heritrix.
        heap: Memory.
        jobs_dir: Directory in which jobs are made.
        base: URL of the engine.
        jobs: The jobs.
        profiles: Names of profiles.
    """
    return {
        "heritrixVersion": version,
        "heapReport": heap.tree(),
        "jobsDir": jobs_dir,
        "jobsDirUrl": f"{base}/jobsdir/",
        "availableActions": ["rescan", "add", "create"],
        "jobs": [_listed(job) for job in jobs],
        "profiles": list(profiles),
    }


def _listed(job: HeritrixJobFacts) -> dict[str, Any]:
    return {
        "shortName": job.name,
        "url": job.url,
        "isProfile": job.profile,
        "launchCount": job.launches,
        "lastLaunch": _moment(job.launched),
        "hasApplicationContext": job.is_built,
        "statusDescription": job.status(),
        "isLaunchInfoPartial": False,
        "primaryConfig": f"{job.root}/{job.config}",
        "primaryConfigUrl": job.file_url(job.config),
        **job.controller(),
        "key": job.name,
    }


def _moment(seconds: float) -> str | None:
    return iso_millis(seconds) if seconds else None


def job_tree(job: HeritrixJobFacts, heap: HeapFacts) -> dict[str, Any]:
    """The tree `job`.

    Args:
        job: The job.
        heap: Memory.
    """
    logs = f"{job.run}/logs"
    at = f"jobdir/{quote(job.launch)}/logs"
    tree: dict[str, Any] = {
        "shortName": job.name,
        **job.controller(),
        "statusDescription": job.status(),
        "availableActions": job.actions(),
        "launchCount": job.launches,
        "lastLaunch": _moment(job.launched),
        "isProfile": job.profile,
        "primaryConfig": f"{job.root}/{job.config}",
        "primaryConfigUrl": job.file_url(job.config),
        "url": job.url,
        "jobLogTail": list(job.job_log),
        **_numbers(job),
        "crawlLogTail": list(job.crawl_log),
        "configFiles": _config_files(job),
        "isLaunchInfoPartial": False,
        "isRunning": job.is_running,
        "isLaunchable": job.is_launchable,
        "hasApplicationContext": job.is_built,
        "alertCount": job.overview.alerts if job.overview is not None and job.is_built else 0,
        **({"checkpointName": job.checkpoint} if job.checkpoint else {}),
        "checkpointFiles": list(job.checkpoints) if job.state == READY else [],
    }
    if job.is_built and job.run:
        tree |= {"alertLogFilePath": f"{logs}/alerts.log", "alertLogFileUrl": f"{at}/alerts.log"}
        if not job.is_launchable:
            tree["crawlLogFilePath"] = f"{logs}/crawl.log"
            tree["crawlLogFileUrl"] = f"{at}/crawl.log"
    reports = REPORTS if job.is_built else {}
    tree["reports"] = [
        {"className": name, "shortName": name.removesuffix("Report")} for name in reports
    ]
    tree["heapReport"] = heap.tree()
    return tree


def _numbers(job: HeritrixJobFacts) -> dict[str, Any]:
    """The reports with numbers; without a controller all but the sizes are empty."""
    empty: list[str] = [
        "rateReport", "loadReport", "elapsedReport", "threadReport", "frontierReport",
    ]  # fmt: skip
    if not job.is_built:
        sizes = _sizes(JobOverview(READY), job.on_disk)
        return {"uriTotalsReport": None, "sizeTotalsReport": sizes, **dict.fromkeys(empty)}
    overview = job.overview if job.overview is not None else JobOverview(READY)
    if job.state == READY:
        overview = JobOverview(READY)
    return {
        "uriTotalsReport": {
            "downloadedUriCount": overview.succeeded,
            "queuedUriCount": overview.queued,
            "totalUriCount": overview.discovered,
            "futureUriCount": 0,
        },
        "sizeTotalsReport": _sizes(overview, job.on_disk),
        "rateReport": _rates(job, overview),
        "loadReport": _load(overview, job.counts),
        "elapsedReport": {
            "elapsedMilliseconds": round(overview.elapsed * 1000),
            "elapsedPretty": pretty(round(overview.elapsed * 1000)),
        },
        "threadReport": _threads(overview, job.steps) if job.is_running else None,
        "frontierReport": _frontier(job.state, overview) if job.state != READY else None,
    }


def _sizes(overview: JobOverview, on_disk: int) -> dict[str, int]:
    """Bytes and numbers of new and of known documents.

    Nacre counts documents with a known digest and unmodified ones together.
    """
    saved = overview.saved_documents
    replies = overview.documents + saved
    total = overview.novel_bytes + overview.saved_bytes
    return {
        "dupByHash": overview.saved_bytes,
        "dupByHashCount": saved,
        "notModified": 0,
        "notModifiedCount": 0,
        "novel": overview.novel_bytes,
        "novelCount": max(overview.succeeded - saved, 0),
        "total": total,
        "totalCount": max(overview.succeeded, replies if not overview.succeeded else 0),
        "warcNovelContentBytes": overview.novel_bytes,
        "warcNovelUrls": max(overview.succeeded - saved, 0),
        "sizeOnDisk": on_disk,
    }


def _rates(job: HeritrixJobFacts, overview: JobOverview) -> dict[str, float | int]:
    elapsed = overview.elapsed
    return {
        "currentDocsPerSecond": job.rate or 0.0,
        "averageDocsPerSecond": overview.succeeded / elapsed if elapsed else math.nan,
        "currentKiBPerSec": round((job.bytes_rate or 0.0) / 1024),
        "averageKiBPerSec": round(overview.bytes / 1024 / elapsed) if elapsed else 0,
    }


def _load(
    overview: JobOverview, counts: Mapping[str, float | None] | None
) -> dict[str, float | int]:
    queues = sum(number for state, number in overview.queues.items() if state != "exhausted")
    busy, open_ = overview.queues.get("in_process", 0), overview.active_hosts
    values: dict[str, float | int] = {
        "busyThreads": overview.busy,
        "totalThreads": overview.parallel,
        "congestionRatio": open_ / busy if busy else (math.inf if open_ else 0.0),
        "averageQueueDepth": overview.queued // queues if queues else 0,
        "deepestQueueDepth": overview.queued if queues == 1 else -1,
    }
    if counts is not None:
        # What is not finite came as None: neither the one kind of queues nor the other, or none
        # of those that could work does.
        congestion = counts["congestion"]
        if congestion is not None:
            values["congestionRatio"] = congestion
        values["averageQueueDepth"] = counts["average"] or 0
        values["deepestQueueDepth"] = counts["deepest"] or 0
    return values


def _threads(overview: JobOverview, steps: Mapping[str, int] | None) -> dict[str, Any]:
    """The steps of the toes, and the processors that they are in, the most frequent first."""
    working = {"activeProcessor": overview.busy} if steps is None else dict(steps)
    busy = sum(working.values())
    idle = max(overview.parallel - busy, 0)
    toes = {"ABOUT_TO_GET_URI": idle, "ABOUT_TO_BEGIN_PROCESSOR": busy}
    processors = {"noActiveProcessor": idle, **working}
    return {"toeCount": overview.parallel, "steps": _tally(toes), "processors": _tally(processors)}


def _tally(numbers: Mapping[str, int]) -> list[str]:
    ordered = sorted(numbers.items(), key=lambda pair: -pair[1])
    return [f"{number} {name}" for name, number in ordered if number]


def _frontier(state: str, overview: JobOverview) -> dict[str, Any]:
    queues = overview.queues
    active = sum(queues.get(name, 0) for name in ("in_process", "ready", "snoozed"))
    reached = {"PAUSED": "PAUSE", "PAUSING": "RUN", OVER: "FINISH"}.get(state, "RUN")
    return {
        "totalQueues": sum(queues.values()),
        "inProcessQueues": queues.get("in_process", 0),
        "readyQueues": queues.get("ready", 0),
        "snoozedQueues": queues.get("snoozed", 0),
        "activeQueues": active,
        "inactiveQueues": queues.get("inactive", 0),
        "ineligibleQueues": queues.get("ineligible", 0),
        "retiredQueues": queues.get("retired", 0),
        "exhaustedQueues": queues.get("exhausted", 0),
        "lastReachedState": reached,
        "queueReadiedCount": queues.get("ready", 0),
    }


def pretty(milliseconds: int) -> str:
    """A time as Heritrix writes it: `294ms`, `10s608ms`, `1h2m3s4ms`."""
    parts, rest = "", milliseconds
    for length, unit in ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s")):
        if rest >= length:
            parts += f"{rest // length}{unit}"
            rest %= length
    return f"{parts}{rest}ms" if rest or not parts else parts


_FILES: Final = (
    ("warcWriter.defaultStorePaths[0]", "warcs default store path", "warcs"),
    ("warcWriter.directory", "writer base path", ""),
    ("statisticsTracker.reportsDir", "reports subdirectory", "reports"),
    ("loggerModule.path", "logs subdirectory", "logs"),
    ("loggerModule.crawlLogPath", "crawl.log", "logs/crawl.log"),
    ("loggerModule.alertsLogPath", "alerts.log", "logs/alerts.log"),
    ("loggerModule.progressLogPath", "progress-statistics.log", "logs/progress-statistics.log"),
    ("loggerModule.uriErrorsLogPath", "uri-errors.log", "logs/uri-errors.log"),
    ("loggerModule.nonfatalErrorsLogPath", "nonfatal-errors.log", "logs/nonfatal-errors.log"),
    ("loggerModule.runtimeErrorsLogPath", "runtime-errors.log", "logs/runtime-errors.log"),
)  # fmt: skip
"""Keys and names of Heritrix for files of a run."""


def _config_files(job: HeritrixJobFacts) -> list[dict[str, Any]]:
    if not job.is_built:
        return []
    launch = job.launch or "latest"
    files = [
        _config_file(job, key, name, "/".join(filter(None, (launch, path))))
        for key, name, path in _FILES
    ]
    files.append(
        _config_file(job, "actionDirectory.actionDir", "ActionDirectory source directory", "action")
    )
    files.append(_config_file(job, "seeds.textSource", "seeds", "seeds.txt", editable=True))
    return files


def _config_file(
    job: HeritrixJobFacts, key: str, name: str, path: str, *, editable: bool = False
) -> dict[str, Any]:
    return {
        "key": key,
        "name": name,
        "path": f"{job.root}/{path}",
        "url": job.file_url(path),
        "editable": editable,
    }


def script_tree(
    job: HeritrixJobFacts, script: str = "", output: str | None = None, error: str = ""
) -> dict[str, Any]:
    """The tree `script`; empty things are left out.

    Args:
        job: The job.
        script: The script that was sent; "" for none.
        output: What a recognised one printed; None for none.
        error: The reason for a refusal; "" if it was not refused.
    """
    tree: dict[str, Any] = {
        "crawlJobUrl": f"{job.url}/",
        "crawlJobShortName": job.name,
        "availableScriptEngines": [{"engine": e, "language": name} for e, name in ENGINES],
        "script": script,
        "linesExecuted": len(script.splitlines()) if output is not None else 0,
        "exception": error,
        "rawOutput": output or "",
        "availableGlobalVariables": [
            {"variable": name, "description": meaning} for name, meaning in VARIABLES
        ],
        "failure": bool(error),
        "stackTrace": f"{error}\n" if error else "",
    }
    return {name: value for name, value in tree.items() if value != ""}
