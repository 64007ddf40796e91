"""Import segments of Nutch: their pages into the archive, with visits and links.

A segment becomes an updated segment of ours; the rows of its URLs come from the CrawlDb, which is
imported first.
"""

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from nacre.errors import ConfigError, JobError
from nacre.rounds.journal import IMPORTED, OF_NUTCH, UPDATED
from nacre.rounds.moving.hadoop import data_files, ranges
from nacre.rounds.moving.nutch_segment_tasks import (
    CapturesSpec,
    SegmentCounts,
    SegmentSpec,
    captures_task,
    segment_task,
)
from nacre.rounds.moving.nutch_tasks import NutchSpec
from nacre.rounds.segments.outside import UNIT, write_empty_list
from nacre.rounds.segments.parts import UnitPlace, mark_of
from nacre.rounds.segments.segment_files import record_segments
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.judging import RulesOfStep, rules_of_step
from nacre.rounds.steps.seed_rows import sync_seeds
from nacre.rounds.steps.taking import buckets_here
from nacre.rounds.tables.tables import CRAWLDB, buckets_of, in_range_tasks
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, SegmentState

RANGE = 256 << 20
"""Bytes of bodies that a task reads."""

_MESSAGES = 100
_NAME = "%Y%m%d%H%M%S"


class SegmentsResult(NamedTuple):
    """The outcome of an import of segments.

    Attributes:
        segments: Our names of the imported segments.
        known: Our names of segments that were imported before, and are skipped.
        pages: Bodies in the archive.
        visits: Visits.
        links: Links, which the step `links` adds to the table.
        refused: URLs that the scope refuses, by rule.
        no_urls: Keys that are no URLs.
        damaged: Records that could not be read.
        messages: Messages about the first of them.
        version: The version; None if nothing was committed.
    """

    segments: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    pages: int = 0
    visits: int = 0
    links: int = 0
    refused: Mapping[str, int] = {}
    no_urls: int = 0
    damaged: int = 0
    messages: tuple[str, ...] = ()
    version: CycleVersion | None = None


def segment_places(directory: Path) -> list[Path]:
    """Return the segments of Nutch with bodies: the directory itself, or segments in it.

    Raises:
        ConfigError: There is no segment.
    """
    if (directory / "content").is_dir():
        return [directory]
    segments = [c.parent for c in sorted(directory.glob("*/content")) if c.is_dir()]
    if not segments:
        raise ConfigError(f"{directory} is no segment of Nutch with `content`, and has none")
    return segments


def our_name(segment: Path) -> str:
    """Return our name of a segment of Nutch: `20261123T154735.000Z` of `20261123154735`.

    Raises:
        ConfigError: Its name is no time.
    """
    try:
        moment = datetime.strptime(segment.absolute().name, _NAME).replace(tzinfo=UTC)
    except ValueError:
        raise ConfigError(
            f"{segment}: the name of a segment of Nutch is a time such as 20261123154735; rename it"
        ) from None
    return moment.strftime("%Y%m%dT%H%M%S.000Z")


