"""The step `fetch`: runs the units of a segment, and commits what they made.

A unit is a process of its own, which a task of the engine waits for: `unit_process.py`. The driver
alone commits: exactly the chain of parts behind each row. Parts of attempts that lost are never
named; their WARCs go to `orphans/`.
"""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from pathlib import Path
from typing import Any, Final, Protocol, Self

import msgspec

from nacre.core.status import FetchStatus
from nacre.engine.clock import SystemClock
from nacre.errors import ConflictError, DamageError
from nacre.rounds.engine import OnResult, TaskEngine
from nacre.rounds.segments.fetch_progress import FetchPace, FetchProgress, UnitProgress
from nacre.rounds.segments.frozen_settings import conf_name
from nacre.rounds.segments.part_maker import read_columns
from nacre.rounds.segments.parts import (
    ARCHIVED,
    ORPHANS,
    RECORDS,
    Chain,
    PartFile,
    PartManifest,
    UnitPlace,
    chain_of,
    check_parts,
    checks_of,
)
from nacre.rounds.segments.segment_files import (
    FETCH_START,
    FirstStart,
    known_files,
    record_task,
    recorded,
)
from nacre.rounds.steps.fetch_time import AT_ONCE
from nacre.rounds.storage import MissingFileError, Storage
from nacre.rounds.tables.seed_index import marked_seeds
from nacre.rounds.tables.versions import (
    CommittedByAnotherError,
    Cycle,
    CycleChanges,
    CycleVersion,
    SegmentState,
    TableFile,
    state_of,
)
from nacre.rounds.units.unit import UnitResult, UnitSpec
from nacre.rounds.units.unit_folder import folder_of_units, require_scratch
from nacre.rounds.units.unit_process import LOCAL, REMOTE, fetch_here, fetch_unit
from nacre.rounds.visits.unit_visits import Follow
from nacre.settings.settings import JobSettings
from nacre.store.layout import Layout

GENERATED, FETCHED = "generated", "fetched"

_CLOCK = SystemClock()
"""Of units and their limits: the clock of a step may be any time."""
_TRIES = 20
_PART_LOCAL, _PART_REMOTE = 600.0, 60.0

NAMED = 10
"""Hosts of a result by name."""

TOLD_BY_FETCH: Final = frozenset((fetch_unit, check_parts, record_task))
"""Functions of tasks of which `fetch` itself says how far they are."""


class FetchContext(Protocol):
    """The driver's side of a fetch, as every step has it."""

    @property
    def layout(self) -> Layout:
        """The directory of the job."""
        ...

    @property
    def settings(self) -> JobSettings:
        """The settings of the job."""
        ...

    @property
    def cycle(self) -> Cycle:
        """Its versions."""
        ...

    @property
    def engine(self) -> TaskEngine:
        """Runs the units."""
        ...

    @property
    def clock(self) -> int:
        """The clock of the step, ms since the epoch."""
        ...

    @property
    def told(self) -> Callable[[str, Mapping[str, Any]], None]:
        """Hears how far it is."""
        ...


@dataclass(frozen=True, kw_only=True)
class FetchOptions:
    """Options of a fetch.

    Attributes:
        units: Units at the same time on this machine; 0: all of a segment that this machine listed,
            of others as many as the engine has workers.
        parallel: Fetches at the same time in each; 0: as the settings say.
        time_limit: Longest time, seconds; 0: none but the end of the leases.
        slice: Seconds after which a unit makes a part; 0: see `part_seconds`.
        scratch: Where units work; "": as `cycle.scratch` says, else in a folder of the job, or on a
            cluster of the system.
        stopped: Whether somebody wants the step to end; it can be resumed.
    """

    units: int = 0
    parallel: int = 0
    time_limit: float = 0.0
    slice: float = 0.0
    scratch: str = ""
    stopped: Callable[[], bool] = lambda: False


@dataclass(kw_only=True)
class SegmentFetch:
    """The result of a fetch.

    Attributes:
        version: The version that it committed, or found; None when it was interrupted.
        segment: The segment.
        done_before: It was fetched before: nothing was done.
        interrupted: Units are left; nothing was committed. The counts are of what is kept so far.
        units: Units.
        parts: Parts that count.
        statuses: Final visits by status.
        not_attempted: URLs of the lists that were not attempted, by reason.
        hosts: Hosts that were asked.
        by_host: Final visits of the hosts with most of them, the most first; at most 10.
        bytes: Payload received.
        warc_bytes: Bytes of WARC.
        late: Its time or its leases had ended before it went on, so that it asked for nothing.
    """

    segment: str
    version: CycleVersion | None = None
    done_before: bool = False
    interrupted: bool = False
    units: int = 0
    parts: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    not_attempted: Counter[str] = field(default_factory=Counter)
    hosts: int = 0
    by_host: dict[str, int] = field(default_factory=dict)
    bytes: int = 0
    warc_bytes: int = 0
    late: bool = False

    @property
    def pages(self) -> int:
        """Replies below 400."""
        return sum(count for status, count in self.statuses.items() if 0 < status < 400)

    @property
    def faults(self) -> int:
        """URLs that ended by an error of Nacre itself; they are due again as others that failed."""
        return self.statuses[FetchStatus.RUNTIME_EXCEPTION]


