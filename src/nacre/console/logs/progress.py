"""The history of a run from its logs: a few hundred points, from files of any size.

A row of progress-statistics.log has counts since the run began, so the rates between any two rows
are exact. If the logs are larger than a budget, only blocks at equal distances are read. The rates
between these blocks are still exact; momentary values (busy slots, bytes per second) are those of
the rows that were read.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import BinaryIO, Final, NamedTuple

import msgspec
from msgspec import structs

from nacre.console.logs.lines import LogPageQuery, wanted_lines
from nacre.console.logs.pages import (
    LogPage,
    LogQuestion,
    is_log_name,
    log_names,
    log_path,
    open_log,
    place_at,
    read_page,
)
from nacre.core.clock import iso
from nacre.machine.layout import Layout
from nacre.report.log_fields import kind_of
from nacre.report.progress import INTERVAL
from nacre.web.workers.task import reader_task

DAY: Final = 86_400.0
POINTS: Final = 300
"""Points of a chart: about one for each second pixel of a small screen."""
BUDGET: Final = 4 << 20
"""Bytes that are read of the logs of a run: five days at a row each 20 s."""
_PLACES: Final = 512
_BLOCK: Final = 1 << 11
"""Bytes at each place: about ten rows."""
_COLUMNS: Final = 13
_NAME: Final = "progress-statistics"
_SILENT: Final = 3
"""Rows that may be missing before the job is taken to have rested."""


class ProgressRow(msgspec.Struct, frozen=True):
    """A row of the log.

    Attributes:
        time: Seconds since the epoch.
        discovered: Different URIs seen since the run began.
        queued: URIs that wait.
        documents: Documents fetched since the run began.
        speed: Bytes received a second, in the last interval.
        failed: Final failures since the run began.
        busy: Fetches in process.
        memory: Memory in use, bytes.
    """

    time: float
    discovered: int
    queued: int
    documents: int
    speed: float
    failed: int
    busy: int
    memory: int


class ProgressPoint(msgspec.Struct, frozen=True):
    """A stretch of time of a run; its values are null if the job did not run.

    Attributes:
        time: Its end, seconds since the epoch.
        documents: Documents fetched a second.
        failed: URIs failed a second.
        discovered: URIs discovered a second.
        speed: Bytes received a second.
        busy: Fetches in process, on average.
        queued: URIs that waited at its end.
        memory: Most memory in use, bytes.
        statuses: Lines of crawl.log a second by kind of status (`2xx` to `5xx`, `failed`,
            `refused`); {} for none.
    """

    time: float
    documents: float | None = None
    failed: float | None = None
    discovered: float | None = None
    speed: float | None = None
    busy: float | None = None
    queued: int | None = None
    memory: int | None = None
    statuses: dict[str, float] = {}


class ProgressPast(msgspec.Struct, frozen=True):
    """The past of a run.

    Attributes:
        points: Stretches of equal length, the oldest first; () if there is no row.
        step: Their length, seconds.
        is_sampled: Only a part of the logs was read, so averages come from samples.
        has_sampled_statuses: Only a part of crawl.log was read, so status counts come from samples.
    """

    points: tuple[ProgressPoint, ...] = ()
    step: float = 0.0
    is_sampled: bool = False
    has_sampled_statuses: bool = False


def progress_row(text: str) -> ProgressRow | None:
    """The numbers of a line; None for an event, the names of the columns, and a torn line."""
    parts = text.split()
    if len(parts) != _COLUMNS:
        return None
    try:
        moment = datetime.fromisoformat(parts[0]).timestamp()
        discovered, queued, documents = (int(part) for part in parts[1:4])
        speed = float(parts[5].partition("(")[0]) * 1024
        failed, busy, memory = (int(part) for part in parts[6:9])
    except (ValueError, OverflowError):
        return None
    return ProgressRow(moment, discovered, queued, documents, speed, failed, busy, memory * 1024)


def past_of(
    rows: Sequence[ProgressRow], number: int = POINTS
) -> tuple[tuple[ProgressPoint, ...], float]:
    """The rows as points, and the length of each in seconds.

    Args:
        rows: The rows, the oldest first.
        number: Most points.
    """
    if len(rows) < 2:
        return (), 0.0
    first, span = rows[0].time, rows[-1].time - rows[0].time
    step = max(span / number, INTERVAL)
    stretches: dict[int, list[ProgressRow]] = {}
    for row in rows[1:]:
        place = int(max(row.time - first - 1e-6, 0.0) / step)
        stretches.setdefault(place, []).append(row)
    points, last = [], rows[0]
    for place in range(max(stretches) + 1):
        end = min(first + (place + 1) * step, rows[-1].time)
        stretch = stretches.get(place)
        if stretch is None:
            points.append(ProgressPoint(end))
            continue
        points.append(_point(end, last, stretch, _SILENT * max(step, INTERVAL)))
        last = stretch[-1]
    return tuple(points), step


def _point(
    end: float, before: ProgressRow, rows: Sequence[ProgressRow], longest: float
) -> ProgressPoint:
    """Return the point of a stretch; without rates after a pause, or if a crash lost counts."""
    last = rows[-1]
    seconds = last.time - before.time

    def rate(old: int, new: int) -> float | None:
        if not 0 < seconds <= longest or new < old:
            return None
        return (new - old) / seconds

    return ProgressPoint(
        end,
        rate(before.documents, last.documents),
        rate(before.failed, last.failed),
        rate(before.discovered, last.discovered),
        fmean(row.speed for row in rows),
        fmean(row.busy for row in rows),
        last.queued,
        max(row.memory for row in rows),
    )


def read_past(layout: Layout, seconds: float | None, budget: int = BUDGET) -> ProgressPast:
    """The past of the last run of a job.

    Args:
        layout: The job's directories.
        seconds: How far back before the last row; None for all of the run.
        budget: Bytes that may be read.
    """
    files = log_files(layout, _NAME)
    sizes = [path.stat().st_size for path in files]
    is_sampled = seconds is None and sum(sizes) > budget
    lines = _sampled(files, sizes) if is_sampled else _last_bytes(files, sizes, budget)
    rows = sorted((row for line in lines if (row := progress_row(line))), key=lambda row: row.time)
    if seconds is not None and rows:
        since = rows[-1].time - seconds
        rows = [row for row in rows if row.time >= since]
    points, step = past_of(rows)
    edges = [rows[0].time, *(point.time for point in points)] if points else []
    statuses = read_statuses(layout, edges, budget)
    with_statuses = tuple(
        structs.replace(point, statuses=rates)
        for point, rates in zip(points, statuses.rates, strict=True)
    )
    return ProgressPast(with_statuses, step, is_sampled, statuses.is_sampled)


def _last_bytes(files: Sequence[Path], sizes: Sequence[int], budget: int) -> Iterator[str]:
    """The lines of the last bytes of all files, the newest file first."""
    remaining = budget
    for path, size in zip(reversed(files), reversed(sizes), strict=True):
        if remaining <= 0:
            return
        yield from _lines(path, [(max(size - remaining, 0), min(size, remaining))])
        remaining -= size


def _sampled(files: Sequence[Path], sizes: Sequence[int]) -> Iterator[str]:
    """Lines at equal distances of all files, and those at the ends of each."""
    distance = max(sum(sizes) // _PLACES, _BLOCK)
    for path, size in zip(files, sizes, strict=True):
        places = [*range(0, max(size - _BLOCK, 0), distance), max(size - _BLOCK, 0)]
        yield from _lines(path, [(place, _BLOCK) for place in places])


def _lines(path: Path, parts: Iterable[tuple[int, int]]) -> Iterator[str]:
    """The whole lines of parts of a file; a cut one has too few fields, or is left out."""
    with open_log(path) as file:
        for at, length in parts:
            yield from whole_lines(file, at, length)


STATUSES: Final = ("2xx", "3xx", "4xx", "5xx", "failed", "refused")
"""Kinds of statuses, as the filter of a log has them."""
_KINDS: Final = {"0": "failed", "r": "refused"}
_STATUS_PLACES: Final = 512
_STATUS_BLOCK: Final = 1 << 13
"""Bytes at each place: some forty lines."""
_CRAWL: Final = "crawl"


class StatusSample(NamedTuple):
    """The lines of some time.

    Attributes:
        time: When the first one was logged, seconds since the epoch.
        until: When the last one was.
        counts: How many lines there are, by kind of status.
    """

    time: float
    until: float
    counts: Mapping[str, float]


class StatusPast(NamedTuple):
    """The statuses of stretches of time.

    Attributes:
        rates: Lines a second by kind of status, of each stretch; {} if there is none.
        is_sampled: Only a part of the log was read.
    """

    rates: tuple[dict[str, float], ...]
    is_sampled: bool = False


def rates_of(
    samples: Iterable[StatusSample], edges: Sequence[float]
) -> tuple[dict[str, float], ...]:
    """The lines a second in each stretch of time (pure).

    Args:
        samples: The lines.
        edges: The times between the stretches, and at both ends.
    """
    totals: list[dict[str, float]] = [{} for _ in edges[1:]]
    for sample in samples:
        for place, share in _shares(sample, edges):
            for kind, number in sample.counts.items():
                totals[place][kind] = totals[place].get(kind, 0.0) + number * share
    widths = [max(after - before, 1e-3) for before, after in pairwise(edges)]
    return tuple(
        {kind: round(counts[kind] / width, 4) for kind in STATUSES if kind in counts}
        for counts, width in zip(totals, widths, strict=True)
    )


def _shares(sample: StatusSample, edges: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield the stretches that a sample overlaps, each with its share of the sample."""
    seconds = sample.until - sample.time
    place = max(bisect_right(edges, sample.time) - 1, 0)
    if seconds <= 0:
        if edges[0] <= sample.time <= edges[-1]:
            yield min(place, len(edges) - 2), 1.0
        return
    for at in range(place, len(edges) - 1):
        if edges[at] >= sample.until:
            return
        common = min(sample.until, edges[at + 1]) - max(sample.time, edges[at])
        if common > 0:
            yield at, common / seconds


