"""Which URI next, and when. Synchronous, without a clock: the engine tells the time and waits."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from nacre.config.effective import Effective, fixed
from nacre.core.crawluri import CrawlURI, Directive
from nacre.core.status import Counted
from nacre.frontier.backoff import Backoff
from nacre.frontier.courtesy import Courtesy
from nacre.frontier.endless import Endless
from nacre.frontier.handout import HandOut
from nacre.frontier.lasttries import LastTries
from nacre.frontier.policy import Retry, Tries, prerequisite_rank
from nacre.frontier.queues import Queue, State
from nacre.frontier.recoverlog import ENDS, Journal, Tag
from nacre.frontier.removal import Removal
from nacre.frontier.renewal import Renewal
from nacre.frontier.rotation import Rotation
from nacre.frontier.rows import Rows, queue_key
from nacre.frontier.seen import Seen
from nacre.frontier.settings import FrontierSettings, PolitenessSettings, TrapSettings
from nacre.frontier.shelf import STEPS, Shelf, again, fresh
from nacre.frontier.steering import BY_OPERATOR, Steering
from nacre.frontier.terms import Chooser, NoSheets, Terms
from nacre.frontier.timeline import Timeline
from nacre.frontier.totals import read_totals, write_totals

# The way to a member of an enumeration is long.
_IN_PROCESS, _DISREGARDED, _SUCCESS = State.IN_PROCESS, Counted.DISREGARDED, Counted.SUCCESS


class Attempt(NamedTuple):
    """What the frontier needs to know of a fetch attempt.

    Attributes:
        status: Fetch status.
        delay: Politeness delay that its queue waits from now on, seconds; 0 when nothing was asked.
        backoff: New state of the adaptive backoff; None leaves it.
        alone: From now on one fetch at a time, or not (any more); None leaves it.
        error: What was in the way, for the operator; "" where the status says it all.
    """

    status: int
    delay: float = 0.0
    backoff: Backoff | None = None
    alone: bool | None = None
    error: str = ""


def _begun(uri: CrawlURI) -> int:
    """Directive of a retry: what was begun does not rest with its queue."""
    return min(uri.directive, Directive.POOR)


class Frontier:
    """The queues of a crawl over its store. One thread; `mono` never goes back.

    Nothing is durable before the store commits. The engine calls `save` whenever a group is sealed,
    so that rows and totals are those of one moment. URIs in process keep their rows until they come
    back: after a crash they are handed out again.

    Attributes:
        terms: The settings of each queue.
        totals: What was counted so far.
        rotation: The states of the queues.
        seen: The seen set.
        courtesy: Politeness beyond one queue.
        shelf: The URIs in the store.
        renewal: Lets queues obey new settings.
        removal: Deletes URIs, and gives up the last ones.
        steering: What an operator can tell the queues.
        endless: Holds back URIs of endless places until nothing else is left.
        handout: Takes a URI out of its queue.
        journal: Told what happens to each URI; None: nobody is.
    """

    def __init__(  # noqa: PLR0913 - the settings of each concern apart
        self,
        rows: Rows,
        settings: Effective[FrontierSettings],
        politeness: Effective[PolitenessSettings],
        now: float,
        mono: float,
        *,
        chooser: Chooser | None = None,
        traps: Effective[TrapSettings] | None = None,
    ) -> None:
        """Take up where the store left off; nothing is scanned.

        Args:
            rows: The store.
            settings: Budgets, order and retries.
            politeness: Delays and fetches at a time.
            now: Seconds since the epoch.
            mono: Monotonic seconds.
            chooser: Says which sheets apply to a URI; None: none do.
            traps: What may be spent on endless places; None: as it comes.
        """
        self.terms = Terms(settings, politeness, chooser or NoSheets())
        self.totals = read_totals(rows)
        self.totals.run += 1
        self.totals.last_since = None
        usual = politeness[0]
        shortest = usual.min_delay if usual.delay is None else usual.delay
        timeline = Timeline(max(now, self.totals.time) - mono, mono, shortest)
        self._rows = rows
        self.seen = Seen(rows, settings[0].recent_keys, self.totals.discovered)
        self.rotation = Rotation(rows, self.totals, timeline, self.terms)
        self.shelf = Shelf(rows, self.totals, self.rotation)
        self._roster = self.rotation.roster
        self.courtesy = Courtesy(self.totals, self.rotation)
        self._last_tries = LastTries(rows, self.totals, self.rotation, self.shelf)
        self.removal = Removal(rows, self.totals, self.rotation, self.shelf, self._last_tries)
        self.steering = Steering(rows, self.rotation, self.seen)
        self.renewal = Renewal(self.rotation, self.courtesy.groups, self.steering)
        self.journal: Journal | None = None
        self.endless = Endless(self.rotation, traps or fixed(TrapSettings()))
        self.handout = HandOut(self.totals, self.rotation, self.shelf, self.courtesy, self.endless)

    def save(self) -> None:
        """Write what changed of queues and totals; to be called when a group is sealed."""
        self._roster.save()
        self.totals.time = self._time
        write_totals(self._rows, self.totals)

    # ---- URIs in

    def schedule(self, candidates: Sequence[CrawlURI], now: float) -> list[bool]:
        """Put candidates into their queues; True for each that entered.

        A candidate enters when its key is new, or when it is forced. One whose `not_before` lies
        ahead waits in `future`. Ordinals are given here; directive, precedence and cost are the
        caller's (`policy.rank`).

        Args:
            candidates: In order of discovery.
            now: Seconds since the epoch, for `not_before`.
        """
        entered = self.seen.enter([candidate.key for candidate in candidates])
        self.totals.discovered += sum(entered)
        chosen = []
        for place, candidate in enumerate(candidates):
            if entered[place] or candidate.force_fetch:
                entered[place] = True
                chosen.append(candidate)
        if len(chosen) > 1:
            self._roster.preload(candidate.queue for candidate in chosen)
        for candidate in chosen:
            self._admit(candidate, now)
        return entered

    def note(self, keys: Sequence[bytes]) -> int:
        """Count URIs as discovered without queueing them; the answer is how many were new."""
        new = sum(self.seen.enter(keys))
        self.totals.discovered += new
        return new

    def _admit(self, uri: CrawlURI, now: float) -> None:
        queue = self.rotation.find(uri.queue)
        overlay = self.terms.of(uri)
        if overlay != queue.overlay:
            self.rotation.adopt(queue, overlay)
        self.totals.ordinal += 1
        queue.row.enqueued += 1
        if uri.not_before > now:
            later = fresh(uri, self.totals.ordinal)
            self.shelf.plan(queue, later, self._time + uri.not_before - now)
        else:
            self.shelf.insert(queue, uri, self.totals.ordinal)
        if self.journal is not None:
            self.journal(Tag.ADDED, uri.url, uri.path, uri.via)

    # ---- URIs out

    def next(self, now: float, mono: float) -> CrawlURI | None:
        """Hand out a URI; None when none may be fetched at this moment (see `next_wake`)."""
        self.rotation.mono = mono
        if self.totals.queued == self.totals.stuck or self.totals.last_since is not None:
            self._last_tries.watch()
        self.shelf.release_due(self._time)
        self.courtesy.release()
        for _ in range(STEPS):
            queue = self.rotation.next_queue()
            if queue is None:
                if not self.rotation.activate_next():
                    return None
                continue
            uri = self.handout.take(queue, now)
            if uri is not None:
                if self.journal is not None:
                    self.journal(Tag.EMITTED, uri.url, uri.path, uri.via)
                return uri
        return None

    def next_wake(self, mono: float) -> float | None:
        """Seconds until `next` may have a URI; None when only a finish or a schedule can help.

        A time that rounding puts a hair before the moment gives a tiny wait, not a hand-out.
        """
        self.rotation.mono = mono
        self._last_tries.watch()
        if self._last_tries.working:
            return 0.0
        waits = (self.rotation.wait(), self.courtesy.wait(), self.shelf.wait(self._time))
        return min((wait for wait in waits if wait is not None), default=None)

    # ---- URIs back

    def finished(self, uri: CrawlURI, attempt: Attempt, mono: float) -> None:
        """A URI has its final result; give it back as it was handed out, as in `retry`."""
        self.rotation.mono = mono
        queue, key = self._give_back(uri)
        row = queue.row
        kind = self.totals.finish(attempt.status, guess=uri.is_own_guess)
        if self.journal is not None:
            self.journal(ENDS[kind], uri.url, uri.path, uri.via)
        cost = 0 if kind is _DISREGARDED else uri.cost
        if kind is _SUCCESS:
            row.successes += 1
        elif kind is Counted.FAILURE:
            row.errors += 1
            settings = self.terms.settings[self.terms.of(uri)]
            if settings.cost != "zero":
                cost += settings.error_penalty
        self.shelf.drop(queue, key)
        if uri.attempts:
            row.retrying -= 1
        if uri.is_prerequisite:
            queue.prerequisites -= {uri.key}
            row.held = False
        self._charge(queue, cost)
        self._close(queue, attempt)

    def retry(self, uri: CrawlURI, attempt: Attempt, retry: Retry, now: float, mono: float) -> None:
        """A URI handed out is to be tried again (`policy.retry_decision`).

        A queue that holds still keeps the URI at its head only where it must, or where there is no
        other: else the others have a turn before it, so that no URI blocks its queue.
        """
        self.rotation.mono = mono
        queue, key = self._give_back(uri)
        if self.journal is not None:
            self.journal(Tag.RESCHEDULED, uri.url, uri.path, uri.via)
        row = queue.row
        wait = max(retry.at - now, 0.0)
        if not uri.attempts:
            row.retrying += 1
        if retry.hold:
            self.rotation.snooze(queue, mono + wait)
            row.held = row.held or uri.is_prerequisite
        if retry.hold and (uri.is_prerequisite or not queue.has_others):
            self.shelf.put(queue, key, again(uri, attempt.status, retry.kind, attempt.error))
        else:
            later = self._time + (2.0 * max(wait, attempt.delay) if retry.hold else wait)
            self.shelf.drop(queue, key)
            back = again(uri, attempt.status, retry.kind, attempt.error)
            self.shelf.plan(queue, replace(back, directive=_begun(uri)), later)
        self._charge(queue, 0 if retry.kind is Tries.STARVED else uri.cost)
        self._close(queue, attempt)

    def deferred(
        self, uri: CrawlURI, prerequisite: CrawlURI | None, mono: float
    ) -> CrawlURI | None:
        """A URI handed out waits for another, at no cost and without a delay.

        Args:
            uri: It goes back to its place.
            prerequisite: What comes first; it enters the same queue, forced, ahead of `uri`, unless
                it is there already. None when something else is waited for (`snooze`).
            mono: Monotonic seconds.

        Returns:
            The prerequisite as it was queued; None when it was not.
        """
        self.rotation.mono = mono
        queue, key = self._give_back(uri)
        if self.journal is not None:
            self.journal(Tag.RESCHEDULED, uri.url, uri.path, uri.via)
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
        self.shelf.put(queue, key, back)
        self._close(queue, Attempt(0))
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
        if self.journal is not None:
            self.journal(Tag.ADDED, first.url, first.path, first.via)
        queue.prerequisites |= {first.key}
        queue.row.enqueued += 1
        self.shelf.insert(queue, first, first.ordinal)
        return first

    def _give_back(self, uri: CrawlURI) -> tuple[Queue, bytes]:
        queue = self._roster.get(uri.queue)
        key = queue_key(queue.identity, uri, uri.ordinal) if queue else b""
        if queue is None or key not in queue.taken:
            raise ValueError(f"not in process: {uri.url}")
        queue.give_back(key, uri)
        return queue, key

    def _charge(self, queue: Queue, cost: int) -> None:
        row = queue.row
        row.spent += cost
        row.balance -= cost
        row.last_cost = cost
        row.costs += 1

    def _close(self, queue: Queue, attempt: Attempt) -> None:
        """Begin the delay, and line the queue up again."""
        row = queue.row
        wake = self._mono + attempt.delay
        if attempt.delay > 0:
            row.delay = attempt.delay
            self.rotation.snooze(queue, wake)
        if attempt.backoff is not None:
            row.backoff, row.latency = attempt.backoff
        if attempt.alone is not None:
            row.alone = attempt.alone
        self.courtesy.end(queue, wake)
        self.totals.recount(row)
        self._roster.touch(queue)
        if row.state is _IN_PROCESS or queue.window is None:
            self.rotation.settle(queue)

    # ---- queues

    def snooze(self, name: str, until: float, now: float, mono: float) -> None:
        """Hand out nothing of a queue before a time (seconds since the epoch)."""
        self.rotation.mono = mono
        self.rotation.snooze(self.rotation.find(name), mono + until - now)

    def share(self, name: str, addresses: Sequence[str]) -> None:
        """Set the addresses of a queue's host: queues that share one wait for each other."""
        self.courtesy.share(self.rotation.find(name), addresses)

    def retire(self, name: str, why: str = BY_OPERATOR) -> bool:
        """Hand out nothing more of a queue until `unretire`; False when it was retired already."""
        queue = self.rotation.find(name)
        if queue.row.state is State.RETIRED:
            return False
        self.rotation.retire(queue, why)
        return True

    def unretire(self, names: Sequence[str] | None = None) -> int:
        """Bring retired queues back (None: all); those over their budget soon retire again."""
        return self.rotation.unretire(self.rotation.retired() if names is None else names)

    def backoff(self, name: str) -> Backoff:
        """State of a queue's adaptive backoff."""
        return self.rotation.find(name).backoff

    def last_delay(self, name: str) -> float:
        """Last politeness delay of a queue, seconds; 0 before its first fetch."""
        return self.rotation.find(name).row.delay

    # ---- the end

    @property
    def is_empty(self) -> bool:
        """No URI waits, is in process or planned for later, those of retired queues apart."""
        return not self.totals.queued and not self.totals.planned

    @property
    def only_retries_remain(self) -> bool:
        """See `LastTries.only`."""
        return self._last_tries.only

    def last_since(self, now: float) -> float | None:
        """Since when only retries remain, seconds since the epoch; None while other URIs wait."""
        since = self.totals.last_since
        return None if since is None else now - (self._time - since)

    def last_until(self, now: float, mono: float) -> float | None:
        """When the last retries are given up, seconds since the epoch; None while others wait."""
        until = self._last_tries.until
        if until is None or not self._last_tries.only:
            return None
        return now + (until - self.rotation.time_at(mono))

    def tries_once(self, uri: CrawlURI) -> bool:
        """See `LastTries.once`."""
        return self._last_tries.once(uri)

    def clock_offset(self, now: float) -> float:
        """What the clock is ahead of frontier time, seconds: 0 unless it was set back."""
        return now - self._time

    @property
    def _mono(self) -> float:
        return self.rotation.mono

    @property
    def _time(self) -> float:
        return self.rotation.time
