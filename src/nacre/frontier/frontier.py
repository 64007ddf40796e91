"""The frontier: which URI next, and when. Synchronous, without a clock: the engine waits."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from nacre.config.effective import Effective, fixed
from nacre.core.crawluri import CrawlURI, Directive
from nacre.core.status import CountedAs
from nacre.frontier.dispatcher import NO_PLACEMENT, Dispatcher, EndlessUriBudget, Placement
from nacre.frontier.last_tries import LastTries
from nacre.frontier.operator import BY_OPERATOR, OperatorControl
from nacre.frontier.pending import ENDS, NO_JOURNAL, FrontierJournal, JournalTag
from nacre.frontier.policy import (
    THROTTLED,
    Backoff,
    DelayCause,
    Retry,
    RetryKind,
    prerequisite_rank,
)
from nacre.frontier.politeness import Politeness
from nacre.frontier.queue_cache import FrontierTime, NoSheets, QueueSettings, SheetChooser
from nacre.frontier.queue_states import QueueStates
from nacre.frontier.queue_store import STEPS, QueueStore, again, fresh
from nacre.frontier.queues import Queue, QueueState, read_totals, write_totals
from nacre.frontier.rows import RowStore, queue_key
from nacre.frontier.seen import SeenSet
from nacre.frontier.settings import FrontierSettings, PolitenessSettings, TrapSettings
from nacre.frontier.shared_slots import NO_SLOTS, SharedSlots
from nacre.messages import message

# The way to a member of an enumeration is long.
_IN_PROCESS, _DISREGARDED, _SUCCESS = (
    QueueState.IN_PROCESS,
    CountedAs.DISREGARDED,
    CountedAs.SUCCESS,
)


_PARTIAL = 206
"""Status of a reply with a part of its resource."""


class Attempt(NamedTuple):
    """The facts of a fetch attempt that the frontier needs.

    Attributes:
        status: Fetch status.
        delay: Politeness delay that its queue waits from now on, seconds; 0 without a request.
        backoff: New state of the adaptive backoff; None leaves it.
        alone: From now on one fetch at a time, or not (any more); None leaves it.
        error: The obstacle, for the operator; "" if the status is enough.
        cause: What decided the delay.
    """

    status: int
    delay: float = 0.0
    backoff: Backoff | None = None
    alone: bool | None = None
    error: str = ""
    cause: DelayCause = DelayCause.UNKNOWN


def _begun(uri: CrawlURI) -> int:
    """Directive of a retry: at most POOR, so that it does not wait with endless places."""
    return min(uri.directive, Directive.POOR)


class Frontier:
    """The queues of a crawl over its store. One thread; `mono` never goes back.

    Nothing is durable before the store commits. The engine calls `save` whenever a group is sealed,
    so that rows and totals are those of one moment. URIs in process keep their rows until they come
    back: after a crash they are handed out again.

    Attributes:
        totals: What was counted so far.
        queue_states: The states of the queues.
        queue_store: The URIs in the store.
        seen: The seen set.
        politeness: Politeness beyond one queue.
        operator: What an operator can do to queues and URIs.
        last_tries: The end of a crawl of which only retries are left.
        traps: The budgets for URIs of endless places, which wait until nothing else is left.
        journal: Records the events of each URI.
    """

    def __init__(  # noqa: PLR0913 - settings by concern, and collaborators
        self,
        rows: RowStore,
        settings: Effective[FrontierSettings],
        politeness: Effective[PolitenessSettings],
        now: float,
        mono: float,
        *,
        chooser: SheetChooser | None = None,
        traps: Effective[TrapSettings] | None = None,
        placement: Placement | None = None,
        slots: SharedSlots | None = None,
        journal: FrontierJournal | None = None,
        max_wait: float = 0.0,
    ) -> None:
        """Resume from the state in the store; nothing is scanned.

        Args:
            rows: The store.
            settings: Budgets, order and retries.
            politeness: Delays and fetches at a time.
            now: Seconds since the epoch.
            mono: Monotonic seconds.
            chooser: Determines which sheets apply to a URI; None: none do.
            traps: What may be spent on endless places; None: as it comes.
            placement: Determines the queue and directive of a URI when its turn comes; None: they
                stay as they were.
            slots: Turns at hosts, shared with other jobs; None shares nothing.
            journal: Records the events of each URI; None: no journal.
            max_wait: Longest wait that a server may request, seconds: a URI whose reply 429 or 503
                requests more is final. 0: no limit.
        """
        self._settings = QueueSettings(settings, politeness, chooser or NoSheets())
        self._max_wait = max_wait
        self.totals = read_totals(rows)
        self.totals.begin_run()
        usual = politeness[0]
        shortest = usual.min_delay if usual.delay is None else usual.delay
        self._time = FrontierTime(max(now, self.totals.time) - mono, mono, shortest)
        self._rows = rows
        self.journal = journal or NO_JOURNAL
        self.seen = SeenSet(rows, settings[0].recent_keys, self.totals.discovered)
        states = QueueStates(rows, self.totals, self._time, self._settings)
        store = QueueStore(rows, self.totals, states)
        self.queue_states, self.queue_store, self._cache = states, store, states.cache
        self.politeness = Politeness(self.totals, states, slots or NO_SLOTS)
        self.last_tries = LastTries(rows, self.totals, states, store)
        self.operator = OperatorControl(
            rows, self.totals, states, store, self.seen, self.politeness.groups
        )
        self.traps = EndlessUriBudget(states, traps or fixed(TrapSettings()))
        self._dispatcher = Dispatcher(
            self.totals, states, store, self.politeness, self.traps, placement or NO_PLACEMENT
        )

    def save(self) -> None:
        """Write changed queues and totals; call it when a group is sealed."""
        self._cache.save()
        self.totals.note_time(self._time.now)
        write_totals(self._rows, self.totals)

    # ---- URIs in

    def schedule(
        self, candidates: Sequence[CrawlURI], now: float, *, keep_tries: bool = False
    ) -> list[bool]:
        """Put candidates into their queues; True for each that entered.

        A candidate enters when its key is new, or when it is forced. One whose `not_before` lies
        ahead waits in `future`. Ordinals are given here; directive, precedence and cost are the
        caller's (`policy.rank`).

        Args:
            candidates: In order of discovery.
            now: Seconds since the epoch, for `not_before`.
            keep_tries: Those that another crawl has tried are retries here, too.
        """
        entered = self.seen.enter([candidate.key for candidate in candidates])
        self.totals.discovered += sum(entered)
        chosen = []
        for place, candidate in enumerate(candidates):
            if entered[place] or candidate.force_fetch:
                entered[place] = True
                chosen.append(candidate)
        if len(chosen) > 1:
            self._cache.preload(candidate.queue for candidate in chosen)
        for candidate in chosen:
            self._admit(candidate, now, is_retry=keep_tries and candidate.attempts > 0)
        return entered

    def note(self, keys: Sequence[bytes]) -> int:
        """Count URIs as discovered without queueing them; the answer is how many were new."""
        new = sum(self.seen.enter(keys))
        self.totals.discovered += new
        return new

    def _admit(self, uri: CrawlURI, now: float, *, is_retry: bool) -> None:
        queue = self.queue_states.find(uri.queue)
        overlay = self._settings.overlay_of(uri)
        if overlay != queue.overlay:
            self.queue_states.set_overlay(queue, overlay)
        self.totals.ordinal += 1
        queue.row.enqueued += 1
        if is_retry:
            queue.row.retrying += 1
        if uri.not_before > now:
            ordinal = self.totals.ordinal
            later = replace(uri, ordinal=ordinal) if is_retry else fresh(uri, ordinal)
            self.queue_store.plan(queue, later, self._time.now + uri.not_before - now)
            self.totals.recount(queue.row)
        else:
            self.queue_store.insert(queue, uri, self.totals.ordinal)
        self.journal.note(JournalTag.ADDED, uri.url, uri.path, uri.via)

    # ---- URIs out

    def next(self, now: float, mono: float) -> CrawlURI | None:
        """Hand out a URI; None when none may be fetched at this moment (see `next_wake`)."""
        self._time.advance(mono)
        if self.totals.queued == self.totals.stuck or self.totals.last_since is not None:
            self.last_tries.watch()
        self.queue_store.release_due(self._time.now)
        self.politeness.release()
        for _ in range(STEPS):
            queue = self.queue_states.next_queue()
            if queue is None:
                if not self.queue_states.activate_next():
                    return None
                continue
            uri = self._dispatcher.take(queue, now)
            if uri is not None:
                self.journal.note(JournalTag.EMITTED, uri.url, uri.path, uri.via)
                return uri
        return None

    def next_wake(self, mono: float) -> float | None:
        """Seconds until `next` may have a URI; None when only a finish or a schedule can help.

        A time that rounding puts a hair before the moment gives a tiny wait, not a hand-out.
        """
        self._time.advance(mono)
        self.last_tries.watch()
        if self.last_tries.working:
            return 0.0
        waits = (
            self.queue_states.wait(),
            self.politeness.wait(),
            self.queue_store.wait(self._time.now),
        )
        return min((wait for wait in waits if wait is not None), default=None)

    # ---- URIs back

    def finished(self, uri: CrawlURI, attempt: Attempt, mono: float) -> None:
        """A URI has its final result; give it back as it was handed out, as in `retry`."""
        self._time.advance(mono)
        queue, key = self._give_back(uri)
        row = queue.row
        kind = self.totals.finish(attempt.status, guess=uri.is_own_guess)
        self.journal.note(ENDS[kind], uri.url, uri.path, uri.via)
        cost = 0 if kind is _DISREGARDED else uri.cost
        if kind is _SUCCESS:
            row.successes += 1
        elif kind is CountedAs.FAILURE:
            row.errors += 1
            settings = self._settings.frontier[self._settings.overlay_of(uri)]
            if settings.cost != "zero":
                cost += settings.error_penalty
        self.queue_store.drop(queue, key)
        if uri.attempts:
            row.retrying -= 1
        if uri.is_prerequisite:
            queue.prerequisites -= {uri.key}
            row.end_hold()
        queue.row.charge(cost)
        self._end_visit(queue, attempt)

    def see(self, uris: Iterable[CrawlURI]) -> None:
        """Count the URLs of GET requests as seen, so that no link to them enters.

        Of a page in a browser all requests are seen before the first of them is followed: a script
        contains the URLs that the page requests later.
        """
        self.seen.enter([uri.key for uri in uris if uri.method == "GET"])

    def fetched_within(self, uri: CrawlURI, attempt: Attempt, mono: float) -> None:
        """A URI was fetched for a page, without its queue: it is seen, and its queue pays for it.

        Queued URIs are counted apart: the totals do not change. Of a URI of which only a part was
        fetched (206) the whole may still enter.
        """
        self._time.advance(mono)
        queue = self.queue_states.find(uri.queue)
        if attempt.status != _PARTIAL:
            self.see((uri,))
        queue.row.charge(uri.cost)
        self._delay(queue, attempt)

    def delay(self, name: str, attempt: Attempt, mono: float) -> None:
        """Let a queue wait after requests that it did not hand out."""
        self._time.advance(mono)
        self._delay(self.queue_states.find(name), attempt)

    def _delay(self, queue: Queue, attempt: Attempt) -> None:
        queue.row.set_pace(attempt.delay, attempt.backoff, alone=attempt.alone, cause=attempt.cause)
        self.queue_states.cache.touch(queue)
        if attempt.delay > 0:
            wake = self._time.mono + attempt.delay
            self.queue_states.snooze(queue, wake)
            self.politeness.groups.delay(queue.row.group, wake)

    def retry(self, uri: CrawlURI, attempt: Attempt, retry: Retry, now: float, mono: float) -> None:
        """A URI handed out is to be tried again (`policy.retry_decision`).

        A waiting queue keeps the URI at its head only if it must, or has no other URI. Otherwise
        its other URIs are fetched first, so that no URI blocks its queue.
        """
        self._time.advance(mono)
        queue, key = self._give_back(uri)
        self.journal.note(JournalTag.RESCHEDULED, uri.url, uri.path, uri.via)
        row = queue.row
        wait = max(retry.at - now, 0.0)
        if not uri.attempts:
            row.retrying += 1
        if retry.hold and uri.is_prerequisite:
            row.hold()
        if retry.hold and (uri.is_prerequisite or not queue.has_others):
            self.queue_store.put(queue, key, again(uri, attempt.status, retry.kind, attempt.error))
        else:
            later = self._time.now + (2.0 * max(wait, attempt.delay) if retry.hold else wait)
            self.queue_store.drop(queue, key)
            back = again(uri, attempt.status, retry.kind, attempt.error)
            self.queue_store.plan(queue, replace(back, directive=_begun(uri)), later)
        queue.row.charge(0 if retry.kind is RetryKind.STARVED else uri.cost)
        self._end_visit(queue, attempt, mono + wait if retry.hold else 0.0)

    def deferred(
        self, uri: CrawlURI, prerequisite: CrawlURI | None, mono: float
    ) -> CrawlURI | None:
        """Return a URI handed out waits for another, at no cost and without a delay.

        Args:
            uri: It goes back to its place.
            prerequisite: What comes first; it enters the same queue, forced, ahead of `uri`, unless
                it is there already. None when something else is waited for (`snooze`).
            mono: Monotonic seconds.

        Returns:
            The prerequisite as it was queued; None when it was not.
        """
        self._time.advance(mono)
        queue, key = self._give_back(uri)
        self.journal.note(JournalTag.RESCHEDULED, uri.url, uri.path, uri.via)
        back = replace(uri, deferrals=uri.deferrals + 1)
        first = None
        if prerequisite is not None and prerequisite.key not in queue.prerequisites:
            if back.directive == Directive.HIGHEST and not back.precedence:
                self._rows.delete("queue", key)
                back = replace(back, precedence=1)
                if queue.row.levels:
                    queue.row.count_level(0, -1)
                    queue.row.count_level(1, 1)
                key = queue_key(queue.identity, back, back.ordinal)
            first = self._put_first(queue, back, prerequisite)
        self.queue_store.put(queue, key, back)
        self._end_visit(queue, Attempt(0))
        return first

    def _put_first(self, queue: Queue, uri: CrawlURI, prerequisite: CrawlURI) -> CrawlURI:
        place = prerequisite_rank(uri)
        self.totals.ordinal += 1
        first = replace(
            prerequisite,
            queue=uri.queue,
            force_fetch=True,
            directive=place.directive,
            precedence=place.precedence,
            ordinal=self.totals.ordinal,
        )
        self.note([first.key])
        self.journal.note(JournalTag.ADDED, first.url, first.path, first.via)
        queue.prerequisites |= {first.key}
        queue.row.enqueued += 1
        self.queue_store.insert(queue, first, first.ordinal)
        return first

    def _give_back(self, uri: CrawlURI) -> tuple[Queue, bytes]:
        queue = self._cache.get(uri.queue)
        key = queue_key(queue.identity, uri, uri.ordinal) if queue else b""
        if queue is None or key not in queue.taken:
            raise ValueError(
                message("frontier.not-in-process", "not in process: {url}", url=uri.url)
            )
        queue.give_back(key, uri)
        return queue, key

    def _end_visit(self, queue: Queue, attempt: Attempt, held_until: float = 0.0) -> None:
        """Begin the delay of a queue, for all queues that share its host, and set its next state.

        Args:
            queue: Its URI is given back, charged, and in its place.
            attempt: How it ended.
            held_until: The queue alone waits until this monotonic time at least, for a retry.
        """
        wake = self._time.mono + attempt.delay
        queue.row.set_pace(attempt.delay, attempt.backoff, alone=attempt.alone, cause=attempt.cause)
        self.politeness.end(queue, wake)
        delayed_until = wake if attempt.delay > 0 else 0.0
        self.queue_states.visit_ended(queue, max(delayed_until, held_until))

    # ---- queues

    def snooze(self, name: str, until: float, now: float, mono: float) -> None:
        """Hand out nothing of a queue before a time (seconds since the epoch)."""
        self._time.advance(mono)
        self.queue_states.snooze(self.queue_states.find(name), mono + until - now)

    def share(self, name: str, addresses: Sequence[str]) -> None:
        """Set the addresses of a queue's host: queues that share one wait for each other."""
        self.politeness.share(self.queue_states.find(name), addresses)

    def retire(self, name: str, reason: str = BY_OPERATOR) -> bool:
        """Hand out nothing more of a queue until `unretire`; False when it was retired already."""
        queue = self.queue_states.find(name)
        if queue.row.state is QueueState.RETIRED:
            return False
        self.queue_states.retire(queue, reason)
        return True

    def unretire(self, names: Sequence[str] | None = None) -> int:
        """Bring retired queues back (None: all); those over their budget soon retire again."""
        return self.queue_states.unretire(self.queue_states.retired() if names is None else names)

    def settings_of(self, overlay: int) -> FrontierSettings:
        """Return the frontier's settings under a combination of sheets."""
        return self._settings.frontier[overlay]

    def queue_in_memory(self, name: str) -> Queue | None:
        """Return a queue that is in memory; None when it is not."""
        return self._cache.get(name)

    def queues_in_memory(self) -> Iterator[Queue]:
        """Return all queues in memory, as they are now."""
        return self._cache.in_memory()

    def backoff(self, name: str) -> Backoff:
        """State of a queue's adaptive backoff."""
        return self.queue_states.find(name).backoff

    def last_delay(self, name: str) -> float:
        """Last politeness delay of a queue, seconds; 0 before its first fetch."""
        return self.queue_states.find(name).row.delay

    # ---- the end

    @property
    def is_empty(self) -> bool:
        """No URI waits, is in process or planned for later, those of retired queues apart."""
        return not self.totals.queued and not self.totals.planned

    @property
    def only_retries_remain(self) -> bool:
        """See `LastTries.only`."""
        return self.last_tries.only

    def last_since(self, now: float) -> float | None:
        """Since when only retries remain, seconds since the epoch; None while other URIs wait."""
        since = self.totals.last_since
        return None if since is None else now - (self._time.now - since)

    def last_until(self, now: float, mono: float) -> float | None:
        """The time when the last retries are given up, epoch seconds; None while others wait."""
        until = self.last_tries.until
        if until is None or not self.last_tries.only:
            return None
        return now + (until - self._time.at(mono))

    @property
    def last_tries_within(self) -> float:
        """Time for the last tries, seconds."""
        return self._settings.last_tries_within

    def wants_too_long(self, status: int, retry_after: float) -> bool:
        """Return whether a reply requests a longer wait than `max_wait`."""
        return status in THROTTLED and 0.0 < self._max_wait < retry_after

    def shorten_last_tries(self, within: float | None) -> None:
        """Give the last tries less time than the settings, seconds; None for that of these."""
        self._settings.shorten_last_tries(within)

    def tries_once(self, uri: CrawlURI) -> bool:
        """See `LastTries.once`."""
        return self.last_tries.once(uri)

    def clock_offset(self, now: float) -> float:
        """Return the lead of the clock over frontier time, seconds: 0 unless it was set back."""
        return now - self._time.now
