"""The engine over stand-ins for its frontier, its chain and its disposition."""

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from nacre.config.effective import Effective
from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.events import Captured, Event, Events
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.engine.candidates.rejected_uris import Ignored
from nacre.engine.chain.plan import Bound, FetchPlan
from nacre.engine.engine import CALM, Engine, Shortage
from nacre.engine.steps.archive import Prepared
from nacre.engine.visits import Chain, DispositionError, VisitRunner
from nacre.errors import StorageError
from nacre.frontier.policy import DONE, Final, Retry
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.report.statistics import StepCounts
from tests.engine.test_chain import Clock
from tests.frontier.making import NOW, candidate, frontier
from tests.frontier.memory_rows import MemoryRows
from tests.virtual_loop import VirtualLoop, run_virtually


def url(number: int) -> str:
    return f"http://a.test/{number}"


class ListFrontier:
    """Hands out the URIs of a list.

    Attributes:
        refusals: So often it has nothing yet.
        wake_in: What `next_wake` says.
    """

    def __init__(self, count: int) -> None:
        self.queued = deque(CrawlURI(url(number), b"k", "q") for number in range(count))
        self.refusals = 0
        self.wake_in: float | None = None
        self.asked = 0

    def next(self, _now: float, _mono: float) -> CrawlURI | None:
        self.asked += 1
        if self.refusals:
            self.refusals -= 1
            return None
        return self.queued.popleft() if self.queued else None

    def next_wake(self, _mono: float) -> float | None:
        return self.wake_in


class FetchStep:
    """Stands for a fetch: it may be held up, fail, and say how many run at a time."""

    name = "fetch"

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()
        self.raises: dict[str, Exception] = {}
        self.begun: list[str] = []
        self.at_once = self.most = 0
        self.body = BytesBody(b"x")

    def accepts(self, _visit: Visit) -> bool:
        return True

    async def process(self, visit: Visit) -> Result:
        self.begun.append(visit.uri.url)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            await asyncio.sleep(0)
            await self.open.wait()
        finally:
            self.at_once -= 1
        visit.outlinks = [Outlink("http://b.test/", Hop.LINK, "a/@href")]
        visit.capture = Capture(visit.uri.url, b"", b"", self.body, 200)
        visit.status = 200
        if visit.uri.url in self.raises:
            raise self.raises[visit.uri.url]
        return Result.FINISH


class RecordingDisposition:
    """Notes what is disposed of; `retries` are to be tried again, `unarchived` not stored."""

    def __init__(self) -> None:
        self.retries: set[str] = set()
        self.unarchived: set[str] = set()
        self.raises: dict[str, Exception] = {}
        self.ended: list[tuple[Visit, Retry | Final | None, Prepared | None]] = []
        self.before: list[str] = []

    def decide(self, visit: Visit) -> Retry | Final | None:
        return Retry(10.0) if visit.uri.url in self.retries else DONE

    def pass_to_archive(self, visit: Visit) -> bool:
        self.before.append(visit.uri.url)
        return visit.uri.url not in self.unarchived

    def dispose(
        self, visit: Visit, decision: Retry | Final | None, prepared: Prepared | None
    ) -> None:
        if visit.uri.url in self.raises:
            raise self.raises[visit.uri.url]
        self.ended.append((visit, decision, prepared))

    @property
    def urls(self) -> list[str]:
        return [visit.uri.url for visit, _, _ in self.ended]

    def visit(self, of: str) -> Visit:
        return next(visit for visit, _, _ in self.ended if visit.uri.url == of)

    def prepared(self, of: str) -> Prepared | None:
        return next(prepared for visit, _, prepared in self.ended if visit.uri.url == of)


class RecordingArchive:
    """Makes no records; `large` captures are prepared one at a time."""

    def __init__(self) -> None:
        self.large: set[str] = set()
        self.raises: dict[str, Exception] = {}
        self.small: list[tuple[str, object]] = []
        self.at_once = self.most = 0

    def is_large(self, visit: Visit) -> bool:
        return visit.uri.url in self.large

    def prepare(self, visit: Visit, judgement: object, _packed: object = None) -> Prepared:
        if visit.uri.url in self.raises:
            raise self.raises[visit.uri.url]
        self.small.append((visit.uri.url, judgement))
        return Prepared([], judgement=judgement)

    async def prepare_large(self, visit: Visit) -> Prepared:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        for _ in range(3):
            await asyncio.sleep(0)
        self.at_once -= 1
        if visit.uri.url in self.raises:
            raise self.raises[visit.uri.url]
        return Prepared(None, members=[BytesBody(b"large")])


