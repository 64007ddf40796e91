"""Politeness shared between the jobs of one user on one machine: a table of slots in a file.

A queue has a place in the table, determined by its hash. The bytes behind each other in the range
of that place are its slots: a job that has locked one may fetch. The place contains the monotonic
time until which the host rests, which job wrote it, and which job was refused last. Locks end with
their process, however it ends. Nothing blocks: a job that is refused tries again later. A job that
is alone for some time does not use the table until another comes (`JobPresence`).

Two queues that have one place by chance (one pair in 130,000) wait for each other needlessly.
"""

import os
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from nacre.frontier.slot_owners import OwnerNote, sweep_notes
from nacre.machine.local_files import FREE, OWN, SHARED, LockFile


class JobPresence:
    """The presence of one job: while it is alone, it need not publish its slots.

    One byte of the file represents presence. A job that holds it exclusively is alone; else all
    jobs share it. A job that finds the byte locked requests access with a shared lock of a second
    byte. The job that is alone sees this, publishes its slots, and shares. At no moment do two jobs
    believe to be alone, and no job enters unnoticed.

    Args:
        file: Has the two bytes.
        first: The first of them.

    Attributes:
        alone: No other job is there, and none can come before `share`.
        joined: It is there; before that it must do nothing.
    """

    def __init__(self, file: LockFile, first: int) -> None:
        self.alone = False
        self.joined = False
        self._file = file
        self._there = first
        self._asking = first + 1

    def reach(self) -> None:
        """Make this job known; alone, if no other job is there."""
        file = self._file
        self.alone = file.lock(self._there, OWN)
        if self.alone or file.lock(self._there, SHARED):
            self.joined = True
            file.lock(self._asking, FREE)
        else:
            file.lock(self._asking, SHARED)

    def join(self) -> None:
        """Be there from now on, though another job never let this one in."""
        self.joined = True

    def is_asked(self) -> bool:
        """Return whether another job requests access."""
        if not self._file.lock(self._asking, OWN):
            return True
        self._file.lock(self._asking, FREE)
        return False

    def share(self) -> None:
        """Let other jobs in."""
        self.alone = False
        self._file.lock(self._there, SHARED)


BUSY = 0.2
"""Seconds until a queue tries again whose host another job is fetching from."""

YIELD = 0.3
"""Seconds for which a job lets another go first that was refused meanwhile; longer than `BUSY`."""

CALM = 300.0
"""Seconds alone after which the delays of other jobs in the table are ignored."""

PATIENCE = 5.0
"""Seconds that a job waits for a job that was alone; after them that job is stopped (Ctrl-Z)."""

_PLACES = 1 << 17
_SLOTS = 1 << 16

_ENTRY = struct.Struct("<dII")
_REST = struct.Struct("<dI")
_NAME = struct.Struct("<I")


class ClockReading(NamedTuple):
    """The present, on the two clocks.

    Attributes:
        now: Seconds since the epoch.
        mono: Monotonic seconds.
    """

    now: float
    mono: float


class OccupiedQueue(NamedTuple):
    """A queue whose state is published to other jobs.

    Attributes:
        identity: Its eight bytes (`rows.queue_id`).
        fetches: Those in process.
        until: End of the delay of its host, monotonic seconds.
    """

    identity: bytes
    fetches: int
    until: float


class SharedSlots(Protocol):
    """Turns at a host that are shared with other jobs; `SlotTable` is the real one."""

    def look(self, mono: float, occupied: Callable[[], Iterable[OccupiedQueue]]) -> None:
        """Check for other jobs; if one has come, `occupied` is called for the queues to publish."""
        ...

    def take(self, identity: bytes, limit: int, mono: float) -> float:
        """Take a slot of a queue; return 0 if it was taken, else seconds until the next try."""
        ...

    def give(self, identity: bytes, until: float) -> None:
        """Give a slot back; its host is delayed until `until`, monotonic seconds; 0: no delay."""
        ...

    def close(self, occupied: Iterable[OccupiedQueue]) -> None:
        """Give all slots back, and publish delayed hosts for the next job."""
        ...


class NoSlots:
    """The slots of a job that shares with no other."""

    def look(self, mono: float, occupied: Callable[[], Iterable[OccupiedQueue]]) -> None:
        """Do nothing: there is no table of other jobs."""

    def take(self, identity: bytes, limit: int, mono: float) -> float:
        """Return every slot is free."""
        return 0.0

    def give(self, identity: bytes, until: float) -> None:
        """No slot is held."""

    def close(self, occupied: Iterable[OccupiedQueue]) -> None:
        """No slot is held."""


NO_SLOTS: Final = NoSlots()


