"""Runs a visit: along the fetch chain, to the archive, to its disposition.

Only this file may catch all: a bug of a processor is the end of one visit, not of the crawl.
"""

import asyncio
from collections.abc import Mapping

from nacre import annotations
from nacre.config.effective import Effective
from nacre.core.clock import Clock
from nacre.core.events import Captured, Events
from nacre.core.processor import PageUnit, Result, Visit
from nacre.core.status import FetchStatus
from nacre.engine.candidates.rejected_uris import Ignored
from nacre.engine.chain.plan import FetchPlan
from nacre.engine.disposition import Disposition
from nacre.engine.logs import JobLogs
from nacre.engine.observer import VisitObserver
from nacre.engine.pages.captured import CapturedRequests
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


class VisitRunner:
    """Fetches and ends visits.

    Args:
        frontier: Learns which URLs the requests of pages were.
        chain: Fetches.
        disposition: Ends visits.
        archive: Makes the records of a visit.
        pages: Stores pages that were run in a browser.
        commit: The open commit group.
        logs: For bugs of processors.
        events: Sends events about captures to listeners.
        clock: The time.
        observer: Judges final visits.
        faults: URLs whose disposition failed in two earlier sessions, with the bug: they end.

    Attributes:
        disposition: Ends visits.
        captured: What pages requested, and need not be fetched from a queue.
    """

    def __init__(  # noqa: PLR0913 - the parts that a visit meets
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
        observer: VisitObserver,
        faults: Mapping[str, Exception],
    ) -> None:
        self.disposition = disposition
        self.captured = CapturedRequests()
        self._frontier = frontier
        self._chain = chain
        self._archive = archive
        self._pages = pages
        self._commit = commit
        self._logs = logs
        self._events = events
        self._clock = clock
        self._observer = observer
        self._faults = faults
        self._packing = asyncio.Lock()

    @property
    def last_step(self) -> tuple[str, str]:
        """Name of the step that began last, and the URL it began with; "" before any step."""
        return self._chain.last

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

        Each is final, however it ended: only the page asks again.
        """
        self._frontier.see(visit.uri for visit in page.visits if visit.status != 206)
        until = self._clock.monotonic() + _SLICE
        for visit in page.visits:
            prepared = None
            if self.disposition.pass_to_archive(visit) and not is_suspect(visit):
                visit.enter_step("archive")
                prepared = self._prepare_small(visit, self._pages.packed(page.id, visit))
            self._dispose(visit, DONE, prepared)
            if prepared is not None:
                self.captured.add(visit)
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
            self.close(visit)

    def close(self, visit: Visit) -> None:
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
            self.close(visit)

    async def _prepare(self, visit: Visit) -> Prepared | None:
        """Make the records; those of a large capture are compressed in a thread."""
        if not self.disposition.pass_to_archive(visit):
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