class Judge:
    def judge(self, visit: Visit) -> str:
        return f"judged {visit.uri.url}"


class CountingSupervisor:
    """Stops the engine once the frontier is empty, unless it is told to wait."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.looks = self.works = 0
        self.ends = True

    def look(self) -> None:
        self.looks += 1
        if self.ends and not self._world.frontier.queued:
            self._world.engine.stop()

    def begin_work(self) -> None:
        assert not self._world.engine.busy
        self.works += 1


@dataclass
class GroupState:
    saturated: bool = False
    callbacks: list[Callable[[], None]] = field(default_factory=list)

    def when_room(self, callback: Callable[[], None]) -> None:
        self.callbacks.append(callback)

    def empty(self) -> None:
        self.saturated = False
        for callback in self.callbacks:
            callback()


@dataclass
class ErrorLog:
    errors: list[tuple[str, Exception]] = field(default_factory=list)

    def runtime_error(self, visit: Visit, error: Exception) -> None:
        self.errors.append((visit.uri.url, error))


class World:
    """An engine with all that it works with."""

    def __init__(
        self,
        count: int,
        parallel: int = 3,
        faults: dict[str, Exception] | None = None,
        *,
        queues: ListFrontier | None = None,
        step: FetchStep | None = None,
    ) -> None:
        self.clock = Clock()
        self.frontier = queues or ListFrontier(count)
        self.step = step or FetchStep()
        self.disposition = RecordingDisposition()
        self.archive = RecordingArchive()
        self.commit = GroupState()
        self.logs = ErrorLog()
        self.events = Events()
        self.ignored = Ignored()
        self.supervisor = CountingSupervisor(self)
        plan: FetchPlan = (Bound(self.step, StepCounts("Fetch", "fetch")),)
        visits = VisitRunner(
            frontier=cast("Any", self.frontier),
            chain=Chain(Effective((plan, plan)), Clock(), self.ignored),
            disposition=cast("Any", self.disposition),
            archive=cast("Any", self.archive),
            pages=cast("Any", None),
            commit=cast("Any", self.commit),
            logs=cast("Any", self.logs),
            events=self.events,
            clock=self.clock,
            observer=cast("Any", Judge()),
            faults=faults or {},
        )
        self.engine = Engine(
            cast("Any", self.frontier),
            visits,
            cast("Any", self.commit),
            self.clock,
            cast("Any", self.supervisor),
            lambda uri: int(uri.url.endswith("/1")),
            parallel=parallel,
        )

    def run(self) -> None:
        asyncio.run(self.engine.run())


async def turns(count: int = 30) -> None:
    """Let the tasks of the loop run."""
    for _ in range(count):
        await asyncio.sleep(0)


def during(world: World, look: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run the engine, and beside it what looks at it; that has to end it."""

    async def main() -> None:
        running = asyncio.create_task(world.engine.run())
        try:
            await turns()
            await look()
            await running
        finally:
            running.cancel()

    asyncio.run(asyncio.wait_for(main(), 20))


# ---- toes


def test_all_that_is_queued_is_fetched_and_disposed_of_by_several_toes():
    world = World(10)
    world.run()
    assert sorted(world.disposition.urls) == sorted(url(number) for number in range(10))
    assert {visit.toe for visit, _, _ in world.disposition.ended} == {0, 1, 2}
    assert world.step.most == 3
    assert (world.engine.busy, world.engine.at_work) == (0, False)


def test_a_visit_knows_its_sheets_and_the_annotations_of_its_uri():
    world = World(1)
    world.frontier.queued.append(CrawlURI(url(1), b"k", "q", annotations=("isSitemap",)))
    world.run()
    visit = world.disposition.visit(url(1))
    assert (visit.overlay, visit.annotations) == (1, ["isSitemap"])
    assert world.disposition.visit(url(0)).overlay == 0


