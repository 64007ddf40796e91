"""Crashes of steps: whichever operation of the disk is the last, a version is whole or absent.

`test_versions` tries every operation of a commit itself; here are whole steps: some operations of
their beginning, and all of their end. The disk of the storage dies before an operation, and does
nothing from then on, as after a kill.
"""

import itertools
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nacre.errors import NacreError, StorageError
from nacre.rounds.segment_commands import drop_segment
from nacre.rounds.segment_slices import slice_segments
from nacre.rounds.segments.compaction import compact
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.dedup import dedup
from nacre.rounds.steps.generate import GenerateOptions, generate
from nacre.rounds.steps.merge import merge
from nacre.rounds.steps.update import UpdateOptions, update
from nacre.rounds.storage import file_sha256, local
from nacre.rounds.tables.hashing import table_hash
from nacre.rounds.tables.readers import TableView
from nacre.rounds.tables.versions import Cycle
from nacre.store.disk import RealDisk
from tests.rounds.steps.test_generate import opened, seeded
from tests.rounds.steps.test_update import fetched, visit

A, B = "http://a.example/", "http://国.example/书"
_CHANGING = (
    "create", "pwrite", "fdatasync", "fsync_dir", "rename", "unlink", "link", "makedirs",
)  # fmt: skip


class DyingDisk(RealDisk):
    """A disk of which only so many operations are done."""

    left = 10**9
    done = 0


def _counted(name: str) -> Callable[..., object]:
    real = getattr(RealDisk, name)

    def operation(self: DyingDisk, *values: object) -> object:
        if DyingDisk.left <= 0:
            raise StorageError("the machine is off")
        DyingDisk.left -= 1
        DyingDisk.done += 1
        return real(self, *values)

    return operation


for _name in _CHANGING:
    setattr(DyingDisk, _name, _counted(_name))


@pytest.fixture(autouse=True)
def dying(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    DyingDisk.left = 10**9
    monkeypatch.setattr(local, "RealDisk", DyingDisk)
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)  # before further attempts of a task
    yield
    DyingDisk.left = 10**9


def known(root: Path) -> None:
    seeded(root, A, B)


def listed(root: Path) -> None:
    known(root)
    with opened(root) as context:
        generate(context, GenerateOptions())


def visited(root: Path) -> None:
    listed(root)
    [segment] = Cycle.open(root).newest().segments
    fetched(root, segment, ([visit(A, signature=b"1"), visit(B, signature=b"1")], []))


def updated(root: Path) -> None:
    visited(root)
    with opened(root) as context:
        update(context, UpdateOptions())


def _drop(context: StepContext) -> None:
    drop_segment(context, next(iter(context.cycle.newest().segments)))


def _compact(context: StepContext) -> None:
    compact(context.cycle, context.engine, context.place, context.clock, keep=1)


def _merge(context: StepContext) -> None:
    merge(context, [Cycle.open(context.layout.root.parent / "other")])


STEPS: dict[str, tuple[Callable[[Path], None], Callable[[StepContext], object]]] = {
    "generate": (known, lambda context: generate(context, GenerateOptions())),
    "update": (visited, lambda context: update(context, UpdateOptions())),
    "dedup": (updated, lambda context: dedup(context, context.settings.cycle.dedup)),
    "compact": (updated, _compact),
    "merge": (known, _merge),
    "drop": (listed, _drop),
    "slice": (listed, lambda context: slice_segments(context, 1)),
}


def run(root: Path, step: Callable[[StepContext], object], left: int = 10**9) -> int:
    """Run a step on a disk that does so many operations; how many it has done."""
    DyingDisk.left, DyingDisk.done = left, 0
    try:
        with opened(root) as context:
            step(context)
    except NacreError:
        assert left < 10**9
    finally:
        DyingDisk.left = 10**9
    return DyingDisk.done


def require_whole(root: Path) -> int:
    """All files of the tables of the newest version are there, and whole; its number."""
    cycle = Cycle.open(root)
    version = cycle.newest()
    for table in version.tables:
        for file in cycle.files(version, table):
            path = cycle.storage.local_path(file.path)
            assert path is not None
            assert file_sha256(path) == file.sha256
    return version.number


def hashed(root: Path) -> str:
    with opened(root) as context:
        cycle = context.cycle
        view = TableView(cycle, cycle.newest(), context.engine, context.place, context.interval)
        return table_hash(view)


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one == "drop" else pytest.mark.slow) for one in STEPS]
)
def test_after_every_operation_a_version_is_whole_or_absent(tmp_path: Path, name: str):
    before, step = STEPS[name]
    base = tmp_path / "base"
    before(base)
    if name == "merge":
        seeded(tmp_path / "other", "http://c.example/国")
    whole = tmp_path / "whole"
    shutil.copytree(base, whole)
    number = require_whole(base)
    operations = run(whole, step)
    assert require_whole(whole) == number + 1
    wanted = hashed(whole)
    seen = set()
    some = {*range(0, operations, operations // 6 + 1), *range(operations - 6, operations)}
    for left in sorted(some if name != "drop" else range(operations)):
        root = tmp_path / f"after-{left}"
        shutil.copytree(base, root)
        run(root, step, left)
        now = require_whole(root)
        seen.add(now - number)
        # The last operations only tidy up behind the version.
        assert now - number in ({0, 1} if left >= operations // 2 else {0})
        if now == number and left in {0, operations // 2}:
            run(root, step)
            assert hashed(root) == wanted, "the step is done again"
        shutil.rmtree(root)
    assert seen == {0, 1}
    assert list(itertools.islice(Cycle.open(whole).numbers(), 1))
