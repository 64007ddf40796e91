"""Metrics of jobs for Prometheus: their names and values, as text or as OpenMetrics.

A job without `metrics.listen` never loads this module, nor prometheus_client. The job is the only
label whose values are not known beforehand; hosts and URLs are no labels.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from nacre import __version__
from nacre.core.states import JobState
from nacre.job.overview import JobOverview


class JobFigures(msgspec.Struct, frozen=True):
    """The figures of one job for its metrics; None where a value is not known.

    Attributes:
        job: Its name, the label.
        overview: Its numbers.
        commit_age: Seconds for which the oldest change waits to become durable; 0 for none.
        loop_gap: Longest gap of its event loop in the last ten seconds, seconds.
        disk_free: Free bytes of the file system of the job.
        next_run: When a run should begin by a schedule of others, seconds since the epoch.
    """

    job: str
    overview: JobOverview
    commit_age: float | None = None
    loop_gap: float | None = None
    disk_free: int | None = None
    next_run: float | None = None


_Values = Callable[[JobOverview], Mapping[str, float]]


def _states(overview: JobOverview) -> dict[str, float]:
    """All states of a job; how it ended is one more when it does not run."""
    states = {str(state): 0.0 for state in JobState}
    return {**states, overview.state: 1.0}


_COUNTERS: tuple[tuple[str, str, str, _Values], ...] = (
    (
        "finished_uris", "outcome", "URIs with a final result in this run.",
        lambda o: {"succeeded": o.succeeded, "failed": o.failed, "disregarded": o.disregarded},
    ),
    (
        "responses", "class",
        "Replies of this run: documents (status 200 to 299), 304, redirects, errors, and what "
        "other URIs needed first (robots.txt).",
        lambda o: {
            "document": o.documents, "unchanged": o.unchanged, "redirect": o.redirects,
            "error": o.errors, "prerequisite": o.prerequisites,
        },
    ),
    (
        "stored_bytes", "kind",
        "Bytes of replies, stored in full (novel), or known and replaced by a revisit record.",
        lambda o: {"novel": o.novel_bytes, "revisit": o.saved_bytes},
    ),
    ("received_bytes", "", "Bytes of all replies of this run.", lambda o: {"": o.bytes}),
    ("warc_bytes", "", "Bytes of WARC written.", lambda o: {"": o.warc_bytes}),
    ("alerts", "", "Alerts raised in this run.", lambda o: {"": o.alerts}),
)  # fmt: skip
"""Counters: name, label, meaning, values. Each run begins with 0."""

_GAUGES: tuple[tuple[str, str, str, _Values], ...] = (
    ("state", "state", "1 for the state of the job, 0 for the others.", _states),
    (
        "uris", "status",
        "URIs that wait for their turn, that wait for another try, and that are in process.",
        lambda o: {
            "queued": max(o.queued - o.retrying - o.busy, 0), "retrying": o.retrying,
            "in_process": o.busy, "endless": o.endless,
        },
    ),
    (
        "fetch_slots", "state", "Fetches that may be in process.",
        lambda o: {"busy": o.busy, "idle": max(o.parallel - o.busy, 0)},
    ),
    ("queues", "state", "Queues by state.", lambda o: o.queues),
)  # fmt: skip
"""Gauges, likewise."""


_MEASURES: tuple[tuple[str, str, Callable[[JobFigures], float | None]], ...] = (
    (
        "commit_age_seconds", "Time for which the oldest change waits to become durable.",
        lambda figures: figures.commit_age,
    ),
    (
        "loop_gap_seconds", "Longest gap of the event loop in the last ten seconds.",
        lambda figures: figures.loop_gap,
    ),
    (
        "disk_free_bytes", "Free space of the file system of the job.",
        lambda figures: figures.disk_free,
    ),
    (
        "next_pass_timestamp_seconds",
        "When the next pass begins, of a crawl that never ends, or by the calendar of the console.",
        lambda figures: min(
            filter(None, (figures.overview.next_pass, figures.next_run)), default=None
        ),
    ),
)  # fmt: skip
"""Gauges that may be unknown: name, meaning, value."""


def metric_families(jobs: Iterable[JobFigures]) -> Iterator[Metric]:
    """The metrics of jobs, `nacre_job_…` and `nacre_build_info`."""
    figures = list(jobs)
    build = GaugeMetricFamily("nacre_build_info", "Version of Nacre.", labels=["version"])
    build.add_metric([__version__], 1)
    yield build
    for kind, table in ((CounterMetricFamily, _COUNTERS), (GaugeMetricFamily, _GAUGES)):
        for name, label, says, values in table:
            labels = ["job", label] if label else ["job"]
            family = kind(f"nacre_job_{name}", says, labels=labels)
            for job_figures in figures:
                for key, value in values(job_figures.overview).items():
                    family.add_metric([job_figures.job, key] if label else [job_figures.job], value)
            yield family
    for name, says, measure in _MEASURES:
        family = GaugeMetricFamily(f"nacre_job_{name}", says, labels=["job"])
        for job_figures in figures:
            measured = measure(job_figures)
            if measured is not None:
                family.add_metric([job_figures.job], measured)
        yield family


class JobCollector(Collector):
    """A collector of the metrics of jobs; it asks for their figures at each scrape.

    Args:
        figures: Gives them.
    """

    def __init__(self, figures: Callable[[], Iterable[JobFigures]]) -> None:
        self._figures = figures

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        return metric_families(self._figures())


def job_registry(figures: Callable[[], Iterable[JobFigures]]) -> CollectorRegistry:
    """Return a registry with the metrics of jobs only."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(JobCollector(figures))
    return registry


def exposition(registry: CollectorRegistry, accept: str) -> tuple[str, bytes]:
    """The metrics in the format that a client accepts: its media type, and the text.

    Args:
        registry: The metrics.
        accept: Its field `Accept`; "" for none: Prometheus' text.
    """
    encode, media_type = choose_encoder(accept)
    return media_type, encode(registry)
