"""A unit of a segment: a list of URLs that one process fetches, as an ordinary job.

    python -m nacre.rounds.units.unit SPEC

SPEC is a `UnitSpec` in JSON. It prints one JSON object a line: its progress, and last a
`UnitResult` or an error. The process claims an attempt, and takes over the parts of earlier
attempts, and on the same machine their scratch directory. It ends with its parent.
"""

import asyncio
import ctypes
import gc
import os
import secrets
import shutil
import signal
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec

from nacre.assembly.records import RunRecords
from nacre.core.states import ExitStatus
from nacre.errors import NacreError, StorageError
from nacre.job.job import Job
from nacre.machine.local_files import lock_file
from nacre.rounds.segments.export import PartTables
from nacre.rounds.segments.fetch_progress import UnitCounter, UnitProgress
from nacre.rounds.segments.frozen_settings import CONF, placed_settings
from nacre.rounds.segments.part_maker import PartMaker, PartOptions, fetched_keys
from nacre.rounds.segments.parts import Chain, UnitPlace, mark_of, newest_chain
from nacre.rounds.segments.unit_list import ParquetList
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.seed_index import SeedPlace
from nacre.rounds.units.libraries import set_up_libraries
from nacre.rounds.visits.session_unit import SessionUnit
from nacre.rounds.visits.unit_visits import Follow, NotAttempted, UnitOptions, VisitFacts
from nacre.settings.settings import JobSettings

_MARK = "unit.json"
_PATIENCE = 90.0
"""Seconds that a fenced predecessor on this machine has to end."""
_PR_SET_PDEATHSIG = 1
_YOUNG = 50_000
"""New objects before a garbage collection; Python's default of 700 is for small programs."""


class UnitSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The task of a unit.

    Attributes:
        storage: Place of the cycle's storage.
        segment: Id of the segment.
        unit: Name of the unit.
        conf: Name of the folder in the segment with its settings.
        scratch: Directory of this machine for the work of units.
        buckets: Number of buckets of the facts.
        rules: Hash of the rules that judge links; 0 if unknown.
        deadline: Latest end, seconds since the epoch; 0 for none.
        parallel: Parallel fetches; 0: as in the settings.
        slice: Seconds after which a part is made.
        follow: Which links are fetched at once.
        max_redirects: Most redirects in a row to follow.
        max_failures: Failures in a row after which a host is given up; 0: never.
        max_wait: Longest Retry-After to wait for, s; 0: no limit.
        throughput: Replies a second below which it ends; 0: no limit.
        seeds: The place of the seeds that the scope looks up by key; None if the settings have all.
    """

    storage: str
    segment: str
    unit: str
    conf: str = CONF
    scratch: str
    buckets: int = 64
    rules: int = 0
    deadline: float = 0.0
    parallel: int = 0
    slice: float = 600.0
    follow: Follow = Follow.REDIRECTS
    max_redirects: int = 5
    max_failures: int = 5
    max_wait: float = 600.0
    throughput: float = 0.0
    seeds: SeedPlace | None = None


class UnitResult(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a unit.

    Attributes:
        unit: The unit.
        attempt: The attempt.
        parts: Names of its chain of parts, in order.
        done: The unit is finished; else it was interrupted, and can be resumed.
        fenced: A later attempt has begun, whose parts count.
        visits: Visits of the attempt.
        seconds: Time that it ran.
    """

    unit: str
    attempt: int
    parts: list[str]
    done: bool
    fenced: bool = False
    visits: int = 0
    seconds: float = 0.0


class UnitFailure(msgspec.Struct, frozen=True):
    """The reason why a unit could not run: the class of an error, and its message."""

    kind: str
    message: str


class UnitLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line on the pipe of a unit; one of the attributes is set."""

    progress: UnitProgress | None = None
    result: UnitResult | None = None
    failure: UnitFailure | None = None


# ---- its scratch directory


class ScratchMark(msgspec.Struct, frozen=True):
    """The owner of a scratch directory.

    Attributes:
        mark: A random text, which its parts contain.
        attempts: Attempts that worked in it.
    """

    mark: str
    attempts: list[int] = []


class UnitScratch:
    """The scratch directory of a unit on this machine; one attempt at a time has it.

    Args:
        root: Directory of all units.
        place: The unit.

    Attributes:
        path: The directory.
        job: Directory of the job in it.
    """

    def __init__(self, root: Path, place: UnitPlace) -> None:
        self.path = root / place.segment / place.unit
        self.job = self.path / "job"
        self._lock: int | None = None

    async def take(self) -> None:
        """Wait until an earlier attempt has ended.

        Raises:
            StorageError: It did not end, or the directory cannot be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for _ in range(round(_PATIENCE / 0.25)):
                self._lock = lock_file(self.path / "lock")
                if self._lock is not None:
                    return
                await asyncio.sleep(0.25)
        except OSError as error:
            raise StorageError(
                f"{self.path}: {error.strerror}; `cycle.scratch` names another place"
            ) from error
        raise StorageError(
            f"{self.path} is in use by another process, which does not end: end it by hand"
        )

    def adopt(self, chain: Chain, attempt: int) -> str:
        """Resume the directory, if the chain ends with its parts; else empty it.

        Args:
            chain: The parts that the attempt builds on.
            attempt: The attempt.

        Returns:
            The mark of the directory.
        """
        scratch_mark = self._read()
        if scratch_mark is None or not _continues(scratch_mark, chain, attempt):
            shutil.rmtree(self.job, ignore_errors=True)
            shutil.rmtree(self.path / "parts", ignore_errors=True)
            scratch_mark = ScratchMark(secrets.token_hex(8))
        scratch_mark = ScratchMark(scratch_mark.mark, [*scratch_mark.attempts, attempt])
        temporary = self.path / f"{_MARK}.new"
        temporary.write_bytes(msgspec.json.encode(scratch_mark))
        temporary.replace(self.path / _MARK)
        return scratch_mark.mark

    def _read(self) -> ScratchMark | None:
        try:
            return msgspec.json.decode((self.path / _MARK).read_bytes(), type=ScratchMark)
        except (OSError, msgspec.DecodeError):
            return None

    def remove(self) -> None:
        """Remove the directory after the end of the unit."""
        shutil.rmtree(self.job, ignore_errors=True)
        shutil.rmtree(self.path / "parts", ignore_errors=True)
        (self.path / _MARK).unlink(missing_ok=True)


def _continues(scratch_mark: ScratchMark, chain: Chain, attempt: int) -> bool:
    """Return whether no other directory has newer parts, and no other attempt ran elsewhere."""
    if chain and chain[-1].scratch != scratch_mark.mark:
        return False
    return bool(scratch_mark.attempts) and scratch_mark.attempts[-1] == attempt - 1


# ---- its run


class UnitRun:
    """One attempt.

    Args:
        spec: The task of the unit.
        say: Receives lines for the pipe.
        make_job: Makes the job, from its directory, its settings and `unit`.
    """

    def __init__(
        self,
        spec: UnitSpec,
        say: Callable[[UnitLine], None],
        make_job: Callable[..., Job] = Job,
    ) -> None:
        self._spec = spec
        self._say = say
        self._make_job = make_job
        self._place = UnitPlace(open_storage(spec.storage), spec.segment, spec.unit)
        self._maker: PartMaker | None = None
        self._visits = 0

    async def run(self) -> UnitResult:
        """Claim, fetch, and make the parts.

        Raises:
            NacreError: It cannot run.
        """
        place, loop = self._place, asyncio.get_running_loop()
        began = loop.time()
        attempt = place.claim()
        scratch = UnitScratch(Path(self._spec.scratch), place)
        await scratch.take()
        chain = newest_chain(place, attempt)
        fenced = False
        if not (chain and chain[-1].last):
            mark = scratch.adopt(chain, attempt)
            await self._fetch(scratch, attempt, chain, mark)
            fenced = self._maker is not None and self._maker.fenced
            chain = newest_chain(place, attempt + 1)
        is_done = bool(chain) and chain[-1].last
        if is_done:
            scratch.remove()
        return UnitResult(
            unit=self._spec.unit,
            attempt=attempt,
            parts=[part.name for part in chain],
            done=is_done,
            fenced=fenced,
            visits=self._visits,
            seconds=loop.time() - began,
        )

    async def _fetch(self, scratch: UnitScratch, attempt: int, chain: Chain, mark: str) -> None:
        spec, place = self._spec, self._place
        settings = self._settings(scratch, attempt)
        uris = ParquetList(place)
        uris.done = fetched_keys(place, chain)
        rounds = settings.cycle
        scoring = rounds.scoring

        def tables(canonical: Callable[[str], str]) -> PartTables:
            return PartTables(
                canonical,
                spec.buckets,
                rules=spec.rules,
                listed=uris.listed,
                scoring=scoring,
                fallbacks=uris.fallbacks,
            )

        options = PartOptions(
            place=place,
            attempt=attempt,
            chain=chain,
            scratch=scratch.path,
            mark=mark,
            slice=spec.slice,
            tables=tables,
            remaining=uris.remaining,
            tell=lambda visits: self._report(visits, counter.progress(_given_up(unit))),
        )
        counter = _counter(uris, chain)

        def maker(records: RunRecords, facts: VisitFacts) -> PartMaker:
            if self._maker is None:
                _count_rows(counter, facts, uris.done)
            now = asyncio.get_running_loop().time
            facts.when_added(lambda fact: counter.visited(fact.url, fact.size, now()))
            self._maker = PartMaker(records, facts, options, lambda: _reason(unit))
            return self._maker

        seeds = None if spec.seeds is None else spec.seeds.open(scratch.path / "seeds")
        lines = () if seeds is None else seeds.directives
        unit = SessionUnit(uris, self._options(), [maker], seeds, lines)
        job = self._make_job(scratch.job, settings, unit=unit)
        _end_by_signals(job)
        if await job.run() is ExitStatus.DISK_WAIT:
            raise StorageError(
                f"no space for unit {spec.unit}: {job.missing_space() or scratch.job}; free some, "
                "or name another place with `cycle.scratch`"
            )

    def _settings(self, scratch: UnitScratch, attempt: int) -> JobSettings:
        """Return the frozen settings, with their files in the directory of the job.

        A unit does not wait for disk space, as its operator would not notice: the step reports the
        fault and tries again.
        """
        spec = self._spec
        settings = placed_settings(self._place.storage, spec.segment, scratch.job, spec.conf)
        name = f"{mark_of(spec.segment)}-{spec.unit.lstrip('u')}-{attempt}"
        changes: dict[str, Any] = {
            "archive": settings.archive.model_copy(update={"unit": name}),
            "disk": settings.disk.model_copy(update={"max_wait": 0.0}),
        }
        if spec.max_wait:
            # Other hosts at the same address would wait, too.
            politeness = settings.politeness
            longest = min(spec.max_wait, politeness.respect_retry_after_up_to)
            update = {"respect_retry_after_up_to": longest}
            changes["politeness"] = politeness.model_copy(update=update)
        if spec.parallel:
            changes["engine"] = settings.engine.model_copy(update={"parallel": spec.parallel})
        return settings.model_copy(update=changes)

    def _options(self) -> UnitOptions:
        spec = self._spec
        return UnitOptions(
            follow=spec.follow,
            max_redirects=spec.max_redirects,
            max_failures=spec.max_failures,
            max_wait=spec.max_wait,
            deadline=spec.deadline,
            throughput=spec.throughput,
        )

    def _report(self, visits: int, progress: UnitProgress) -> None:
        self._visits = visits
        self._say(UnitLine(progress=progress))


