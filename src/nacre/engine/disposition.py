"""The end of a visit: it is deferred, retried, or final, and then stored, counted and followed up.

Everything here happens in one synchronous step, so that all of it lands in one commit group. The
processors of the disposition chain are in `steps/archive.py` and `steps/dispose.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nacre import annotations
from nacre.config.effective import Effective
from nacre.core.clock import Clock
from nacre.core.crawluri import DEAD, CrawlURI
from nacre.core.processor import FinalProcessor, Result, Visit
from nacre.core.status import FetchStatus
from nacre.engine.candidates.identity import Identity
from nacre.engine.chain.plan import Bound, DispositionPlan, opens
from nacre.engine.logs import JobLogs
from nacre.engine.observer import VisitObserver
from nacre.engine.prerequisites import (
    ROBOTS_FOR,
    ROBOTS_OPTIONAL,
    ROBOTS_REDIRECTS,
    Answers,
    RobotsCache,
)
from nacre.engine.rights_book import RightsBook
from nacre.engine.seeding.seedbook import FALLBACK, SeedBook, own_scope
from nacre.engine.steps.archive import ArchiveStep, Prepared
from nacre.engine.steps.dispose import DisposeStep, FollowLinksStep, QueueDelays
from nacre.engine.steps.page_unit import PageUnits
from nacre.engine.steps.quotas import QuotaBook
from nacre.engine.unasked import UnaskedReplies, fresh, is_suspect
from nacre.errors import StorageError
from nacre.frontier.frontier import Frontier
from nacre.frontier.policy import (
    DONE,
    LEAST_RETRIED,
    AttemptOutcome,
    Final,
    LastTriesPhase,
    Retry,
    retry_decision,
)
from nacre.frontier.settings import PolitenessSettings
from nacre.report.statistics import StepCounts, Stored
from nacre.scope.robots_txt import RobotsState
from nacre.scope.seeds import Seed
from nacre.scope.subject import OWN_SCOPE
from nacre.uri.domain import registered_domain
from nacre.uri.parse import host, is_ip, origin

# The way to a member of an enumeration is long.
_NOTHING, _DEFERRED = Stored.NOTHING, FetchStatus.DEFERRED

_UNREACHABLE = frozenset(
    (FetchStatus.CONNECT_FAILED, FetchStatus.CONNECTION_LOST, FetchStatus.TIMEOUT)
)

_MOMENT = 0.5
"""Seconds that a queue waits for URIs in process."""
_LONGEST_ERROR = 200
"""Characters of an error that the frontier keeps."""


class AddedProcessors:
    """The processors that a configuration added to the disposition chain, and its gates.

    Args:
        plans: The chain under each combination of sheets.
        logs: For bugs of processors.

    Attributes:
        plans: As given.
    """

    def __init__(self, plans: Effective[DispositionPlan], logs: JobLogs) -> None:
        self.plans = plans
        self._logs = logs

    def is_archived(self, visit: Visit) -> bool:
        """Return whether a final visit has a capture, and the gate of `archive` is open to it."""
        return visit.capture is not None and opens(self.plans[visit.overlay].archives, visit)

    def run(self, steps: Sequence[Bound[FinalProcessor]], visit: Visit) -> None:
        """Pass a visit along; a bug in one of the processors gives the URI -5."""
        for processor, step in steps:
            try:
                if not processor.accepts(visit):
                    continue
                visit.enter_step(step.name)
                step.handled += 1
                if processor.process(visit) is Result.FINISH:
                    return
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001 - a bug costs its URI alone
                visit.fault(annotations.error(error))
                self._logs.runtime_error(visit, error)
                return


class BackToFrontier:
    """Puts visits back into the frontier that are not final: they wait, or are tried again.

    Args:
        frontier: Receives them.
        delays: How long a queue waits after an attempt.
        identity: Makes the CrawlURI of a prerequisite.
        robots: Knows the redirects of robots.txt.
        inherited: What a prerequisite inherits from the URI that needs it.
        logs: For attempts that failed, and queues that are retired.
        clock: The time.
    """

    def __init__(  # noqa: PLR0913 - the parts that meet here
        self,
        frontier: Frontier,
        delays: QueueDelays,
        *,
        identity: Identity,
        robots: RobotsCache,
        inherited: Callable[[CrawlURI], dict[str, str]],
        logs: JobLogs,
        clock: Clock,
    ) -> None:
        self._frontier = frontier
        self._delays = delays
        self._identity = identity
        self._robots = robots
        self._inherited = inherited
        self._logs = logs
        self._clock = clock

    def retry(self, visit: Visit, decision: Retry) -> None:
        """Try it again later; the failure has its line in nonfatal-errors.log."""
        attempt = self._delays.attempt(visit)._replace(error=visit.error[:_LONGEST_ERROR])
        self._logs.nonfatal(visit)
        now, mono = self._clock.now(), self._clock.monotonic()
        self._frontier.retry(visit.uri, attempt, decision, now, mono)

    def defer(self, visit: Visit) -> None:
        """Defer it without an attempt: for a prerequisite, its queue, or URIs in process."""
        if visit.retire:
            self._retire(visit)
        elif is_suspect(visit):
            self._frontier.deferred(fresh(visit.uri), None, self._clock.monotonic())
        elif visit.prerequisite:
            self._prefer(visit, visit.prerequisite)
        else:
            self._wait(visit)

    def _prefer(self, visit: Visit, url: str) -> None:
        """Its prerequisite is fetched first."""
        first = self.prerequisite(visit, url)
        self._frontier.deferred(visit.uri, first, self._clock.monotonic())

    def prerequisite(self, visit: Visit, url: str) -> CrawlURI:
        """Return the CrawlURI of a prerequisite of a visit."""
        uri = visit.uri
        # A guess of https is given up at once, its robots.txt too; so is a dead seed.
        heritable = {k: v for k, v in uri.heritable.items() if k in _OF_PREREQUISITES}
        if not url.startswith("dns:"):
            heritable[ROBOTS_FOR] = origin(uri.url)
            if not self._robots.obeys(visit.overlay):
                heritable[ROBOTS_OPTIONAL] = "1"
            row = self._robots.last(origin(uri.url))
            if row is not None and row.state is RobotsState.REDIRECT and row.next_url == url:
                heritable[ROBOTS_REDIRECTS] = str(row.redirects)
        heritable |= self._inherited(uri)
        return self._identity.prerequisite(uri, url, heritable)

    def _retire(self, visit: Visit) -> None:
        """The URI stays in its queue, of which nothing more is fetched for now."""
        queue = visit.uri.queue
        self._frontier.deferred(visit.uri, None, self._clock.monotonic())
        if self._frontier.retire(queue, visit.retire):
            self._logs.job(f"queue {queue} retired: {visit.error or visit.retire}")

    def _wait(self, visit: Visit) -> None:
        """What is in process may use up the quota: a moment later more is known."""
        now, mono = self._clock.now(), self._clock.monotonic()
        self._frontier.snooze(visit.uri.queue, now + _MOMENT, now, mono)
        self._frontier.deferred(visit.uri, None, mono)


class SharedQueues:
    """Reports to the frontier which queues share a server or a domain, if politeness groups them.

    Args:
        frontier: Has the queues.
        politeness: What they are grouped by, under each combination of sheets.
    """

    def __init__(self, frontier: Frontier, politeness: Effective[PolitenessSettings]) -> None:
        self._frontier = frontier
        self._politeness = politeness

    def learn(self, visit: Visit) -> None:
        """Update data that the queue of a final visit shares with other queues."""
        uri, group_by = visit.uri, self._politeness[visit.overlay].group_by
        if group_by == "domain":
            self._frontier.share(uri.queue, (registered_domain(host(uri.url)),))
        elif uri.is_prerequisite and group_by == "address":
            addresses = _addresses(visit)
            if addresses:
                self._frontier.share(uri.queue, addresses)


def _addresses(visit: Visit) -> tuple[str, ...]:
    """Return the addresses of a host, by its `dns:` visit or the fetch of its robots.txt."""
    if visit.addresses or ROBOTS_REDIRECTS in visit.uri.heritable:
        return visit.addresses
    name = host(visit.uri.url)
    return (name.strip("[]"),) if is_ip(name) else ()


@dataclass(eq=False)
class SeedFallback:
    """Tries http for a seed without scheme, for which https was a guess and cannot be reached.

    Attributes:
        frontier: Takes the http URL.
        identity: Makes its CrawlURI.
        seeds: Notes it as a seed.
    """

    frontier: Frontier
    identity: Identity
    seeds: SeedBook

    def follow(self, visit: Visit, now: float) -> None:
        """Schedule the http URL, unless it is a seed already; for other visits nothing is done."""
        uri = visit.uri
        if not (uri.is_seed and _has_fallback(visit)):
            return
        visit.annotate(annotations.HTTP_TRIED)
        seed = Seed(uri.heritable[FALLBACK], uri.heritable[FALLBACK])
        if self.seeds.stands_in(seed, uri):
            heritable = own_scope(uri.heritable.get(OWN_SCOPE, ""))
            heritable |= {key: value for key, value in uri.heritable.items() if key == DEAD}
            fallback = self.identity.seed(
                seed.url, source=uri.source, heritable=heritable, overlay=visit.overlay
            )
            self.frontier.schedule([fallback], now)


_OF_PREREQUISITES = frozenset((FALLBACK, DEAD))
"""Heritable data of a seed that its prerequisites get too."""


def _has_fallback(visit: Visit) -> bool:
    """Return whether https was a guess for its seed, and the host cannot be reached."""
    uri, status = visit.uri, visit.status
    behind_robots = uri.is_seed and status == FetchStatus.PREREQUISITE_ROBOTS_FAILED
    return FALLBACK in uri.heritable and (status in _UNREACHABLE or behind_robots)


class FinalRecords:
    """Stores the results of a final visit: its capture, paid or open refetches, facts on its host.

    Args:
        archive: Writes records, and remembers them.
        unasked: Unsolicited replies.
        answers: Addresses and rules of robots.txt.
        queues: Which queues share a server.
        pages: Writes the own records of pages in a browser.
        rights: Stores the preferences that sites state.
        counts: Counts the visits of which something is stored, and bytes.

    Attributes:
        counts: As given.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - all receivers of a final visit
        self,
        archive: ArchiveStep,
        unasked: UnaskedReplies,
        answers: Answers,
        queues: SharedQueues,
        pages: PageUnits,
        rights: RightsBook,
        counts: StepCounts,
    ) -> None:
        self._rights = rights
        self._archive = archive
        self._pages = pages
        self._unasked = unasked
        self._answers = answers
        self._queues = queues
        self.counts = counts
        self._plain_before = counts.plain

    def withheld(self, visit: Visit) -> str:
        """See `RightsBook.withheld`."""
        return self._rights.withheld(visit)

    def store(self, visit: Visit, prepared: Prepared | None, now: float) -> Stored:
        """Store a visit; return the stored parts of its capture."""
        stored = self._archive.write(visit, prepared)
        if visit.page is not None:
            self._pages.write(visit)
        if stored is not _NOTHING:
            self.counts.handled += 1
            written, plain = self._archive.totals
            pages = self._pages.writer
            written, plain = written + pages.total, plain + pages.plain
            self.counts.wrote(written, self._plain_before + plain)
        if visit.is_of_url:
            self._unasked.disposed(visit, prepared)
        self._answers.learn(visit, now)
        self._rights.learn(visit)
        self._queues.learn(visit)
        return stored


