"""The import of segments of Nutch: their pages come into the archive, with visits and links.

A segment becomes one of ours that was fetched and updated; the rows of its URLs are those of the
CrawlDb, which is imported first.
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
from nacre.rounds.segments.segment_files import recorded_all
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.judging import RulesOfStep, rules_of_step
from nacre.rounds.steps.seed_rows import synced
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
        segments: Our names of those that were taken.
        known: Our names of those that were taken before, and left alone.
        pages: Bodies in the archive.
        visits: Visits.
        links: Links, which the step `links` takes into the table.
        refused: URLs that the scope refuses, by rule.
        no_urls: Keys that are no URLs.
        damaged: Records that could not be read.
        messages: The first of them.
        version: The version; None where nothing was committed.
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
    """The segments of Nutch in a directory: it is one, or has some; those with bodies.

    Raises:
        ConfigError: There is none.
    """
    if (directory / "content").is_dir():
        return [directory]
    found = [one.parent for one in sorted(directory.glob("*/content")) if one.is_dir()]
    if not found:
        raise ConfigError(f"{directory} is no segment of Nutch with `content`, and has none")
    return found


def our_name(segment: Path) -> str:
    """Our name of a segment of Nutch: `20261123T154735.000Z` of `20261123154735`.

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
    """Bring segments of Nutch into the archive of a job.

    Args:
        context: The context of the driver.
        places: The segments.
        salvage: Leave out what cannot be read.
        size: Bytes of bodies that a task reads.

    Raises:
        ConfigError: A directory is no segment, or two have one name.
        DamageError: A record cannot be read, and nothing is to be salvaged.
        JobError: There is no table of URLs yet.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = synced(context)
    if CRAWLDB not in version.tables:
        raise JobError("segments need the URLs that they are of: import the CrawlDb first")
    named = {our_name(place): place for place in places}
    if len(named) < len(places):
        raise ConfigError("two segments have the same name: import them one after the other")
    known = tuple(name for name in named if name in version.segments)
    rules = rules_of_step(context, version)
    specs = [
        spec
        for name, place in named.items()
        if name not in known
        for spec in _specs(context, version, rules, name, place, salvage, size)
    ]
    result = SegmentsResult(tuple(dict.fromkeys(one.segment for one in specs)), known)
    if context.dry or not specs:
        return result
    made = context.engine.map(segment_task, specs)
    for name in result.segments:
        write_empty_list(context.place, name)
    return _commit(context, version, result, list(zip(specs, made, strict=True)))


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
            read, name, _beside(within.path, "crawl_fetch"), _beside(within.path, "parse_data"),
            base, limit, attempt,
        )  # fmt: skip


def _beside(content: str, name: str) -> str:
    """The file of another kind of the same part of a segment; "" for none."""
    path = Path(content)
    other = path.parent.parent.parent / name / path.parent.name / "data"
    return str(other) if other.is_file() else ""


def _commit(
    context: StepContext,
    version: CycleVersion,
    result: SegmentsResult,
    made: Sequence[tuple[SegmentSpec, SegmentCounts]],
) -> SegmentsResult:
    visits = tuple(f"{spec.part}/visits.parquet" for spec, _ in made)
    buckets = buckets_of(context.cycle, version, CRAWLDB)
    specs = [
        CapturesSpec(context.place, version.number + 1, group, visits)
        for group in in_range_tasks(buckets, tasks=context.engine.workers)
    ]
    captures = [file for files in context.engine.map(captures_task, specs) for file in files]
    refused: Counter[str] = Counter()
    for _, one in made:
        refused.update(one.read.refused)
    found = result._replace(
        pages=sum(one.pages for _, one in made),
        visits=sum(one.visits for _, one in made),
        links=sum(one.links for _, one in made),
        refused=dict(refused),
        no_urls=sum(one.read.no_urls for _, one in made),
        damaged=sum(one.read.damaged for _, one in made),
        messages=tuple(text for _, one in made for text in one.read.messages)[:_MESSAGES],
    )
    states = {name: _state(name, made) for name in result.segments}
    changes = CycleChanges(
        step="import",
        clock=context.clock,
        options={"segments": list(result.segments)},
        counters={"pages": found.pages, "visits": found.visits, "links": found.links},
        added={CRAWLDB: captures} if captures else {},
        archive=[file for _, one in made for file in one.archive],
        segments=dict(recorded_all(context.engine, context.cycle.storage, states, {})),
    )
    return found._replace(version=context.cycle.commit(version, changes))


def _state(name: str, made: Sequence[tuple[SegmentSpec, SegmentCounts]]) -> SegmentState:
    of = [(spec, one) for spec, one in made if spec.segment == name]
    return SegmentState(
        state=UPDATED,
        units=1,
        urls=sum(one.visits for _, one in of),
        parts={UNIT: [spec.part for spec, _ in of]},
        more={IMPORTED: OF_NUTCH},
    )