def fetch(context: FetchContext, segment: str, options: FetchOptions) -> SegmentFetch:
    """Fetch a segment.

    Raises:
        ConfigError: Units cannot work in `cycle.scratch`.
        JobError: There is no such segment, or another driver fetches it.
        StorageError: A unit failed again and again, or a file cannot be written.
        DamageError: A file of a part is not the one that its unit wrote.
    """
    cycle = context.cycle
    if context.engine.name == "local":
        require_scratch(context.layout, context.settings.cycle.scratch)
    version = cycle.newest()
    state = state_of(version, segment)
    if state.state != GENERATED:
        return SegmentFetch(segment=segment, version=version, done_before=True, units=state.units)
    storage = cycle.storage
    names = _units(storage, segment, state)
    places = [UnitPlace(storage, segment, name) for name in names]
    deadline = _deadline(context, segment, state, options)
    specs = [_spec(context, segment, name, state, options, deadline) for name in names]
    if places:
        storage.delete(places[0].stop)
    began = _CLOCK.now()
    with _FetchWatch(context, places, FetchPace(state.urls, deadline), options.stopped) as watch:
        at_once = options.units or int(state.more.get(AT_ONCE, 0))
        results = _run(context.engine, specs, at_once, watch.ended)
    taken = [result.unit for result in results if result.fenced]
    if taken:
        raise ConflictError(
            f"the unit {taken[0]} of {segment} was taken over by another driver, which fetches "
            "the segment now; wait until it has ended"
        )
    late = 0.0 < deadline <= began
    found = SegmentFetch(segment=segment, units=len(places), late=late)
    chains = {
        place.unit: _checked(place, result) for place, result in zip(places, results, strict=True)
    }
    if not all(result.done for result in results):
        found.interrupted = True
        _count(found, places, chains)
        return found
    checks = checks_of(storage.place, (part for chain in chains.values() for part in chain))
    context.engine.map(check_parts, checks)
    _count(found, places, chains)
    found.version = _commit(context, segment, chains, found)
    _tidy(storage, places, chains)
    return found


def _deadline(
    context: FetchContext, segment: str, state: SegmentState, options: FetchOptions
) -> float:
    """The end of the fetch, seconds since the epoch; 0: none. It stays when the fetch is resumed.

    The clock of a step may be any time: what is left of leases counts from the first start.
    """
    storage, name = context.cycle.storage, f"segments/{segment}/{FETCH_START}"
    try:
        first = msgspec.json.decode(storage.read(name), type=FirstStart)
    except MissingFileError:
        left = max((state.until - context.clock) / 1000.0, 1.0) if state.until else 0.0
        first = FirstStart(_CLOCK.now(), left)
        storage.put(name, msgspec.json.encode(first))
    except ValueError as error:  # of msgspec, or the encoding
        raise DamageError(
            f"{storage.place}/{name} does not say when the fetch began ({error}). Remove it: the "
            "time limit then counts from the next start"
        ) from error
    limits = [limit for limit in (options.time_limit, first.lease) if limit]
    return first.began + min(limits) if limits else 0.0


def _units(storage: Storage, segment: str, state: SegmentState) -> list[str]:
    """The units of a segment, whose lists are all there.

    Raises:
        DamageError: Lists are missing.
    """
    folder = f"segments/{segment}/lists"
    names = [Path(name).stem for name in storage.list(folder) if name.endswith(".parquet")]
    if len(names) != state.units:
        raise DamageError(
            f"{storage.place}/{folder} has {len(names)} of {state.units} lists: give the segment "
            f"up by `segments drop {segment}`, so that its URLs are due again"
        )
    return names


