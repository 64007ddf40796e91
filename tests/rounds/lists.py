"""A segment made by hand: lists of URLs, frozen settings, and a version that names it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from nacre.config.check import Loaded
from nacre.crawldb.row import ONE, SCHEMA, Status
from nacre.machine.layout import Layout
from nacre.rounds.engine.local import UNITS_PRELOADED, fork_server
from nacre.rounds.segments.frozen_settings import freeze
from nacre.rounds.storage import Storage
from nacre.rounds.tables.versions import Cycle, CycleChanges, CycleVersion, SegmentState
from nacre.rounds.units.unit import UnitLine, UnitResult, UnitSpec
from nacre.rounds.units.unit_process import run_forked
from nacre.settings.settings import JobSettings

SEGMENT = "20261122T101500.123Z"
CLOCK = 1_795_400_000_000
CHECKOUT = Path(__file__).parents[2]

SETTINGS: Mapping[str, Any] = {
    "name": "rounds",
    "seeds": [],
    "scope": [{"rule": "reject"}, {"rule": "matches-regex", "regex": r"http://127\.0\.0\..*"}],
    "politeness": {"delay": 0.0, "in_flight": 4},
    "network": {"allow": ["127.0.0.0/8"]},
    "frontier": {"max_retries": 1},
    "extract": {"infer_favicon": False},
    "cycle": {"buckets": 16},
}


def settings(**sections: Any) -> JobSettings:
    return JobSettings.model_validate({**SETTINGS, **sections})


def row(url: str, **columns: Any) -> dict[str, Any]:
    """A row of a list."""
    usual = {
        "key": url,
        "status": int(Status.UNFETCHED),
        "fetch_time": CLOCK,
        "interval": 2_592_000,
        "retries": 0,
        "score": 0,
        "cash": ONE,
        "inlinks": 0,
        "depth": 1,
        "path": "",
        "first_seen": CLOCK,
    }
    return {**dict.fromkeys(SCHEMA.names), **usual, **columns}


def write_list(storage: Storage, unit: str, rows: Sequence[Mapping[str, Any]]) -> None:
    schema = SCHEMA.append(pa.field("order", pa.int64())).append(pa.field("delay", pa.float64()))
    placed = [{**row, "order": order, "delay": 0.0} for order, row in enumerate(rows)]
    written = BytesIO()
    pq.write_table(pa.Table.from_pylist(placed, schema), written)
    storage.put(f"segments/{SEGMENT}/lists/{unit}.parquet", written.getvalue())


def segment(
    root: Path,
    lists: Sequence[Sequence[str | Mapping[str, Any]]],
    place: str = "",
    **sections: Any,
) -> Cycle:
    """A cycle with one generated segment, a unit for each list of URLs or rows."""
    cycle = Cycle.open(root, place)
    storage = cycle.storage
    for number, rows in enumerate(lists):
        made = [row(one) if isinstance(one, str) else one for one in rows]
        write_list(storage, f"u{number:04d}", made)
    freeze(Layout(root), Loaded(settings(**sections), {}), [], storage, SEGMENT)
    state = SegmentState(state="generated", units=len(lists), urls=sum(map(len, lists)))
    changes = CycleChanges(step="generate", clock=CLOCK, segments={SEGMENT: state})
    cycle.commit(CycleVersion(), changes)
    return cycle


def spec(root: Path, unit: str = "u0000", **changes: Any) -> UnitSpec:
    usual = {
        "storage": str(root / "cycle"),
        "segment": SEGMENT,
        "unit": unit,
        "scratch": str(root / "units"),
        "buckets": 16,
    }
    return UnitSpec(**{**usual, **changes})


class Unit:
    """A unit in a process of the fork server of this machine, as most units are.

    Attributes:
        process: The process.
    """

    def __init__(self, wanted: UnitSpec) -> None:
        context = fork_server(UNITS_PRELOADED)
        self._errors = Path(f"{wanted.scratch}.err")
        self._errors.touch()
        self._told, said = context.Pipe(duplex=False)
        made = (msgspec.json.encode(wanted), said, str(self._errors), dict(os.environ))
        self.process = context.Process(target=run_forked, args=made)
        with said:
            self.process.start()

    def told(self) -> Iterator[UnitLine]:
        """Its lines as they come; after the last one it has ended."""
        with suppress(EOFError, ConnectionResetError):
            while True:
                yield msgspec.json.decode(self._told.recv_bytes(), type=UnitLine)
        self._told.close()
        self.process.join()

    def result(self) -> UnitResult:
        """Its result, when it has ended."""
        *_, last = self.told()
        assert last.result is not None, (last, self._errors.read_text())
        return last.result

    def stop(self) -> None:
        """Ask it to end, as a stop of its driver does."""
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGTERM)


_RUN = "import sys; from nacre.rounds.units.unit import main; sys.exit(main(sys.argv[1:]))"


class UnitProgram:
    """A unit as a Python of its own, as on a cluster; `before` is a program that runs there first.

    Attributes:
        process: The process.
    """

    def __init__(self, wanted: UnitSpec, parent: int = 0, before: str = "") -> None:
        text = msgspec.json.encode(wanted).decode()
        path = f"{CHECKOUT / 'src'}{os.pathsep}{CHECKOUT}"
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"{before}\n{_RUN}", text, str(parent or os.getpid())],
            stdout=subprocess.PIPE,
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONPATH": path},
        )

    def lines(self) -> list[UnitLine]:
        """All lines, when it has ended."""
        out, _ = self.process.communicate()
        return [msgspec.json.decode(line, type=UnitLine) for line in out.splitlines()]


def facts_of(cycle: Cycle, result: UnitResult, name: str = "visits") -> list[dict[str, Any]]:
    """The rows of a file of all parts of a unit, in their order."""
    found: list[dict[str, Any]] = []
    for part in result.parts:
        file = f"segments/{SEGMENT}/parts/{result.unit}/{part}/{name}.parquet"
        found += pq.read_table(BytesIO(cycle.storage.read(file))).to_pylist()
    return found
