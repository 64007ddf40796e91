"""The statuses of a run over its time, out of crawl.log: exact, or of samples of a large log.

Of a log that is larger than a budget only blocks at equal distances are read. The lines between two
blocks are as many as their bytes say, and of the statuses of the block before them.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from nacre.console.logs.pages import is_log_name, log_names, log_path, open_log, place_at
from nacre.core.clock import iso
from nacre.report.log_fields import kind_of
from nacre.store.layout import Layout

STATUSES: Final = ("2xx", "3xx", "4xx", "5xx", "failed", "refused")
"""Kinds of statuses, as the filter of a log has them."""
_KINDS: Final = {"0": "failed", "r": "refused"}
_PLACES: Final = 512
_BLOCK: Final = 1 << 13
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
        rates: Lines a second by kind of status, of each stretch; {} where there is none.
        is_sampled: The log is larger than what is read of it.
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
    found: list[dict[str, float]] = [{} for _ in edges[1:]]
    for sample in samples:
        for place, share in _shares(sample, edges):
            for kind, number in sample.counts.items():
                found[place][kind] = found[place].get(kind, 0.0) + number * share
    widths = [max(after - before, 1e-3) for before, after in pairwise(edges)]
    return tuple(
        {kind: round(counts[kind] / width, 4) for kind in STATUSES if kind in counts}
        for counts, width in zip(found, widths, strict=True)
    )


def _shares(sample: StatusSample, edges: Sequence[float]) -> Iterator[tuple[int, float]]:
    """The stretches that a sample is of, each with its share of it; what is outside has none."""
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
    known = [one for one, _ in log_names(layout) if one.partition(".")[0] == name]
    names = sorted((one for one in known if is_log_name(one)), key=lambda one: (one == name, one))
    return [log_path(layout, one) for one in names]


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
    samples = _sampled(parts, edges[-1]) if is_sampled else _all(parts)
    return StatusPast(rates_of(samples, edges), is_sampled)


_Part = tuple[Path, int, int]


def _all(parts: Sequence[_Part]) -> Iterator[StatusSample]:
    """Each line of parts of files as a sample."""
    for path, start, size in parts:
        with open_log(path) as file:
            for line in whole_lines(file, start, size - start):
                if (found := _status(line)) is not None:
                    time, kind = found
                    yield StatusSample(time, time, {kind: 1})


def _sampled(parts: Sequence[_Part], end: float) -> Iterator[StatusSample]:
    """Blocks at equal distances, each for the lines up to the next one."""
    distance = max(sum(size - start for _, start, size in parts) // _PLACES, _BLOCK)
    before: tuple[float, dict[str, float]] | None = None
    for path, start, size in parts:
        with open_log(path) as file:
            for at in range(start, size, distance):
                lines = whole_lines(file, at, _BLOCK)
                found = [one for one in map(_status, lines) if one is not None]
                if not found:
                    continue
                if before is not None:
                    yield StatusSample(before[0], found[0][0], before[1])
                read = sum(len(line.encode()) + 1 for line in lines)
                times = min(distance, size - at) / max(read, 1)
                counts = Counter(kind for _, kind in found)
                before = found[0][0], {kind: counts[kind] * times for kind in counts}
    if before is not None:
        yield StatusSample(before[0], end, before[1])


def _status(line: str) -> tuple[float, str] | None:
    """The time and the kind of status of a line; None for another one, and for a look-up of DNS."""
    parts = line.split(None, 2)
    try:
        moment, status = datetime.fromisoformat(parts[0]).timestamp(), int(parts[1])
    except (ValueError, IndexError, OverflowError):
        return None
    digit = kind_of(status)
    kind = _KINDS.get(digit, f"{digit}xx")
    return (moment, kind) if kind in STATUSES and not 0 < status < 100 else None
