"""A file system and an engine in memory that know what a power loss leaves of them.

Nothing is durable until it was synced: writes to a file until `fdatasync`, names until the
directory was synced, batches until `flush_wal`. `World.crash` makes the world after a power loss:
what was not synced is dropped, kept, kept in part or torn.
"""

import random
from collections.abc import Callable
from pathlib import PurePosixPath

from nacre.store.schema import NAMES
from nacre.store.seam import OperationError
from tests.store.memory import MemoryEngine


class Inode:
    """Content of a file: what is durable, and what was done since.

    A test may hold hundreds of worlds, with a ballast of megabytes in each: what is the same in two
    of them lies in memory once.
    """

    def __init__(self, durable=b""):
        self.durable = durable
        self._changed: bytearray | None = None
        self.pending: list[tuple[int, bytes | None]] = []

    @property
    def live(self):
        return self.durable if self._changed is None else self._changed

    def apply(self, offset, data):
        if self._changed is None:
            self._changed = bytearray(self.durable)
        change(self._changed, offset, data)
        self.pending.append((offset, data))

    def sync(self):
        content = bytearray(self.durable)
        for offset, data in self.pending:
            change(content, offset, data)
        self.durable = bytes(content)
        self.pending.clear()
        if self._changed == content:
            self._changed = None


def change(content, offset, data):
    """Write `data` at `offset`; None cuts there."""
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    if data is None:
        del content[offset:]
    else:
        content[offset : offset + len(data)] = data


class World:
    """A disk and an engine that fail together.

    Attributes:
        after: Called after every operation with its name.
        fault: Called before every operation with its name and path; an errno makes it fail.
        log: Names of the operations so far.
    """

    def __init__(self):
        self.disk = SimDisk(self)
        self.engine = SimEngine(self)
        self.after: Callable[[str], None] | None = None
        self.fault: Callable[[str, str], int] | None = None
        self.log: list[str] = []

    def begin(self, name, path):
        number = self.fault(name, path) if self.fault else 0
        if number:
            raise OperationError(name, path, number, f"errno {number}", "Simulated.")

    def end(self, name):
        self.log.append(name)
        if self.after:
            self.after(name)

    def reopen(self, rng: random.Random):
        """The engine after a failure in a running process: its log survives as a prefix."""
        count = rng.randint(0, len(self.engine.pending))
        self.engine.families = {name: dict(rows) for name, rows in self.engine.durable.items()}
        for rows in self.engine.pending[:count]:
            self.engine.apply(self.engine.families, rows)
        self.engine.durable = {name: dict(r) for name, r in self.engine.families.items()}
        self.engine.pending.clear()
        self.fault = None

    def crash(self, rng: random.Random, mode: str) -> "World":
        """The world after a power loss.

        Args:
            rng: Decides where there is a choice.
            mode: `drop` all that was not synced, `keep` it (as a kill does), a random `subset` of
                writes and a prefix of names and batches, or `torn`: the same with writes cut off.
        """
        world = World()
        inodes: dict[int, Inode] = {}
        for path, inode in self.disk.surviving(rng, mode).items():
            if id(inode) not in inodes:
                inodes[id(inode)] = Inode(_surviving_bytes(inode, rng, mode))
            world.disk.names[path] = inodes[id(inode)]
        world.disk.durable_names = dict(world.disk.names)
        count = _some(len(self.engine.pending), rng, mode)
        world.engine.families = {name: dict(rows) for name, rows in self.engine.durable.items()}
        for rows in self.engine.pending[:count]:
            world.engine.apply(world.engine.families, rows)
        world.engine.durable = {name: dict(r) for name, r in world.engine.families.items()}
        return world


def _some(count, rng, mode):
    return {"drop": 0, "keep": count}.get(mode, rng.randint(0, count))


def _surviving_bytes(inode, rng, mode):
    if mode == "keep":
        return bytes(inode.live)
    if not inode.pending:
        return inode.durable
    content = bytearray(inode.durable)
    for offset, data in inode.pending if mode != "drop" else ():
        if rng.random() < 0.5:
            continue
        change(content, offset, _torn(data, rng) if mode == "torn" and data else data)
    return bytes(content)


def _torn(data, rng):
    """Cut off, or whole in size with zeros where blocks were not written."""
    kept = rng.randint(0, len(data))
    return data[:kept] + bytes(rng.choice((0, len(data) - kept)))


