"""Changes of the frontier by the operator: URIs deleted, URIs brought in."""

import asyncio
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from nacre.core.processor import Visit
from nacre.core.status import FetchStatus, counted, describe
from nacre.errors import ConfigError
from nacre.frontier.listing import Matcher, any_text
from nacre.frontier.recoverlog import ENDS
from nacre.frontier.removal import Removed
from nacre.job.assemble import Parts
from nacre.job.intake.intake import Intake, Line, Options, Rejected, Tally
from nacre.report.stats import Stored
from nacre.scope.patterns import PatternList, examine
from nacre.uri.parse import origin

PORTION = 256
"""URIs that are taken in, or away, in one go."""
_BAD_KEPT = 20


def matcher(pattern: str) -> Matcher:
    """Finds an expression anywhere in a text; an empty one means all texts.

    Raises:
        ConfigError: It is no regular expression.
    """
    if not pattern:
        return any_text
    note = examine(pattern)
    if note is not None and not note.usable:
        raise ConfigError(f"{pattern!r} is {note.message}")
    return PatternList([pattern], search=True).matches


def note_removed(parts: Parts, removed: Removed) -> None:
    """A URI left the frontier without a fetch: log, statistics and `explain` are told."""
    uri, journal = removed.uri, parts.frontier.journal
    if journal is not None:
        journal(ENDS[counted(removed.status)], uri.url, uri.path, uri.via)
    visit = Visit(uri, status=removed.status, annotations=list(uri.annotations))
    visit.error = _why(parts, removed)
    now = parts.clock.now()
    parts.statistics.count(visit, Stored.NOTHING, now)
    parts.outcomes.put(visit, attempts=uri.attempts)
    parts.logs.finished(visit, now)
    parts.commit.visit_done()


def _why(parts: Parts, removed: Removed) -> str:
    """What was in the way at the last try, or kept robots.txt from being had; else ""."""
    if removed.uri.attempts and removed.status == removed.uri.last_status:
        return removed.uri.last_error
    if removed.status != FetchStatus.PREREQUISITE_ROBOTS_FAILED:
        return ""
    site = origin(removed.uri.url)
    known = parts.outcomes.get(parts.identity.key(f"{site}/robots.txt"))
    said = known and (known.error or describe(known.status).rstrip("."))
    why = f" ({known.status}: {said})" if known else ""
    return f"robots.txt of {site} could not be had{why}"


async def delete(parts: Parts, urls: Matcher, queues: Matcher) -> int:
    """Delete the pending URIs that match both; how many there were.

    Other work goes on between two steps; what is in process stays.
    """
    number = 0
    for number, removed in enumerate(parts.frontier.removal.delete(urls, queues), 1):
        note_removed(parts, removed)
        if number % PORTION == 0:
            await breathe(parts)
    parts.engine.wake()
    return number


async def breathe(parts: Parts) -> None:
    """Let other work go on; longer while what was brought in is not durable."""
    await asyncio.sleep(0)
    while parts.commit.saturated:
        await parts.clock.sleep(0.01)


class Imported(NamedTuple):
    """What an import came to.

    Attributes:
        tally: What became of the lines.
        rejected: Those that were rejected; the first twenty.
    """

    tally: Tally
    rejected: Sequence[Rejected] = ()


async def bring_in(
    parts: Parts, lines: Iterable[str], options: Options, first: int = 1
) -> Imported:
    """Take lines into a job; other work goes on meanwhile.

    Args:
        parts: Of the job.
        lines: The lines.
        options: How they are read.
        first: Number of the first line, for those that are rejected.
    """
    intake = Intake(parts, options)
    rejected: list[Rejected] = []
    numbered = (Line(number, text) for number, text in enumerate(lines, first))
    while portion := list(islice(numbered, PORTION)):
        found = intake.take(portion)
        rejected += found[: _BAD_KEPT - len(rejected)]
        await breathe(parts)
    parts.engine.wake()
    return Imported(intake.tally, rejected)
