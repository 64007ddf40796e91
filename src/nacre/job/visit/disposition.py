"""What becomes of a visit: deferred, retried, or final and then stored, told and followed up.

Everything here happens in one synchronous step, so that all of it lands in one commit group.
"""

from collections.abc import Callable, Sequence

import msgspec

from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.clock import Clock
from nacre.core.processor import FinalProcessor, Result, Visit
from nacre.core.status import FetchStatus
from nacre.errors import StorageError
from nacre.frontier.backoff import next_backoff
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.policy import (
    DONE,
    LEAST_RETRIED,
    Ending,
    Final,
    LastCall,
    Retry,
    politeness_delay,
    retry_decision,
)
from nacre.frontier.settings import PolitenessSettings
from nacre.job.admission.candidates import Candidates
from nacre.job.admission.identity import Identity
from nacre.job.admission.speculation import Speculation
from nacre.job.chain.plan import Bound, DispositionPlan, opens
from nacre.job.configuration.sheets import Sheets, basis_facts
from nacre.job.seeding.seedbook import FALLBACK, SeedBook, own_scope
from nacre.job.seeding.seeds import Seed
from nacre.job.visit.answers import Answers
from nacre.job.visit.logs import JobLogs
from nacre.job.visit.outcomes import Outcomes
from nacre.job.visit.pacer import Pacer
from nacre.job.visit.preconditions import ROBOTS_FOR, ROBOTS_REDIRECTS
from nacre.job.visit.quotas import QuotaBook
from nacre.job.visit.robots_cache import RobotsCache
from nacre.job.visit.unasked import UnaskedReplies, fresh, is_suspect
from nacre.job.visit.writing import ArchiveStep, Prepared
from nacre.report.stats import Statistics, Stored
from nacre.report.steps import Step
from nacre.scope.robots import RobotsState
from nacre.scope.subject import OWN_SCOPE
from nacre.uri.domain import registered_domain
from nacre.uri.parse import host, is_ip, origin

# The way to a member of an enumeration is long.
_NOTHING, _NOT_MODIFIED, _DEFERRED = Stored.NOTHING, Stored.NOT_MODIFIED, FetchStatus.DEFERRED

_UNREACHABLE = frozenset(
    (FetchStatus.CONNECT_FAILED, FetchStatus.CONNECTION_LOST, FetchStatus.TIMEOUT)
)


_MOMENT = 0.5
_LONGEST_ERROR = 200
"""Seconds that a queue waits for what is in process."""


class DispositionParts(msgspec.Struct, frozen=True):
    """The parts that meet in the disposition."""

    frontier: Frontier
    politeness: Effective[PolitenessSettings]
    sheets: Sheets
    identity: Identity
    answers: Answers
    robots: RobotsCache
    archive: ArchiveStep
    candidates: Candidates
    speculation: Speculation
    seeds: SeedBook
    statistics: Statistics
    quotas: QuotaBook
    outcomes: Outcomes
    unasked: UnaskedReplies
    logs: JobLogs
    pacer: Pacer
    clock: Clock
    visit_done: Callable[[], None]
    starved: Callable[[], None]
    plans: Effective[DispositionPlan]
    archived: Step
    followed: Step
    disposed: Step
    follow_errors: Effective[bool]


