"""The engine: workers over one frontier, one event loop, one commit.

Each worker ("toe") takes a URI, runs the fetch chain, and disposes of the visit in one synchronous
step. There is no polling: an idle toe is woken when there may be work for it.

What is done when file handles run out: fewer fetches at a time for a while, and a word.
"""

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count

from nacre import annotations
from nacre.config.effective import Effective
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI
from nacre.core.events import Captured, Events
from nacre.core.processor import PageUnit, Result, Visit
from nacre.core.status import FetchStatus
from nacre.engine.candidates.rejected_uris import Ignored
from nacre.engine.chain.plan import FetchPlan
from nacre.engine.disposition import Disposition
from nacre.engine.logs import JobLogs
from nacre.engine.observer import Supervisor, VisitObserver
from nacre.engine.steps.archive import ArchiveStep, PackedReply, Prepared
from nacre.engine.steps.page_unit import PageUnits
from nacre.engine.unasked import is_suspect
from nacre.errors import StorageError
from nacre.frontier.frontier import Frontier
from nacre.frontier.policy import DONE, Final, Retry
from nacre.store.commit import GroupCommit
from nacre.uri.parse import scheme

_FINISH = Result.FINISH  # the way to a member of an enumeration is long
_SLICE = 0.005
"""Seconds of work on the requests of a page after which others have their turn."""
_RECORDED = Final("a person requested it")
_LONGEST_WAIT = 1.0
"""Seconds after which an idle engine looks again: clocks jump, operators change things."""


class DispositionError(Exception):
    """A bug while a visit was disposed of: the session ends, and the next one tries again.

    The session after a second bug over the URI gives it -5.
    """

    def __init__(self, url: str, error: Exception) -> None:
        super().__init__(f"{type(error).__name__} while disposing of {url}")
        self.url = url
        self.error = error


class Chain:
    """The fetch chain at work: FINISH leaves out the rest.

    Args:
        plans: Its steps under each combination of sheets.
        clock: Measures the time of each step.
        ignored: Called before all steps: a visit that it refuses is not fetched.

    Attributes:
        last: Name of the step that began last, and the URL it began with.
    """

    def __init__(self, plans: Effective[FetchPlan], clock: Clock, ignored: Ignored) -> None:
        self._plans = plans
        self._ignored = ignored
        self._time = clock.monotonic
        self.last = ("", "")

    def disposing(self, visit: Visit) -> None:
        """Say that the disposition of a visit begins."""
        self.last = ("disposition", visit.uri.url)

    async def run(self, visit: Visit) -> None:
        """Pass the visit along the chain."""
        if self._ignored.refuses(visit):
            return
        at, links = self._time(), len(visit.outlinks)
        for processor, step in self._plans[visit.overlay]:
            if not processor.accepts(visit):
                continue
            visit.enter_step(step.name)
            self.last = (step.name, visit.uri.url)
            step.handled += 1
            result = await processor.process(visit)
            began, at = at, self._time()
            step.seconds += at - began
            if len(visit.outlinks) != links:
                step.links += max(len(visit.outlinks) - links, 0)  # a step may take some away
                links = len(visit.outlinks)
            if result is _FINISH:
                return
        if not visit.status and not visit.retire:
            reason = f"no step of the fetch chain fetches {scheme(visit.uri.url)} URLs"
            visit.refuse(FetchStatus.UNFETCHABLE, reason)


