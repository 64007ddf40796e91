"""Batch rounds over a simulated world: each unit is a process with a clock that stands still.

The steps are those of every round; what a unit sends is answered by the world inside its process.
Time is that of the round, so that whatever units there are, and however often they are killed, the
same URL has the same facts to the last column. The id of a record follows from its URL.
"""

import asyncio
import json
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.archive.record import CaptureFacts, WarcRecord, capture_records
from nacre.core.capture import Capture
from nacre.engine.steps import archive
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.rounds.engine import OnResult
from nacre.rounds.engine.local import UNITS_PRELOADED, LocalEngine, fork_server
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.dedup import dedup
from nacre.rounds.steps.fetch import FetchOptions, fetch
from nacre.rounds.steps.generate import GenerateOptions, generate
from nacre.rounds.steps.host_rows import HOSTS as HOSTS_TABLE
from nacre.rounds.steps.inject import InjectOptions, inject
from nacre.rounds.steps.links import links
from nacre.rounds.steps.update import UpdateOptions, update
from nacre.rounds.tables.hashing import table_hash
from nacre.rounds.tables.readers import TableView
from nacre.rounds.tables.versions import Cycle
from nacre.rounds.units.unit import UnitResult, UnitRun, UnitSpec
from nacre.rounds.units.unit_process import fetch_unit
from nacre.scope.seeds import SeedList
from nacre.settings.load import load_job
from nacre.settings.settings import JobSettings
from nacre_simweb.answer import Sending, WorldServer, read_heading
from nacre_simweb.archetypes import archetype
from nacre_simweb.calendar import DAY, HOUR, START
from nacre_simweb.crawling import CarelessDisk
from nacre_simweb.loop import SimLoop
from nacre_simweb.simulated import SimClock
from nacre_simweb.world import World

TIMES = (0.0, HOUR, 2 * HOUR, 40 * DAY)
"""Time of the world at each round, s; at the last one all pages are due again."""
HOSTS = 5


def rounds_world() -> World:
    """A world of some hosts, whose pages change, move and vanish."""
    small = archetype("small", "honest")
    shape = small.shape.model_copy(update={"hosts": HOSTS, "pages": 60})
    return World(small.model_copy(update={"shape": shape, "domain": "farm.test"}), 11)


# ---- a unit


class SimulatedUnit(NamedTuple):
    """The task of a process.

    Attributes:
        spec: The unit, in JSON.
        time: Time of the world, s.
        kill: The request at which it is killed, from 1; 0: none.
    """

    spec: bytes
    time: float
    kill: int


class StoppedClock(SimClock):
    """A clock whose time of the day stands still, while those who sleep wake up in turn."""

    def __init__(self, loop: SimLoop, now: float) -> None:
        super().__init__(loop)
        self._now = now

    def now(self) -> float:
        """See `SimClock`."""
        return self._now


def _records(capture: Capture, facts: CaptureFacts, _ids: object) -> list[WarcRecord]:
    """The records of a capture, with ids of its URL and time."""
    count = 0

    def ids() -> bytes:
        nonlocal count
        count += 1
        text = f"{capture.url} {capture.began} {count}"
        return blake2b(text.encode(), digest_size=16).digest()

    return capture_records(capture, facts, ids)


def run_simulated(task: SimulatedUnit, said: Connection) -> None:
    """Run a unit in this process, and say its result."""
    vars(archive)["capture_records"] = _records
    asked = 0

    def respond(data: bytes) -> Sending | None:
        nonlocal asked
        heading = read_heading(data)
        if heading is None:
            return None
        asked += 1
        if asked == task.kill:
            os.kill(os.getpid(), signal.SIGKILL)
        return server.answer(heading)

    loop = SimLoop(respond)
    server = WorldServer(rounds_world(), lambda: task.time, loop.time)
    clock = StoppedClock(loop, START + task.time)

    def job(root: Path, settings: JobSettings, **more: Any) -> Job:
        return Job(root, settings, clock=clock, disk=CarelessDisk(), **more)

    spec = msgspec.json.decode(task.spec, type=UnitSpec)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        result = runner.run(UnitRun(spec, lambda _: None, job).run())
    said.send_bytes(msgspec.json.encode(result))


