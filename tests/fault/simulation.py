"""A whole job on the simulated disk and engine of the store's tests."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from nacre.archive.index import sort_index
from nacre.core.states import ExitStatus
from nacre.engine.outcomes import Outcome
from nacre.job.job import Job
from nacre.runs.runs import run_archives
from nacre.settings.settings import JobSettings
from nacre.store import commit, recovery, writer
from nacre.store.commit import GroupCommit
from nacre.store.files import OpenFile
from nacre.store.recovery import StartOptions, recover
from nacre.store.store import Store
from tests.fault.facts import Facts, facts
from tests.fault.jobs import QuickClock
from tests.store.simulated import SimDisk, World
from tests.store.workload import Inline

VARIANTS = ("drop", "keep", "subset", "torn")


class Machine:
    """One job on one simulated machine after another.

    Attributes:
        root: Directory of the job; its real directories stay empty.
        world: The disk and the engine.
        acknowledged: URLs whose result was durable, in order.
        reopen: Decides what of the engine's log survives a failure; None: the engine stays.
        opened: How often the store was opened.
        lasting: Faults that a reopening does not mend.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.world = World()
        self.acknowledged: list[str] = []
        self.reopen: random.Random | None = None
        self.opened = 0
        self.lasting: Callable[[str, str], int] | None = None

    def open_store(self, _path: str, **_options: object) -> Store:
        """In the place of `Store.open`: a failed engine comes back as after a crash."""
        if self.opened and self.reopen:
            self.world.reopen(self.reopen)
            self.world.fault = self.lasting
        self.opened += 1
        return Store(self.world.engine)

    async def run(self, settings: JobSettings) -> ExitStatus:
        """Run the job, or go on with it."""
        return await Job(self.root, settings, clock=QuickClock(), disk=self.world.disk).run()

    def facts(self, world: World, settings: JobSettings, folder: Path) -> Facts:
        """Recover a world as a start does, and read what there is."""
        archives = run_archives(Job(self.root, settings).layout, settings.archive.directories)
        with Store(world.engine) as store:
            start = StartOptions(archives=archives, sort_index=sort_index)
            recover(store, world.disk, str(self.root), start)
            self.write_out(world, folder)
            return facts(store, folder)

    def write_out(self, world: World, folder: Path) -> None:
        """The files of a world as real ones."""
        for path in world.disk.names:
            if not path.endswith("/state/ballast"):
                target = folder / Path(path).relative_to(self.root)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(world.disk.content(path))


def _results(work: writer.CommitWork) -> list[str]:
    """The URLs whose results a group holds."""
    decode = msgspec.msgpack.Decoder(Outcome).decode
    return [decode(row).url for row in work.group.rows["urls"].values() if row]


@contextmanager
def simulated(root: Path) -> Iterator[Machine]:
    """A machine whose groups are small, so that there are many, and whose writer does not wait."""
    machine = Machine(root)

    def makedirs(_disk: SimDisk, path: str) -> None:
        Path(path).mkdir(parents=True, exist_ok=True)

    acknowledge = GroupCommit._acknowledge

    def noted(self: GroupCommit, work: writer.CommitWork, ended: dict[OpenFile, int]) -> None:
        machine.acknowledged += _results(work)
        acknowledge(self, work, ended)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "open", machine.open_store)
        patch.setattr(SimDisk, "makedirs", makedirs)
        patch.setattr(GroupCommit, "_acknowledge", noted)
        patch.setattr(commit, "ThreadPoolExecutor", lambda *_: Inline())
        patch.setattr(commit, "VISITS", 2)
        patch.setattr(commit, "SYNC", 0.01)
        for module in (writer, recovery):
            patch.setattr(module, "TAIL_LIMIT", 64_000)
        yield machine
