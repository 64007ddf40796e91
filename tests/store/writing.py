"""A process that commits visits as fast as it can and prints each number that is durable."""

import asyncio
import sys
import time

from nacre.store.commit import GroupCommit
from nacre.store.disk import RealDisk
from nacre.store.files import FileKind
from nacre.store.recovery import StartOptions, recover
from nacre.store.store import Store


class SystemClock:
    def now(self):
        return time.time()

    def monotonic(self):
        return time.monotonic()

    async def sleep(self, seconds):
        await asyncio.sleep(seconds)


def record(n):
    """The bytes of visit n in its WARC."""
    return b"<%d>" % n * (20 + n % 97)


async def visits(store, commit):
    done = store.counter("visits")
    commit.on_seal(lambda: store.set_counter("visits", done))
    log = commit.log("logs/crawl.log")
    warc = 0
    while True:
        if done % 500 == 0 or not warc:
            if warc:
                commit.close_file(warc)
            name = f"archive/{store.counter('epoch'):03d}-{done}.warc.gz.open"
            warc = commit.create_file(FileKind.WARC, name)
        for _ in range(20):
            offset = commit.append(warc, record(done))
            store.put("urls", b"%08d" % done, b"%d %d" % (warc, offset))
            commit.line(log, b"visit %d\n" % done)
            done += 1
            commit.visit_done()
        await commit.flush()
        sys.stdout.write(f"{done}\n")
        sys.stdout.flush()


async def main(job):
    with Store.open(f"{job}/state", memory=16_000_000) as store:
        recover(store, RealDisk(), job, StartOptions(archives=("archive",)))
        commit = GroupCommit(store, RealDisk(), job, SystemClock())
        async with asyncio.TaskGroup() as group:
            group.create_task(commit.run())
            group.create_task(visits(store, commit))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