def log_files(layout: Layout, name: str) -> list[Path]:
    """The files of a log of the last run, the oldest first.

    A checkpoint gives them a suffix that rises.
    """
    logs = [log for log, _ in log_names(layout) if log.partition(".")[0] == name]
    names = sorted((log for log in logs if is_log_name(log)), key=lambda log: (log == name, log))
    return [log_path(layout, log) for log in names]


def whole_lines(file: BinaryIO, at: int, length: int) -> list[str]:
    """The whole lines of a part of a file; one that is cut is left out."""
    file.seek(max(at - 1, 0))
    data = file.read(length + min(at, 1))
    start = data.find(b"\n") + 1 if at else 0
    end = data.rfind(b"\n") + 1
    return data[start:end].decode("utf-8", "replace").splitlines()


def read_statuses(layout: Layout, edges: Sequence[float], budget: int) -> StatusPast:
    """The statuses of the last run in stretches of time.

    Args:
        layout: The job's directories.
        edges: See `rates_of`.
        budget: Bytes that may be read.
    """
    if len(edges) < 2:
        return StatusPast(())
    moment = iso(edges[0])[:-1]
    parts = [
        (path, place_at(path, moment), path.stat().st_size) for path in log_files(layout, _CRAWL)
    ]
    is_sampled = sum(size - start for _, start, size in parts) > budget
    samples = _sampled_statuses(parts, edges[-1]) if is_sampled else _all(parts)
    return StatusPast(rates_of(samples, edges), is_sampled)


