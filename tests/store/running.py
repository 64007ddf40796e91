"""Small runs of a job on a real disk."""

import asyncio
import shutil

from nacre.store.checkpoint import make_checkpoint
from nacre.store.commit import GroupCommit
from nacre.store.disk import RealDisk
from nacre.store.files import FileKind
from nacre.store.recovery import StartOptions, recover
from nacre.store.store import Store
from tests.store.writing import SystemClock

MEMORY = 12_000_000


class Run:
    """One run of a job in which each visit appends its name to the WARC of the run."""

    def __init__(self, job):
        self.job = str(job)
        self.store = Store.open(f"{job}/state/store", memory=MEMORY)
        recover(self.store, RealDisk(), self.job, StartOptions(archives=("archive",)))
        self.commit = GroupCommit(self.store, RealDisk(), self.job, SystemClock())
        self.warc = 0

    def open(self):
        serial = self.store.counter("serial") + 1
        self.store.set_counter("serial", serial)
        self.warc = self.commit.create_file(FileKind.WARC, f"archive/{serial}.warc.gz.open")

    def visit(self, name):
        offset = self.commit.append(self.warc, name)
        self.store.put("urls", name, b"%d %d" % (self.warc, offset))
        self.commit.line(self.commit.log("logs/crawl.log"), name + b"\n")
        self.commit.visit_done()

    async def checkpoint(self, name):
        self.commit.close_file(self.warc)
        await make_checkpoint(self.commit, self.store, f"{self.job}/checkpoints/{name}")
        self.open()


def run(job, *steps, killed=False):
    """Visit the names; a `str` is the name of a checkpoint to be made.

    When `killed`, the store is left as a process leaves it that is killed: with its log.
    """

    async def main():
        this = Run(job)
        async with asyncio.TaskGroup() as group:
            group.create_task(this.commit.run())
            this.open()
            for step in steps:
                if isinstance(step, str):
                    await this.checkpoint(step)
                else:
                    this.visit(step)
            this.commit.finish()
        this.commit.close()
        store = f"{job}/state/store"
        if killed:
            shutil.copytree(store, f"{store}.killed")
        this.store.close()
        if killed:
            shutil.rmtree(store)
            shutil.move(f"{store}.killed", store)

    asyncio.run(main())
