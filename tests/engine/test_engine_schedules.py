"""No schedule of pauses, limits, toes and faults leaves the engine standing with URIs to fetch."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Result, Visit
from nacre.engine.engine import Engine
from nacre.frontier.frontier import Attempt
from tests.engine.test_engine import FetchStep, ListFrontier, World
from tests.virtual_loop import run_virtually

_LOOK = 0.05
_PROMPT = 2 * _LOOK
"""Seconds within which an engine that may hand out a URI does so."""
_LONGEST = 1.0 + _PROMPT
"""Seconds within which it does so if a URI enters and nothing wakes it: its own longest wait."""
_MANY = 99


class TimedFrontier(ListFrontier):
    """Hands out URIs from their times on."""

    def __init__(self, times: list[float]) -> None:
        super().__init__(0)
        self.times: list[float] = []
        self.ended: list[str] = []
        self._numbers = count()
        for when in times:
            self.add(when)

    def add(self, when: float) -> None:
        self.times = sorted([*self.times, when])
        number = next(self._numbers)
        self.queued.append(CrawlURI(f"http://b.test/{number}", b"%d" % number, "q"))

    def finished(self, uri: CrawlURI, _attempt: Attempt, _mono: float) -> None:
        self.ended.append(uri.url)

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
        self.quiet_until = 0.0

    def do(self, action: str, number: int) -> None:
        """Do what operators, monitors, pages and other tasks do; one of it wakes no toe."""
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
            "add": lambda: self.add(number / 2),
            "add-quietly": lambda: self.add(number / 2, wakes=False),
            "capture": lambda: self.capture(number),
            "nothing": lambda: None,
        }
        actions[action]()

    def add(self, seconds: float, *, wakes: bool = True) -> None:
        now = asyncio.get_running_loop().time()
        self.frontier.add(now + seconds)
        if wakes:
            self.engine.wake()
        else:
            self.quiet_until = now + _LONGEST

    def capture(self, number: int) -> None:
        """Let a page capture the next queued URIs."""
        for uri in list(self.frontier.queued)[:number]:
            self.engine.visits.captured.add(Visit(uri, 200))

    def set_saturated(self, *, saturated: bool) -> None:
        if saturated:
            self.world.commit.saturated = True
        else:
            self.world.commit.empty()

    def set_limit(self, limit: int) -> None:
        """See `Session.apply`, which wakes the engine after a change of settings."""
        self.limit = limit
        self.engine.limit((lambda busy: busy >= limit) if limit != _MANY else None)
        self.engine.wake()

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
            longest = _LONGEST if loop.time() <= self.quiet_until else _PROMPT
            assert loop.time() - since <= longest, f"a URI waits since {since:.2f}"
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
    *("halve", "lift", "wake", "add", "add-quietly", "capture"),
)
SECONDS = st.sampled_from((0.0, 0.0, 0.001, 0.2, 0.999, 1.0, 1.7))
NUMBERS = st.integers(1, 5)
HOLDS = (("pause", "resume"), ("fill", "empty"), ("limit", "unlimit"), ("halve", "lift"))


@st.composite
def holds(draw: st.DrawFn) -> list[tuple[float, str, int]]:
    """Draw a hold, its end, and a time in which nothing else happens."""
    begin, end = draw(st.sampled_from(HOLDS))
    number = draw(NUMBERS)
    return [(draw(SECONDS), begin, number), (draw(SECONDS), end, number), (0.5, "nothing", 0)]


DEED = st.tuples(SECONDS, st.sampled_from(ACTIONS), NUMBERS).map(lambda deed: [deed])
DEEDS = st.lists(st.one_of(DEED, DEED, holds()), max_size=10).map(
    lambda groups: [deed for group in groups for deed in group]
)


@given(courses=COURSES, times=TIMES, deeds=DEEDS)
@settings(max_examples=5 * settings().max_examples)
def test_no_schedule_leaves_a_uri_in_the_frontier_that_may_be_handed_out(
    courses: list[Course], times: list[float], deeds: list[tuple[float, str, int]]
):
    play = Play(courses, times)
    run_virtually(play.perform(deeds))
    added = sum(action.startswith("add") for _, action, _ in deeds)
    assert not play.frontier.times
    ended = [*play.world.disposition.urls, *play.frontier.ended]
    assert len(ended) == len(set(ended)) == len(times) + added
