"""The last lines of a job's logs as facts of the diagnosis: refusing hosts, likely traps.

All but `last_lines`, which reads them, is pure.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import msgspec

from nacre.job.diagnosis import SuspectedTrap, TroubledHost
from nacre.job.overview import SlowQueue
from nacre.machine.layout import Layout
from nacre.report.crawllog import LogTimes
from nacre.report.log_fields import CrawlLogFields, crawl_log_fields
from nacre.uri.parse import host as host_of

LATELY: Final = 300.0
"""Seconds that are looked back on for refusals."""
FEWEST: Final = 20
"""Lines below which nothing is said."""
DEEP: Final = 8
"""Hops from the seed from which on a place can be a trap: traps lead on and on."""
_MOST: Final = 0.9
_SOME: Final = 0.1
_TOO_MANY: Final = 429
_LINES: Final = 300
_BYTES: Final = 1 << 19
"""Bytes at the end of a log that are read for its last lines."""


class FetchedPlace(msgspec.Struct, frozen=True):
    """A directory or program that was fetched from lately.

    Attributes:
        prefix: Beginning of its URLs, with a slash or a question mark at the end.
        share: Share of the last fetches, 0 to 1.
    """

    prefix: str
    share: float


class LastLines(NamedTuple):
    """The last lines of a job's logs, the oldest first; () if there is no such log.

    Attributes:
        crawl: Of crawl.log: final results.
        tries: Of nonfatal-errors.log: the tries that are repeated.
        since: The time from which on both logs were read, as in a line; "" where both are whole.
    """

    crawl: Sequence[CrawlLogFields] = ()
    tries: Sequence[CrawlLogFields] = ()
    since: str = ""


NO_LINES: Final = LastLines()


def last_lines(layout: Layout) -> LastLines:
    """The last 300 lines of both logs of the last run; a log that cannot be read has none."""
    folder = (layout.latest / "logs").resolve()
    if not folder.is_relative_to(layout.root.resolve()):
        return NO_LINES
    crawl, tries = (_last(folder / name) for name in ("crawl.log", "nonfatal-errors.log"))
    since = max(log.lines[0].time if log.lines and log.is_cut else "" for log in (crawl, tries))
    return LastLines(crawl.lines, tries.lines, since)


class _LogEnd(NamedTuple):
    lines: list[CrawlLogFields]
    is_cut: bool
    """There are older lines, which were not read."""


def _last(path: Path) -> _LogEnd:
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return _LogEnd([], is_cut=False)
    facts = os.fstat(number)
    if not stat.S_ISREG(facts.st_mode):
        os.close(number)
        return _LogEnd([], is_cut=False)
    with os.fdopen(number, "rb") as file:
        begin = max(facts.st_size - _BYTES, 0)
        file.seek(begin)
        lines = file.read(_BYTES).split(b"\n")
    # Before the first line feed stands a part of a line, behind the last one the same or nothing.
    whole = lines[1 if begin else 0 : -1]
    fields = fields_of(line.decode("utf-8", "replace") for line in whole[-_LINES:])
    return _LogEnd(fields, is_cut=begin > 0 or len(whole) > _LINES)


def fields_of(lines: Iterable[str]) -> list[CrawlLogFields]:
    """The lines that are of the form of crawl.log."""
    return [fields for line in lines if (fields := crawl_log_fields(line)) is not None]


def troubled_host(
    lines: LastLines, slowest: Sequence[SlowQueue], now: float
) -> TroubledHost | None:
    """The host that refused or failed most in the last five minutes; None for none.

    The last lines of a fast crawl are of a few seconds, and its few further tries of minutes: only
    the time that both logs cover counts.

    Args:
        lines: Of crawl.log and of the tries that are repeated.
        slowest: The queues that take longest; one of the host gives its delay.
        now: Seconds since the epoch.
    """
    since = max(LogTimes().dashed(now - LATELY), lines.since)
    recent = [line for line in (*lines.crawl, *lines.tries) if line.time >= since]
    if len(recent) < FEWEST:
        return None
    refused = [(host_of(line.url), line.status) for line in recent if _is_refusal(line.status)]
    if not refused:
        return None
    host, number = Counter(name for name, _ in refused).most_common(1)[0]
    status = Counter(code for name, code in refused if name == host).most_common(1)[0][0]
    delay = next((queue.delay for queue in slowest if queue.host == host), 0.0)
    return TroubledHost(host, status, number / len(recent), delay)


def _is_refusal(status: int) -> bool:
    return status == _TOO_MANY or status >= 500 or -5 < status < 0


def suspected_trap(lines: Sequence[CrawlLogFields], *, outgrows: bool) -> SuspectedTrap | None:
    """The place that looks like a trap; None for none.

    For ten minutes more URIs were queued than finished, and nearly all recent fetches are in one
    place, far from the seeds.

    Args:
        lines: The last ones of crawl.log.
        outgrows: See `JobPace`.
    """
    if not outgrows or len(lines) < FEWEST:
        return None
    places = _places(lines)
    if not places or median(_hops(line.path) for line in lines) < DEEP:
        return None
    return SuspectedTrap(*places[0]) if places[0].share >= _MOST else None


def fetched_lately(lines: Sequence[CrawlLogFields]) -> tuple[FetchedPlace, ...]:
    """The places that most of the last lines of crawl.log are of; () for few lines."""
    if len(lines) < FEWEST:
        return ()
    return tuple(FetchedPlace(*place) for place in _places(lines)[:3] if place.share >= _SOME)


class _Place(NamedTuple):
    prefix: str
    share: float


def _places(lines: Sequence[CrawlLogFields]) -> list[_Place]:
    """The first directories of URLs with their shares, the largest first.

    A program whose URLs differ in their queries takes the place of its directory where it has
    nearly all of it: session ids and calendars are often `list.php?…`.
    """
    directories = Counter(prefix for line in lines if (prefix := _directory(line.url)))
    programs = Counter(prefix for line in lines if (prefix := _program(line.url)))
    counts = dict(directories)
    for program, number in programs.items():
        above = _directory(program)
        if not above or number >= _MOST * directories[above]:
            counts.pop(above, None)
            counts[program] = number
    shares = [_Place(prefix, number / len(lines)) for prefix, number in counts.items()]
    return sorted(shares, key=lambda place: -place.share)


def place_of(url: str) -> str:
    """The program or first directory that a URL is of; "" for one at the top without a query."""
    return _program(url) or _directory(url)


def _program(url: str) -> str:
    """Return the URL up to its query; "" if it has no query, or is a directory."""
    before, mark, _ = url.partition("?")
    return f"{before}?" if mark and not (before.endswith("/") and _directory(before)) else ""


def _directory(url: str) -> str:
    """The URL up to its first directory; "" where it has none."""
    scheme, separator, after_scheme = url.partition("://")
    host, slash, path = after_scheme.partition("/")
    first, end, _ = path.partition("?")[0].partition("/")
    return f"{scheme}{separator}{host}{slash}{first}{end}" if first and end else ""


def _hops(path: str) -> int:
    """Hops from the seed; a long path begins with their number: `12+LL`."""
    number, plus, hops = path.partition("+")
    return int(number) + len(hops) if plus and number.isdigit() else len(path)
