"""No schedule of pauses, limits, toes and faults leaves the engine standing with URIs to fetch."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Result, Visit
from nacre.engine.engine import Engine
from tests.engine.test_engine import FetchStep, ListFrontier, World
from tests.virtual_loop import run_virtually

_LOOK = 0.05
_LONGEST = 1.0 + 4 * _LOOK
"""Seconds within which an engine that may hand out a URI must do so: its own longest wait."""
_MANY = 99


class TimedFrontier(ListFrontier):
    """Hands out URIs from their times on."""

    def __init__(self, times: list[float]) -> None:
        super().__init__(len(times))
        self.times = sorted(times)

    def add(self, when: float) -> None:
        self.times = sorted([*self.times, when])
        self.queued.append(CrawlURI(f"http://b.test/{when}", b"k", "q"))

    def is_due(self, mono: float) -> bool:
        return bool(self.times) and self.times[0] <= mono

    def next(self, _now: float, mono: float) -> CrawlURI | None:
        if not self.is_due(mono):
            return None
        self.times.pop(0)
        return self.queued.popleft()

    def next_wake(self, mono: float) -> float | None:
        return max(self.times[0] - mono, 0.0) if self.times else None


@dataclass(frozen=True)
class Course:
    """What happens in a visit: it takes a time, may lend a toe meanwhile, and may fail."""

    seconds: float
    lends: bool
    fails: bool


class PlayedStep(FetchStep):
    """Plays the courses in turn."""

    def __init__(self, courses: list[Course]) -> None:
        super().__init__()
        self.courses = courses
        self.engine: Engine | None = None

    async def process(self, visit: Visit) -> Result:
        course = self.courses[len(self.begun) % len(self.courses)]
        self.begun.append(visit.uri.url)
        if course.lends and self.engine is not None:
            with self.engine.lend_toe():
                await asyncio.sleep(course.seconds)
        else:
            await asyncio.sleep(course.seconds)
        if course.fails:
            raise ValueError("a bug")
        visit.status = 200
        return Result.FINISH


class Play:
    """An engine, and what is done to it."""

    def __init__(self, courses: list[Course], times: list[float]) -> None:
        step = PlayedStep(courses)
        self.frontier = TimedFrontier(times)
        self.world = World(0, queues=self.frontier, step=step)
        self.engine = step.engine = self.world.engine
        self.limit = _MANY

    def do(self, action: str, number: int) -> None:
        """Do what operators, monitors and other tasks do; some of it wakes no toe."""
        engine = self.engine
        actions: dict[str, Callable[[], object]] = {
            "pause": engine.pause,
            "resume": engine.resume,
            "parallel": lambda: engine.set_parallel(number),
            "fill": lambda: self.set_saturated(saturated=True),
            "empty": lambda: self.set_saturated(saturated=False),
            "limit": lambda: self.set_limit(number - 1),
            "unlimit": lambda: self.set_limit(_MANY),
            "halve": engine.halve,
            "lift": engine.lift,
            "wake": engine.wake,
            "add": lambda: self.frontier.add(asyncio.get_running_loop().time() + number / 2),
        }
        actions[action]()

    def set_saturated(self, *, saturated: bool) -> None:
        self.world.commit.saturated = saturated

    def set_limit(self, limit: int) -> None:
        self.limit = limit
        self.engine.limit((lambda busy: busy >= limit) if limit != _MANY else None)

    def may_hand_out(self) -> bool:
        engine = self.engine
        is_free = engine.busy < min(engine.parallel, engine.ceiling, self.limit)
        return is_free and not (engine.is_halting or self.world.commit.saturated)

    async def watch(self) -> None:
        """Look that no URI stays in the frontier while the engine may hand it out."""
        loop = asyncio.get_running_loop()
        since, left = loop.time(), 0
        while not self.engine.stopped.is_set():
            is_waiting = self.may_hand_out() and self.frontier.is_due(loop.time())
            if not is_waiting or len(self.frontier.times) != left:
                since, left = loop.time(), len(self.frontier.times)
            assert loop.time() - since <= _LONGEST, f"a URI waits since {since:.2f}"
            await asyncio.sleep(_LOOK)

    async def perform(self, deeds: list[tuple[float, str, int]]) -> None:
        """Run the engine, and do all deeds; then take away what keeps it from its URIs."""
        world = self.world
        world.clock.monotonic = asyncio.get_running_loop().time  # type: ignore[method-assign]
        world.supervisor.ends = False
        async with asyncio.TaskGroup() as group:
            group.create_task(self.engine.run())
            group.create_task(self.watch())
            for seconds, action, number in deeds:
                await asyncio.sleep(seconds)
                self.do(action, number)
            self.do("empty", 0)
            self.do("unlimit", 0)
            if self.engine.is_halting:
                self.engine.resume()
            # The supervisor looks when nothing is in process, as often as a toe is woken.
            world.supervisor.ends = True


COURSES = st.lists(
    st.builds(
        Course,
        st.sampled_from((0.0, 0.001, 0.3, 1.0, 2.5)),
        st.booleans(),
        st.sampled_from((False, False, False, True)),
    ),
    min_size=1,
    max_size=6,
)
TIMES = st.lists(st.sampled_from((0.0, 0.0, 0.5, 1.0, 2.0, 4.0)), min_size=1, max_size=12)
ACTIONS = (
    *("pause", "resume", "parallel", "fill", "empty", "limit", "unlimit"),
    *("halve", "lift", "wake", "add"),
)
DEEDS = st.lists(
    st.tuples(
        st.sampled_from((0.0, 0.0, 0.001, 0.2, 0.999, 1.0, 1.7)),
        st.sampled_from(ACTIONS),
        st.integers(1, 5),
    ),
    max_size=14,
)


@given(courses=COURSES, times=TIMES, deeds=DEEDS)
@settings(max_examples=5 * settings().max_examples)
def test_no_schedule_leaves_a_uri_in_the_frontier_that_may_be_handed_out(
    courses: list[Course], times: list[float], deeds: list[tuple[float, str, int]]
):
    play = Play(courses, times)
    run_virtually(play.perform(deeds))
    added = sum(action == "add" for _, action, _ in deeds)
    assert not play.frontier.times
    assert len(play.world.disposition.urls) == len(times) + added
