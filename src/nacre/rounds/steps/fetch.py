"""The step `fetch`: run the units of a segment, and commit the parts that they made.

A unit is a separate process, which a task of the engine waits for: `unit_process.py`. Only the
driver commits: one chain of parts for each unit. Parts of superseded attempts are never listed;
their WARCs are moved to `orphans/`.
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
from nacre.errors import ConflictError, DamageError
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
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
    record_segment,
    record_task,
)
from nacre.rounds.steps.limits import AT_ONCE
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

GENERATED, FETCHED = "generated", "fetched"

_CLOCK = SystemClock()
"""The clock of units and their limits: the clock of a step may be any time."""
_TRIES = 20
_PART_LOCAL, _PART_REMOTE = 600.0, 60.0

NAMED = 10
"""Hosts of a result that are listed by name."""

REPORTED_BY_FETCH: Final = frozenset((fetch_unit, check_parts, record_task))
"""Functions of tasks whose progress `fetch` reports itself."""


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
    def tell(self) -> Callable[[str, Mapping[str, Any]], None]:
        """Receives the progress."""
        ...


@dataclass(frozen=True, kw_only=True)
class FetchOptions:
    """Options of a fetch.

    Attributes:
        units: Parallel units on this machine; 0: all of a segment that this machine listed, for
            others the workers of the engine.
        parallel: Parallel fetches of each unit; 0: as in the settings.
        time_limit: Longest time, seconds; 0: until the end of the leases.
        slice: Seconds after which a unit makes a part; 0: see `part_seconds`.
        scratch: Folder of the work of units; "": `cycle.scratch`, else a folder of the job, or on a
            cluster of the system.
        stopped: Returns whether a stop is requested; the step can be resumed.
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
        version: The version that it committed, or the newest; None if it was interrupted.
        segment: The segment.
        done_before: It was fetched before: nothing was done.
        interrupted: Units are unfinished; nothing was committed. The counts are those of the parts
            so far.
        units: Number of units.
        parts: Number of committed parts.
        statuses: Final visits by status.
        not_attempted: URLs of the lists that were not attempted, by reason.
        hosts: Hosts with a request.
        by_host: Final visits of the 10 hosts with the most, in descending order.
        bytes: Payload received.
        warc_bytes: Bytes of WARC.
        late: Its time limit or its leases had expired when it resumed: it requested nothing.
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
        """URLs that ended by an error of Nacre itself; they are due again like other failures."""
        return self.statuses[FetchStatus.RUNTIME_EXCEPTION]


def fetch(context: FetchContext, segment: str, options: FetchOptions) -> SegmentFetch:
    """Fetch a segment.

    Raises:
        ConfigError: Units cannot work in `cycle.scratch`.
        JobError: There is no such segment, or another driver fetches it.
        StorageError: A unit failed repeatedly, or a file cannot be written.
        DamageError: A file of a part differs from what its unit wrote.
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
    taken_over = [r.unit for r in results if r.fenced]
    if taken_over:
        raise ConflictError(
            f"the unit {taken_over[0]} of {segment} was taken over by another driver, which "
            "fetches the segment now; wait until it has ended"
        )
    late = 0.0 < deadline <= began
    fetched = SegmentFetch(segment=segment, units=len(places), late=late)
    chains = {p.unit: _chain_of_result(p, r) for p, r in zip(places, results, strict=True)}
    if not all(r.done for r in results):
        fetched.interrupted = True
        _count(fetched, places, chains)
        return fetched
    checks = checks_of(storage.place, (part for chain in chains.values() for part in chain))
    context.engine.map(check_parts, checks)
    _count(fetched, places, chains)
    fetched.version = _commit(context, segment, chains, fetched)
    _tidy(storage, places, chains)
    return fetched


def _deadline(
    context: FetchContext, segment: str, state: SegmentState, options: FetchOptions
) -> float:
    """Return the end of the fetch, seconds since the epoch; 0 for none; kept by a resumed fetch.

    The clock of a step may be any time: the remaining time of leases counts from the first start.
    """
    storage, name = context.cycle.storage, f"segments/{segment}/{FETCH_START}"
    try:
        first = msgspec.json.decode(storage.read(name), type=FirstStart)
    except MissingFileError:
        lease = max((state.until - context.clock) / 1000.0, 1.0) if state.until else 0.0
        first = FirstStart(_CLOCK.now(), lease)
        storage.put(name, msgspec.json.encode(first))
    except ValueError as error:  # msgspec, or the encoding
        raise DamageError(
            f"{storage.place}/{name} does not say when the fetch began ({error}). Remove it: the "
            "time limit then counts from the next start"
        ) from error
    limits = [limit for limit in (options.time_limit, first.lease) if limit]
    return first.began + min(limits) if limits else 0.0


def _units(storage: Storage, segment: str, state: SegmentState) -> list[str]:
    """Return the units of a segment, all of whose lists exist.

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
    settings = cycle.fetch
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
        follow=Follow(settings.follow),
        max_redirects=settings.max_redirects,
        max_failures=settings.max_failures,
        max_wait=settings.max_wait,
        throughput=settings.throughput,
        seeds=marked_seeds(state.more, context.cycle.storage.place),
    )