class Engine:
    """Runs visits until `stop` is called or nothing is left.

    Attributes:
        current: Visits in process, by number of their toe.
        ceiling: Most visits in process, whatever `parallel` says.
        disposition: Ends visits.
    """

    def __init__(  # noqa: PLR0913 - the parts that meet here
        self,
        *,
        frontier: Frontier,
        chain: Chain,
        disposition: Disposition,
        archive: ArchiveStep,
        pages: PageUnits,
        commit: GroupCommit,
        logs: JobLogs,
        events: Events,
        clock: Clock,
        parallel: int,
        overlay_of: Callable[[CrawlURI], int],
        observer: VisitObserver,
        supervisor: Supervisor,
        faults: Mapping[str, Exception],
    ) -> None:
        """Take the parts that a visit meets.

        Args:
            frontier: Hands out URIs.
            chain: Fetches them.
            disposition: Ends their visits.
            archive: Makes the records of a visit.
            pages: Stores pages that were run in a browser.
            commit: The open commit group.
            logs: For bugs of processors.
            events: Sends events about captures to listeners.
            clock: The time.
            parallel: Number of toes.
            overlay_of: Determines which combination of sheets applies to a URI.
            observer: Judges final visits.
            supervisor: Called when nothing is in process: the crawl may be over, or paused.
            faults: URLs whose disposition failed in two earlier sessions, with the bug: they end.
        """
        self._overlay_of = overlay_of
        self._observer = observer
        self._supervisor = supervisor
        self._faults = faults
        self._frontier = frontier
        self._chain = chain
        self.disposition = disposition
        self._archive = archive
        self._pages = pages
        self._commit = commit
        self._logs = logs
        self._events = events
        self._clock = clock
        self._wanted = parallel
        self._lent = 0
        self._toes: set[int] = set()
        self._idle: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._packing = asyncio.Lock()
        self._stopping = False
        self._paused = False
        self._group: asyncio.TaskGroup | None = None
        self.current: dict[int, Visit] = {}
        self._worked = 0.0
        self._holds: Callable[[int], bool] = _never
        self.ceiling = sys.maxsize

    @property
    def busy(self) -> int:
        """Visits in process."""
        return len(self.current)

    @property
    def worked(self) -> float:
        """Seconds that all visits took together so far, those in process too.

        What it grows by in a second is the number of visits that were in process on average.
        """
        now = self._clock.monotonic()
        return self._worked + sum(now - visit.started for visit in self.current.values())

    @property
    def is_halting(self) -> bool:
        """Whether it hands out nothing: it pauses, or ends with the visits in process."""
        return self._stopping or self._paused

    @property
    def at_work(self) -> bool:
        """Whether its toes exist: `run` has begun, and has not returned."""
        return self._group is not None

    @property
    def doing(self) -> str:
        """The step that began last, for the watchdog that reports a blocked loop."""
        step, url = self._chain.last
        return f"after {step} began with {url}" if step else "before any step began"

    @property
    def parallel(self) -> int:
        """Number of toes wanted."""
        return self._wanted

    def set_parallel(self, number: int) -> None:
        """Work with another number of toes from now on; those too many end with their visits."""
        self._wanted = number
        self._raise_toes()
        self.wake()

    async def run(self) -> None:
        """Work until `stop`; every toe ends with it.

        Raises:
            StorageError: The store failed; drop everything and open again.
        """
        async with asyncio.TaskGroup() as group:
            self._group = group
            self._raise_toes()
        self._group = None

    def stop(self) -> None:
        """Hand out nothing more; toes end when their visits are done."""
        self._stopping = True
        self.wake()

    def limit(self, holds: Callable[[int], bool] | None) -> None:
        """Set a limit for the number of URIs in process; None for no limit.

        Args:
            holds: Asked before each hand-out, with the number of visits in process: True waits.
        """
        self._holds = holds or _never

    def halve(self) -> int:
        """Allow half of the visits that are in process now, at least one; how many that is."""
        self.ceiling = max(min(self.busy, self.ceiling) // 2, 1)
        return self.ceiling

    def lift(self) -> None:
        """Allow as many visits as `parallel`."""
        self.ceiling = sys.maxsize
        self.wake()

    def pause(self) -> None:
        """Hand out nothing until `resume`."""
        self._paused = True

    def resume(self) -> None:
        """Resume handing out URIs."""
        self._paused = False
        self.wake()

    def wake(self) -> None:
        """Wake all idle toes, since there may be work."""
        idle = self._idle
        while idle:
            future = idle.popleft()
            if not future.done():
                future.set_result(None)

    def _raise_toes(self) -> None:
        group = self._group
        while group is not None and len(self._toes) < self._wanted + self._lent:
            if self._stopping:
                return
            number = next(free for free in count() if free not in self._toes)
            self._toes.add(number)
            group.create_task(self._toe(number), name=f"toe-{number}")

    def _is_surplus(self, number: int) -> bool:
        """Whether a toe is one too many: those with the highest numbers leave."""
        most = self._wanted + self._lent
        return len(self._toes) > most and sum(toe < number for toe in self._toes) >= most

    @contextmanager
    def lend_toe(self) -> Iterator[None]:
        """Work with one more toe meanwhile: the visit of a toe waits for another program."""
        self._lent += 1
        self._raise_toes()
        try:
            yield
        finally:
            self._lent -= 1

    async def _toe(self, number: int) -> None:
        while not self._stopping and not self._is_surplus(number):
            uri = self._take()
            if uri is None:
                await self._wait_for_work()
                continue
            # There may be more URIs: one toe wakes the next.
            self._wake_one()
            await self._visit(uri, number)
        self._toes.discard(number)

    def _take(self) -> CrawlURI | None:
        busy = len(self.current)
        if self._paused or self._commit.saturated or busy >= self.ceiling or self._holds(busy):
            return None
        return self._frontier.next(self._clock.now(), self._clock.monotonic())

    async def _wait_for_work(self) -> None:
        """Wait until there may be work; the first idle toe sets the timer for all."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._idle.append(future)
        if not self.current:
            self._supervisor.look()
        self._set_timer()
        await future

    def _set_timer(self) -> None:
        wait = None if self._paused else self._frontier.next_wake(self._clock.monotonic())
        wait = _LONGEST_WAIT if wait is None else min(max(wait, 0.001), _LONGEST_WAIT)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(wait, self.wake)

    async def _visit(self, uri: CrawlURI, toe: int) -> None:
        visit = Visit(
            uri,
            toe=toe,
            started=self._clock.monotonic(),
            annotations=list(uri.annotations),
            overlay=self._overlay_of(uri),
        )
        self.current[toe] = visit
        try:
            await self.run_chain(visit)
            await self.complete(visit)
        finally:
            del self.current[toe]
            self._worked += self._clock.monotonic() - visit.started
            self._close(visit)

    async def complete(self, visit: Visit) -> None:
        """Decide on a visit that came through the fetch chain, store it, and apply the decision.

        A page that was run in a browser joins one commit group with all of its requests.
        """
        decision = self.disposition.decide(visit)
        if visit.page is None or not isinstance(decision, Final):
            await self._end(visit, decision)
            return
        await self._pages.make_ready(visit)
        with self._commit.hold():
            await self._end(visit, decision)

    async def _end(self, visit: Visit, decision: Retry | Final | None) -> None:
        prepared = None
        if isinstance(decision, Final):
            prepared = await self._prepare(visit)
            if visit.status == FetchStatus.RUNTIME_EXCEPTION:
                decision = self.disposition.decide(visit)
        if visit.page is not None and isinstance(decision, Final):
            await self._end_requests(visit.page)
        self._dispose(visit, decision, prepared)
        if self._events.wants_captures and isinstance(decision, Final):
            self._events.emit(Captured(visit))

    async def _end_requests(self, page: PageUnit) -> None:
        """Store the requests of a page; others have turns between them if they are many.

        Each is final, however it ended: the page decides what it asks for again.
        """
        self._frontier.see(visit.uri for visit in page.visits if visit.status != 206)
        until = self._clock.monotonic() + _SLICE
        for visit in page.visits:
            self.disposition.before_archive(visit)
            prepared = None
            if self.disposition.is_archived(visit) and not is_suspect(visit):
                visit.enter_step("archive")
                prepared = self._prepare_small(visit, self._pages.packed(page.id, visit))
            self._dispose(visit, DONE, prepared)
            if self._events.wants_captures:
                self._events.emit(Captured(visit))
            if self._clock.monotonic() >= until:
                await asyncio.sleep(0)
                until = self._clock.monotonic() + _SLICE

    async def end_prerequisite(self, visit: Visit) -> bool:
        """Store what a prerequisite of a page's request taught; False if it may succeed later.

        Args:
            visit: It passed the chain; the frontier did not hand it out.
        """
        try:
            decision = self.disposition.decide(visit)
            if isinstance(decision, Final):
                await self._end(visit, decision)
            return isinstance(decision, Final)
        finally:
            self.disposition.quotas.release(visit)
            self._close(visit)

    def _close(self, visit: Visit) -> None:
        """Release the bytes of a visit, and of the requests of its page."""
        if visit.page is not None:
            for request in visit.page.visits:
                self.disposition.quotas.release(request)
            self._pages.close(visit.page)
        if visit.capture is not None:
            visit.capture.body.close()

    async def end_recorded(self, visit: Visit) -> None:
        """Store a request of a person, whatever came of it: nothing is requested again.

        Args:
            visit: It passed the chain; the frontier did not hand it out.
        """
        try:
            if visit.status == FetchStatus.DEFERRED:
                visit.refuse(FetchStatus.BLOCKED_BY_QUOTA, visit.error)
            await self._end(visit, _RECORDED)
        finally:
            self.disposition.quotas.release(visit)
            self._close(visit)

    def _wake_one(self) -> None:
        while self._idle:
            future = self._idle.popleft()
            if not future.done():
                future.set_result(None)
                return

    # One processor's bug is the end of one visit, not of the crawl: only this file may catch all.

    async def run_chain(self, visit: Visit) -> None:
        """Pass a visit along the fetch chain; a bug of a processor gives it the status -5."""
        fault = self._faults.get(visit.uri.url)
        if fault is not None:
            visit.answered(FetchStatus.RUNTIME_EXCEPTION, conclusive=True)
            self._fault(visit, fault)
            return
        try:
            await self._chain.run(visit)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - a bug costs its URI alone
            self._fault(visit, error)

    async def _prepare(self, visit: Visit) -> Prepared | None:
        """Make the records; those of a large capture are compressed in a thread."""
        self.disposition.before_archive(visit)
        if not self.disposition.is_archived(visit):
            return None
        visit.enter_step("archive")
        if not self._archive.is_large(visit):
            return self._prepare_small(visit)
        try:
            async with self._packing:
                return await self._archive.prepare_large(visit)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - a bug costs its URI alone
            self._fault(visit, error)
            return Prepared(None)

    def _prepare_small(self, visit: Visit, packed: PackedReply | None = None) -> Prepared:
        judgement = None
        try:
            if visit.is_of_url:
                judgement = self._observer.judge(visit)
            return self._archive.prepare(visit, judgement, packed)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - a bug costs its URI alone
            self._fault(visit, error)
            return Prepared(None, judgement=judgement)

    def _dispose(
        self, visit: Visit, decision: Retry | Final | None, prepared: Prepared | None
    ) -> None:
        """Run the synchronous step. A bug in it leaves a half step: the session must end."""
        self._chain.disposing(visit)
        try:
            self.disposition.dispose(visit, decision, prepared)
        except StorageError:
            raise
        except Exception as error:
            raise DispositionError(visit.uri.url, error) from error

    def _fault(self, visit: Visit, error: Exception) -> None:
        visit.fault(annotations.error(error))
        self._logs.runtime_error(visit, error)


def _never(_: int) -> bool:
    """No limit is set."""
    return False


CALM = 60.0
"""Seconds without a shortage after which all toes may fetch again; one message in that time."""

_STEP = 5.0
"""Seconds between two cuts: a fetch that began before the last cut does not count."""


class Shortage:
    """Cuts the number of parallel fetches in half whenever handles run out.

    Args:
        engine: What fetches.
        clock: The time.
        tell: Called with a message for the operator.
    """

    def __init__(self, engine: Engine, clock: Clock, tell: Callable[[str], None]) -> None:
        self._engine = engine
        self._clock = clock
        self._tell = tell
        self._next_word = 0.0
        self._next_cut = 0.0
        self._calm_at = 0.0

    def note(self) -> None:
        """A visit found none."""
        mono, engine = self._clock.monotonic(), self._engine
        self._calm_at = mono + CALM
        if mono >= self._next_cut:
            self._next_cut = mono + _STEP
            engine.halve()
        if mono >= self._next_word:
            self._next_word = mono + CALM
            self._tell(
                f"no file handle was left to connect with: at most {engine.ceiling} fetches at a "
                "time for a while; raise the limit (`ulimit -n`), or lower engine.parallel"
            )

    def look(self) -> None:
        """To be called now and then: ends the cut when there was no shortage for long."""
        if self._calm_at and self._clock.monotonic() >= self._calm_at:
            self._calm_at = 0.0
            self._engine.lift()
