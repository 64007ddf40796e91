"""The processors of the disposition chain after `archive`: the steps after a final visit.

Links are followed, the queue gets its delay, statistics and logs are updated, and a URI may be
fetched again after a time.
"""

from collections.abc import Sequence
from typing import Any, Literal

from nacre.config.component import Seconds, setting
from nacre.config.effective import Effective
from nacre.core.clock import Clock
from nacre.core.processor import FinalProcessor, PageUnit, Result, Visit
from nacre.core.status import FetchStatus
from nacre.engine.candidates.candidates import Candidates
from nacre.engine.candidates.prospects import Prospects
from nacre.engine.candidates.speculation import Speculation
from nacre.engine.chain.entry import ChainName, Entry, FixedEntry, Kit
from nacre.engine.chain.plan import opens
from nacre.engine.limits import Pacer
from nacre.engine.logs import JobLogs
from nacre.engine.outcomes import Outcomes
from nacre.engine.prerequisites import RobotsCache
from nacre.engine.rights_book import POLICY_CONTEXT
from nacre.engine.steps.quotas import QuotaBook
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.policy import Backoff, DelayCause, Pace, next_backoff, pace_after
from nacre.frontier.settings import PolitenessSettings
from nacre.report.statistics import Statistics, StepCounts, Stored
from nacre.scope.scope import Gate
from nacre.uri.parse import origin

_NOT_MODIFIED = Stored.NOT_MODIFIED  # the way to a member of an enumeration is long


class FollowLinks(Entry):
    """Sends the outlinks through the candidate chain. Settings: `engine.follow_error_pages`."""

    chains = frozenset((ChainName.DISPOSITION,))
    heritrix = "CandidatesProcessor"
    processor: Literal["candidates"] = "candidates"


class FollowLinksStep:
    """The worker of `FollowLinks`.

    Args:
        candidates: Judges links, and schedules those that are accepted.
        prospects: Learns the promise of similar pages from a page; None: nothing is learned.
        error_pages: Follow the links of pages that are errors.
        counts: Counts the visits whose links are followed, and the links that enter the frontier.

    Attributes:
        error_pages: As given.
        counts: As given.
    """

    def __init__(
        self,
        candidates: Candidates,
        prospects: Prospects | None,
        error_pages: Effective[bool],
        counts: StepCounts,
    ) -> None:
        self._candidates = candidates
        self._prospects = prospects
        self.error_pages = error_pages
        self.counts = counts

    def follow(self, visit: Visit, gate: Gate | bool, now: float) -> None:  # noqa: FBT001 - a gate that is constant
        """Schedule the links of a visit; links of error pages only if the settings allow it.

        Args:
            visit: The visit, final and stored.
            gate: The gate of the entry in the chain.
            now: Seconds since the epoch.
        """
        if visit.outlinks and self._wants(visit) and opens(gate, visit):
            self.counts.handled += 1
            self.counts.links += self._candidates.admit(visit, now)
        if self._prospects is not None:
            self._prospects.learn(visit)

    def _wants(self, visit: Visit) -> bool:
        if 200 <= visit.status < 400 or self.error_pages[visit.overlay]:
            return True
        return visit.outlinks[0].context == POLICY_CONTEXT


class Dispose(FixedEntry):
    """Sets the delay of the queue, and updates statistics and logs. Settings: `politeness`."""

    chains = frozenset((ChainName.DISPOSITION,))
    heritrix = "DispositionProcessor"
    fixed = "every URI handed out must come back to the frontier"
    processor: Literal["disposition"] = "disposition"