def test_an_idle_engine_asks_its_supervisor_and_not_while_a_visit_is_in_process():
    world = World(1)

    async def look() -> None:
        assert world.engine.busy == 1
        assert world.supervisor.looks == 0
        world.step.open.set()

    world.step.open.clear()
    during(world, look)
    assert world.supervisor.looks > 0
    assert world.supervisor.works == 1


def test_the_time_of_all_visits_is_summed_up_those_in_process_too():
    world = World(3)
    world.step.open.clear()

    async def look() -> None:
        world.clock.mono += 2.0
        assert world.engine.worked == 6.0
        world.step.open.set()
        await turns()
        world.clock.mono += 5.0

    during(world, look)
    assert world.engine.worked == 6.0


def test_an_idle_engine_looks_again_when_the_frontier_says_so():
    world = World(2)
    world.frontier.refusals, world.frontier.wake_in = 6, 0.0
    world.run()
    assert len(world.disposition.urls) == 2
    assert world.frontier.asked >= 8


def test_what_was_queued_for_an_idle_engine_is_fetched_when_it_is_woken():
    world = World(0)
    world.supervisor.ends = False

    async def look() -> None:
        asked = world.frontier.asked
        await turns()
        assert world.frontier.asked == asked == 3, "an idle toe asks once"
        world.frontier.queued.append(CrawlURI(url(7), b"k", "q"))
        await turns()
        assert world.step.begun == []
        world.supervisor.ends = True
        world.engine.wake()

    during(world, look)
    assert world.disposition.urls == [url(7)]


def test_who_finds_work_wakes_the_next():
    world = World(1)
    world.step.open.clear()

    async def look() -> None:
        world.frontier.queued.extend(CrawlURI(url(number), b"k", "q") for number in (1, 2))
        await turns()
        assert world.engine.busy == 1, "nobody was woken"
        world.step.open.set()

    during(world, look)
    assert world.step.most == 2
    assert len(world.disposition.urls) == 3


def test_toes_are_added_and_leave_while_the_engine_runs():
    world = World(12, parallel=1)
    world.step.open.clear()

    async def look() -> None:
        assert (world.engine.busy, world.engine.at_work) == (1, True)
        world.engine.set_parallel(4)
        await turns()
        assert (world.engine.busy, world.engine.parallel) == (4, 4)
        world.engine.set_parallel(2)
        await turns()
        assert world.engine.busy == 4, "a visit in process is finished"
        world.step.most = 0
        world.step.open.set()

    during(world, look)
    assert len(world.disposition.urls) == 12
    assert {visit.toe for visit, _, _ in world.disposition.ended[4:]} == {0, 1}


def test_idle_toes_that_are_too_many_leave_at_once():
    world = World(0, parallel=4)
    world.supervisor.ends = False

    def toes() -> list[str]:
        return sorted(one.get_name() for one in asyncio.all_tasks() if "toe" in one.get_name())

    async def look() -> None:
        assert toes() == ["toe-0", "toe-1", "toe-2", "toe-3"]
        world.engine.set_parallel(2)
        await turns()
        assert toes() == ["toe-0", "toe-1"]
        world.engine.set_parallel(3)
        await turns()
        assert toes() == ["toe-0", "toe-1", "toe-2"]
        world.engine.stop()

    during(world, look)


def test_a_number_of_toes_set_before_the_run_holds_for_it():
    world = World(9)
    world.engine.set_parallel(2)
    assert not world.engine.at_work
    world.run()
    assert world.step.most == 2


def test_who_wakes_an_engine_that_was_cancelled_does_no_harm():
    world = World(0)
    world.supervisor.ends = False

    async def main() -> None:
        running = asyncio.create_task(world.engine.run())
        await turns()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        world.engine.wake()

    asyncio.run(main())
    assert world.engine.busy == 0


def test_what_began_last_is_known():
    world = World(1)
    assert world.engine.doing == "before any step began"
    world.step.open.clear()

    async def look() -> None:
        assert world.engine.doing == f"after fetch began with {url(0)}"
        world.step.open.set()

    during(world, look)
    assert world.engine.doing == f"after disposition began with {url(0)}"


# ---- what pages captured


async def count_turns(world: World) -> int:
    """Count the turns of the loop until the engine fetches."""
    count = 0
    while not world.step.begun:
        await asyncio.sleep(0)
        count += 1
    return count


