"""A crawl of small visits, and what must hold of its store and files at every start."""

import asyncio
from concurrent.futures import Executor, Future

from nacre.errors import NacreError
from nacre.store.commit import GroupCommit
from nacre.store.file_table import file_rows, get_row
from nacre.store.files import FileKind, FileState
from nacre.store.store import Store

ROOT = "/job"
LOG = "logs/crawl.log"
PER_WARC = 5


class Inline(Executor):
    """Runs the writer's work at once, so that the order of operations is always the same."""

    def submit(self, fn, /, *args, **kwargs):
        future: Future[object] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except (NacreError, OSError, AssertionError) as error:
            future.set_exception(error)
        return future


class StepClock:
    """Every look at it is 0.4 s later."""

    def __init__(self):
        self.time = 0.0

    def now(self):
        return self.monotonic()

    def monotonic(self):
        self.time += 0.4
        return self.time

    async def sleep(self, seconds):
        self.time += seconds
        await asyncio.sleep(0)


def record(n):
    """The bytes of visit n in its WARC."""
    return b"<%d>" % n * (3 + n % 7)


class Crawl:
    """Visits from where the store stands to `last`; acknowledged ones are in `acknowledged`."""

    def __init__(self, world, acknowledged):
        self.store = Store(world.engine)
        self.commit = GroupCommit(self.store, world.disk, ROOT, StepClock())
        self.commit._thread.shutdown()
        self.commit._thread = Inline()
        self.acknowledged = acknowledged
        self.done = self.store.counter("visits")
        self.commit.on_seal(lambda: self.store.set_counter("visits", self.done))
        self._warc = self._index = self._progress = 0

    async def run(self, last, per_group=3):
        async with asyncio.TaskGroup() as group:
            group.create_task(self.commit.run())
            try:
                log = self.commit.log(LOG)
                self._open()
                while self.done < last:
                    self.visit(log)
                    if self.done % per_group == 0:
                        await self.commit.flush()
                        self.acknowledged.append(self.done)
            finally:
                self.commit.finish()
        self.acknowledged.append(self.done)

    def visit(self, log):
        n = self.done
        if n and n % PER_WARC == 0:
            self.commit.close_file(self._warc)
            self.commit.close_file(self._index)
            self.commit.close_file(self._progress)
            self._open()
        data = record(n)
        offset = self.commit.append(self._warc, data)
        self.commit.line(self._index, b"%03d visit\n" % (999 - n))
        self.commit.line(log, b"visit %d\n" % n)
        self.commit.line(self._progress, b"%03d done\n" % n)
        self.store.put("urls", b"%05d" % n, b"%d %d %d" % (self._warc, offset, len(data)))
        self.done += 1
        self.commit.visit_done()

    def _open(self):
        name = f"archive/{self.store.counter('files'):04d}"
        self._warc = self.commit.create_file(FileKind.WARC, f"{name}.warc.gz.open")
        self._index = self.commit.create_file(FileKind.INDEX, f"{name}.cdxj.open")
        name = f"logs/{self.store.counter('files'):04d}"
        self._progress = self.commit.create_file(FileKind.LOG, f"{name}.log.open")


def check(world, acknowledged):
    """The invariants, after recovery; the number of visits committed."""
    store, disk = Store(world.engine), world.disk
    visits = list(store.scan("urls", b""))
    count = len(visits)
    assert [int(key) for key, _ in visits] == list(range(count)), "a gap in the order of visits"
    assert store.counter("visits") == count
    assert count >= acknowledged, f"{acknowledged} were acknowledged, {count} are there"
    for n, (_, place) in enumerate(visits):
        number, offset, size = map(int, place.split())
        row = get_row(store, number)
        assert row is not None
        content = disk.content(f"{ROOT}/{row.final}")
        assert content[offset : offset + size] == record(n)
    log = b"".join(b"visit %d\n" % n for n in range(count))
    _check_files(store, disk, log)
    lines = sorted(_lines(store, disk))
    expected = [b"%03d visit" % (999 - n) for n in range(count)]
    assert lines == sorted(expected + [b"%03d done" % n for n in range(count)])
    return count


def name_of(row):
    """Absolute path of a file after recovery."""
    return f"{ROOT}/{row.final if row.state == FileState.CLOSED else row.path}"


def _check_files(store, disk, log):
    names = set()
    for _, row in file_rows(store):
        path = name_of(row)
        names.add(path)
        assert disk.size(path) == row.size, path
        assert row.state == FileState.CLOSED or row.kind == FileKind.LOG
    there = {path for path in disk.names if "/lost+found/" not in path}
    there = {path for path in there if "/logs/" not in path or path in names}
    assert there == names, there ^ names
    if log:
        assert disk.content(f"{ROOT}/{LOG}") == log


def _lines(store, disk):
    """Lines of the indexes and of the logs that are closed from time to time."""
    for _, row in file_rows(store):
        if row.kind != FileKind.WARC and row.path != LOG:
            lines = disk.content(name_of(row)).splitlines()
            assert lines == sorted(lines)
            yield from lines
