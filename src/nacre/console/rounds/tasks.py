"""Tasks of reader processes for batch crawls: their state, versions, and dry run of a round."""

from collections import Counter

import msgspec

from nacre.core.clock import iso
from nacre.errors import JobError
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.rounds.journal import (
    FETCH,
    FETCHED,
    GENERATED,
    UPDATE,
    waiting,
)
from nacre.rounds.tables.versions import Cycle, CycleVersion
from nacre.settings.load import load_job
from nacre.web.workers.task import NoRequest, reader_task


class CycleVersionItem(msgspec.Struct, frozen=True):
    """A version of the tables of a batch crawl.

    Attributes:
        number: From 1.
        step: The step that made it.
        host: Where that ran.
        time: The clock of the step, RFC 3339.
        segments: Segments by state.
    """

    number: int
    step: str
    host: str
    time: str
    segments: dict[str, int]


class DryRound(msgspec.Struct, frozen=True):
    """The list that the next `generate` would make.

    Attributes:
        at: The step that an earlier list waits for, which rounds do first; "" for none.
        known: URLs that are known.
        due: Candidates: due and refused by nothing.
        selected: URLs of the list.
        refused: Refusals by reason, such as `schedule`.
        excluded: Refusals by rules, by file and line or by name of the rule.
        cut: URLs that would need longer than the time limit.
        capped: URLs beyond the limits of hosts and domains.
        beyond: URLs that are not among the best.
        units: Units of the list.
        longest: Expected time of the longest unit, s.
        next_due: When the first of those becomes due that are not, ms since the epoch; null for
            none.
    """

    at: str
    known: int
    due: int
    selected: int
    refused: dict[str, int]
    excluded: dict[str, int]
    cut: int
    capped: int
    beyond: int
    units: int
    longest: float
    next_due: int | None


def _open(layout: Layout) -> Cycle:
    return Cycle.open(layout.root, load_job(layout, ()).settings.cycle.storage)


@reader_task("cycle-versions")
def cycle_versions(layout: Layout, _: NoRequest) -> tuple[CycleVersionItem, ...]:
    """List the versions of a batch crawl that are kept, the newest first.

    Raises:
        ConfigError: Its configuration is wrong.
        JobError: Its versions cannot be read.
    """
    cycle, items = _open(layout), []
    for number in sorted(cycle.numbers(), reverse=True):
        try:
            version = cycle.version(number)
        except JobError:  # it was removed in the meantime
            continue
        states = dict(Counter(str(segment.state) for segment in version.segments.values()))
        time = iso(version.clock / 1000)
        items.append(CycleVersionItem(version.number, version.step, version.host, time, states))
    return tuple(items)


@reader_task("dry-round")
def dry_round(layout: Layout, _: NoRequest) -> DryRound:
    """Compute what the next generate would list; nothing is changed.

    Raises:
        ConfigError: Its configuration is wrong.
        JobError: Its versions cannot be read.
    """
    from nacre.rounds.engine.local import LocalEngine  # noqa: PLC0415 - the console starts faster
    from nacre.rounds.steps.context import StepContext  # noqa: PLC0415
    from nacre.rounds.steps.generate import GenerateOptions, generate  # noqa: PLC0415

    loaded = load_job(layout, ())
    settings = loaded.settings.cycle
    cycle = Cycle.open(layout.root, settings.storage)
    engine = LocalEngine(1)
    try:
        context = StepContext(
            layout=layout, loaded=loaded, cycle=cycle, engine=engine,
            clock=round(SystemClock().now() * 1000), dry=True,
        )  # fmt: skip
        options = GenerateOptions(
            settings.generate.top, settings.generate.units or LocalEngine().workers,
            settings.generate.segments, time_limit=settings.fetch.time_limit,
        )  # fmt: skip
        result = generate(context, options)
    finally:
        engine.close()
    return DryRound(
        _waiting_step(cycle.newest()), result.known, result.due, result.selected,
        dict(result.refused), dict(result.excluded), result.cut, result.capped, result.beyond,
        result.units, result.longest, result.next_due,
    )  # fmt: skip


def _waiting_step(version: CycleVersion) -> str:
    """Return the step that an earlier list waits for; "" for none."""
    if waiting(version, GENERATED):
        return FETCH
    return UPDATE if waiting(version, FETCHED) else ""