@dataclass(eq=False, kw_only=True)
class Disposition:
    """Ends visits.

    Attributes:
        frontier: Handed them out.
        clock: The time.
        chain: Processors that were added to the disposition chain.
        back: Puts visits back that are not final.
        records: Stores those that are.
        observer: Judges them, and may take their links.
        links: Follows their links otherwise.
        fallback: Tries http for seeds.
        ending: Ends them in frontier, statistics and logs.
        quotas: Knows those in process.
        visit_done: Called after each visit: it may be time to commit.
        starved: Called when there was no file handle for one.
        finished: Visits that became final in this process.
    """

    frontier: Frontier
    clock: Clock
    chain: AddedProcessors
    back: BackToFrontier
    records: FinalRecords
    observer: VisitObserver
    links: FollowLinksStep
    fallback: SeedFallback
    ending: DisposeStep
    quotas: QuotaBook
    visit_done: Callable[[], None]
    starved: Callable[[], None]
    finished: int = field(default=0, init=False)

    def decide(self, visit: Visit) -> Retry | Final | None:
        """Retry, final, or None for a deferral; nothing is changed yet."""
        if visit.status == _DEFERRED or visit.retire or is_suspect(visit):
            return None
        needless = _has_fallback(visit) or ROBOTS_OPTIONAL in visit.uri.heritable
        if visit.conclusive or (needless and not visit.starved):
            return Final("another try would not change it")
        capture, frontier = visit.capture, self.frontier
        truncated = capture is not None and capture.truncated == "disconnect"
        if 0 < visit.status < LEAST_RETRIED and not (truncated or visit.starved):
            return DONE
        if not visit.starved and frontier.wants_too_long(visit.status, visit.retry_after or 0.0):
            return Final("the server wants to be asked much later")
        ending = AttemptOutcome(
            visit.status,
            truncated=truncated,
            retry_after=visit.retry_after or 0.0,
            last_delay=frontier.last_delay(visit.uri.queue),
            starved=visit.starved,
        )
        now, settings = self.clock.now(), frontier.settings_of(visit.overlay)
        return retry_decision(settings, visit.uri, ending, now, self._last_tries(visit, now))

    def _last_tries(self, visit: Visit, now: float) -> LastTriesPhase | None:
        since = self.frontier.last_since(now)
        if since is None:
            return None
        once = self.frontier.tries_once(visit.uri)
        return LastTriesPhase(since, self.frontier.last_tries_within, once)

    def pass_to_archive(self, visit: Visit) -> bool:
        """Run the processors before `archive` on a final visit; return whether it goes on there.

        If a preference is enforced for which its reply is not written, the visit is annotated.
        """
        before = self.chain.plans[visit.overlay].before
        if before:
            self.chain.run(before, visit)
        if not self.chain.is_archived(visit):
            return False
        withheld = self.records.withheld(visit)
        if withheld:
            visit.annotate(annotations.rights_withheld(withheld))
        return not withheld

    def dispose(
        self, visit: Visit, decision: Retry | Final | None, prepared: Prepared | None = None
    ) -> bool:
        """Apply a decision; return whether the visit is final."""
        self.quotas.release(visit)
        if decision is None:
            self.back.defer(visit)
        elif isinstance(decision, Retry):
            self.back.retry(visit, decision)
        else:
            self._finish(visit, prepared)
        self.visit_done()
        if visit.starved:
            self.starved()
        return isinstance(decision, Final)

    def _finish(self, visit: Visit, prepared: Prepared | None) -> None:
        chain, now = self.chain, self.clock.now()
        plan = chain.plans[visit.overlay]
        stored = self.records.store(visit, prepared, now)
        if plan.between:
            chain.run(plan.between, visit)
        if visit.is_of_url:
            self._follow(visit, prepared, stored, now)
        self.fallback.follow(visit, now)
        if plan.late:
            chain.run(plan.late, visit)
        self.ending.finish(visit, stored, now)
        self.finished += 1
        if plan.after:
            chain.run(plan.after, visit)

    def _follow(self, visit: Visit, prepared: Prepared | None, stored: Stored, now: float) -> None:
        judgement = prepared.judgement if prepared is not None else None
        if judgement is None:
            judgement = self.observer.judge(visit)
        if not self.observer.follow(visit, judgement, stored, now):
            self.links.follow(visit, self.chain.plans[visit.overlay].follows, now)