def _spec(
    context: FetchContext,
    segment: str,
    unit: str,
    state: SegmentState,
    options: FetchOptions,
    deadline: float,
) -> UnitSpec:
    cycle = context.settings.cycle
    wanted = cycle.fetch
    tables = context.cycle.newest().tables
    buckets = tables["crawldb"].buckets if "crawldb" in tables else cycle.buckets
    return UnitSpec(
        storage=context.cycle.storage.place,
        segment=segment,
        unit=unit,
        conf=conf_name(state),
        scratch=options.scratch or _scratch(context, cycle.scratch),
        buckets=buckets,
        rules=int(state.more.get("rules", 0)),
        deadline=deadline,
        parallel=options.parallel,
        slice=part_seconds(context, options),
        follow=Follow(wanted.follow),
        max_redirects=wanted.max_redirects,
        max_failures=wanted.max_failures,
        max_wait=wanted.max_wait,
        throughput=wanted.throughput,
        seeds=marked_seeds(state.more, context.cycle.storage.place),
    )


def part_seconds(context: FetchContext, options: FetchOptions) -> float:
    """The time after which a unit makes a part, seconds.

    What is behind the last part is lost with the machine of a unit. This machine keeps it: its
    folder outlives a process, and its tables are lost with it.
    """
    said = options.slice or context.settings.cycle.generate.slice
    is_remote = context.engine.name != "local" or context.cycle.storage.local_path("x") is None
    return said or (_PART_REMOTE if is_remote else _PART_LOCAL)


def _scratch(context: FetchContext, named: str) -> str:
    local, place = context.engine.name == "local", context.cycle.storage.place
    return folder_of_units(context.layout, named, place, local=local)


def _run(
    engine: TaskEngine,
    specs: Sequence[UnitSpec],
    at_once: int,
    on_result: OnResult[UnitResult],
) -> list[UnitResult]:
    """Run the units: as processes of this machine, so many at once, or on a cluster."""
    if engine.name == "local":
        return fetch_here(specs, at_once or engine.workers, on_result=on_result)
    return engine.map(fetch_unit, specs, on_result)


# ---- its progress


class _FetchWatch:
    """Tells how far the units are, and passes on the wish to end: a thread of the driver."""

    def __init__(
        self,
        context: FetchContext,
        places: Sequence[UnitPlace],
        pace: FetchPace,
        stopped: Callable[[], bool],
    ) -> None:
        self._told = context.told
        self._places = places
        self._pace = pace
        self._units: dict[str, UnitProgress] = {}
        self._ready: set[int] = set()
        self._stopped = stopped
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._over.set()
        self._thread.join()
        if kind is None and self._places:
            self._told("fetch", self._progress()._asdict())

    def ended(self, number: int, result: UnitResult) -> None:
        """A unit ended; any thread may say so."""
        if result.done:
            self._ready.add(number)

    def _run(self) -> None:
        if not self._places:
            return
        storage, asked = self._places[0].storage, False
        every = LOCAL if storage.local_path("x") is not None else REMOTE
        looked = 0.0
        while not self._over.wait(0.2):
            if not asked and self._stopped():
                asked = True
                storage.put(self._places[0].stop, b"")
            if _CLOCK.monotonic() - looked >= every:
                looked = _CLOCK.monotonic()
                self._told("fetch", self._progress()._asdict())

    def _progress(self) -> FetchProgress:
        """The progress of all units, of each as it said last."""
        for place in self._places:
            # A file may be written just now, or be of an earlier Nacre.
            with contextlib.suppress(MissingFileError, msgspec.MsgspecError):
                data = place.storage.read(place.progress)
                self._units[place.unit] = msgspec.json.decode(data, type=UnitProgress)
        found = self._pace.progress(self._units.values(), _CLOCK.now())
        return found._replace(ready=len(self._ready), units=len(self._places))


# ---- the commit


def _checked(place: UnitPlace, result: UnitResult) -> Chain:
    """The chain that a unit named, all of whose parts are there."""
    parts = place.manifests()
    by_name = {part.name: part for part in parts.values()}
    last = by_name.get(result.parts[-1]) if result.parts else None
    chain = chain_of(parts, last)
    if [part.name for part in chain] != result.parts:
        raise DamageError(
            f"{place.storage.place}/{place.parts}: the unit named the parts "
            f"{', '.join(result.parts)}, and {', '.join(part.name for part in chain) or 'none'} "
            "are there. Run `fetch` again: the unit then goes on with those."
        )
    return chain


def _count(found: SegmentFetch, places: Sequence[UnitPlace], chains: dict[str, Chain]) -> None:
    best: Counter[str] = Counter()
    for place in places:
        chain = chains[place.unit]
        visits = _visits_of_hosts(place, chain)
        found.hosts += len(visits)
        # A host is in one unit, so that no other adds to those that are left out here.
        best.update(dict(most_of(visits)))
        for part in chain:
            found.parts += 1
            found.statuses.update(part.statuses)
            found.not_attempted.update(part.not_attempted)
            found.bytes += part.bytes
            found.warc_bytes += part.warc_bytes
    found.by_host = dict(most_of(best))


