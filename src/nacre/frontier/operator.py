"""Commands of an operator on queues and their URIs: retire, wake, reorder, delete, renew."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from nacre.core.crawluri import CrawlURI, Directive
from nacre.core.status import FetchStatus
from nacre.frontier.pending import pending, pending_steps
from nacre.frontier.policy import DelayCause, Pace
from nacre.frontier.politeness import AddressGroups
from nacre.frontier.queue_cache import scan_queues
from nacre.frontier.queue_states import OVER_BUDGET, QueueStates
from nacre.frontier.queue_store import QueueStore, RemovedUri
from nacre.frontier.queues import ENDLESS_LEFT, Queue, QueueRow, QueueState, Totals
from nacre.frontier.rows import RowStore, precedence_in, unpack
from nacre.frontier.seen import SeenSet
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.messages import message
from nacre.scope.patterns.matching import Matcher, any_text

BY_OPERATOR = "operator"
"""Why a queue is retired that only `unretire` brings back."""

HELD = "wall:"
"""Beginning of the reason of a queue that is held, since its host replies with walls; the kind of
the last wall follows. Only `wake` and `unretire` bring it back."""

_KEY = b"frontier.order"


class OperatorControl:
    """Changes queues and URIs for an operator, in chunks where they may be millions.

    Args:
        rows: The store.
        totals: What was counted so far.
        states: The states of the queues.
        store: The queued URIs.
        seen_set: The seen set.
        groups: Queues that share an address.
    """

    def __init__(
        self,
        rows: RowStore,
        totals: Totals,
        states: QueueStates,
        store: QueueStore,
        seen_set: SeenSet,
        groups: AddressGroups,
    ) -> None:
        self._rows = rows
        self._totals = totals
        self._states = states
        self._settings = states.settings.frontier
        self._time = states.time
        self._cache = states.cache
        self._store = store
        self._seen = seen_set
        self._groups = groups
        self._review: Iterator[bool] | None = None
        self._order = self._order_now()
        before = rows.get("meta", _KEY)
        if before not in (None, self._fingerprint()):
            self.order_changed()
        rows.put("meta", _KEY, self._fingerprint())
        self._settings.watch(self._settings_changed)

    def retire(self, matches: Matcher, reason: str = BY_OPERATOR) -> int:
        """Retire queues, which hand out nothing more; return their number.

        Args:
            matches: Returns whether a queue key matches; empty queues are included.
            reason: For the operator.
        """
        count = 0
        for row in self._matching_rows(matches):
            queue = self._states.find(row.name)
            if queue.row.state is not QueueState.RETIRED:
                self._states.retire(queue, reason)
                count += 1
        return count

    def unretire(self, matches: Matcher = any_text, *, all_of_them: bool = True) -> int:
        """Reactivate retired queues; queues over their budget retire again at their next turn.

        Args:
            matches: Returns whether a queue key matches.
            all_of_them: Include queues that the operator retired, and those held for walls.
        """
        names = [name for name in self._states.retired() if matches(name)]
        if not all_of_them:
            names = [name for name in names if not self._stays(name)]
        return self._states.unretire(names)

    def wake(self, matches: Matcher, mono: float) -> int:
        """End snoozes, and release queues that are held for walls.

        Each queue keeps its last politeness delay from now on.
        """
        self._time.advance(mono)
        held_queues = [
            name
            for name in self._states.retired()
            if matches(name) and self._retire_reason(name).startswith(HELD)
        ]
        return self._states.unretire(held_queues) + self._states.end_snoozes(matches)

    def forget(self, keys: Sequence[bytes]) -> int:
        """Remove keys from the seen set, so that their URIs may enter again; return their number.

        The caller leaves out URIs that are queued or in process: they would enter twice.
        """
        present = [key for key, is_in in zip(keys, self._seen.contains(keys), strict=True) if is_in]
        for key in present:
            self._seen.forget(key)
        return len(present)

    # ---- URIs

    def delete(self, urls: Matcher = any_text, queues: Matcher = any_text) -> Iterator[RemovedUri]:
        """Delete URIs that match both; they count as disregarded (-6000).

        It works on a running frontier too; URIs in process stay. It reads in chunks, and a URI is
        deleted when it is yielded, so that other work may run between two steps.
        """
        steps = self.delete_steps(urls, queues)
        return (removed for removed in steps if removed is not None)

    def delete_steps(self, urls: Matcher, queues: Matcher) -> Iterator[RemovedUri | None]:
        """Yield the same, with None for each step that deletes nothing."""
        for entry in pending_steps(self._rows, urls, queues):
            if entry is None or self._store.remove(entry) is None:
                yield None
                continue
            status = int(FetchStatus.DELETED)
            self._totals.finish(status, guess=entry.uri.is_own_guess)
            yield RemovedUri(entry.uri, status)

    def bring_forward(self, urls: Matcher, queues: Matcher) -> Iterator[bool]:
        """Give URIs that match both the directive HIGH: they are fetched first in their queue.

        A step for each inspected URI or queue; True if a URI moved. A moved URI keeps its order. A
        retry keeps its time, and is at the front from then on. What is in process, or at the front
        already, stays where it is.
        """
        for entry in pending_steps(self._rows, urls, queues):
            yield entry is not None and self._store.move(entry, Directive.HIGH)

    def withdraw(self, matches: Callable[[CrawlURI], bool]) -> Iterator[CrawlURI]:
        """Take out URIs whose result is known already; the caller counts it (`Totals.finish`)."""
        for entry in pending(self._rows):
            if matches(entry.uri) and self._store.remove(entry) is not None:
                yield entry.uri

    # ---- settings

    def apply_settings(self, mono: float) -> None:
        """Let the queues obey new settings: sheets, budgets, precedences or delays are others now.

        Queues that were retired, but not by the operator, come back, and retire again if they
        must; a delay that runs is as long as it would be now.
        """
        states = self._states
        states.time.advance(mono)
        self.unretire(all_of_them=False)
        for queue in chain(states.cache.in_memory(), states.sleeping()):
            self._apply_settings_to(queue)

    def _apply_settings_to(self, queue: Queue) -> None:
        states = self._states
        states.settings.find_overlay(queue)
        states.update_precedence(queue)
        row, old = queue.row, queue.wake
        delay, cause = _pace_now(states.settings.politeness[queue.overlay], queue)
        # A longer wait than the last delay is one for a retry.
        if delay == row.delay or old - states.time.mono > row.delay:
            return
        new = old - row.delay + delay
        row.change_delay(delay, cause)
        if new < old:
            states.wake_earlier(queue, new)
        else:
            states.snooze(queue, new)
        self._groups.repace(row.group, old, new, states.time.mono)

    # ---- order

    def reconsider(self, matches: Matcher = any_text) -> Iterator[bool]:
        """Look again at retired queues and at the order of those that wait.

        A step for each queue that the store knows; True if it changed places. What the operator
        retired stays so.
        """
        self.unretire(matches, all_of_them=False)
        for row in self._matching_rows(matches):
            yield self._reconsider_one(self._states.find(row.name))

    def order_changed(self) -> None:
        """Record that the order of queues changed: `step` reviews all of them."""
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
        """The settings that determine the order of the queues, and which of them are inactive."""
        return [
            (s.queue_precedence, s.precedence_floor, s.queue_total_budget, s.force_retire)
            for s in self._settings
        ]

    def step(self, number: int) -> bool:
        """Continue the work that `order_changed` began; False when nothing is left to do."""
        if self._review is None:
            return False
        steps = sum(1 for _ in islice(self._review, number))
        if steps < number:
            self._review = None
        return True

    def _reconsider_one(self, queue: Queue) -> bool:
        row, states = queue.row, self._states
        self._count_levels(queue)
        before = row.precedence, row.state
        first = self._first(queue)
        if first is not None:
            queue.use_sheets(states.settings.overlay_of(first))
        states.update_precedence(queue)
        return (row.precedence, row.state) != before

    def _count_levels(self, queue: Queue) -> None:
        """Count the precedences of its URIs again, if the order needs them."""
        row = queue.row
        if not self._states.by_level and not row.levels:
            return
        row.forget_levels()
        if self._states.by_level:
            for key, _ in self._rows.scan("queue", *queue.range):
                row.count_level(precedence_in(key), 1)
        self._cache.touch(queue)

    def _first(self, queue: Queue) -> CrawlURI | None:
        row = next(self._rows.scan("queue", *queue.range, 1), None)
        return unpack(*row, queue.name) if row else None

    def _matching_rows(self, matches: Matcher) -> Iterator[QueueRow]:
        return (row for row in scan_queues(self._rows) if matches(row.name))

    def _stays(self, name: str) -> bool:
        reason = self._retire_reason(name)
        return reason == BY_OPERATOR or reason.startswith(HELD)

    def _retire_reason(self, name: str) -> str:
        return self._states.find(name).row.why


def _pace_now(settings: PolitenessSettings, queue: Queue) -> Pace:
    """What the last delay of a queue would be under these settings, as far as it can be known.

    A delay that its site requested, or that followed refusals, is never shortened.
    """
    row = queue.row
    last = Pace(row.delay, DelayCause(row.cause))
    if not last.delay:
        return last
    if settings.delay is not None:
        pace = Pace(settings.delay, DelayCause.FIXED)
    else:
        cause = last.cause if last.cause is DelayCause.SLOW else DelayCause.DURATION
        pace = Pace(min(max(last.delay, settings.min_delay), settings.max_delay), cause)
    return pace.at_least(*last) if row.alone or row.backoff > 1.0 else pace


def why_it_waits(row: QueueRow, settings: FrontierSettings, wait: float | None = None) -> str:
    """One clause; "" for a queue that is being fetched from, or could be.

    Args:
        row: What is kept of it.
        settings: Its settings.
        wait: Seconds until it may hand out again; None when that is not known.
    """
    match QueueState(row.state):
        case QueueState.RETIRED:
            return _describe_retired(row, settings)
        case QueueState.INELIGIBLE | QueueState.INACTIVE:
            return _behind_others(row, settings)
        case QueueState.SNOOZED:
            return _describe_snoozed(row, wait)
        case QueueState.EXHAUSTED:
            return _describe_exhausted(row)
        case QueueState.READY | QueueState.IN_PROCESS:
            return ""


def _behind_others(row: QueueRow, settings: FrontierSettings) -> str:
    if row.state == QueueState.INELIGIBLE:
        return message(
            "frontier.above-precedence-floor",
            "its precedence {precedence} is not below the floor of {floor} "
            "(frontier.precedence_floor)",
            precedence=row.precedence,
            floor=settings.precedence_floor,
        )
    return message(
        "frontier.waits-for-turn",
        "it waits for its turn among the queues of precedence {precedence}",
        precedence=row.precedence,
    )


def _describe_exhausted(row: QueueRow) -> str:
    if not row.waiting:
        return message("frontier.is-empty", "it is empty")
    return message(
        "frontier.waits-for-retries", "{number} of its URIs wait for a retry", number=row.waiting
    )


def _describe_retired(row: QueueRow, settings: FrontierSettings) -> str:
    if row.why == BY_OPERATOR:
        return message(
            "frontier.retired-by-operator",
            "the operator retired it (`nacre frontier JOB unretire` brings it back)",
        )
    if row.why.startswith(HELD):
        return message(
            "frontier.held-for-walls",
            "it is held: its host replied with walls, the last of them {wall} (walls.stop_after; "
            "`nacre frontier JOB wake` releases it)",
            wall=row.why.removeprefix(HELD),
        )
    if row.why == ENDLESS_LEFT:
        return message(
            "frontier.endless-places-left",
            "{left} URLs of endless places are left in it, and {visited} were visited "
            "(traps.budget; `nacre run JOB --traps` fetches more)",
            left=row.endless,
            visited=row.trapped,
        )
    if row.why != OVER_BUDGET:
        return message("frontier.quota-is-reached", "a quota is reached ({quota})", quota=row.why)
    if settings.force_retire:
        return message("frontier.force-retire", "frontier.force_retire is set for it")
    return message(
        "frontier.budget-is-spent",
        "it has spent {spent} of its budget of {budget} (frontier.queue_total_budget)",
        spent=row.spent,
        budget=settings.queue_total_budget,
    )


def _describe_snoozed(row: QueueRow, wait: float | None) -> str:
    if row.held:
        return message(
            "frontier.prerequisite-failed",
            "a robots.txt or dns: that it needs failed, and is tried again",
        )
    if wait:
        return _waiting(row, wait)
    if row.backoff > 1.0:
        return message(
            "frontier.waits-after-refusals",
            "it waits: its server refused requests (429 or 503; politeness.backoff_up_to)",
        )
    if row.cause == DelayCause.SLOW:
        return message(
            "frontier.waits-for-slow-server",
            "it waits: its server answers slowly (politeness.max_delay)",
        )
    return message("frontier.politeness-delay", "it waits its politeness delay")


def _waiting(row: QueueRow, wait: float) -> str:
    if row.backoff > 1.0:
        return message(
            "frontier.waits-some-time-after-refusals",
            "it waits for {wait:.1f} s more: its server refused requests (429 or 503; "
            "politeness.backoff_up_to)",
            wait=wait,
        )
    if row.cause == DelayCause.SLOW:
        return message(
            "frontier.slow-server",
            "it waits for {wait:.1f} s more: its server answers slowly (politeness.max_delay)",
            wait=wait,
        )
    return message(
        "frontier.waits-rest-of-delay",
        "it waits its politeness delay for {wait:.1f} s more",
        wait=wait,
    )