def test_urls_that_a_page_captured_are_ended_in_turns_and_cost_no_delay():
    front = frontier(MemoryRows(), FrontierSettings(cost="unit"), PolitenessSettings(delay=5.0))
    captured = [candidate("a", str(number), cost=1) for number in range(50)]
    front.schedule([*captured, candidate("a", "last", cost=1)], NOW)
    world = World(0, parallel=1, queues=cast("Any", front))
    world.supervisor.ends = False
    for uri in captured:
        world.engine.visits.captured.add(Visit(uri, 200))
    world.step.open.clear()

    async def main() -> None:
        running = asyncio.create_task(world.engine.run())
        assert await count_turns(world) >= len(captured)
        world.engine.stop()
        world.step.open.set()
        await running

    asyncio.run(asyncio.wait_for(main(), 20))
    assert world.step.begun == ["http://a/last"]
    assert (front.totals.succeeded, front.totals.queued) == (50, 1)
    queue = front.queue_in_memory("a,")
    assert queue is not None
    assert queue.row.spent == 0, "the queue paid when the page requested them"


def test_a_pause_holds_between_urls_that_a_page_captured():
    front = frontier(MemoryRows())
    captured = [candidate("a", str(number)) for number in range(50)]
    front.schedule(captured, NOW)
    world = World(0, queues=cast("Any", front))
    world.supervisor.ends = False
    for uri in captured:
        world.engine.visits.captured.add(Visit(uri, 200))

    async def main() -> None:
        running = asyncio.create_task(world.engine.run())
        while front.totals.queued == 50:  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0)
        world.engine.pause()
        left = front.totals.queued
        await turns()
        assert front.totals.queued == left > 0
        world.engine.stop()
        await running

    asyncio.run(asyncio.wait_for(main(), 20))


# ---- pause, stop, limits


def test_a_paused_engine_finishes_what_is_in_process_and_goes_on_when_it_is_resumed():
    world = World(10, parallel=2)
    world.step.open.clear()

    async def look() -> None:
        world.engine.pause()
        world.step.open.set()
        await turns()
        assert sorted(world.disposition.urls) == [url(0), url(1)]
        assert (world.engine.busy, len(world.frontier.queued)) == (0, 8)
        world.engine.wake()
        await turns()
        assert len(world.frontier.queued) == 8
        world.engine.resume()

    during(world, look)
    assert len(world.disposition.urls) == 10


def test_a_stopped_engine_finishes_what_is_in_process_and_hands_out_nothing_more():
    world = World(10, parallel=2)
    world.step.open.clear()

    async def look() -> None:
        world.engine.stop()
        world.engine.set_parallel(5)
        await turns()
        assert world.engine.busy == 2
        world.step.open.set()

    during(world, look)
    assert sorted(world.disposition.urls) == [url(0), url(1)]
    assert len(world.frontier.queued) == 8


def test_no_more_than_the_ceiling_is_in_process():
    world = World(20, parallel=5)
    world.step.open.clear()

    async def look() -> None:
        assert world.engine.busy == 5
        assert [world.engine.halve(), world.engine.halve()] == [2, 1]
        assert world.engine.halve() == 1, "one goes on always"
        world.step.most = 0
        world.step.open.set()
        await turns(8)
        world.step.open.clear()
        await turns()
        assert (world.step.most, world.engine.busy) == (1, 1)
        world.engine.lift()
        await turns()
        assert world.engine.busy == 5
        world.step.open.set()

    during(world, look)
    assert len(world.disposition.urls) == 20


def test_a_ceiling_is_half_of_what_is_in_process_and_holds_at_once():
    world = World(9, parallel=9)
    world.step.open.clear()

    async def look() -> None:
        assert world.engine.halve() == 4
        world.step.open.set()

    during(world, look)
    assert len(world.disposition.urls) == 9


def test_a_limit_is_asked_with_the_number_in_process_and_can_be_lifted():
    world = World(10, parallel=4)
    asked: list[int] = []

    def holds(busy: int) -> bool:
        asked.append(busy)
        return busy >= 2

    world.engine.limit(holds)
    world.step.open.clear()

    async def look() -> None:
        assert world.engine.busy == 2
        assert asked == [0, 1, 2, 2]
        world.engine.limit(None)
        world.engine.wake()
        await turns()
        assert world.engine.busy == 4
        world.step.open.set()

    during(world, look)
    assert len(asked) == 4


