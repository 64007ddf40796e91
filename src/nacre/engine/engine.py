"""The engine: workers over one frontier, one event loop, one commit.

Each worker ("toe") takes a URI, runs the fetch chain, and disposes of the visit in one synchronous
step. There is no polling: an idle toe is woken when there may be work for it.

What is done when file handles run out: fewer fetches at a time for a while, and a word.
"""

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from msgspec.structs import replace

from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.engine.observer import Supervisor
from nacre.engine.visits import VisitRunner
from nacre.frontier.frontier import Attempt, Frontier
from nacre.store.commit import GroupCommit

_LONGEST_WAIT = 1.0
"""Seconds after which an idle engine looks again: clocks jump, operators change things."""


class Engine:
    """Runs visits until `stop` is called or nothing is left.

    Args:
        frontier: Hands out URIs.
        visits: Fetches and ends them.
        commit: The open commit group: while it is full, nothing is handed out.
        clock: The time.
        supervisor: Called when nothing is in process: the crawl may be over, or paused; and when
                a visit begins then.
        overlay_of: Determines which combination of sheets applies to a URI.
        parallel: Number of toes.

    Attributes:
        visits: Fetches and ends URIs.
        current: Visits in process, by number of their toe.
        ceiling: Most visits in process, whatever `parallel` says.
        stopped: Set when it hands out nothing more, for good.
    """

    def __init__(  # noqa: PLR0913 - the parts that meet here
        self,
        frontier: Frontier,
        visits: VisitRunner,
        commit: GroupCommit,
        clock: Clock,
        supervisor: Supervisor,
        overlay_of: Callable[[CrawlURI], int],
        *,
        parallel: int,
    ) -> None:
        self._frontier = frontier
        self.visits = visits
        self._commit = commit
        self._clock = clock
        self._supervisor = supervisor
        self._overlay_of = overlay_of
        self._wanted = parallel
        self._lent = 0
        self._toes: set[int] = set()
        self._idle: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self.stopped = asyncio.Event()
        self._paused = self._is_held = False
        self._group: asyncio.TaskGroup | None = None
        self.current: dict[int, Visit] = {}
        self._worked = 0.0
        self._holds: Callable[[int], bool] = _never
        self.ceiling = sys.maxsize
        commit.when_room(self.wake)

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
        return self.stopped.is_set() or self._paused

    @property
    def at_work(self) -> bool:
        """Whether its toes exist: `run` has begun, and has not returned."""
        return self._group is not None

    @property
    def doing(self) -> str:
        """The step that began last, for the watchdog that reports a blocked loop."""
        step, url = self.visits.last_step
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
        self.stopped.set()
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
            if self.stopped.is_set():
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
        while not self.stopped.is_set() and not self._is_surplus(number):
            uri = self._take()
            if uri is None:
                await self._wait_for_work()
                continue
            status = self.visits.captured.take(uri)
            if status:
                self._end_captured(uri, status)
                await asyncio.sleep(0)  # there may be thousands: others have their turn
                continue
            # There may be more URIs: one toe wakes the next.
            self._wake_one()
            await self._visit(uri, number)
        self._toes.discard(number)
        # A toe that leaves may be the one that the timer woke, and sets no timer again.
        self._wake_one()

    def _take(self) -> CrawlURI | None:
        busy = len(self.current)
        is_full = self._commit.saturated or busy >= self.ceiling
        self._is_held = self._paused or is_full or self._holds(busy)
        if self._is_held:
            return None
        return self._frontier.next(self._clock.now(), self._clock.monotonic())

    def _end_captured(self, uri: CrawlURI, status: int) -> None:
        """Give back a URI that a page requested: its queue has paid, and waits for the page."""
        free = replace(uri, cost=0)
        self._frontier.finished(free, Attempt(status), self._clock.monotonic())

    async def _wait_for_work(self) -> None:
        """Wait until there may be work; the first idle toe sets the timer for all."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._idle.append(future)
        if not self.current:
            self._supervisor.look()
        self._set_timer()
        await future

    def _set_timer(self) -> None:
        # While it is held, the frontier may have URIs: what ends a hold wakes a toe.
        wait = None if self._is_held else self._frontier.next_wake(self._clock.monotonic())
        wait = _LONGEST_WAIT if wait is None else min(max(wait, 0.001), _LONGEST_WAIT)
        if self._timer is not None:
            self._timer.cancel()
        # One toe is enough: it wakes the next if it gets a URI, and sets the timer again if not.
        self._timer = asyncio.get_running_loop().call_later(wait, self._wake_one)

    async def _visit(self, uri: CrawlURI, toe: int) -> None:
        visit = Visit(
            uri,
            toe=toe,
            started=self._clock.monotonic(),
            annotations=list(uri.annotations),
            overlay=self._overlay_of(uri),
        )
        if not self.current:
            self._supervisor.begin_work()
        self.current[toe] = visit
        try:
            await self.visits.run_chain(visit)
            await self.visits.complete(visit)
        finally:
            del self.current[toe]
            self._worked += self._clock.monotonic() - visit.started
            self.visits.close(visit)

    def _wake_one(self) -> None:
        while self._idle:
            future = self._idle.popleft()
            if not future.done():
                future.set_result(None)
                return


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