class SlotTable:
    """The access of one job to the table.

    Args:
        path: The file. One for each boot of the machine, since its monotonic clock starts again.
        tell: Called once, with a message for the operator, when the table fails later on: slots are
            then given without it.
        moment: The time.
        job: Directory of the job, published in a note; None for no note.

    Attributes:
        is_free: The job is alone, and has been for long: slots are given without asking.

    Raises:
        OSError: The file cannot be used, is another user's, or does not support locks.
    """

    def __init__(
        self,
        path: Path,
        tell: Callable[[str], None],
        moment: ClockReading,
        job: Path | None = None,
    ) -> None:
        self._tell: Callable[[str], None] | None = tell
        self._name = _NAME.unpack(os.urandom(4))[0] or 1
        self._held: dict[int, list[int]] = {}
        self._file = LockFile(path)
        self._presence = JobPresence(self._file, _PLACES * _SLOTS)
        self._came = moment.mono
        self._calm_at = moment.mono + CALM
        self._presence.reach()
        quiet = self._file.written() < moment.now - CALM
        self.is_free = self._presence.alone and quiet
        self._note: OwnerNote | None = None
        # Politeness does not need the note: without it the job has no name.
        with suppress(OSError):
            sweep_notes(path, moment.now)
            self._note = OwnerNote(path, self._name, job) if job is not None else None

    def look(self, mono: float, occupied: Callable[[], Iterable[OccupiedQueue]]) -> None:
        """Look for other jobs; to be called twice a second.

        Args:
            mono: Monotonic seconds.
            occupied: Returns the queues to publish when another job has come.
        """
        try:
            if self._presence.alone:
                self._look_out(mono, occupied)
            else:
                self._look_in(mono)
        except OSError as error:
            self._fail(error)

    def take(self, identity: bytes, limit: int, mono: float) -> float:
        """Take a slot of a queue.

        Args:
            identity: Its eight bytes.
            limit: Parallel fetches of it.
            mono: Monotonic seconds.

        Returns:
            0 if the slot was taken; else seconds until the next try.
        """
        if self.is_free:
            return 0.0
        if not self._presence.joined:
            return BUSY
        try:
            return self._take(_place(identity), limit, mono)
        except OSError as error:
            self._fail(error)
            return 0.0

    def give(self, identity: bytes, until: float) -> None:
        """Release a slot; a slot that is not held is not changed.

        Args:
            identity: Eight bytes of its queue.
            until: End of the delay of its host, monotonic seconds; 0 for no delay.
        """
        if not self._held:
            return
        place = _place(identity)
        slots = self._held.get(place)
        if slots is None:
            return
        slot = slots.pop()
        if not slots:
            del self._held[place]
        try:
            self._extend_rest(place, until)
            self._file.lock(place * _SLOTS + slot, FREE)
        except OSError as error:
            self._fail(error)

    def close(self, occupied: Iterable[OccupiedQueue]) -> None:
        """Give all slots back, and publish delayed hosts for the next job."""
        try:
            for queue in occupied:
                self._extend_rest(_place(queue.identity), queue.until)
        except OSError as error:
            self._fail(error)
        self._file.close()
        self._held.clear()
        if self._note is not None:
            with suppress(OSError):
                self._note.close()
            self._note = None

    def _look_out(self, mono: float, occupied: Callable[[], Iterable[OccupiedQueue]]) -> None:
        """It is alone: does another want to come?"""
        if self._presence.is_asked():
            if self.is_free:
                self.is_free = False
                for queue in occupied():
                    self._publish(queue)
            self._presence.share()
        elif mono >= self._calm_at:
            self.is_free = True

    def _look_in(self, mono: float) -> None:
        """It is not alone, or not there yet."""
        self._presence.reach()
        if self._presence.alone:
            self._calm_at = mono + CALM
        elif mono - self._came > PATIENCE:
            self._presence.join()

    def _publish(self, queue: OccupiedQueue) -> None:
        place = _place(queue.identity)
        slots = self._held.setdefault(place, [])
        while len(slots) < queue.fetches:
            slot = self._free_slot(place, _SLOTS, slots)
            if slot < 0:
                break
            slots.append(slot)
        if not slots:
            del self._held[place]
        self._extend_rest(place, queue.until)

    def _take(self, place: int, limit: int, mono: float) -> float:
        slots = self._held.get(place, ())
        slot = self._free_slot(place, limit, slots)
        if slot < 0:
            self._ask(place)
            return BUSY
        wait = self._wait(place, mono)
        if wait > 0.0:
            if not slots:
                self._ask(place)
            self._file.lock(place * _SLOTS + slot, FREE)
            return wait
        if slots:
            self._held[place].append(slot)
        else:
            self._held[place] = [slot]
        return 0.0

    def _free_slot(self, place: int, limit: int, own_slots: list[int] | tuple[()]) -> int:
        """Lock a free slot that is not its own; return -1 if there is none."""
        for slot in range(min(limit, _SLOTS)):
            if slot not in own_slots and self._file.lock(place * _SLOTS + slot, OWN):
                return slot
        return -1

    def _wait(self, place: int, mono: float) -> float:
        """Seconds that this job must leave the host alone, though it has a slot."""
        until, writer, asker = self._read(place)
        if writer != self._name:
            return until - mono
        # A job enforces its own delays: it only yields to a job that was refused since.
        return 0.0 if asker in (0, self._name) else YIELD

    def _ask(self, place: int) -> None:
        """Publish that this job was refused, so that others yield once."""
        if place not in self._held:
            self._file.write(_NAME.pack(self._name), place * _ENTRY.size + _REST.size)

    def _extend_rest(self, place: int, until: float) -> None:
        if until and until > self._read(place)[0]:
            self._file.write(_REST.pack(until, self._name), place * _ENTRY.size)

    def _read(self, place: int) -> tuple[float, int, int]:
        return _ENTRY.unpack(self._file.read(_ENTRY.size, place * _ENTRY.size))

    def _fail(self, error: OSError) -> None:
        if self._tell is not None:
            self._tell(f"politeness is not shared with other jobs any more: {error}")
            self._tell = None


def last_rest(path: Path, identity: bytes) -> tuple[float, int]:
    """The end of the last delay of a queue's host, and the name of the job whose delay it is.

    Args:
        path: The table.
        identity: Eight bytes of the queue.

    Returns:
        Monotonic seconds, which may be any number in a file that was damaged, and the name; both
        are 0 if nothing was written, or the table cannot be read.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return 0.0, 0
    try:
        entry = os.pread(file, _ENTRY.size, _place(identity) * _ENTRY.size)
    except OSError:
        entry = b""
    finally:
        os.close(file)
    until, writer, _ = _ENTRY.unpack(entry.ljust(_ENTRY.size, b"\0"))
    return until, writer


def _place(identity: bytes) -> int:
    return int.from_bytes(identity[:4], "big") % _PLACES