@pytest.mark.parametrize("hold", ["saturated", "ceiling", "limit", "pause"])
def test_an_engine_that_is_held_asks_the_frontier_once_a_second(hold: str):
    world = World(20, parallel=8)
    world.frontier.wake_in = 0.0
    world.step.open.clear()
    if hold == "saturated":
        world.commit.saturated = True
    elif hold == "ceiling":
        world.engine.ceiling = 1
    elif hold == "limit":
        world.engine.limit(lambda busy: busy >= 1)
    else:
        world.engine.pause()

    async def main() -> None:
        loop = cast("VirtualLoop", asyncio.get_running_loop())
        running = asyncio.create_task(world.engine.run())
        await asyncio.sleep(0.5)
        jumps = loop.jumps
        await asyncio.sleep(10.0)
        assert loop.jumps - jumps <= 11
        world.engine.stop()
        world.step.open.set()
        await running

    run_virtually(main())


def test_nothing_is_handed_out_while_the_commit_group_is_full():
    world = World(3)
    world.commit.saturated = True

    async def look() -> None:
        assert (world.engine.busy, world.frontier.asked) == (0, 0)
        world.commit.empty()

    during(world, look)
    assert len(world.disposition.urls) == 3


# ---- ends of visits


def test_a_final_visit_is_judged_and_its_records_are_made_before_it_is_disposed_of():
    world = World(2, parallel=1)
    world.disposition.unarchived = {url(1)}
    world.run()
    assert world.disposition.before == [url(0), url(1)]
    assert world.archive.small == [(url(0), f"judged {url(0)}")]
    prepared = world.disposition.prepared(url(0))
    assert prepared is not None
    assert prepared.judgement == f"judged {url(0)}"
    assert world.disposition.visit(url(0)).step == "archive"
    assert world.disposition.prepared(url(1)) is None


def test_what_is_tried_again_is_neither_judged_nor_stored():
    world = World(1)
    world.disposition.retries = {url(0)}
    world.run()
    ((_, decision, prepared),) = world.disposition.ended
    assert (decision, prepared) == (Retry(10.0), None)
    assert world.disposition.before == []
    assert world.archive.small == []


def test_large_captures_are_prepared_one_at_a_time():
    world = World(6)
    world.archive.large = {url(number) for number in range(5)}
    world.run()
    assert world.archive.most == 1
    assert world.archive.small == [(url(5), f"judged {url(5)}")]
    large = world.disposition.prepared(url(0))
    assert large is not None
    assert large.members is not None
    assert large.judgement is None


@pytest.mark.parametrize("captures", [True, False])
def test_who_wants_captures_hears_of_final_visits(captures: bool):
    world = World(3)
    world.disposition.retries = {url(1)}
    heard: list[Event] = []
    world.events.subscribe(heard.append, captures=captures)
    world.run()
    urls = {event.visit.uri.url for event in heard if isinstance(event, Captured)}
    assert urls == ({url(0), url(2)} if captures else set())


class ClosingBody(BytesBody):
    closed = 0

    def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("bug", [None, RuntimeError("bug")])
def test_the_body_of_a_capture_is_closed_in_the_end(bug: Exception | None):
    world, body = World(1), ClosingBody(b"x")
    world.step.body = body
    if bug is not None:
        world.disposition.raises[url(0)] = bug
    try:
        world.run()
    except* DispositionError:
        assert bug is not None
    assert body.closed == 1


# ---- bugs


def test_a_bug_in_a_processor_costs_its_uri_alone():
    world, bug = World(4), KeyError("bug")
    world.step.raises[url(2)] = bug
    world.run()
    visit = world.disposition.visit(url(2))
    assert visit.status == FetchStatus.RUNTIME_EXCEPTION
    assert visit.annotations == ["err=KeyError"]
    assert visit.outlinks == []
    assert world.logs.errors == [(url(2), bug)]
    assert [world.disposition.visit(url(n)).status for n in (0, 1, 3)] == [200, 200, 200]


