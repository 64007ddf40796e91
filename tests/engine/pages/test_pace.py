"""The pace of a page towards its hosts, and its budget."""

import asyncio
from typing import Any

import pytest

from nacre.browser.settings import BrowserSettings
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.engine.pages.pace import LEFT, PageBudget, PagePace, _Host


def settings(**values: Any) -> BrowserSettings:
    return BrowserSettings.model_validate({"gap": 0} | values)


def ended(status: int, retry_after: float | None = None) -> Visit:
    return Visit(CrawlURI("http://a.test/", b"k", "q"), status, retry_after=retry_after)


def test_few_requests_at_once_to_a_host_and_others_elsewhere():
    async def run() -> None:
        pace = PagePace(settings(per_host=2))
        for host in ("a.test", "a.test", "b.test"):
            assert await pace.start(host) == ""
        third = asyncio.ensure_future(pace.start("a.test"))
        await asyncio.sleep(0)
        assert not third.done()
        pace.finish("a.test", ended(200))
        assert await third == ""

    asyncio.run(run())


def test_starts_have_a_gap_between_them():
    host = _Host(4)
    assert host.plan_start(10.0, 0.05) == 0.0
    assert host.plan_start(10.0, 0.05) == pytest.approx(0.05)
    assert host.plan_start(10.0, 0.05) == pytest.approx(0.10)
    assert host.plan_start(11.0, 0.05) == 0.0


@pytest.mark.parametrize(
    ("reply", "is_refused"),
    [
        (ended(429), True),
        (ended(503, 60.0), True),
        (ended(503), False),
        (ended(200, 60.0), False),
        (ended(500), False),
    ],
)
def test_host_that_wants_a_pause_gets_no_more_requests_of_the_page(reply: Visit, is_refused: bool):
    async def run() -> None:
        pace = PagePace(settings())
        await pace.start("a.test")
        pace.finish("a.test", reply)
        refusal = await pace.start("a.test")
        assert bool(refusal) is is_refused
        assert await pace.start("b.test") == ""

    asyncio.run(run())


def test_requests_that_wait_are_refused_at_the_end_of_the_page():
    async def run() -> None:
        pace = PagePace(settings(gap=3600))
        assert await pace.start("a.test") == ""
        waiting = asyncio.ensure_future(pace.start("a.test"))
        await asyncio.sleep(0)
        pace.end()
        assert await waiting == LEFT
        assert await pace.start("b.test") == LEFT

    asyncio.run(run())


def test_budget_ends_with_the_limit_that_is_met_first():
    budget = PageBudget(settings(max_requests=2, max_bytes=100))
    assert budget.charge_request() == ""
    assert budget.charge_bytes(100)
    assert not budget.charge_bytes(1)
    assert budget.exceeded == "max_bytes"
    assert budget.charge_request() == "max_bytes"


def test_budget_counts_requests_and_the_time_of_servers():
    budget = PageBudget(settings(max_requests=1))
    assert budget.charge_request() == ""
    assert budget.charge_request() == "max_requests"
    slow = PageBudget(settings(server_time=1))
    slow.charge_time(1.5)
    assert slow.charge_request() == "server_time"
    assert slow.exceeded == "server_time"
