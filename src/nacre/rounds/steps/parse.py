"""The step `parse`: rebuild the facts of fetched segments from their WARCs.

Links are extracted during a fetch, so this is needed only for damaged facts. It uses the settings
that the segment was generated with. Source: Nutch, `ParseSegment` (reference N 1.8).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from nacre.errors import JobError
from nacre.rounds.engine import TaskEngine
from nacre.rounds.journal import IMPORTED, OF_NUTCH
from nacre.rounds.segments.frozen_settings import conf_name
from nacre.rounds.segments.parts import PartFile
from nacre.rounds.segments.reparse import ReparsedPart, ReparseSpec, read_part, reparse_task
from nacre.rounds.segments.segment_files import known_files, record_segments
from nacre.rounds.steps.links import TAKEN
from nacre.rounds.storage import Storage
from nacre.rounds.tables.seed_index import marked_seeds, place_of_seeds
from nacre.rounds.tables.tables import CRAWLDB, TaskPlace, archived_warcs
from nacre.rounds.tables.versions import (
    Cycle,
    CycleChanges,
    CycleVersion,
    SegmentState,
    state_of,
)


class ParseResult(NamedTuple):
    """The outcome of the step.

    Attributes:
        segments: The segments.
        parts: Parts whose facts were rebuilt.
        pages: Captures that were read.
        links: Links that the scope accepts.
        rebuilt: Parts whose visits were made from the archive, too.
        lost: URLs of lists whose visits are lost; they are due again.
        failed: Captures that a parser failed on.
        version: The version; None if nothing was committed.
    """

    segments: Sequence[str] = ()
    parts: int = 0
    pages: int = 0
    links: int = 0
    rebuilt: int = 0
    lost: int = 0
    failed: int = 0
    version: CycleVersion | None = None


def parse(
    cycle: Cycle,
    engine: TaskEngine,
    place: TaskPlace,
    clock: int,
    chosen: Mapping[str, Collection[str]],
    *,
    dry: bool = False,
) -> ParseResult:
    """Rebuild the facts of segments, and commit them in place of the existing ones.

    Args:
        cycle: The versions.
        engine: Runs a task for each unit.
        place: The work place of the tasks.
        clock: The clock of the step, ms.
        chosen: Folders of the parts to rebuild, by segment; () for all of its parts.
        dry: Count the parts, and read none.

    Raises:
        JobError: There is no such segment, it was not fetched, or Nutch has parsed it.
        DamageError: A WARC is damaged.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = cycle.newest()
    states = {name: state_of(version, name) for name in chosen}
    _require_fetched(states)
    specs = _specs(cycle, version, place, chosen)
    if dry:
        return ParseResult(tuple(states), sum(len(spec.chosen) for spec in specs))
    reparsed = [part for unit_parts in engine.map(reparse_task, specs) for part in unit_parts]
    result = _result(states, reparsed)
    if not reparsed:
        return result
    storage = cycle.storage
    parsed = {
        name: _unmark_links(_with_new_parts(storage, state, reparsed), chosen[name])
        for name, state in states.items()
    }
    stored_files = {name: known_files(storage, name, state) for name, state in states.items()}
    changes = CycleChanges(
        step="parse",
        clock=clock,
        options={"segments": list(states)},
        counters={"pages": result.pages, "links": result.links, "lost": result.lost},
        segments=dict(record_segments(engine, storage, parsed, stored_files)),
    )
    return result._replace(version=cycle.commit(version, changes))


def _require_fetched(states: Mapping[str, SegmentState]) -> None:
    """Raise JobError for a segment that has nothing to parse."""
    for name, state in states.items():
        if not state.parts:
            raise JobError(f"segment {name} was not fetched, so there is nothing to parse")
        if state.more.get(IMPORTED) == OF_NUTCH:
            raise JobError(
                f"segment {name} was imported from Nutch, which has parsed it: `links` takes the "
                "links that it found"
            )


def _result(segments: Iterable[str], reparsed: Sequence[ReparsedPart]) -> ParseResult:
    return ParseResult(
        tuple(segments),
        len(reparsed),
        sum(part.captures for part in reparsed),
        sum(part.links for part in reparsed),
        sum(part.rebuilt for part in reparsed),
        sum(part.lost for part in reparsed),
        sum(part.failed for part in reparsed),
    )


def _specs(
    cycle: Cycle,
    version: CycleVersion,
    place: TaskPlace,
    chosen_parts: Mapping[str, Collection[str]],
) -> list[ReparseSpec]:
    """Return a task for each unit with chosen parts."""
    archive = tuple(archived_warcs(cycle, version).values())
    buckets = version.tables[CRAWLDB].buckets
    # The seeds at the time of the fetch may be gone.
    seeds = place_of_seeds(version, place.storage)
    specs = []
    for name in chosen_parts:
        state = state_of(version, name)
        files_by_unit = _group_by_unit(known_files(cycle.storage, name, state))
        for unit, unit_parts in sorted(state.parts.items()):
            chosen = tuple(
                part for part in unit_parts if not chosen_parts[name] or part in chosen_parts[name]
            )
            if chosen:
                files = tuple(files_by_unit.get(unit, ()))
                rules = int(state.more.get("rules", 0))
                specs.append(
                    ReparseSpec(
                        place, name, unit, tuple(unit_parts), chosen, version.number + 1, buckets,
                        rules, archive, files, IMPORTED in state.more,
                        seeds if marked_seeds(state.more, "") is not None else None,
                        conf_name(state),
                    )
                )  # fmt: skip
    return specs


def _group_by_unit(files: Sequence[PartFile]) -> dict[str, list[PartFile]]:
    """Group the files of parts in the record of a segment by the names of their units."""
    by_unit: dict[str, list[PartFile]] = {}
    for file in files:
        _, mark, unit_path = file.name.partition("/parts/")
        if mark:
            by_unit.setdefault(unit_path.partition("/")[0], []).append(file)
    return by_unit


def _unmark_links(state: SegmentState, parts: Collection[str]) -> SegmentState:
    """Remove the mark of `links` from a segment whose facts were all rebuilt."""
    if parts or TAKEN not in state.more:
        return state
    more = {name: value for name, value in state.more.items() if name != TAKEN}
    return msgspec.structs.replace(state, more=more)


def _with_new_parts(
    storage: Storage, state: SegmentState, reparsed: Sequence[ReparsedPart]
) -> SegmentState:
    """Return the state of a segment with its new parts."""
    replaced: Mapping[str, ReparsedPart] = {part.before: part for part in reparsed}
    parts = {
        unit: [replaced[name].now if name in replaced else name for name in n]
        for unit, n in state.parts.items()
    }
    if state.state != "fetched" or "virtual" not in state.more:
        return msgspec.structs.replace(state, parts=parts)
    mine = {name for n in state.parts.values() for name in n}
    changed = [part for part in reparsed if part.before in mine]
    if any(part.stood_in for part in changed):
        virtual = sum(read_part(storage, name).virtual for n in parts.values() for name in n)
    else:
        virtual = int(state.more["virtual"]) + sum(part.virtual for part in changed)
    return msgspec.structs.replace(state, parts=parts, more={**state.more, "virtual": virtual})
