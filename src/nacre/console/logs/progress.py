"""The past of a run out of its logs: a few hundred points, of files of any size.

A row of progress-statistics.log has counts since the run began, so that rates between any two rows
are exact. Of logs that are larger than a budget only blocks are read, at equal distances; the rates
between them stay exact, and what is of a moment (busy slots, bytes a second) is that of the rows
that were read.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Final

import msgspec
from msgspec import structs

from nacre.console.logs.pages import open_log
from nacre.console.logs.statuses import log_files, read_statuses, whole_lines
from nacre.report.progress import INTERVAL
from nacre.store.layout import Layout

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
    """A stretch of time of a run; null where the job did not run.

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
        points: Stretches of equal length, the oldest first; () where there is no row.
        step: Their length, seconds.
        is_sampled: The logs are larger than what is read of them: averages are of samples.
        has_sampled_statuses: So is crawl.log: the numbers of statuses are of samples.
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
        found = stretches.get(place)
        if found is None:
            points.append(ProgressPoint(end))
            continue
        points.append(_point(end, last, found, _SILENT * max(step, INTERVAL)))
        last = found[-1]
    return tuple(points), step


def _point(
    end: float, before: ProgressRow, rows: Sequence[ProgressRow], longest: float
) -> ProgressPoint:
    """The point of the rows of a stretch; no rates behind a rest, or where a crash took counts."""
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
    found = read_statuses(layout, edges, budget)
    told = tuple(
        structs.replace(point, statuses=rates)
        for point, rates in zip(points, found.rates, strict=True)
    )
    return ProgressPast(told, step, is_sampled, found.is_sampled)


def _last_bytes(files: Sequence[Path], sizes: Sequence[int], budget: int) -> Iterator[str]:
    """The lines of the last bytes of all files, the newest file first."""
    left = budget
    for path, size in zip(reversed(files), reversed(sizes), strict=True):
        if left <= 0:
            return
        yield from _lines(path, [(max(size - left, 0), min(size, left))])
        left -= size


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