def part_seconds(context: FetchContext, options: FetchOptions) -> float:
    """Return the time after which a unit makes a part, seconds.

    Data after the last part are lost with the machine of a unit, but not with its process: the
    folder of a unit outlives it. If this machine is lost, so are its tables.
    """
    seconds = options.slice or context.settings.cycle.generate.slice
    is_remote = context.engine.name != "local" or context.cycle.storage.local_path("x") is None
    return seconds or (_PART_REMOTE if is_remote else _PART_LOCAL)


def _scratch(context: FetchContext, named: str) -> str:
    local, place = context.engine.name == "local", context.cycle.storage.place
    return folder_of_units(context.layout, named, place, local=local)


def _run(
    engine: TaskEngine,
    specs: Sequence[UnitSpec],
    at_once: int,
    on_result: OnResult[UnitResult],
) -> list[UnitResult]:
    """Run the units: `at_once` processes on this machine, or tasks of a cluster."""
    if engine.name == "local":
        return fetch_here(specs, at_once or engine.workers, on_result=on_result)
    return engine.map(fetch_unit, specs, on_result)


# ---- its progress


class _FetchWatch:
    """Reports the progress of units, and forwards a request to stop: a thread of the driver."""

    def __init__(
        self,
        context: FetchContext,
        places: Sequence[UnitPlace],
        pace: FetchPace,
        stopped: Callable[[], bool],
    ) -> None:
        self._report = context.tell
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
            self._report("fetch", self._progress()._asdict())

    def ended(self, number: int, result: UnitResult) -> None:
        """Note that a unit ended; any thread may call it."""
        if result.done:
            self._ready.add(number)

    def _run(self) -> None:
        if not self._places:
            return
        storage, is_stopping = self._places[0].storage, False
        every = LOCAL if storage.local_path("x") is not None else REMOTE
        last_report = 0.0
        while not self._over.wait(0.2):
            if not is_stopping and self._stopped():
                is_stopping = True
                storage.put(self._places[0].stop, b"")
            if _CLOCK.monotonic() - last_report >= every:
                last_report = _CLOCK.monotonic()
                self._report("fetch", self._progress()._asdict())

    def _progress(self) -> FetchProgress:
        """Return the progress of all units, by the last report of each."""
        for place in self._places:
            # A file may be incomplete, or from an earlier Nacre.
            with contextlib.suppress(MissingFileError, msgspec.MsgspecError):
                data = place.storage.read(place.progress)
                self._units[place.unit] = msgspec.json.decode(data, type=UnitProgress)
        progress = self._pace.progress(self._units.values(), _CLOCK.now())
        return progress._replace(ready=len(self._ready), units=len(self._places))


# ---- the commit


def _chain_of_result(place: UnitPlace, result: UnitResult) -> Chain:
    """Return the chain of parts that a unit reported, all of which exist."""
    parts = place.manifests()
    by_name = {part.name: part for part in parts.values()}
    last = by_name.get(result.parts[-1]) if result.parts else None
    chain = chain_of(parts, last)
    if [part.name for part in chain] != result.parts:
        raise DamageError(
            f"{place.storage.place}/{place.parts}: the unit named the parts "
            f"{', '.join(result.parts)}, and {', '.join(part.name for part in chain) or 'none'} "
            "are there. Run `fetch` again: the unit then resumes after them."
        )
    return chain


