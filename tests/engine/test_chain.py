import asyncio

import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import Hop, Outlink
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.engine.candidates.rejected_uris import Ignored
from nacre.engine.chain.plan import Bound, FetchPlan
from nacre.engine.visits import Chain
from nacre.report.statistics import ChainStatistics, read_step_counts
from nacre.store.store import Store
from tests.report.visits import make_visit
from tests.store.memory import MemoryEngine


class Clock:
    def __init__(self) -> None:
        self.mono = 0.0

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return self.mono

    async def sleep(self, seconds: float) -> None:
        self.mono += seconds


class Step:
    """Takes its time, and finds links."""

    def __init__(self, name: str, clock: Clock, links: int = 0, *, gate: bool = True) -> None:
        self.name = name
        self.clock = clock
        self.links = links
        self.gate = gate
        self.result = Result.PROCEED
        self.seen: list[str] = []

    def accepts(self, visit: Visit) -> bool:
        return self.gate

    async def process(self, visit: Visit) -> Result:
        self.seen.append(visit.step)
        await self.clock.sleep(2.0)
        found = [Outlink("http://a.test/", Hop.LINK, "a/@href")] * self.links
        visit.outlinks = [*visit.outlinks, *found]
        return self.result


def test_each_step_is_counted():
    store, clock = Store(MemoryEngine()), Clock()
    steps = ChainStatistics(store)
    first, shut = Step("first", clock, 3), Step("shut", clock, gate=False)
    second, last = Step("second", clock, 2), Step("last", clock)
    listed = [first, shut, second, last]
    plan: FetchPlan = tuple(Bound(one, steps.add("Fetch", one.name, one)) for one in listed)
    chain = Chain(fixed(plan), clock, Ignored())
    asyncio.run(chain.run(make_visit()))
    second.result = Result.FINISH
    asyncio.run(chain.run(make_visit("http://b.test/")))
    steps.seal()
    assert [(s.name, s.handled, s.links, s.seconds) for s in read_step_counts(store)] == [
        ("first", 2, 6, 4.0),
        ("shut", 0, 0, 0.0),
        ("second", 2, 4, 4.0),
        ("last", 1, 0, 2.0),
    ]
    assert first.seen == ["first", "first"]
    assert chain.last == ("second", "http://b.test/")


def test_what_nothing_fetched_cannot_be_fetched():
    step = Step("extract", Clock())
    plan: FetchPlan = (
        Bound(step, ChainStatistics(Store(MemoryEngine())).add("Fetch", "extract", step)),
    )
    visit = make_visit("ftp://a.test/", status=0)
    asyncio.run(Chain(fixed(plan), step.clock, Ignored()).run(visit))
    assert visit.status == FetchStatus.UNFETCHABLE
    assert "ftp" in visit.error
    step.result = Result.FINISH
    ended = make_visit("ftp://a.test/", status=0)
    asyncio.run(Chain(fixed(plan), step.clock, Ignored()).run(ended))
    assert ended.status == 0


class Dropping(Step):
    """Takes all links away but one."""

    async def process(self, visit: Visit) -> Result:
        visit.outlinks = visit.outlinks[:1]
        return self.result


def test_links_are_counted_where_they_are_added_and_not_where_they_are_dropped():
    clock, steps = Clock(), ChainStatistics(Store(MemoryEngine()))
    listed = [Step("one", clock, 3), Dropping("two", clock), Step("three", clock, 2)]
    plan: FetchPlan = tuple(Bound(one, steps.add("Fetch", one.name, one)) for one in listed)
    visit = make_visit()
    visit.outlinks = [Outlink("http://a.test/known", Hop.LINK, "a/@href")]
    asyncio.run(Chain(fixed(plan), clock, Ignored()).run(visit))
    assert [bound.step.links for bound in plan] == [3, 0, 2]
    assert len(visit.outlinks) == 3


@pytest.mark.parametrize(
    ("status", "retire", "expected"), [(0, "", -7), (0, "quota", 0), (200, "", 200), (-2, "", -2)]
)
def test_only_what_no_step_dealt_with_is_refused(status: int, retire: str, expected: int):
    visit = make_visit("http://a.test/", status=status)
    visit.retire = retire
    asyncio.run(Chain(fixed(()), Clock(), Ignored()).run(visit))
    assert visit.status == expected
    assert bool(visit.error) is (expected == -7)


def test_what_is_ignored_meets_no_step():
    ignored, step = Ignored(), Step("one", Clock())
    ignored.use(["a.test"])
    plan: FetchPlan = (Bound(step, ChainStatistics(Store(MemoryEngine())).add("Fetch", "x", step)),)
    visit = make_visit("http://a.test/", status=0)
    chain = Chain(fixed(plan), step.clock, ignored)
    asyncio.run(chain.run(visit))
    assert (visit.status, step.seen, chain.last) == (-5000, [], ("", ""))


def test_the_disposition_is_the_last_thing_that_began():
    chain = Chain(fixed(()), Clock(), Ignored())
    chain.disposing(make_visit("http://a.test/"))
    assert chain.last == ("disposition", "http://a.test/")
