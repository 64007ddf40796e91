import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.states import ExitStatus
from nacre.inspect.stored_job import read_only
from nacre.job.activity import JobPace
from nacre.job.background.account import RunAccount
from nacre.job.overview import stored_overview
from nacre.machine.layout import Layout
from nacre.runs.runs import read_run
from tests.job.background.test_checkpoints import Clock
from tests.job.opened import opened


def test_a_run_knows_its_pace_between_two_looks(tmp_path: Path):
    async def play() -> None:
        clock = Clock()
        async with opened(tmp_path, clock=clock) as session:
            account = RunAccount(session, clock)
            assert account.pace() == JobPace()
            clock.until = clock.time + 100.0
            with suppress(TimeoutError):
                await account.run()
            assert account.pace() == JobPace(0.0, 0.0)

    asyncio.run(play())


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_is_set_changes_no_speed(tmp_path: Path, hours: int):
    class SetClock(Clock):
        """A clock whose time of day may be set."""

        ahead = 0.0

        def now(self) -> float:
            return self.time + self.ahead

    async def play() -> None:
        clock = SetClock()
        async with opened(tmp_path, clock=clock) as session:
            account, got = RunAccount(session, clock), session.statistics.totals
            for second in range(0, 600, 10):
                got.size, clock.time = 100 * second, clock.time + 10.0
                assert account.pace().bytes_rate in {None, 100.0}
            clock.ahead = 3600.0 * hours
            got.size, clock.time = got.size + 1000, clock.time + 10.0
            assert account.pace() == JobPace(0.0, 100.0)
            got.size, clock.time = got.size + 100, clock.time + 1.0
            assert account.pace().bytes_rate == 100.0

    asyncio.run(play())


def test_the_seeds_are_counted_at_the_end(tmp_path: Path):
    async def play() -> None:
        seeds = ("http://a.test/", "http://b.test/")
        async with opened(tmp_path, seeds=seeds) as session:
            account = RunAccount(session, session.clock)
            await account.ending(ExitStatus.ABORTED)
            found = account.seeds
            assert found is not None
            assert (found.total, found.got, found.waiting) == (2, 0, 2)

    asyncio.run(play())
    with read_only(str(Layout(tmp_path).store)) as store:
        told = stored_overview(store, read_run(store))
    assert (told.seeds, told.seeds_got) == (2, 0)
    assert told.too_deep == 0


def test_what_was_too_deep_is_counted_at_the_end(tmp_path: Path):
    async def play() -> None:
        async with opened(tmp_path, seeds=("http://a.test/",)) as session:
            candidates = session.scheduling.candidates
            far = CrawlURI("http://a.test/19", b"f" * 16, "test,a,", path="L" * 20)
            urls = "http://a.test/新闻/20", "http://a.test/20?p=2", "http://elsewhere.test/"
            links = [Outlink(url, Hop.LINK, "a/@href") for url in urls]
            assert not candidates.accepted(far, links), "21 hops are too many, or it is elsewhere"
            near = CrawlURI("http://a.test/2", b"n" * 16, "test,a,", path="LL")
            session.frontier.schedule([uri for _, uri in candidates.accepted(near, links[1:2])], 0)
            assert list(candidates.too_deep()) == [links[0].url]
            await RunAccount(session, session.clock).ending(ExitStatus.FINISHED)

    asyncio.run(play())
    with read_only(str(Layout(tmp_path).store)) as store:
        assert stored_overview(store, read_run(store)).too_deep == 1


def test_what_was_too_deep_of_a_poor_kind_is_counted_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def play() -> None:
        async with opened(tmp_path, seeds=("http://a.test/",)) as session:
            candidates = session.scheduling.candidates
            promises = {"http://a.test/kalender?d=21": True, "http://a.test/新闻/20": False}
            monkeypatch.setattr(candidates, "too_deep", lambda: iter(promises))
            monkeypatch.setattr(candidates, "promises_little", promises.__getitem__)
            await RunAccount(session, session.clock).ending(ExitStatus.FINISHED)

    asyncio.run(play())
    with read_only(str(Layout(tmp_path).store)) as store:
        told = stored_overview(store, read_run(store))
    assert (told.too_deep, told.too_deep_poor) == (2, 1)