def _counter(uris: ParquetList, chain: Chain) -> UnitCounter:
    """Return a counter of the visits of a unit, which includes the parts so far."""
    counter = UnitCounter(uris.plans(), uris)
    for key in uris.done:
        counter.visited(key, 0)
    counter.received(sum(part.bytes for part in chain))
    return counter


def _count_rows(counter: UnitCounter, facts: VisitFacts, fetched: Collection[str]) -> None:
    """Count visits of an earlier process of the scratch directory that no part has."""
    for fact in facts.rows(facts.next):
        if fact.url not in fetched:
            counter.visited(fact.url, fact.size)


def _given_up(unit: SessionUnit) -> Collection[str]:
    return unit.entry.given_up if unit.entry is not None else ()


def _reason(unit: SessionUnit) -> NotAttempted:
    return unit.entry.ended_by if unit.entry is not None else NotAttempted.DEADLINE


def _end_by_signals(job: Job) -> None:
    """The first signal ends the unit cleanly; a second one at once."""
    signals: list[int] = []

    def note_signal() -> None:
        signals.append(1)
        session = job.session
        if session is None:
            raise KeyboardInterrupt
        if len(signals) > 1:
            session.abandon()
        session.stop(ExitStatus.INTERRUPTED)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, note_signal)


def end_with_parent(parent: int) -> None:
    """Kill this process when its parent dies; at once if it is dead already.

    Args:
        parent: Process id of the parent that made this process.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def run_unit(spec: UnitSpec, say: Callable[[UnitLine], None]) -> int:
    """Run a unit to its end, in a separate process; return 0 if the last line is a result.

    Args:
        spec: The task of the unit.
        say: Receives its lines.
    """
    import uvloop  # noqa: PLC0415 - only in the process of a unit

    # Imported objects live to the end, and pages are short-lived: as in `nacre crawl`.
    gc.freeze()
    gc.set_threshold(_YOUNG)
    try:
        say(UnitLine(result=uvloop.run(UnitRun(spec, say).run())))
    except NacreError as error:
        say(UnitLine(failure=UnitFailure(type(error).__name__, str(error))))
        return 1
    return 0


def main(arguments: Sequence[str]) -> int:
    """Run the unit of a spec; return 0 if the last line is a result."""

    def say(line: UnitLine) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
        sys.stdout.buffer.flush()

    text, parent = arguments
    set_up_libraries()
    end_with_parent(int(parent))
    return run_unit(msgspec.json.decode(text, type=UnitSpec), say)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