def import_segments(
    context: StepContext, places: Sequence[Path], *, salvage: bool = False, size: int = RANGE
) -> SegmentsResult:
    """Import segments of Nutch into the archive of a job.

    Args:
        context: The context of the driver.
        places: The segments.
        salvage: Skip unreadable records.
        size: Bytes of bodies that a task reads.

    Raises:
        ConfigError: A directory is no segment, or two have the same name.
        DamageError: A record cannot be read, without `salvage`.
        JobError: There is no table of URLs yet.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = sync_seeds(context)
    if CRAWLDB not in version.tables:
        raise JobError("segments need the URLs that they are of: import the CrawlDb first")
    named = {our_name(p): p for p in places}
    if len(named) < len(places):
        raise ConfigError("two segments have the same name: import them one after the other")
    earlier = tuple(name for name in named if name in version.segments)
    rules = rules_of_step(context, version)
    specs = [
        spec
        for name, p in named.items()
        if name not in earlier
        for spec in _specs(context, version, rules, name, p, salvage, size)
    ]
    result = SegmentsResult(
        tuple(dict.fromkeys(segment_spec.segment for segment_spec in specs)), earlier
    )
    if context.dry or not specs:
        return result
    counts = context.engine.map(segment_task, specs)
    for name in result.segments:
        write_empty_list(context.place, name)
    return _commit(context, version, result, list(zip(specs, counts, strict=True)))


def _specs(  # noqa: PLR0913, PLR0917 - what all tasks have, and what a segment has
    context: StepContext, version: CycleVersion, rules: RulesOfStep, name: str, place: Path,
    salvage: bool, size: int,  # noqa: FBT001 - as the options have it
) -> Iterator[SegmentSpec]:  # fmt: skip
    base = f"NUTCH-{mark_of(name)}-{secrets.token_hex(3)}"
    limit = context.settings.archive.max_file_size
    # A run that was killed has left its parts there, which nothing names.
    attempt = 1 if context.dry else UnitPlace(context.cycle.storage, name, UNIT).claim()
    for number, within in enumerate(ranges(data_files((place / "content").absolute()), size)):
        read = NutchSpec(
            context.place, within, number, buckets_here(context, version), version.number + 1, "",
            rules, salvage=salvage, clock=context.clock,
        )  # fmt: skip
        yield SegmentSpec(
            read, name, _sibling(within.path, "crawl_fetch"), _sibling(within.path, "parse_data"),
            base, limit, attempt,
        )  # fmt: skip


def _sibling(content: str, name: str) -> str:
    """Return the file of another kind of the same part of a segment; "" for none."""
    path = Path(content)
    candidate = path.parent.parent.parent / name / path.parent.name / "data"
    return str(candidate) if candidate.is_file() else ""


def _commit(
    context: StepContext,
    version: CycleVersion,
    result: SegmentsResult,
    results: Sequence[tuple[SegmentSpec, SegmentCounts]],
) -> SegmentsResult:
    visits = tuple(f"{spec.part}/visits.parquet" for spec, _ in results)
    buckets = buckets_of(context.cycle, version, CRAWLDB)
    specs = [
        CapturesSpec(context.place, version.number + 1, group, visits)
        for group in in_range_tasks(buckets, tasks=context.engine.workers)
    ]
    captures = [file for files in context.engine.map(captures_task, specs) for file in files]
    refused: Counter[str] = Counter()
    for _, counts in results:
        refused.update(counts.read.refused)
    total = result._replace(
        pages=sum(counts.pages for _, counts in results),
        visits=sum(counts.visits for _, counts in results),
        links=sum(counts.links for _, counts in results),
        refused=dict(refused),
        no_urls=sum(counts.read.no_urls for _, counts in results),
        damaged=sum(counts.read.damaged for _, counts in results),
        messages=tuple(text for _, counts in results for text in counts.read.messages)[:_MESSAGES],
    )
    states = {name: _state(name, results) for name in result.segments}
    changes = CycleChanges(
        step="import",
        clock=context.clock,
        options={"segments": list(result.segments)},
        counters={"pages": total.pages, "visits": total.visits, "links": total.links},
        added={CRAWLDB: captures} if captures else {},
        archive=[file for _, counts in results for file in counts.archive],
        segments=dict(record_segments(context.engine, context.cycle.storage, states, {})),
    )
    return total._replace(version=context.cycle.commit(version, changes))


def _state(name: str, results: Sequence[tuple[SegmentSpec, SegmentCounts]]) -> SegmentState:
    parts = [(spec, counts) for spec, counts in results if spec.segment == name]
    return SegmentState(
        state=UPDATED,
        units=1,
        urls=sum(counts.visits for _, counts in parts),
        parts={UNIT: [spec.part for spec, _ in parts]},
        more={IMPORTED: OF_NUTCH},
    )