def _visits_of_hosts(place: UnitPlace, chain: Chain) -> Counter[str]:
    """Final visits of a unit by host: each of its parts counts those that it asked."""
    visits: Counter[str] = Counter()
    for part in chain:
        if part.rows.get("hosts"):
            file = f"{place.parts}/{part.name}/hosts.parquet"
            table = read_columns(place.storage, file, ("host", "visits"))
            names, counts = (table.column(name).to_pylist() for name in ("host", "visits"))
            for name, count in zip(names, counts, strict=True):
                visits[name] += count
    return visits


def most_of(visits: Mapping[str, int], number: int = NAMED) -> list[tuple[str, int]]:
    """The hosts with the most visits, the most first, equals by name.

    Args:
        visits: Visits by host.
        number: How many at most.
    """
    return nsmallest(number, visits.items(), key=lambda item: (-item[1], item[0]))


def _records(chain: Iterable[PartManifest]) -> Iterable[PartFile]:
    """WARCs and their indexes."""
    for part in chain:
        for file in part.files:
            if file.name.endswith(RECORDS):
                yield file


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _commit(
    context: FetchContext, segment: str, chains: dict[str, Chain], found: SegmentFetch
) -> CycleVersion:
    """Name the parts in a version; other steps may have committed since the fetch began."""
    storage = context.cycle.storage
    files = []
    copies = _Copies(storage, ARCHIVED)
    for unit, chain in chains.items():
        for file in _records(chain):
            name = copies.keep(file.name)
            files.append(
                TableFile(
                    path=name,
                    bucket=int(unit.lstrip("u") or 0),
                    kind="cdxj" if name.endswith(".cdxj") else "warc",
                    group=segment,
                    size=file.size,
                    sha256=file.sha256,
                )
            )
    places = {unit: UnitPlace(storage, segment, unit) for unit in chains}
    named = {
        unit: [f"{places[unit].parts}/{part.name}" for part in chain]
        for unit, chain in chains.items()
    }
    virtual = sum(part.virtual for chain in chains.values() for part in chain)
    before, fetched = None, None
    for left in range(_TRIES, -1, -1):
        parent = context.cycle.newest()
        state = state_of(parent, segment)
        if state.state != GENERATED:
            raise ConflictError(f"the segment {segment} was fetched by another driver meanwhile")
        if state != before:
            # Digests take a while: other drivers, which commit meanwhile, must not make it longer.
            before, more = state, {**state.more, "virtual": virtual}
            after = msgspec.structs.replace(state, state=FETCHED, parts=named, more=more)
            known = known_files(storage, segment, state)
            fetched = recorded(context.engine, storage, segment, after, known)
            parent = context.cycle.newest()
            if state_of(parent, segment) != state:
                continue
        changes = CycleChanges(
            step="fetch",
            clock=context.clock,
            committed=round(_CLOCK.now() * 1000),
            archive=files,
            segments={segment: fetched},
            counters=_counters(found),
        )
        try:
            return context.cycle.commit(parent, changes)
        except CommittedByAnotherError:
            if not left:
                raise
    raise AssertionError("unreachable")


def _counters(found: SegmentFetch) -> dict[str, object]:
    return {
        "pages": found.pages,
        "statuses": {str(status): count for status, count in sorted(found.statuses.items())},
        "not_attempted": dict(found.not_attempted),
        "bytes": found.bytes,
        "warc_bytes": found.warc_bytes,
        "parts": found.parts,
        "units": found.units,
    }


class _Copies:
    """Stores files in a folder, too, which is listed once, when the first one comes.

    Args:
        storage: The storage.
        folder: The folder.
    """

    def __init__(self, storage: Storage, folder: str) -> None:
        self._storage = storage
        self._folder = folder
        self._there: set[str] | None = None

    def keep(self, name: str) -> str:
        """Store a file there, unless it is there already; its name."""
        if self._there is None:
            self._there = set(self._storage.list(self._folder))
        to = f"{self._folder}/{_base(name)}"
        if to not in self._there:
            self._storage.copy(name, to)
            self._there.add(to)
        return to


def _tidy(storage: Storage, places: Sequence[UnitPlace], chains: dict[str, Chain]) -> None:
    """Keep the records of attempts that lost apart, and no second copy of the others."""
    orphans = _Copies(storage, ORPHANS)
    for place in places:
        chain = chains[place.unit]
        counted = {part.name for part in chain}
        for file in _records(chain):
            storage.delete(file.name)
        lost = [part for part in place.manifests().values() if part.name not in counted]
        for file in _records(lost):
            orphans.keep(file.name)
            storage.delete(file.name)
        storage.delete(place.progress)
