import asyncio

from nacre.config.effective import fixed
from nacre.core.crawluri import Hop, Outlink
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.job.chain.plan import Bound, FetchPlan
from nacre.job.running.engine import Chain
from nacre.report.steps import Steps, read_steps
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
    steps = Steps(store)
    first, shut = Step("first", clock, 3), Step("shut", clock, gate=False)
    second, last = Step("second", clock, 2), Step("last", clock)
    listed = [first, shut, second, last]
    plan: FetchPlan = tuple(Bound(one, steps.add("Fetch", one.name, one)) for one in listed)
    chain = Chain(fixed(plan), clock)
    asyncio.run(chain.run(make_visit()))
    second.result = Result.FINISH
    asyncio.run(chain.run(make_visit("http://b.test/")))
    steps.seal()
    assert [(s.name, s.handled, s.links, s.seconds) for s in read_steps(store)] == [
        ("first", 2, 6, 4.0),
        ("shut", 0, 0, 0.0),
        ("second", 2, 4, 4.0),
        ("last", 1, 0, 2.0),
    ]
    assert first.seen == ["first", "first"]
    assert chain.last == ("second", "http://b.test/")


def test_what_nothing_fetched_cannot_be_fetched():
    step = Step("extract", Clock())
    plan: FetchPlan = (Bound(step, Steps(Store(MemoryEngine())).add("Fetch", "extract", step)),)
    visit = make_visit("ftp://a.test/", status=0)
    asyncio.run(Chain(fixed(plan), step.clock).run(visit))
    assert visit.status == FetchStatus.UNFETCHABLE
    assert "ftp" in visit.error
    step.result = Result.FINISH
    ended = make_visit("ftp://a.test/", status=0)
    asyncio.run(Chain(fixed(plan), step.clock).run(ended))
    assert ended.status == 0