@pytest.mark.parametrize("large", [True, False])
def test_a_bug_while_records_are_made_costs_its_uri_alone(large: bool):
    world, bug = World(2), ValueError("bug")
    world.archive.raises[url(0)] = bug
    world.archive.large = {url(0)} if large else set()
    world.run()
    prepared = world.disposition.prepared(url(0))
    assert prepared is not None
    assert prepared.records is None
    assert prepared.judgement == (None if large else f"judged {url(0)}")
    assert world.disposition.visit(url(0)).status == FetchStatus.RUNTIME_EXCEPTION
    assert world.disposition.visit(url(1)).status == 200
    assert world.logs.errors == [(url(0), bug)]


@pytest.mark.parametrize("large", [True, False])
def test_a_bug_while_records_are_made_is_decided_about_again(
    large: bool, monkeypatch: pytest.MonkeyPatch
):
    world = World(2)
    world.archive.raises[url(0)] = MemoryError()
    world.archive.large = {url(0)} if large else set()
    monkeypatch.setattr(
        world.disposition, "decide", lambda visit: Retry(5.0) if visit.status == -5 else DONE
    )
    world.run()
    decided = {visit.uri.url: decision for visit, decision, _ in world.disposition.ended}
    assert decided == {url(0): Retry(5.0), url(1): DONE}


def test_a_bug_in_the_disposition_ends_the_run_and_names_its_url():
    world, bug = World(5, parallel=1), ZeroDivisionError("bug")
    world.disposition.raises[url(1)] = bug
    with pytest.raises(ExceptionGroup) as caught:
        world.run()
    (error,) = caught.value.exceptions
    assert isinstance(error, DispositionError)
    assert (error.url, error.error) == (url(1), bug)
    assert str(error) == f"ZeroDivisionError while disposing of {url(1)}"
    assert world.disposition.urls == [url(0)]
    assert len(world.frontier.queued) == 3
    assert world.logs.errors == []


def test_a_url_whose_disposition_failed_before_is_not_fetched_again():
    bug = ZeroDivisionError("bug")
    world = World(2, faults={url(1): bug})
    world.run()
    assert world.step.begun == [url(0)]
    visit = world.disposition.visit(url(1))
    assert (visit.status, visit.annotations) == (
        FetchStatus.RUNTIME_EXCEPTION, ["err=ZeroDivisionError"]
    )  # fmt: skip
    assert visit.conclusive
    assert world.logs.errors == [(url(1), bug)]


@pytest.mark.parametrize("part", ["step", "archive", "disposition"])
def test_a_store_that_fails_ends_the_run(part: str):
    world, error = World(5, parallel=1), StorageError("disk is full")
    getattr(world, part).raises[url(1)] = error
    with pytest.raises(ExceptionGroup) as caught:
        world.run()
    assert caught.value.exceptions == (error,)
    assert world.disposition.urls == [url(0)]
    assert world.logs.errors == []


def test_what_is_ignored_is_not_fetched():
    world = World(3)
    world.ignored.use(["/1$"])
    world.run()
    assert sorted(world.step.begun) == [url(0), url(2)]
    assert world.disposition.visit(url(1)).status == FetchStatus.OUT_OF_SCOPE


# ---- shortage of file handles


def test_the_ceiling_of_a_shortage_holds_until_it_is_over():
    world, clock = World(20, parallel=8), Clock()
    clock.mono = 1000.0
    shortage = Shortage(world.engine, clock, lambda _text: None)
    world.step.open.clear()

    async def look() -> None:
        assert world.engine.busy == 8
        shortage.note()
        assert world.engine.ceiling == 4
        world.engine.pause()
        world.step.open.set()
        await turns()
        world.step.open.clear()
        world.engine.resume()
        await turns()
        assert world.engine.busy == 4
        clock.mono += CALM
        shortage.look()
        await turns()
        assert world.engine.busy == 8
        world.step.open.set()

    during(world, look)
    assert len(world.disposition.urls) == 20


def test_without_a_shortage_nothing_is_raised(shortage: Shortage, engine: "Busy"):
    shortage.look()
    assert (engine.ceiling, engine.woken) == (sys.maxsize, 0)


