"""URIs of endless places: they go when nothing else is left anywhere, and only so many.

A queue whose first URI is one of them rests (it is retired, for the reason `ENDLESS_LEFT`) until
something else enters it, or until a round begins: when the whole frontier has nothing else, each
such queue may hand out a few, until it has handed out `traps.budget` of them.
"""

from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI, Directive
from nacre.frontier.queues import ENDLESS_LEFT, Queue, State
from nacre.frontier.rotation import Rotation
from nacre.frontier.settings import TrapSettings

_ENDLESS = Directive.ENDLESS  # the way to a member of an enumeration is long

_ROUND = 10
"""URIs that a queue may hand out in a round: what they lead to is fetched before the next."""
_QUEUES = 2_000
"""Queues that take part in a round, so that none takes long to begin."""


class Endless:
    """Says which URIs of endless places may go.

    Args:
        rotation: The states of the queues.
        settings: How many of them a queue may hand out.
    """

    def __init__(self, rotation: Rotation, settings: Effective[TrapSettings]) -> None:
        self._rotation = rotation
        self._settings = settings
        self._resting: dict[str, None] = {}
        self._granted: dict[str, int] = {}

    def may_go(self, queue: Queue, uri: CrawlURI) -> bool:
        """Whether a URI taken may be handed out; one that came back already was."""
        if uri.directive != _ENDLESS or uri.deferrals or uri.attempts:
            return True
        granted = self._granted.get(queue.name, 0)
        if not granted or not self._left(queue):
            return False
        self._granted[queue.name] = granted - 1
        queue.row.trapped += 1
        return True

    def rest(self, queue: Queue) -> None:
        """Let a queue rest whose first URI may not go."""
        self._granted.pop(queue.name, None)
        self._resting[queue.name] = None
        self._rotation.retire(queue, ENDLESS_LEFT)

    def begin_round(self) -> bool:
        """Nothing else is left: let some go; False when no queue may spend more on them."""
        chosen: list[str] = []
        while self._resting and len(chosen) < _QUEUES:
            name = next(iter(self._resting))
            del self._resting[name]
            queue = self._rotation.find(name)
            left = self._left(queue) if self._rests(queue) else 0
            if left:
                self._granted[name] = min(left, _ROUND)
                chosen.append(name)
        return self._rotation.unretire(chosen) > 0

    @property
    def others_rest(self) -> bool:
        """Whether a queue is retired for another reason."""
        names = self._rotation.retired()
        return any(self._rotation.find(name).row.why != ENDLESS_LEFT for name in names)

    def _rests(self, queue: Queue) -> bool:
        return queue.row.state is State.RETIRED and queue.row.why == ENDLESS_LEFT

    def _left(self, queue: Queue) -> int:
        """How many more its budget allows."""
        budget = self._settings[queue.overlay].budget
        return _ROUND if budget < 0 else max(budget - queue.row.trapped, 0)