class QueueDelays:
    """Works out how long a queue waits after a fetch, and how its host responds.

    Args:
        politeness: The delays wanted, under each combination of sheets.
        frontier: Knows the backoff of a queue.
        pacer: Bandwidth as the hour of the week demands.
        robots: The crawl delays of robots.txt.
        clock: The time.
    """

    def __init__(
        self,
        politeness: Effective[PolitenessSettings],
        frontier: Frontier,
        pacer: Pacer,
        robots: RobotsCache,
        clock: Clock,
    ) -> None:
        self._politeness = politeness
        self._frontier = frontier
        self._pacer = pacer
        self._robots = robots
        self._clock = clock

    def attempt(self, visit: Visit) -> Attempt:
        """Return the fetch attempt for the frontier: its status, and the delay of its queue."""
        uri, capture = visit.uri, visit.capture
        if uri.url.startswith("dns:") or visit.started == 0.0 or visit.starved:
            return Attempt(visit.status)
        politeness = self._politeness[visit.overlay]
        if capture is None:
            pace = self._without_reply(visit, politeness)
            return Attempt(visit.status, pace.delay, cause=pace.cause)
        backoff_before = self._frontier.backoff(uri.queue)
        backoff = next_backoff(politeness, backoff_before, visit.status, capture.first_byte)
        beside = visit.page.visits if visit.page is not None else ()
        visits = [visit, *(request for request in beside if request.uri.queue == uri.queue)]
        pace, crawl_delay = self._pace(visits, backoff)
        visit.wait_for(pace.delay)
        return Attempt(visit.status, pace.delay, backoff, alone=bool(crawl_delay), cause=pace.cause)

    def attempts_beside(self, visit: Visit, page: PageUnit) -> dict[str, Attempt]:
        """Return the delay of each other queue whose host got requests of a page.

        A delay is computed from all the time that the page took of the host, as if it were a
        single fetch.
        """
        queues: dict[str, list[Visit]] = {}
        for request in page.visits:
            if request.uri.queue != visit.uri.queue and request.capture is not None:
                queues.setdefault(request.uri.queue, []).append(request)
        attempts = {}
        for queue, visits in queues.items():
            pace, _ = self._pace(visits, self._frontier.backoff(queue))
            attempts[queue] = Attempt(visits[-1].status, pace.delay, cause=pace.cause)
        return attempts

    def _pace(self, visits: Sequence[Visit], backoff: Backoff) -> tuple[Pace, float | None]:
        """Return the delay after fetches from a host that count as one, and its crawl delay."""
        first, politeness = visits[0], self._politeness[visits[0].overlay]
        captures = [visit.capture for visit in visits if visit.capture is not None]
        spent = float(sum(capture.duration for capture in captures))
        size = sum(len(capture.head) + capture.body.length for capture in captures)
        waits = [visit.retry_after for visit in visits if visit.retry_after is not None]
        crawl_delay = self._crawl_delay(first) if first.crawl_delay is None else first.crawl_delay
        pace = pace_after(politeness, spent, crawl_delay, max(waits, default=None), backoff)
        least = self._pacer.delay(size, spent / 1000.0, first.overlay)
        return pace.at_least(least, DelayCause.BANDWIDTH), crawl_delay

    def _without_reply(self, visit: Visit, politeness: PolitenessSettings) -> Pace:
        """Return the time spent, the only known fact about the host; 0 without a request."""
        if visit.status <= FetchStatus.RUNTIME_EXCEPTION:
            return Pace(0.0, DelayCause.UNKNOWN)
        return pace_after(politeness, (self._clock.monotonic() - visit.started) * 1000.0)

    def _crawl_delay(self, visit: Visit) -> float | None:
        entry = self._robots.get(origin(visit.uri.url), self._clock.now(), visit.overlay)
        return entry[1].crawl_delay if entry and entry[1] else None


class DisposeStep:
    """The worker of `Dispose`: removes the URI from the frontier, and updates all counts.

    Args:
        frontier: The frontier in which the URI is in process.
        delays: How long its queue waits.
        speculation: Knows which guesses were dropped without a fetch; learns from the others.
        statistics: The counts by host, status and type.
        logs: crawl.log.
        quotas: What was taken of a host, a domain, a source.
        outcomes: How each URI ended.
        clock: The time.
        counts: Counts the visits.

    Attributes:
        counts: As given.
    """

    def __init__(  # noqa: PLR0913 - all receivers of a final visit
        self,
        *,
        frontier: Frontier,
        delays: QueueDelays,
        speculation: Speculation,
        statistics: Statistics,
        logs: JobLogs,
        quotas: QuotaBook,
        outcomes: Outcomes,
        clock: Clock,
        counts: StepCounts,
    ) -> None:
        self._frontier = frontier
        self._delays = delays
        self._speculation = speculation
        self._statistics = statistics
        self._logs = logs
        self._quotas = quotas
        self._outcomes = outcomes
        self._clock = clock
        self.counts = counts

    def finish(self, visit: Visit, stored: Stored, now: float) -> None:
        """End a visit that is stored and followed.

        Args:
            visit: The visit.
            stored: What was stored of it.
            now: Seconds since the epoch.
        """
        attempt, mono = self._delays.attempt(visit), self._clock.monotonic()
        if visit.queued:
            self._frontier.finished(visit.uri, attempt, mono)
        else:
            self._frontier.fetched_within(visit.uri, attempt, mono)
        if visit.page is not None:
            for queue, pace in self._delays.attempts_beside(visit, visit.page).items():
                self._frontier.delay(queue, pace, mono)
        # A guess that was dropped without a fetch is counted elsewhere.
        if not self._speculation.lets_go(visit):
            saved = visit.history.length if stored is _NOT_MODIFIED and visit.history else 0
            self._statistics.count(visit, stored, now, saved)
            self._logs.finished(visit, now)
        self._quotas.count(visit, stored)
        if visit.is_of_url:
            self._outcomes.put(visit)
        self._speculation.learn(visit)
        self.counts.handled += 1


class Reschedule(Entry):
    """Puts a URI into the frontier again, to be fetched again after a time; never prerequisites.

    A crawl with such URIs does not end by itself.
    """

    chains = frozenset((ChainName.DISPOSITION,))
    heritrix = "ReschedulingProcessor"
    behind = "disposition"
    processor: Literal["reschedule"] = "reschedule"
    delay: Seconds | None = setting(
        None, "Time to the next fetch; none: it is not fetched again.", unit="s", ge=1
    )

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> FinalProcessor:
        """See `Entry.make`."""
        return Rescheduling(settings, kit)


class Rescheduling:
    """The worker of `Reschedule`. As Heritrix's ReschedulingProcessor."""

    def __init__(self, settings: Effective[Reschedule], kit: Kit) -> None:
        self._settings = settings
        self._later = kit.later
        self._clock = kit.clock

    def accepts(self, visit: Visit) -> bool:
        """Return whether a time is set; what others need is never fetched again by this."""
        needed = visit.uri.is_prerequisite or not visit.queued
        return self._settings[visit.overlay].delay is not None and not needed

    def process(self, visit: Visit) -> Result:
        """Schedule it."""
        delay = self._settings[visit.overlay].delay
        if delay is not None:
            self._later(visit.uri, self._clock.now() + delay)
        return Result.PROCEED
