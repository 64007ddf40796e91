"""Changes of the frontier by the operator: URIs deleted, URIs brought in."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nacre.core.crawluri import CrawlURI, split_path
from nacre.core.processor import Visit
from nacre.errors import ConfigError, URIError
from nacre.frontier.listing import JournalLine, Matcher, any_text, parse_line
from nacre.frontier.policy import rank
from nacre.frontier.removal import Removed
from nacre.job.assemble import Parts
from nacre.report.stats import Stored
from nacre.scope.patterns import PatternList, examine
from nacre.uri.parse import parse

_STEP = 256
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
    visit = Visit(removed.uri, status=removed.status, annotations=list(removed.uri.annotations))
    now = parts.clock.now()
    parts.statistics.count(visit, Stored.NOTHING, now)
    parts.outcomes.put(visit)
    parts.logs.finished(visit, now)
    parts.commit.visit_done()


async def delete(parts: Parts, urls: Matcher, queues: Matcher) -> int:
    """Delete the pending URIs that match both; how many there were.

    Other work goes on between two steps; what is in process stays.
    """
    number = 0
    for number, removed in enumerate(parts.frontier.removal.delete(urls, queues), 1):
        note_removed(parts, removed)
        if number % _STEP == 0:
            await _breathe(parts)
    parts.engine.wake()
    return number


async def _breathe(parts: Parts) -> None:
    await asyncio.sleep(0)
    while parts.commit.saturated:
        await parts.clock.sleep(0.01)


class Imported(NamedTuple):
    """What an import came to.

    Attributes:
        scheduled: URIs that entered.
        known: URIs that were known already.
        done: URIs marked as seen.
        bad: Line number and text of lines that are neither; the first twenty.
        bad_lines: Number of all such lines.
    """

    scheduled: int = 0
    known: int = 0
    done: int = 0
    bad: Sequence[tuple[int, str]] = ()
    bad_lines: int = 0


async def bring_in(
    parts: Parts, lines: Iterable[str], first: int = 1, *, force: bool = False
) -> Imported:
    """Take lines of a recovery journal, or plain URLs; the scope is not asked.

    Args:
        parts: Of the job.
        lines: The lines.
        first: Number of the first line, for those that are bad.
        force: What was seen before is scheduled all the same, deleted URIs too; not what waits.
    """
    scheduled = known = done = bad_lines = 0
    bad: list[tuple[int, str]] = []
    for number, text in enumerate(lines, first):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        entry = _entry(parts, text)
        if entry is None:
            bad_lines += 1
            bad += [(number, text.strip()[:200])] if len(bad) < _BAD_KEPT else []
        elif entry.done:
            done += sum(parts.frontier.seen.enter([parts.identity.key(entry.url)]))
        elif parts.frontier.schedule([_uri(parts, entry, force=force)], parts.clock.now())[0]:
            scheduled += 1
        else:
            known += 1
        if number % _STEP == 0:
            await _breathe(parts)
    parts.engine.wake()
    return Imported(scheduled, known, done, bad, bad_lines)


def _entry(parts: Parts, text: str) -> JournalLine | None:
    entry = parse_line(text)
    if entry is None:
        return None
    try:
        url = parse(entry.url, max_length=parts.settings.uri.max_length)
        split_path(entry.path)
    except (URIError, ValueError):
        return None
    return entry._replace(url=url)


def _uri(parts: Parts, entry: JournalLine, *, force: bool) -> CrawlURI:
    overlay = parts.sheets.of_url(entry.url)
    settings = parts.effective[overlay].frontier
    order = rank(settings, entry.path, url=entry.url, via=entry.via)
    key = parts.identity.key(entry.url)
    return CrawlURI(
        url=entry.url,
        key=key,
        force_fetch=force and parts.outcomes.get(key) is not None,
        queue=parts.identity.queue(entry.url, overlay),
        via=entry.via,
        path=entry.path,
        context="import",
        directive=order.directive,
        precedence=order.precedence,
        cost=order.cost,
    )