class SimulatedEngine:
    """An engine whose units see the world; all other tasks run in the driver.

    Args:
        time: Time of the world, s.
        kills: The request at which each attempt is killed, one after the other; 0: none.
    """

    name = "simulated"
    workers = 1

    def __init__(self, time: float, kills: Iterable[int]) -> None:
        self._time = time
        self._kills = iter(kills)
        self._others = LocalEngine(1)
        self.scratch = self._others.scratch
        self.killed = 0

    def map(
        self,
        function: Callable[[Any], Any],
        specs: Sequence[Any],
        on_result: OnResult[Any] | None = None,
    ) -> list[Any]:
        """See `TaskEngine.map`."""
        if function is fetch_unit:
            return [self._fetched(spec) for spec in specs]
        return self._others.map(function, specs, on_result)

    def _fetched(self, spec: UnitSpec) -> UnitResult:
        """Run a unit until an attempt comes to its end."""
        context = fork_server(UNITS_PRELOADED)
        while True:
            task = SimulatedUnit(msgspec.json.encode(spec), self._time, next(self._kills, 0))
            lines, said = context.Pipe(duplex=False)
            child = context.Process(target=run_simulated, args=(task, said))
            child.start()
            said.close()
            try:
                return msgspec.json.decode(lines.recv_bytes(), type=UnitResult)
            except EOFError:
                child.join()
                assert child.exitcode == -signal.SIGKILL
                self.killed += 1
            finally:
                child.join()

    def close(self) -> None:
        """See `TaskEngine.close`."""
        self._others.close()


# ---- rounds


class SimulatedRounds(NamedTuple):
    """The end of rounds.

    Attributes:
        hashes: The full hash of each table; of hosts without what says how fast they are, as the
            virtual time of a fetch depends on those before it.
        statuses: Final visits of each round by status.
        units: Units of each round.
        killed: Attempts that were killed.
    """

    hashes: dict[str, str]
    statuses: list[dict[int, int]]
    units: list[int]
    killed: int


def simulated_rounds(root: Path, units: int, kills: Sequence[int] = ()) -> SimulatedRounds:
    """Run all rounds in a new directory.

    Args:
        root: The directory.
        units: Units of each round, as far as there are hosts.
        kills: The request at which each attempt is killed, one after the other; 0: none.
    """
    root.mkdir()
    world = rounds_world()
    (root / "crawl.yaml").write_text(json.dumps(_settings(world)), "utf-8")
    left = iter(kills)
    statuses, numbers, killed = [], [], 0
    engine = SimulatedEngine(TIMES[0], left)
    context = _context(root, engine, TIMES[0])
    inject(context, [SeedList("", tuple(world.starts))], InjectOptions())
    for time in TIMES:
        engine = SimulatedEngine(time, left)
        context = _context(root, engine, time)
        found = generate(context, GenerateOptions(top=0, units=units))
        [segment] = found.segments
        done = fetch(context, segment, FetchOptions(scratch=str(root / "units")))
        update(context, UpdateOptions())
        links(context)
        dedup(context, context.settings.cycle.dedup)
        statuses.append(dict(done.statuses))
        numbers.append(done.units)
        killed += engine.killed
    version = context.cycle.newest()
    view = TableView(context.cycle, version, engine, context.place, context.interval)
    hashes = {
        table: table_hash(view, table, facts=table == HOSTS_TABLE) for table in version.tables
    }
    return SimulatedRounds(hashes, statuses, numbers, killed)


def _context(root: Path, engine: SimulatedEngine, time: float) -> StepContext:
    layout = Layout(root)
    return StepContext(
        layout=layout,
        loaded=load_job(layout, []),
        cycle=Cycle.open(root),
        engine=engine,
        clock=round((START + time) * 1000),
    )


def _settings(world: World) -> dict[str, Any]:
    """The configuration of a job on the world; what is stored of a URL depends on it alone."""
    hosts = {name: f"198.18.0.{number + 1}" for number, name in enumerate(world.site.hosts)}
    return {
        "name": "rounds",
        "seeds": [],
        "scope": [
            {"rule": "reject"},
            {"rule": "matches-regex", "regex": r"http://[^/]*farm\.test/.*"},
        ],
        "dns": {"hosts": hosts, "ipv6": False},
        "network": {"allow": ["198.18.0.0/15"]},
        "politeness": {"delay": 0, "group_by": "none"},
        "dedup": {"mode": "same-url"},
        "fetch": {"contact": "https://simweb.invalid/"},
        "cycle": {"buckets": 8, "links": {"ignore_internal": "none"}},
    }