_Part = tuple[Path, int, int]


def _all(parts: Sequence[_Part]) -> Iterator[StatusSample]:
    """Each line of parts of files as a sample."""
    for path, start, size in parts:
        with open_log(path) as file:
            for line in whole_lines(file, start, size - start):
                if (status := _status(line)) is not None:
                    time, kind = status
                    yield StatusSample(time, time, {kind: 1})


def _sampled_statuses(parts: Sequence[_Part], end: float) -> Iterator[StatusSample]:
    """Blocks at equal distances, each for the lines up to the next one."""
    distance = max(sum(size - start for _, start, size in parts) // _STATUS_PLACES, _STATUS_BLOCK)
    before: tuple[float, dict[str, float]] | None = None
    for path, start, size in parts:
        with open_log(path) as file:
            for at in range(start, size, distance):
                lines = whole_lines(file, at, _STATUS_BLOCK)
                statuses = [status for status in map(_status, lines) if status is not None]
                if not statuses:
                    continue
                if before is not None:
                    yield StatusSample(before[0], statuses[0][0], before[1])
                read = sum(len(line.encode()) + 1 for line in lines)
                times = min(distance, size - at) / max(read, 1)
                counts = Counter(kind for _, kind in statuses)
                before = statuses[0][0], {kind: counts[kind] * times for kind in counts}
    if before is not None:
        yield StatusSample(before[0], end, before[1])


def _status(line: str) -> tuple[float, str] | None:
    """Return the time and the kind of status of a line; None for other lines and DNS lookups."""
    parts = line.split(None, 2)
    try:
        moment, status = datetime.fromisoformat(parts[0]).timestamp(), int(parts[1])
    except (ValueError, IndexError, OverflowError):
        return None
    digit = kind_of(status)
    kind = _KINDS.get(digit, f"{digit}xx")
    return (moment, kind) if kind in STATUSES and not 0 < status < 100 else None


class PastRequest(msgspec.Struct, frozen=True):
    """The past of a run.

    Attributes:
        seconds: How far back before the last row of its log; None for all.
    """

    seconds: float | None


@reader_task("log-lines")
def find_lines(layout: Layout, query: LogPageQuery) -> LogPage:
    """Find the lines that pass the filters of a query; its `at` is not read.

    Raises:
        RefusedRequestError: There is no such log (404), or a filter is wrong (400).
    """
    question = LogQuestion(query.after, query.before, query.limit, wanted_lines(query))
    return read_page(log_path(layout, query.name, query.run), question)


@reader_task("progress")
def read_progress(layout: Layout, request: PastRequest) -> ProgressPast:
    """Read the past of the last run of a job."""
    return read_past(layout, request.seconds)
