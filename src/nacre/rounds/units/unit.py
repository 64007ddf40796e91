"""A unit of a segment: a list of URLs that one process fetches, as an ordinary job.

    python -m nacre.rounds.units.unit SPEC

SPEC is a `UnitSpec` in JSON. On stdout comes one JSON object a line: how far it is, and last a
`UnitResult` or what went wrong. The process claims an attempt, takes over the parts of the attempts
before, and on the same machine their scratch directory. It ends with its parent.
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

from nacre.assembly.parts import RunRecords
from nacre.core.states import ExitStatus
from nacre.errors import NacreError, StorageError
from nacre.job.job import Job
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
from nacre.store.local_files import lock_file

_MARK = "unit.json"
_PATIENCE = 90.0
"""Seconds that a predecessor on this machine has to end, once it is fenced."""
_PR_SET_PDEATHSIG = 1
_YOUNG = 50_000
"""New objects before the garbage collector looks at them; Python's 700 are for small programs."""


class UnitSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The task of a unit.

    Attributes:
        storage: Place of the cycle's storage.
        segment: Id of the segment.
        unit: Name of the unit.
        conf: Name of the folder in the segment with its settings.
        scratch: Directory of this machine for the work of units.
        buckets: Number of buckets of the facts.
        rules: Hash of the rules that judge links; 0: unknown.
        deadline: When it ends, seconds since the epoch; 0: when it is done.
        parallel: Fetches at the same time; 0: as the settings say.
        slice: Seconds after which a part is made.
        follow: Which links are fetched at once.
        max_redirects: Redirects one after the other that are followed.
        max_failures: Failures of a host in a row after which it is given up; 0: never.
        max_wait: Longest Retry-After that is waited for, s; 0: no limit.
        throughput: Replies a second below which it ends; 0: no limit.
        seeds: Where the seeds are that the scope asks by key; None: the settings have all.
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
        parts: Names of the parts that count, in order.
        done: Nothing is left; else it was interrupted, and can be resumed.
        fenced: A later attempt has begun; its parts count.
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
        mark: A random text, which the parts made of it name.
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
        """Wait until an attempt before this one has ended.

        Raises:
            StorageError: It did not, or the directory cannot be made.
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
        """Go on with what is there, if the chain ends with it; else begin anew.

        Args:
            chain: The parts that the attempt builds on.
            attempt: The attempt.

        Returns:
            The mark of the directory.
        """
        known = self._read()
        if known is None or not _fits(known, chain, attempt):
            shutil.rmtree(self.job, ignore_errors=True)
            shutil.rmtree(self.path / "parts", ignore_errors=True)
            known = ScratchMark(secrets.token_hex(8))
        known = ScratchMark(known.mark, [*known.attempts, attempt])
        temporary = self.path / f"{_MARK}.new"
        temporary.write_bytes(msgspec.json.encode(known))
        temporary.replace(self.path / _MARK)
        return known.mark

    def _read(self) -> ScratchMark | None:
        try:
            return msgspec.json.decode((self.path / _MARK).read_bytes(), type=ScratchMark)
        except (OSError, msgspec.DecodeError):
            return None

    def remove(self) -> None:
        """The unit is done: nothing of it is needed any more."""
        shutil.rmtree(self.job, ignore_errors=True)
        shutil.rmtree(self.path / "parts", ignore_errors=True)
        (self.path / _MARK).unlink(missing_ok=True)


def _fits(known: ScratchMark, chain: Chain, attempt: int) -> bool:
    """No other directory has parts since, and no other attempt worked elsewhere meanwhile."""
    if chain and chain[-1].scratch != known.mark:
        return False
    return bool(known.attempts) and known.attempts[-1] == attempt - 1


# ---- its run


class UnitRun:
    """One attempt.

    Args:
        spec: What it is to do.
        say: Takes lines for the pipe.
        make_job: Makes the job, of its directory, its settings and `unit`.
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
        done = bool(chain) and chain[-1].last
        if done:
            scratch.remove()
        return UnitResult(
            unit=self._spec.unit,
            attempt=attempt,
            parts=[part.name for part in chain],
            done=done,
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
            left=uris.left,
            told=lambda visits: self._told(visits, counter.progress(_given_up(unit))),
        )
        counter = _counter(uris, chain)

        def maker(records: RunRecords, facts: VisitFacts) -> PartMaker:
            if self._maker is None:
                _count_rows(counter, facts, uris.done)
            now = asyncio.get_running_loop().time
            facts.when_added(lambda fact: counter.visited(fact.url, fact.size, now()))
            self._maker = PartMaker(records, facts, options, lambda: _reason(unit))
            return self._maker

        kept = None if spec.seeds is None else spec.seeds.open(scratch.path / "seeds")
        lines = () if kept is None else kept.directives
        unit = SessionUnit(uris, self._options(), [maker], kept, lines)
        job = self._make_job(scratch.job, settings, unit=unit)
        _end_by_signals(job)
        if await job.run() is ExitStatus.DISK_WAIT:
            raise StorageError(
                f"no space for unit {spec.unit}: {job.missing_space() or scratch.job}; free some, "
                "or name another place with `cycle.scratch`"
            )

    def _settings(self, scratch: UnitScratch, attempt: int) -> JobSettings:
        """The frozen settings, their files in the directory of the job.

        A unit does not wait for space: nobody would see why. The step tries again and says it.
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

    def _told(self, visits: int, progress: UnitProgress) -> None:
        self._visits = visits
        self._say(UnitLine(progress=progress))


def _counter(uris: ParquetList, chain: Chain) -> UnitCounter:
    """Counts the visits of a unit; those of the parts so far are counted."""
    counter = UnitCounter(uris.plans(), uris)
    for key in uris.done:
        counter.visited(key, 0)
    counter.received(sum(part.bytes for part in chain))
    return counter


def _count_rows(counter: UnitCounter, facts: VisitFacts, done: Collection[str]) -> None:
    """Count what an earlier process of the same scratch directory left, and no part has."""
    for fact in facts.rows(facts.next):
        if fact.url not in done:
            counter.visited(fact.url, fact.size)


def _given_up(unit: SessionUnit) -> Collection[str]:
    return unit.entry.given_up if unit.entry is not None else ()


def _reason(unit: SessionUnit) -> NotAttempted:
    return unit.entry.ended_by if unit.entry is not None else NotAttempted.DEADLINE


def _end_by_signals(job: Job) -> None:
    """The first signal ends the unit cleanly; a second one at once."""
    asked: list[int] = []

    def signalled() -> None:
        asked.append(1)
        session = job.session
        if session is None:
            raise KeyboardInterrupt
        if len(asked) > 1:
            session.abandon()
        session.stop(ExitStatus.INTERRUPTED)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, signalled)


def end_with_parent(parent: int) -> None:
    """Be killed when the parent dies; at once when it is dead already.

    Args:
        parent: Process id of the parent, as it was when it made this process.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def run_unit(spec: UnitSpec, say: Callable[[UnitLine], None]) -> int:
    """Run a unit to its end, in a process of its own; 0 when the last line is a result.

    Args:
        spec: What it is to do.
        say: Takes its lines.
    """
    import uvloop  # noqa: PLC0415 - for the process of its own

    # What was imported lives to the end, and pages die young: as `nacre crawl` does.
    gc.freeze()
    gc.set_threshold(_YOUNG)
    try:
        say(UnitLine(result=uvloop.run(UnitRun(spec, say).run())))
    except NacreError as error:
        say(UnitLine(failure=UnitFailure(type(error).__name__, str(error))))
        return 1
    return 0


def main(arguments: Sequence[str]) -> int:
    """Run the unit of a spec; 0 when the last line is a result."""

    def say(line: UnitLine) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
        sys.stdout.buffer.flush()

    text, parent = arguments
    set_up_libraries()
    end_with_parent(int(parent))
    return run_unit(msgspec.json.decode(text, type=UnitSpec), say)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
