"""The dispatcher takes the next URI out of a queue; URIs of endless places wait until the end."""

from typing import Final, Protocol

from msgspec.structs import replace

from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI, Directive
from nacre.frontier.politeness import Politeness
from nacre.frontier.queue_states import QueueStates
from nacre.frontier.queue_store import QueueStore
from nacre.frontier.queues import ENDLESS_LEFT, Queue, QueueState, Totals
from nacre.frontier.settings import TrapSettings

_ENDLESS = Directive.ENDLESS  # the way to a member of an enumeration is long

_ROUND = 10
"""URIs that a queue may hand out per round: their links are fetched before the next ones."""
_QUEUES = 2_000
"""Queues that take part in a round, so that none takes long to begin."""


class EndlessUriBudget:
    """The budget of each queue for URIs of endless places (crawler traps).

    A queue whose first URI is one of them is retired, for the reason `ENDLESS_LEFT`, until
    something else enters it, or until a round begins: when the whole frontier has nothing else,
    each such queue may hand out a few, until it has handed out `traps.budget` of them.

    Args:
        states: The states of the queues.
        settings: How many of them a queue may hand out.
    """

    def __init__(self, states: QueueStates, settings: Effective[TrapSettings]) -> None:
        self._states = states
        self._settings = settings
        self._resting: dict[str, None] = {}
        self._granted: dict[str, int] = {}

    def may_go(self, queue: Queue, uri: CrawlURI) -> bool:
        """Return whether a dequeued URI may be handed out; a returned URI always may."""
        if uri.directive != _ENDLESS or uri.deferrals or uri.attempts:
            return True
        granted = self._granted.get(queue.name, 0)
        if not granted or not self._remaining_budget(queue):
            return False
        self._granted[queue.name] = granted - 1
        queue.row.trapped += 1
        return True

    def retire(self, queue: Queue) -> None:
        """Retire a queue whose first URI belongs to an endless place."""
        self._granted.pop(queue.name, None)
        self._resting[queue.name] = None
        self._states.retire(queue, ENDLESS_LEFT)

    def begin_round(self) -> bool:
        """Release some URIs when nothing else is left; False when no queue may spend more."""
        chosen: list[str] = []
        while self._resting and len(chosen) < _QUEUES:
            name = next(iter(self._resting))
            del self._resting[name]
            queue = self._states.find(name)
            remaining = self._remaining_budget(queue) if self._rests(queue) else 0
            if remaining:
                self._granted[name] = min(remaining, _ROUND)
                chosen.append(name)
        return self._states.unretire(chosen) > 0

    @property
    def others_rest(self) -> bool:
        """Whether a queue is retired for another reason."""
        names = self._states.retired()
        return any(self._states.find(name).row.why != ENDLESS_LEFT for name in names)

    def _rests(self, queue: Queue) -> bool:
        return queue.row.state is QueueState.RETIRED and queue.row.why == ENDLESS_LEFT

    def _remaining_budget(self, queue: Queue) -> int:
        """How many more its budget allows."""
        budget = self._settings[queue.overlay].budget
        return _ROUND if budget < 0 else max(budget - queue.row.trapped, 0)


class Placement(Protocol):
    """The place of a URI whose turn has come, which may have changed since it entered."""

    @property
    def moves(self) -> bool:
        """Whether URIs can change their queue; otherwise `queue_of` is not called."""
        ...

    def queue_of(self, uri: CrawlURI) -> str:
        """Return the key of its queue."""
        ...

    def place(self, uri: CrawlURI) -> CrawlURI:
        """Return the URI with its present directive; `uri` itself if nothing changed."""
        ...


class NoPlacement:
    """The placement of a crawl whose URIs keep their queue and directive."""

    moves = False

    def queue_of(self, uri: CrawlURI) -> str:
        """Return the queue that it entered."""
        return uri.queue

    def place(self, uri: CrawlURI) -> CrawlURI:
        """Return the URI as it is."""
        return uri


NO_PLACEMENT: Final = NoPlacement()


class Dispatcher:
    """The step between a queue and the engine: it takes out the next URI, if that may go.

    Args:
        totals: What was counted so far.
        states: The states of the queues.
        store: The queued URIs.
        politeness: Politeness beyond one queue.
        traps: The budgets for endless places.
        placement: Returns the queue of each URI, and the directive of a URI that is handed out for
            the first time; where either is another one by now, the URI waits there.
    """

    def __init__(
        self,
        totals: Totals,
        states: QueueStates,
        store: QueueStore,
        politeness: Politeness,
        traps: EndlessUriBudget,
        placement: Placement,
    ) -> None:
        self._totals = totals
        self._states = states
        self._cache = states.cache
        self._store = store
        self._politeness = politeness
        self._traps = traps
        self._placement = placement

    def take(self, queue: Queue, now: float) -> CrawlURI | None:
        """Take the first URI of a queue; None when it may not go, or waits elsewhere from now on.

        Args:
            queue: It is ready.
            now: Seconds since the epoch.
        """
        if not self._politeness.may_take(queue):
            return None
        entry = self._store.take(queue)
        row = queue.row
        self._cache.touch(queue)
        if entry is None:  # its rows are fewer than it counted: the rows are right
            self._politeness.refrain(queue)
            row.correct_size(len(queue.taken))
            self._totals.recount(row)
            self._states.update_state(queue)
            return None
        key, uri = entry
        if not self._allows(queue, uri):
            self._politeness.refrain(queue)
            self._store.put(queue, key, uri)
            self._states.update_state(queue)
            return None
        moves = self._placement.moves and self._moves(queue, key, uri)
        if moves or self._goes_later(queue, key, uri):
            self._politeness.refrain(queue)
            return None
        queue.hold(key, uri)
        self._politeness.begin(queue)
        row.hand_out(uri.url, now)
        self._states.update_state(queue)
        return uri

    def _goes_later(self, queue: Queue, key: bytes, uri: CrawlURI) -> bool:
        """A URI taken promises less than when it was put in, or is of an endless place."""
        if not (uri.attempts or uri.deferrals):
            placed = self._placement.place(uri)
            if placed is not uri:
                self._store.drop(queue, key)
                self._store.insert(queue, placed, uri.ordinal)
                self._states.update_state(queue)
                return True
        if self._traps.may_go(queue, uri):
            return False
        self._store.put(queue, key, uri)
        self._traps.retire(queue)
        return True

    def _allows(self, queue: Queue, uri: CrawlURI) -> bool:
        """The sheets of the URI are those of its queue now; False when it may not go under them."""
        settings = self._states.settings
        overlay = settings.overlay_of(uri)
        if overlay == queue.overlay:
            return True
        self._states.set_overlay(queue, overlay)
        return not settings.is_over_budget(queue)

    def _moves(self, queue: Queue, key: bytes, uri: CrawlURI) -> bool:
        """A URI taken turns out to belong to another queue; it keeps its place in the order."""
        name = queue.name if uri.is_prerequisite else self._placement.queue_of(uri)
        if name == queue.name:
            return False
        target = self._states.find(name)
        self._store.drop(queue, key)
        if uri.attempts:
            queue.row.retrying -= 1
            target.row.retrying += 1
        self._totals.recount(queue.row)
        self._states.update_state(queue)
        target.row.enqueued += 1
        self._store.insert(target, replace(uri, queue=name), uri.ordinal)
        return True
