"""The step `parse`: the facts of fetched segments are made again of their WARCs.

Links are taken while a page is fetched, so this is needed only where facts were damaged. It uses
the settings that the segment was generated with. Source: Nutch, `ParseSegment` (reference N 1.8).
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
from nacre.rounds.segments.segment_files import known_files, recorded_all
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
        parts: Parts whose facts were made again.
        pages: Captures that were read.
        links: Links that the scope accepts.
        rebuilt: Parts whose visits were made of the archive, too.
        lost: URLs of lists of which nothing is known any more; they are due again.
        failed: Captures that a parser gave up.
        version: The version; None where nothing was committed.
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
    wanted: Mapping[str, Collection[str]],
    *,
    dry: bool = False,
) -> ParseResult:
    """Make the facts of segments again, and commit them in place of those that they have.

    Args:
        cycle: The versions.
        engine: Runs a task for each unit.
        place: Where they work.
        clock: The clock of the step, ms.
        wanted: Folders of the parts whose facts are made, by segment; none: of all its parts.
        dry: Say how many parts there are, and read none.

    Raises:
        JobError: There is no such segment, it was not fetched, or Nutch has parsed it.
        DamageError: A WARC is damaged.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = cycle.newest()
    states = {name: state_of(version, name) for name in wanted}
    _require_fetched(states)
    specs = _specs(cycle, version, place, wanted)
    if dry:
        return ParseResult(tuple(states), sum(len(spec.chosen) for spec in specs))
    made = [one for found in engine.map(reparse_task, specs) for one in found]
    result = _result(states, made)
    if not made:
        return result
    storage = cycle.storage
    parsed = {
        name: _untaken(_parsed(storage, state, made), wanted[name])
        for name, state in states.items()
    }
    known = {name: known_files(storage, name, state) for name, state in states.items()}
    changes = CycleChanges(
        step="parse",
        clock=clock,
        options={"segments": list(states)},
        counters={"pages": result.pages, "links": result.links, "lost": result.lost},
        segments=dict(recorded_all(engine, storage, parsed, known)),
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


def _result(segments: Iterable[str], made: Sequence[ReparsedPart]) -> ParseResult:
    return ParseResult(
        tuple(segments),
        len(made),
        sum(one.captures for one in made),
        sum(one.links for one in made),
        sum(one.rebuilt for one in made),
        sum(one.lost for one in made),
        sum(one.failed for one in made),
    )


def _specs(
    cycle: Cycle, version: CycleVersion, place: TaskPlace, wanted: Mapping[str, Collection[str]]
) -> list[ReparseSpec]:
    """A task for each unit some of whose parts are wanted."""
    archive = tuple(archived_warcs(cycle, version).values())
    buckets = version.tables[CRAWLDB].buckets
    # Those of when it was fetched may be gone.
    seeds = place_of_seeds(version, place.storage)
    specs = []
    for name in wanted:
        state = state_of(version, name)
        known = _by_unit(known_files(cycle.storage, name, state))
        for unit, of in sorted(state.parts.items()):
            chosen = tuple(one for one in of if not wanted[name] or one in wanted[name])
            if chosen:
                files = tuple(known.get(unit, ()))
                rules = int(state.more.get("rules", 0))
                specs.append(
                    ReparseSpec(
                        place, name, unit, tuple(of), chosen, version.number + 1, buckets,
                        rules, archive, files, IMPORTED in state.more,
                        seeds if marked_seeds(state.more, "") is not None else None,
                        conf_name(state),
                    )
                )  # fmt: skip
    return specs


def _by_unit(files: Sequence[PartFile]) -> dict[str, list[PartFile]]:
    """The files of parts in the record of a segment, by the names of their units."""
    found: dict[str, list[PartFile]] = {}
    for file in files:
        _, mark, rest = file.name.partition("/parts/")
        if mark:
            found.setdefault(rest.partition("/")[0], []).append(file)
    return found


def _untaken(state: SegmentState, parts: Collection[str]) -> SegmentState:
    """Let the next `links` take a segment again of which all facts were made again."""
    if parts or TAKEN not in state.more:
        return state
    more = {name: value for name, value in state.more.items() if name != TAKEN}
    return msgspec.structs.replace(state, more=more)


def _parsed(storage: Storage, state: SegmentState, made: Sequence[ReparsedPart]) -> SegmentState:
    """The state of a segment with its new parts."""
    now: Mapping[str, ReparsedPart] = {one.before: one for one in made}
    parts = {
        unit: [now[name].now if name in now else name for name in of]
        for unit, of in state.parts.items()
    }
    if state.state != "fetched" or "virtual" not in state.more:
        return msgspec.structs.replace(state, parts=parts)
    mine = {name for of in state.parts.values() for name in of}
    changed = [one for one in made if one.before in mine]
    if any(one.stood_in for one in changed):
        virtual = sum(read_part(storage, name).virtual for of in parts.values() for name in of)
    else:
        virtual = int(state.more["virtual"]) + sum(one.virtual for one in changed)
    return msgspec.structs.replace(state, parts=parts, more={**state.more, "virtual": virtual})