class SimDisk:
    """`Disk` in memory. Directories exist from the start."""

    def __init__(self, world):
        self._world = world
        self.names: dict[str, Inode] = {}
        self.durable_names: dict[str, Inode] = {}
        self._pending: dict[str, list[dict[str, Inode | None]]] = {}
        self._handles: dict[int, tuple[str, Inode]] = {}
        self._next = 3
        self.space = 1 << 40

    def surviving(self, rng, mode):
        names = dict(self.durable_names)
        for steps in self._pending.values():
            for step in steps[: _some(len(steps), rng, mode)]:
                _rename(names, step)
        return names

    def _step(self, path, changes):
        """One atomic change of a directory; None removes a name."""
        _rename(self.names, changes)
        self._pending.setdefault(str(PurePosixPath(path).parent), []).append(changes)

    def _open(self, path, inode):
        self._next += 1
        self._handles[self._next] = (path, inode)
        return self._next

    def create(self, path):
        self._world.begin("create", path)
        if path in self.names:
            raise OperationError("create", path, 17, "exists", "Simulated.")
        inode = Inode()
        self._step(path, {path: inode})
        self._world.end("create")
        return self._open(path, inode)

    def open(self, path, *, write=False):
        if path not in self.names:
            raise OperationError("open", path, 2, "missing", "Simulated.")
        return self._open(path, self.names[path])

    def close(self, handle):
        del self._handles[handle]

    def pwrite(self, handle, data, offset):
        path, inode = self._handles[handle]
        try:
            self._world.begin("pwrite", path)
        except OperationError:
            inode.apply(offset, data[: len(data) // 2])  # a full disk takes a part
            raise
        inode.apply(offset, bytes(data))
        self._world.end("pwrite")

    def pwritev(self, handle, parts, offset):
        self.pwrite(handle, b"".join(parts), offset)

    def read(self, handle, offset, size):
        return bytes(self._handles[handle][1].live[offset : offset + size])

    def fdatasync(self, handle):
        path, inode = self._handles[handle]
        try:
            self._world.begin("fdatasync", path)
        except OperationError:
            inode.pending.clear()  # as Linux does: clean in memory, never on the disk
            raise
        inode.sync()
        self._world.end("fdatasync")

    def fsync_dir(self, path):
        self._world.begin("fsync_dir", path)
        for step in self._pending.pop(path, []):
            _rename(self.durable_names, step)
        self._world.end("fsync_dir")

    def rename(self, old, new):
        self._world.begin("rename", old)
        if PurePosixPath(old).parent == PurePosixPath(new).parent:
            self._step(new, {old: None, new: self.names[old]})
        else:
            inode = self.names[old]
            self._step(new, {new: inode})
            self._step(old, {old: None})
        self._world.end("rename")

    def truncate(self, handle, size):
        path, inode = self._handles[handle]
        self._world.begin("truncate", path)
        inode.apply(size, None)
        self._world.end("truncate")

    def allocate(self, handle, size):
        path, inode = self._handles[handle]
        self._world.begin("allocate", path)
        if size > self.space:
            raise OperationError("allocate", path, 28, "full", "Simulated.")
        self.space -= size
        inode.apply(0, bytes(size))
        self._world.end("allocate")

    def unlink(self, path):
        self._world.begin("unlink", path)
        if path in self.names:
            self._step(path, {path: None})
        self._world.end("unlink")

    def link(self, old, new):
        self._world.begin("link", old)
        if new in self.names:
            raise OperationError("link", new, 17, "exists", "Simulated.")
        self._step(new, {new: self.names[old]})
        self._world.end("link")

    def makedirs(self, path):
        self._world.begin("makedirs", path)

    def size(self, path):
        return len(self.names[path].live) if path in self.names else None

    def list(self, path):
        return sorted(
            PurePosixPath(name).name
            for name in self.names
            if str(PurePosixPath(name).parent) == path
        )

    def free_space(self, path):
        return self.space

    def content(self, path):
        return bytes(self.names[path].live)


def _rename(names, changes):
    for name, inode in changes.items():
        if inode is None:
            names.pop(name, None)
        else:
            names[name] = inode


class SimEngine(MemoryEngine):
    """The engine: batches are durable by `flush_wal`, and survive as a prefix."""

    def __init__(self, world):
        super().__init__()
        self._world = world
        self.durable: dict[str, dict[bytes, bytes]] = {name: {} for name in NAMES}
        self.pending: list[dict[str, dict[bytes, bytes | None]]] = []

    @staticmethod
    def apply(families, rows):
        for family, changes in rows.items():
            for key, value in changes.items():
                if value is None:
                    families[family].pop(key, None)
                else:
                    families[family][key] = value

    def last_key(self, family, start, stop):
        return max((key for key in self.families[family] if start <= key < stop), default=None)

    def write(self, rows):
        self._world.begin("batch", "store")
        rows = {family: dict(changes) for family, changes in rows.items() if changes}
        self.apply(self.families, rows)
        self.pending.append(rows)
        self._world.end("batch")
        return True

    def flush_wal(self):
        self._world.begin("flush_wal", "store")
        for rows in self.pending:
            self.apply(self.durable, rows)
        self.pending.clear()
        self._world.end("flush_wal")
