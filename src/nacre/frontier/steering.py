"""What an operator can tell the queues: retire, bring back, wake, look again at their order."""

from collections.abc import Iterator, Sequence
from itertools import islice

from nacre.core.crawluri import CrawlURI
from nacre.frontier.listing import Matcher, any_text
from nacre.frontier.queues import Queue, QueueRow, State
from nacre.frontier.roster import scan_queues
from nacre.frontier.rotation import Rotation
from nacre.frontier.rows import Rows, precedence_in, unpack
from nacre.frontier.seen import Seen

BY_OPERATOR = "operator"
"""Why a queue is retired that only `unretire` brings back."""


_KEY = b"frontier.order"


class Steering:
    """Acts on many queues, a chunk at a time where they may be millions."""

    def __init__(self, rows: Rows, rotation: Rotation, seen: Seen) -> None:
        self._rows = rows
        self._rotation = rotation
        self._seen = seen
        self._review: Iterator[bool] | None = None
        self._order = self._order_now()
        before = rows.get("meta", _KEY)
        if before not in (None, self._fingerprint()):
            self.order_changed()
        rows.put("meta", _KEY, self._fingerprint())
        rotation.terms.settings.watch(self._settings_changed)

    def retire(self, wanted: Matcher, why: str = BY_OPERATOR) -> int:
        """Hand out nothing more of these queues; the answer is their number.

        Args:
            wanted: Which queue keys; those that are empty now are among them.
            why: For the operator.
        """
        count = 0
        for row in self._known(wanted):
            queue = self._rotation.find(row.name)
            if queue.row.state is not State.RETIRED:
                self._rotation.retire(queue, why)
                count += 1
        return count

    def unretire(self, wanted: Matcher = any_text, *, all_of_them: bool = True) -> int:
        """Bring retired queues back; those over their budget retire again when they have a turn.

        Args:
            wanted: Which queue keys.
            all_of_them: Those too that the operator retired.
        """
        names = [name for name in self._rotation.retired() if wanted(name)]
        if not all_of_them:
            names = [name for name in names if self._why(name) != BY_OPERATOR]
        return self._rotation.unretire(names)

    def wake(self, wanted: Matcher, mono: float) -> int:
        """End snoozes; each queue keeps its last politeness delay from now on."""
        self._rotation.mono = mono
        return self._rotation.rouse_all(wanted)

    def forget(self, keys: Sequence[bytes]) -> int:
        """Take seen keys out, so that their URIs may enter again; how many were in.

        The caller leaves out those that wait or are in process: they would enter twice.
        """
        known = [key for key, found in zip(keys, self._seen.known(keys), strict=True) if found]
        for key in known:
            self._seen.forget(key)
        return len(known)

    # ---- order

    def reconsider(self, wanted: Matcher = any_text) -> Iterator[bool]:
        """Look again at retired queues and at the order of those that wait.

        A step for each queue that the store knows; True where it changed places. What the operator
        retired stays so.
        """
        self.unretire(wanted, all_of_them=False)
        for row in self._known(wanted):
            yield self._reconsider_one(self._rotation.find(row.name))

    def order_changed(self) -> None:
        """Note that queues are ordered by something else now: `step` looks at all of them."""
        self._review = self.reconsider()

    def _settings_changed(self) -> None:
        order = self._order_now()
        if order != self._order:
            self._order = order
            self._rows.put("meta", _KEY, self._fingerprint())
            self.order_changed()

    def _fingerprint(self) -> bytes:
        """Of the order that holds without sheets: it may change between two runs."""
        return repr(self._order[0]).encode()

    def _order_now(self) -> list[tuple[object, ...]]:
        """What decides the order of the queues, and which of them rest."""
        return [
            (s.queue_precedence, s.precedence_floor, s.queue_total_budget, s.force_retire)
            for s in self._rotation.terms.settings
        ]

    def step(self, number: int) -> bool:
        """Go on with what `order_changed` began; False when there is nothing left to do."""
        if self._review is None:
            return False
        done = sum(1 for _ in islice(self._review, number))
        if done < number:
            self._review = None
        return True

    def _reconsider_one(self, queue: Queue) -> bool:
        row, rotation = queue.row, self._rotation
        self._count_levels(queue)
        before = row.precedence, row.state
        first = self._first(queue)
        if first is not None:
            queue.overlay = rotation.terms.of(first)
        rotation.rank(queue)
        return (row.precedence, row.state) != before

    def _count_levels(self, queue: Queue) -> None:
        """Precedences of its URIs, counted anew where the order needs them."""
        row = queue.row
        if not self._rotation.by_level and not row.levels:
            return
        row.levels = {}
        if self._rotation.by_level:
            for key, _ in self._rows.scan("queue", *queue.range):
                row.count_level(precedence_in(key), 1)
        self._rotation.roster.touch(queue)

    def _first(self, queue: Queue) -> CrawlURI | None:
        found = next(self._rows.scan("queue", *queue.range, 1), None)
        return unpack(*found, queue.name) if found else None

    def _known(self, wanted: Matcher) -> Iterator[QueueRow]:
        return (row for row in scan_queues(self._rows) if wanted(row.name))

    def _why(self, name: str) -> str:
        return self._rotation.find(name).row.why
