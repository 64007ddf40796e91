"""Takes a URI out of a queue whose turn it is, if it may go."""

from collections.abc import Callable

from msgspec.structs import replace

from nacre.core.crawluri import CrawlURI
from nacre.frontier.courtesy import Courtesy
from nacre.frontier.endless import Endless
from nacre.frontier.queues import Queue
from nacre.frontier.rotation import Rotation
from nacre.frontier.shelf import Shelf
from nacre.frontier.totals import Totals


class HandOut:
    """The step between a queue and the engine.

    Attributes:
        assign: Asked for the queue of a URI about to be handed out; None while queues never change.
        place: Asked for the place of a URI about to be handed out for the first time, which waits
            there when it is another one by now; None while nobody learns.
    """

    def __init__(
        self,
        totals: Totals,
        rotation: Rotation,
        shelf: Shelf,
        courtesy: Courtesy,
        endless: Endless,
    ) -> None:
        self.assign: Callable[[CrawlURI], str] | None = None
        self.place: Callable[[CrawlURI], CrawlURI] | None = None
        self._endless = endless
        self._totals = totals
        self._rotation = rotation
        self._shelf = shelf
        self._courtesy = courtesy

    def take(self, queue: Queue, now: float) -> CrawlURI | None:
        """Take the first URI of a queue; None when it may not go, or waits elsewhere from now on.

        Args:
            queue: It is ready.
            now: Seconds since the epoch.
        """
        if not self._courtesy.may_take(queue):
            return None
        taken = self._shelf.take(queue)
        row = queue.row
        self._rotation.roster.touch(queue)
        if taken is None:  # its rows are fewer than it counted: the rows are right
            self._courtesy.refrain(queue)
            row.size = len(queue.taken)
            self._totals.recount(row)
            self._rotation.settle(queue)
            return None
        key, uri = taken
        if not self._allows(queue, uri):
            self._courtesy.refrain(queue)
            self._shelf.put(queue, key, uri)
            self._rotation.settle(queue)
            return None
        moves = self.assign is not None and self._moves(queue, key, uri, self.assign)
        if moves or self._goes_later(queue, key, uri):
            self._courtesy.refrain(queue)
            return None
        queue.hold(key, uri)
        self._courtesy.begin(queue)
        row.last_dequeue = now
        row.last_peek = uri.url
        self._rotation.settle(queue)
        return uri

    def _goes_later(self, queue: Queue, key: bytes, uri: CrawlURI) -> bool:
        """A URI taken promises less than when it was put in, or is of an endless place."""
        if self.place is not None and not (uri.attempts or uri.deferrals):
            placed = self.place(uri)
            if placed is not uri:
                self._shelf.drop(queue, key)
                self._shelf.insert(queue, placed, uri.ordinal)
                self._rotation.settle(queue)
                return True
        if self._endless.may_go(queue, uri):
            return False
        self._shelf.put(queue, key, uri)
        self._endless.rest(queue)
        return True

    def _allows(self, queue: Queue, uri: CrawlURI) -> bool:
        """The sheets of the URI are those of its queue now; False when it may not go under them."""
        overlay = self._rotation.terms.of(uri)
        if overlay == queue.overlay:
            return True
        self._rotation.adopt(queue, overlay)
        return not self._rotation.terms.is_over_budget(queue)

    def _moves(
        self, queue: Queue, key: bytes, uri: CrawlURI, assign: Callable[[CrawlURI], str]
    ) -> bool:
        """A URI taken turns out to belong to another queue; it keeps its place in the order."""
        name = queue.name if uri.is_prerequisite else assign(uri)
        if name == queue.name:
            return False
        target = self._rotation.find(name)
        self._shelf.drop(queue, key)
        if uri.attempts:
            queue.row.retrying -= 1
            target.row.retrying += 1
        self._totals.recount(queue.row)
        self._rotation.settle(queue)
        target.row.enqueued += 1
        self._shelf.insert(target, replace(uri, queue=name), uri.ordinal)
        return True
