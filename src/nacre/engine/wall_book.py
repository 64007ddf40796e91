"""The walls that a crawl met on each host, and when they hold its queue."""

from collections import OrderedDict
from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

import msgspec

from nacre.store.store import Store

_FAMILY: Final = "hosts"
_PREFIX: Final = b"pw"
_MOST_IN_MEMORY: Final = 20_000
_EXAMPLES: Final = 3
_LEAST: Final = 50
_SHARE: Final = 0.8
"""A queue is held if walls are more than this share of so many replies."""
_OFTEN: Final = 20
_RARELY: Final = 10


class WallExample(msgspec.Struct, frozen=True, array_like=True):
    """A reply that was a wall.

    Attributes:
        url: URL of the request.
        status: Its status.
        time: Time of the reply, seconds since the epoch.
    """

    url: str
    status: int
    time: float


class HostWalls(msgspec.Struct, array_like=True):
    """The walls of a queue, in most jobs those of a host.

    Attributes:
        queue: Key of the queue.
        host: Host of the last wall.
        replies: Replies since it was last held; those that never hold a host are not counted.
        walls: How many of them were walls.
        streak: Walls in a row until now.
        totals: Walls of each kind, since the run began.
        examples: The first walls of each kind, three at most.
        first, last: Times of the first and the last wall, seconds since the epoch.
        held: Time at which it was last held; 0: never.
    """

    queue: str
    host: str = ""
    replies: int = 0
    walls: int = 0
    streak: int = 0
    totals: dict[str, int] = {}
    examples: dict[str, list[WallExample]] = {}
    first: float = 0.0
    last: float = 0.0
    held: float = 0.0

    def meet(self, wall: str, host: str, example: WallExample) -> None:
        """Count a wall of any kind."""
        self.host, self.last = host, example.time
        self.first = self.first or example.time
        self.totals[wall] = self.totals.get(wall, 0) + 1
        examples = self.examples.setdefault(wall, [])
        if len(examples) < _EXAMPLES:
            examples.append(example)

    def count(self, *, is_wall: bool) -> None:
        """Count a reply that tells how the host treats the crawler."""
        self.replies += 1
        self.walls += is_wall
        self.streak = self.streak + 1 if is_wall else 0

    def must_stop(self, stop_after: int) -> bool:
        """Return whether there were so many walls in a row, or most replies were walls."""
        is_most = self.replies >= _LEAST and self.walls > _SHARE * self.replies
        return bool(stop_after) and (self.streak >= stop_after or is_most)

    def hold(self, now: float) -> None:
        """Begin to count again, for the time after its release."""
        self.replies = self.walls = self.streak = 0
        self.held = now

    @property
    def searches_all(self) -> bool:
        """Whether each page is searched for a paywall, since the host had such; else some are."""
        is_drawn = self.replies < _OFTEN or self.replies % _RARELY == 0
        return is_drawn or "paywall" in self.totals


class WallBook:
    """The walls of a run; those of hosts that had none are in memory only.

    Args:
        store: Stores the rows.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: OrderedDict[str, HostWalls] = OrderedDict()
        self._changed: dict[bytes, HostWalls] = {}

    def of_queue(self, queue: str) -> HostWalls:
        """Return the walls of a queue."""
        row = self._rows.get(queue)
        if row is None:
            value = self._store.get(_FAMILY, _key(queue))
            row = self._rows[queue] = _decode(value) if value else HostWalls(queue)
            if len(self._rows) > _MOST_IN_MEMORY:
                self.seal()
                self._rows.popitem(last=False)
        self._rows.move_to_end(queue)
        return row

    def change(self, row: HostWalls) -> None:
        """Have a row written with the next group, if there ever was a wall."""
        if row.totals:
            self._changed[_key(row.queue)] = row

    def seal(self) -> None:
        """Write changed rows; called just before a group is sealed."""
        for key, row in self._changed.items():
            self._store.put(_FAMILY, key, _encode(row))
        self._changed.clear()


def scan_walls(store: Store) -> Iterator[HostWalls]:
    """Yield the rows of all hosts with walls."""
    for _, value in store.scan(_FAMILY, _PREFIX, _PREFIX + b"\xff" * 9):
        yield _decode(value)


def walls_of(store: Store, queue: str) -> HostWalls | None:
    """Return the walls of a queue; None if it had none."""
    value = store.get(_FAMILY, _key(queue))
    return _decode(value) if value else None


def _key(queue: str) -> bytes:
    return _PREFIX + blake2b(queue.encode("utf-8", "replace"), digest_size=8).digest()


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(HostWalls).decode
