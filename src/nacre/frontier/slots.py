"""Politeness shared between the jobs of one user on one machine: a table of slots in a file.

A queue has a place in the table, given by its hash. Bytes that lie behind each other in the range
of that place are its slots: who has one locked may fetch. At the place stand the monotonic time
until which the host rests, who wrote it, and who was refused last. Locks belong to the open file
(Linux's "open file description locks"): they end with their process, whatever ends it, and hold
between two jobs of one process, too. Nothing is waited for: who is refused asks again later.

Two queues that have one place by chance (one pair in 130,000) wait for each other needlessly.
"""

import errno
import fcntl
import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path

BUSY = 0.2
"""Seconds until a queue asks again whose host another job is fetching from."""

YIELD = 0.3
"""Seconds for which a job lets another go first that was refused meanwhile; longer than `BUSY`."""

_PLACES = 1 << 17
_SLOTS = 1 << 16
_TAKEN = frozenset((errno.EAGAIN, errno.EACCES))

_ENTRY = struct.Struct("<dII")
_REST = struct.Struct("<dI")
_NAME = struct.Struct("<I")
_FLOCK = struct.Struct("@hhqqi")


class SlotTable:
    """One job's hold on the table.

    Args:
        path: The file; it and its directory are made, for this user only, if they are not there.
            One for each boot of the machine, because the monotonic clock begins anew with it.
        tell: Called once, with a text for the operator, when the table fails later on: from then on
            slots are given without asking.

    Raises:
        OSError: The file cannot be used, is another user's, or knows no locks.
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self._tell: Callable[[str], None] | None = tell
        self._name = _NAME.unpack(os.urandom(4))[0] or 1
        self._held: dict[int, list[int]] = {}
        _own_directory(path.parent)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            _check_owner(os.fstat(self._file), path)
            self._lock(_PLACES * _SLOTS, fcntl.F_RDLCK)
        except BaseException:
            self.close()
            raise

    def take(self, identity: bytes, limit: int, mono: float) -> float:
        """Take a slot of a queue.

        Args:
            identity: Its eight bytes (`rows.queue_id`).
            limit: Fetches of it at the same time.
            mono: Monotonic seconds.

        Returns:
            0 when the slot is taken; else seconds after which to ask again.
        """
        try:
            return self._take(_place(identity), limit, mono)
        except OSError as error:
            self._fail(error)
            return 0.0

    def give(self, identity: bytes, until: float) -> None:
        """Give a slot back; one that is not held is let be.

        Args:
            identity: Eight bytes of its queue.
            until: Its host rests until then, monotonic seconds; 0 when it need not.
        """
        place = _place(identity)
        held = self._held.get(place)
        if held is None:
            return
        slot = held.pop()
        if not held:
            del self._held[place]
        try:
            if until and until > self._read(place)[0]:
                os.pwrite(self._file, _REST.pack(until, self._name), place * _ENTRY.size)
            self._unlock(place, slot)
        except OSError as error:
            self._fail(error)

    def close(self) -> None:
        """Give all slots back."""
        os.close(self._file)
        self._file = -1
        self._held.clear()

    def _take(self, place: int, limit: int, mono: float) -> float:
        held = self._held.get(place, ())
        slot = self._free_slot(place, limit, held)
        if slot < 0:
            self._ask(place)
            return BUSY
        wait = self._wait(place, mono)
        if wait > 0.0:
            if not held:
                self._ask(place)
            self._unlock(place, slot)
            return wait
        if held:
            self._held[place].append(slot)
        else:
            self._held[place] = [slot]
        return 0.0

    def _free_slot(self, place: int, limit: int, held: list[int] | tuple[()]) -> int:
        """Lock one; -1 when there is none. Its own ones a job could lock again, and must not."""
        for slot in range(min(limit, _SLOTS)):
            if slot not in held and self._lock(place * _SLOTS + slot, fcntl.F_WRLCK):
                return slot
        return -1

    def _wait(self, place: int, mono: float) -> float:
        """Seconds that this job must leave the host alone, though it has a slot."""
        until, writer, asker = self._read(place)
        if writer != self._name:
            return until - mono
        # A job knows its own delays: it only lets another go first that was refused since.
        return 0.0 if asker in (0, self._name) else YIELD

    def _ask(self, place: int) -> None:
        """Let the others know that this job was refused; so one yields only once."""
        if place not in self._held:
            os.pwrite(self._file, _NAME.pack(self._name), place * _ENTRY.size + _REST.size)

    def _read(self, place: int) -> tuple[float, int, int]:
        entry = os.pread(self._file, _ENTRY.size, place * _ENTRY.size)
        return _ENTRY.unpack(entry.ljust(_ENTRY.size, b"\0"))

    def _lock(self, byte: int, kind: int) -> bool:
        try:
            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, _FLOCK.pack(kind, 0, byte, 1, 0))
        except OSError as error:
            if error.errno in _TAKEN:
                return False
            raise
        return True

    def _unlock(self, place: int, slot: int) -> None:
        self._lock(place * _SLOTS + slot, fcntl.F_UNLCK)

    def _fail(self, error: OSError) -> None:
        if self._tell is not None:
            self._tell(f"politeness is not shared with other jobs any more: {error}")
            self._tell = None


def _place(identity: bytes) -> int:
    return int.from_bytes(identity[:4], "big") % _PLACES


def _own_directory(path: Path) -> None:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = path.lstat()
    _check_owner(facts, path)
    if not stat.S_ISDIR(facts.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    path.chmod(0o700)


def _check_owner(facts: os.stat_result, path: Path) -> None:
    if facts.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