class Busy:
    """What a shortage sees of an engine."""

    def __init__(self) -> None:
        self.busy = 20
        self.ceiling = sys.maxsize
        self.woken = 0

    def halve(self) -> int:
        self.ceiling = max(min(self.busy, self.ceiling) // 2, 1)
        return self.ceiling

    def lift(self) -> None:
        self.ceiling = sys.maxsize
        self.woken += 1


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine() -> Busy:
    return Busy()


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def shortage(engine: Busy, clock: Clock, told: list[str]) -> Shortage:
    clock.mono = 1000.0
    return Shortage(cast("Engine", engine), clock, told.append)


def test_fetches_are_cut_in_half_until_there_are_handles(
    shortage: Shortage, engine: Busy, clock: Clock
):
    for _ in range(9):
        shortage.note()
    assert engine.ceiling == 10
    clock.mono += 5.0
    engine.busy = 10
    shortage.note()
    assert engine.ceiling == 5
    for _ in range(9):
        clock.mono += 5.0
        shortage.note()
    assert engine.ceiling == 1


def test_it_is_told_once_a_minute(shortage: Shortage, clock: Clock, told: list[str]):
    for _ in range(100):
        shortage.note()
        clock.mono += 1.0
    assert len(told) == 2
    assert "ulimit -n" in told[0]


def test_a_minute_after_it_was_told_it_is_told_again(
    shortage: Shortage, clock: Clock, told: list[str]
):
    shortage.note()
    clock.mono += CALM
    shortage.note()
    assert len(told) == 2


def test_after_a_minute_of_calm_all_is_as_before(shortage: Shortage, engine: Busy, clock: Clock):
    shortage.note()
    clock.mono += CALM - 1
    shortage.look()
    assert engine.ceiling == 10
    clock.mono += 1
    shortage.look()
    assert (engine.ceiling, engine.woken) == (sys.maxsize, 1)


def test_engine_works_with_one_more_toe_while_one_is_lent():
    world = World(5, parallel=1)
    world.step.open.clear()

    async def look() -> None:
        assert world.step.at_once == 1
        with world.engine.lend_toe():
            await turns()
            assert world.step.at_once == 2
            assert world.engine.parallel == 1
        world.step.open.set()

    during(world, look)
    assert sorted(world.disposition.urls) == [url(number) for number in range(5)]
    assert world.step.most == 2


def test_toes_that_are_lent_again_get_numbers_of_their_own():
    world = World(8, parallel=1)
    world.step.open.clear()

    async def look() -> None:
        with world.engine.lend_toe(), world.engine.lend_toe():
            await turns()
            assert sorted(world.engine.current) == [0, 1, 2]
        with world.engine.lend_toe(), world.engine.lend_toe(), world.engine.lend_toe():
            await turns()
            assert sorted(world.engine.current) == [0, 1, 2, 3]
        world.step.open.set()

    during(world, look)
    assert sorted(world.disposition.urls) == [url(number) for number in range(8)]


def test_a_toe_that_the_timer_wakes_and_that_leaves_wakes_the_next():
    world = World(1, parallel=1)
    world.frontier.refusals, world.frontier.wake_in = 1_000_000, 0.001

    async def look() -> None:
        before = world.frontier.asked
        with world.engine.lend_toe(), world.engine.lend_toe():
            # The lent toes ask, then the first one: a lent toe is the next that the timer wakes.
            while world.frontier.asked < before + 3:  # noqa: ASYNC110 - it has no event
                await asyncio.sleep(0)
        world.frontier.refusals = 0

    during(world, look)
    assert world.disposition.urls == [url(0)]


def test_number_of_a_toe_that_still_works_is_not_given_again():
    world = World(8, parallel=1)
    ends = [asyncio.Event() for _ in range(3)]
    world.step.open = ends[0]

    async def look() -> None:
        with world.engine.lend_toe():
            world.step.open = ends[1]
            await turns()
            with world.engine.lend_toe():
                world.step.open = ends[2]
                await turns()
        assert sorted(world.engine.current) == [0, 1, 2]
        world.step.open = asyncio.Event()
        ends[1].set()
        await turns()
        assert sorted(world.engine.current) == [0, 2], "toe 1 was lent"
        with world.engine.lend_toe(), world.engine.lend_toe():
            await turns()
            assert sorted(world.engine.current) == [0, 1, 2]
        for end in (*ends, world.step.open):
            end.set()

    during(world, look)
    assert sorted(world.disposition.urls) == [url(number) for number in range(8)]
