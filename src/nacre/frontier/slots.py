"""Politeness shared between the jobs of one user on one machine: a table of slots in a file.

A queue has a place in the table, given by its hash. Bytes that lie behind each other in the range
of that place are its slots: who has one locked may fetch. At the place stand the monotonic time
until which the host rests, who wrote it, and who was refused last. Locks end with their process,
whatever ends it. Nothing is waited for: who is refused asks again later. A job that is alone for
some time uses the table no more, until another comes (`Presence`).

Two queues that have one place by chance (one pair in 130,000) wait for each other needlessly.
"""

import os
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from nacre.frontier.lockfile import FREE, OWN, LockFile
from nacre.frontier.presence import Presence

BUSY = 0.2
"""Seconds until a queue asks again whose host another job is fetching from."""

YIELD = 0.3
"""Seconds for which a job lets another go first that was refused meanwhile; longer than `BUSY`."""

CALM = 300.0
"""Seconds alone after which the rests in the table, left by others, matter no more."""

PATIENCE = 5.0
"""Seconds that a job waits for one that was alone; longer, and that one is stopped (Ctrl-Z)."""

_PLACES = 1 << 17
_SLOTS = 1 << 16

_ENTRY = struct.Struct("<dII")
_REST = struct.Struct("<dI")
_NAME = struct.Struct("<I")


class Moment(NamedTuple):
    """The present, on the two clocks.

    Attributes:
        now: Seconds since the epoch.
        mono: Monotonic seconds.
    """

    now: float
    mono: float


class Occupied(NamedTuple):
    """A queue of which the other jobs ought to know.

    Attributes:
        identity: Its eight bytes (`rows.queue_id`).
        fetches: Those in process.
        until: Its host rests until then, monotonic seconds.
    """

    identity: bytes
    fetches: int
    until: float


class SlotTable:
    """One job's hold on the table.

    Args:
        path: The file. One for each boot of the machine, for its monotonic clock begins anew.
        tell: Called once, with a text for the operator, when the table fails later on: from then on
            slots are given without asking.
        moment: The time.

    Attributes:
        is_free: The job is alone, and has been for long: slots are given without asking.

    Raises:
        OSError: The file cannot be used, is another user's, or knows no locks.
    """

    def __init__(self, path: Path, tell: Callable[[str], None], moment: Moment) -> None:
        self._tell: Callable[[str], None] | None = tell
        self._name = _NAME.unpack(os.urandom(4))[0] or 1
        self._held: dict[int, list[int]] = {}
        self._file = LockFile(path)
        self._presence = Presence(self._file, _PLACES * _SLOTS)
        self._came = moment.mono
        self._calm_at = moment.mono + CALM
        self._presence.reach()
        quiet = self._file.written() < moment.now - CALM
        self.is_free = self._presence.alone and quiet

    def look(self, mono: float, occupied: Callable[[], Iterable[Occupied]]) -> None:
        """Look for other jobs; to be called twice a second.

        Args:
            mono: Monotonic seconds.
            occupied: Asked for what this job does, when another has come.
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
            limit: Fetches of it at the same time.
            mono: Monotonic seconds.

        Returns:
            0 when the slot is taken; else seconds after which to ask again.
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
        """Give a slot back; one that is not held is left alone.

        Args:
            identity: Eight bytes of its queue.
            until: Its host rests until then, monotonic seconds; 0 when it need not.
        """
        if not self._held:
            return
        place = _place(identity)
        held = self._held.get(place)
        if held is None:
            return
        slot = held.pop()
        if not held:
            del self._held[place]
        try:
            self._rest(place, until)
            self._file.lock(place * _SLOTS + slot, FREE)
        except OSError as error:
            self._fail(error)

    def close(self, occupied: Iterable[Occupied]) -> None:
        """Give all slots back; a job that comes next is told which hosts rest."""
        try:
            for queue in occupied:
                self._rest(_place(queue.identity), queue.until)
        except OSError as error:
            self._fail(error)
        self._file.close()
        self._held.clear()

    def _look_out(self, mono: float, occupied: Callable[[], Iterable[Occupied]]) -> None:
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
            self._presence.joined = True

    def _publish(self, queue: Occupied) -> None:
        place = _place(queue.identity)
        held = self._held.setdefault(place, [])
        while len(held) < queue.fetches:
            slot = self._free_slot(place, _SLOTS, held)
            if slot < 0:
                break
            held.append(slot)
        if not held:
            del self._held[place]
        self._rest(place, queue.until)

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
            self._file.lock(place * _SLOTS + slot, FREE)
            return wait
        if held:
            self._held[place].append(slot)
        else:
            self._held[place] = [slot]
        return 0.0

    def _free_slot(self, place: int, limit: int, held: list[int] | tuple[()]) -> int:
        """Lock one; -1 when there is none. Its own ones a job could lock again, and must not."""
        for slot in range(min(limit, _SLOTS)):
            if slot not in held and self._file.lock(place * _SLOTS + slot, OWN):
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
            self._file.write(_NAME.pack(self._name), place * _ENTRY.size + _REST.size)

    def _rest(self, place: int, until: float) -> None:
        if until and until > self._read(place)[0]:
            self._file.write(_REST.pack(until, self._name), place * _ENTRY.size)

    def _read(self, place: int) -> tuple[float, int, int]:
        return _ENTRY.unpack(self._file.read(_ENTRY.size, place * _ENTRY.size))

    def _fail(self, error: OSError) -> None:
        if self._tell is not None:
            self._tell(f"politeness is not shared with other jobs any more: {error}")
            self._tell = None


def _place(identity: bytes) -> int:
    return int.from_bytes(identity[:4], "big") % _PLACES