def _count(result: SegmentFetch, places: Sequence[UnitPlace], chains: dict[str, Chain]) -> None:
    best: Counter[str] = Counter()
    for place in places:
        chain = chains[place.unit]
        visits = _visits_of_hosts(place, chain)
        result.hosts += len(visits)
        # A host is in one unit, so a host that is omitted here cannot gain visits from others.
        best.update(dict(most_of(visits)))
        for part in chain:
            result.parts += 1
            result.statuses.update(part.statuses)
            result.not_attempted.update(part.not_attempted)
            result.bytes += part.bytes
            result.warc_bytes += part.warc_bytes
    result.by_host = dict(most_of(best))


def _visits_of_hosts(place: UnitPlace, chain: Chain) -> Counter[str]:
    """Return the final visits of a unit by host, from the counts of its parts."""
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
    """Return the hosts with the most visits, in descending order, then by name.

    Args:
        visits: Visits by host.
        number: Most hosts to return.
    """
    return nsmallest(number, visits.items(), key=lambda item: (-item[1], item[0]))


def _records(chain: Iterable[PartManifest]) -> Iterable[PartFile]:
    """Return WARCs and their indexes."""
    for part in chain:
        for file in part.files:
            if file.name.endswith(RECORDS):
                yield file


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _commit(
    context: FetchContext, segment: str, chains: dict[str, Chain], result: SegmentFetch
) -> CycleVersion:
    """Commit a version with the parts; other steps may have committed since the fetch began."""
    storage = context.cycle.storage
    files = []
    copies = _ArchiveCopies(storage, ARCHIVED)
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
    for attempts in range(_TRIES, -1, -1):
        parent = context.cycle.newest()
        state = state_of(parent, segment)
        if state.state != GENERATED:
            raise ConflictError(f"the segment {segment} was fetched by another driver meanwhile")
        if state != before:
            # Digests take a while: they are not repeated for commits of other drivers.
            before, more = state, {**state.more, "virtual": virtual}
            after = msgspec.structs.replace(state, state=FETCHED, parts=named, more=more)
            earlier = known_files(storage, segment, state)
            fetched = record_segment(context.engine, storage, segment, after, earlier)
            parent = context.cycle.newest()
            if state_of(parent, segment) != state:
                continue
        changes = CycleChanges(
            step="fetch",
            clock=context.clock,
            committed=round(_CLOCK.now() * 1000),
            archive=files,
            segments={segment: fetched},
            counters=_counters(result),
        )
        try:
            return context.cycle.commit(parent, changes)
        except CommittedByAnotherError:
            if not attempts:
                raise
    raise AssertionError("unreachable")


def _counters(result: SegmentFetch) -> dict[str, object]:
    return {
        "pages": result.pages,
        "statuses": {str(status): count for status, count in sorted(result.statuses.items())},
        "not_attempted": dict(result.not_attempted),
        "bytes": result.bytes,
        "warc_bytes": result.warc_bytes,
        "parts": result.parts,
        "units": result.units,
    }


class _ArchiveCopies:
    """Copies files into a folder, which is listed once, for the first file.

    Args:
        storage: The storage.
        folder: The folder.
    """

    def __init__(self, storage: Storage, folder: str) -> None:
        self._storage = storage
        self._folder = folder
        self._there: set[str] | None = None

    def keep(self, name: str) -> str:
        """Copy a file, unless the folder has it; return its name."""
        if self._there is None:
            self._there = set(self._storage.list(self._folder))
        to = f"{self._folder}/{_base(name)}"
        if to not in self._there:
            self._storage.copy(name, to)
            self._there.add(to)
        return to


def _tidy(storage: Storage, places: Sequence[UnitPlace], chains: dict[str, Chain]) -> None:
    """Move records of superseded attempts to `orphans/`; remove second copies of the others."""
    orphans = _ArchiveCopies(storage, ORPHANS)
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