class Disposition:
    """Ends visits.

    Attributes:
        parts: What it works with.
        finished: Visits that became final in this process.
        follow: Takes the outlinks of final visits, in the place of the candidates; None: they do.
    """

    def __init__(self, parts: DispositionParts) -> None:
        self.parts = parts
        self.finished = 0
        self._plain_before = parts.archived.plain
        self.follow: Callable[[Visit, Stored, float], None] | None = None

    def decide(self, visit: Visit) -> Retry | Final | None:
        """Retry, final, or None for a deferral; nothing is changed yet."""
        if visit.status == _DEFERRED or visit.retire or is_suspect(visit):
            return None
        if visit.conclusive or (_has_fallback(visit) and not visit.starved):
            return Final("another try would not change it")
        capture = visit.capture
        truncated = capture is not None and capture.truncated == "disconnect"
        if 0 < visit.status < LEAST_RETRIED and not (truncated or visit.starved):
            return DONE
        ending = Ending(
            visit.status,
            truncated=truncated,
            retry_after=visit.retry_after or 0.0,
            last_delay=self.parts.frontier.last_delay(visit.uri.queue),
            starved=visit.starved,
        )
        now = self.parts.clock.now()
        settings = self.parts.frontier.terms.settings[visit.overlay]
        return retry_decision(settings, visit.uri, ending, now, self._last_call(visit, now))

    def _last_call(self, visit: Visit, now: float) -> LastCall | None:
        frontier = self.parts.frontier
        since = frontier.last_since(now)
        if since is None:
            return None
        once = frontier.tries_once(visit.uri)
        return LastCall(since, frontier.terms.last_tries_within, once)

    def archives(self, visit: Visit) -> bool:
        """Do what comes before a final visit is stored; whether it is."""
        plan = self.parts.plans[visit.overlay]
        if plan.before:
            self._pass(plan.before, visit)
        return visit.capture is not None and (plan.archives is True or opens(plan.archives, visit))

    def _pass(self, steps: Sequence[Bound[FinalProcessor]], visit: Visit) -> None:
        """Processors that were added to the chain; a bug in one gives the URI -5."""
        logs = self.parts.logs
        for processor, step in steps:
            try:
                if not processor.accepts(visit):
                    continue
                visit.step = step.name
                step.handled += 1
                if processor.process(visit) is Result.FINISH:
                    return
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001 - it is nobody else's bug
                visit.status = FetchStatus.RUNTIME_EXCEPTION
                visit.annotate(f"err={type(error).__name__}")
                visit.outlinks = []
                logs.runtime_error(visit, error)
                return

    def dispose(
        self, visit: Visit, decision: Retry | Final | None, prepared: Prepared | None = None
    ) -> bool:
        """Do what was decided; True when the visit is final."""
        self.parts.quotas.release(visit)
        if decision is None:
            self._defer(visit)
        elif isinstance(decision, Retry):
            self._retry(visit, decision)
        else:
            self._finish(visit, prepared)
        self.parts.visit_done()
        if visit.starved:
            self.parts.starved()
        return isinstance(decision, Final)

    def _defer(self, visit: Visit) -> None:
        parts = self.parts
        if visit.retire:
            self._retire(visit)
            return
        if is_suspect(visit):
            parts.frontier.deferred(fresh(visit.uri), None, parts.clock.monotonic())
            return
        uri, url = visit.uri, visit.prerequisite
        if not url:
            self._wait(visit)
            return
        # A guess of https is given up at once, its robots.txt too.
        heritable = {k: v for k, v in uri.heritable.items() if k == FALLBACK}
        if not url.startswith("dns:"):
            heritable[ROBOTS_FOR] = origin(uri.url)
            row = parts.robots.last(origin(uri.url))
            if row is not None and row.state is RobotsState.REDIRECT and row.next_url == url:
                heritable[ROBOTS_REDIRECTS] = str(row.redirects)
        if parts.sheets.by_rules:
            heritable |= basis_facts(uri)
        first = parts.identity.prerequisite(uri, url, heritable)
        parts.frontier.deferred(uri, first, parts.clock.monotonic())

    def _retire(self, visit: Visit) -> None:
        """The URI stays in its queue, of which nothing more is fetched for now."""
        frontier, queue = self.parts.frontier, visit.uri.queue
        frontier.deferred(visit.uri, None, self.parts.clock.monotonic())
        if frontier.retire(queue, visit.retire):
            self.parts.logs.job(f"queue {queue} retired: {visit.error or visit.retire}")

    def _wait(self, visit: Visit) -> None:
        """What is in process may use up the quota: a moment later more is known."""
        frontier, clock, queue = self.parts.frontier, self.parts.clock, visit.uri.queue
        now, mono = clock.now(), clock.monotonic()
        frontier.snooze(queue, now + _MOMENT, now, mono)
        frontier.deferred(visit.uri, None, mono)

    def _retry(self, visit: Visit, decision: Retry) -> None:
        parts = self.parts
        attempt = self._attempt(visit)._replace(error=visit.error[:_LONGEST_ERROR])
        parts.logs.nonfatal(visit)
        parts.frontier.retry(
            visit.uri, attempt, decision, parts.clock.now(), parts.clock.monotonic()
        )

    def _finish(self, visit: Visit, prepared: Prepared | None) -> None:
        parts, uri = self.parts, visit.uri
        now = parts.clock.now()
        plan = parts.plans[visit.overlay]
        stored = parts.archive.write(visit, prepared)
        if stored is not _NOTHING:
            parts.archived.handled += 1
            writer, large = parts.archive.writer, parts.archive.large
            parts.archived.written = writer.total + large.total
            parts.archived.plain = self._plain_before + writer.plain + large.plain
        parts.unasked.disposed(visit, prepared)
        parts.answers.learn(visit, now)
        group_by = parts.politeness[visit.overlay].group_by
        if group_by == "domain":
            parts.frontier.share(uri.queue, (registered_domain(host(uri.url)),))
        elif uri.is_prerequisite and group_by == "address":
            self._share(visit)
        if plan.between:
            self._pass(plan.between, visit)
        if self.follow is not None:
            self.follow(visit, stored, now)
        else:
            self._follow_links(visit, plan, now)
        if visit.uri.is_seed and _has_fallback(visit):
            self._fall_back(visit, now)
        if plan.late:
            self._pass(plan.late, visit)
        parts.frontier.finished(uri, self._attempt(visit), parts.clock.monotonic())
        self._tell(visit, stored, now)
        parts.quotas.count(visit, stored)
        parts.outcomes.put(visit)
        parts.speculation.learn(visit)
        parts.disposed.handled += 1
        self.finished += 1
        if plan.after:
            self._pass(plan.after, visit)

    def _tell(self, visit: Visit, stored: Stored, now: float) -> None:
        """Count it, and write its line; a guess that was not tried is a number elsewhere."""
        if self.parts.speculation.lets_go(visit):
            return
        saved = visit.history.length if stored is _NOT_MODIFIED and visit.history else 0
        self.parts.statistics.count(visit, stored, now, saved)
        self.parts.logs.finished(visit, now)

    def _follow_links(self, visit: Visit, plan: DispositionPlan, now: float) -> None:
        """Let its links enter the frontier, and learn from the page what others like it promise."""
        parts = self.parts
        if visit.outlinks and self._follows(visit, plan):
            parts.followed.handled += 1
            parts.followed.links += parts.candidates.admit(visit, now)
        if parts.candidates.prospects is not None:
            parts.candidates.prospects.learn(visit)

    def _share(self, visit: Visit) -> None:
        """The addresses of a host: a name's by its `dns:` visit, else what robots.txt was asked."""
        addresses = visit.addresses
        if not addresses and ROBOTS_REDIRECTS not in visit.uri.heritable:
            name = host(visit.uri.url)
            addresses = (name.strip("[]"),) if is_ip(name) else ()
        if addresses:
            self.parts.frontier.share(visit.uri.queue, addresses)

    def _fall_back(self, visit: Visit, now: float) -> None:
        """Https was a guess for a seed without scheme, and it cannot be reached: try http."""
        seed = Seed(visit.uri.heritable[FALLBACK], visit.uri.heritable[FALLBACK])
        if self.parts.seeds.stands_in(seed, visit.uri):
            uri = self.parts.identity.seed(
                seed.url,
                source=visit.uri.source,
                heritable=own_scope(visit.uri.heritable.get(OWN_SCOPE, "")),
                overlay=visit.overlay,
            )
            self.parts.frontier.schedule([uri], now)

    def _follows(self, visit: Visit, plan: DispositionPlan) -> bool:
        """Outlinks of failed pages and of prerequisites are not followed, robots.txt's are."""
        if not (200 <= visit.status < 400 or self.parts.follow_errors[visit.overlay]):
            return False
        return plan.follows is True or opens(plan.follows, visit)

    def _attempt(self, visit: Visit) -> Attempt:
        """The delay that the queue waits, and the mood of its host."""
        parts, uri, capture = self.parts, visit.uri, visit.capture
        if uri.url.startswith("dns:") or visit.started == 0.0 or visit.starved:
            return Attempt(visit.status)
        politeness = parts.politeness[visit.overlay]
        if capture is None:
            # No reply: the time spent is all that is known of the host.
            spent = (parts.clock.monotonic() - visit.started) * 1000.0
            delay = (
                politeness_delay(politeness, spent)
                if visit.status > FetchStatus.RUNTIME_EXCEPTION
                else 0.0
            )
            return Attempt(visit.status, delay)
        backoff = next_backoff(
            politeness, parts.frontier.backoff(uri.queue), visit.status, capture.first_byte
        )
        asked = self._crawl_delay(visit) if visit.crawl_delay is None else visit.crawl_delay
        delay = politeness_delay(politeness, capture.duration, asked, visit.retry_after, backoff)
        if delay < (least := self._least_delay(visit, capture)):
            delay = least
        visit.delay = delay
        return Attempt(visit.status, delay, backoff, alone=bool(asked))

    def _least_delay(self, visit: Visit, capture: Capture) -> float:
        """What the bandwidth of the host and the hour of the week demand."""
        size = len(capture.head) + capture.body.length
        return self.parts.pacer.delay(size, capture.duration / 1000.0, visit.overlay)

    def _crawl_delay(self, visit: Visit) -> float | None:
        now = self.parts.clock.now()
        entry = self.parts.robots.get(origin(visit.uri.url), now, visit.overlay)
        return entry[1].crawl_delay if entry and entry[1] else None


def _has_fallback(visit: Visit) -> bool:
    if not visit.uri.heritable or FALLBACK not in visit.uri.heritable:
        return False
    behind_robots = visit.uri.is_seed and visit.status == FetchStatus.PREREQUISITE_ROBOTS_FAILED
    return visit.status in _UNREACHABLE or behind_robots
