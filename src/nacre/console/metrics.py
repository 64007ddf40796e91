"""Prometheus metrics of the console and all its jobs, in a separate registry.

The jobs' numbers are the latest ones of the poller: a scrape sends no request to a job. The labels
of routes are their patterns in the table, never the path of a request.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector

from nacre.fleet.places import FoundJob
from nacre.fleet.snapshot import JobSnapshot
from nacre.job.metrics import JobFigures, exposition, metric_families
from nacre.job.overview import JobOverview

_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class RequestTimes:
    """The durations of requests, by route, verb and status.

    Attributes:
        registry: The registry that they are in.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self._seconds = Histogram(
            "nacre_console_http_request_duration_seconds", "Time until the answer began.",
            ["route", "method", "code"], buckets=_BUCKETS, registry=self.registry,
        )  # fmt: skip

    def note(self, route: str, method: str, code: int, seconds: float) -> None:
        """Note a request.

        Args:
            route: Its path in the table of routes.
            method: Its verb.
            code: Status code of the answer.
            seconds: Time that it took.
        """
        self._seconds.labels(route, method, str(code)).observe(seconds)


def job_figures(
    seen_job: Iterable[tuple[FoundJob, JobSnapshot]],
    free: Mapping[str, int],
    due: Mapping[str, float] | None = None,
) -> list[JobFigures]:
    """The figures of jobs as they were seen last.

    Args:
        seen_job: The jobs, with their snapshots.
        free: Free bytes of the file systems of places, by their labels.
        due: When the next runs should begin by the calendar, seconds since the epoch, by the
            directories of jobs; None for none.
    """
    runs = due or {}
    return [
        JobFigures(
            job.id.encode("utf-8", "replace").decode(),
            snapshot.overview or JobOverview(snapshot.state),
            disk_free=free.get(job.place),
            commit_age=snapshot.commit_age,
            loop_gap=None if snapshot.gap is None else snapshot.gap / 1000,
            next_run=runs.get(str(job.layout.root)),
        )
        for job, snapshot in seen_job
    ]


class _ConsoleCollector(Collector):
    """A collector of what holds at the moment of a scrape."""

    def __init__(
        self, jobs: list[JobFigures], streams: int, readers: Mapping[str, tuple[int, float]]
    ) -> None:
        self._jobs = jobs
        self._streams = streams
        self._readers = readers

    def collect(self) -> Iterator[Metric]:
        """See `Collector`."""
        yield from metric_families(self._jobs)
        streams = GaugeMetricFamily("nacre_console_streams", "Viewers with an open stream.")
        streams.add_metric([], self._streams)
        yield streams
        seconds = SummaryMetricFamily(
            "nacre_console_reader_seconds", "Time that readers of stores took.", labels=["task"]
        )
        for task, (count, total) in sorted(self._readers.items()):
            seconds.add_metric([task], count, total)
        yield seconds


def console_metrics(
    times: RequestTimes,
    jobs: list[JobFigures],
    streams: int,
    readers: Mapping[str, tuple[int, float]],
    accept: str,
) -> tuple[str, bytes]:
    """All metrics in the format that a client accepts: its media type, and the text.

    Args:
        times: The durations of requests.
        jobs: The figures of jobs.
        streams: Viewers with an open stream.
        readers: Answers of readers and the seconds that they took, by task.
        accept: The field `Accept`; "" for none: Prometheus' text.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_ConsoleCollector(jobs, streams, readers))
    registry.register(_Others(times.registry))
    return exposition(registry, accept)


class _Others(Collector):
    """The metrics of another registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        return self._registry.collect()
