"""The numbers of a job, running and at rest."""

import asyncio
from pathlib import Path

from msgspec import structs

from nacre.core.crawluri import CrawlURI
from nacre.core.message_data import to_builtins
from nacre.core.processor import Visit
from nacre.core.states import CRASHED, ExitStatus, JobState
from nacre.frontier.frontier import Attempt
from nacre.frontier.policy import DelayCause, Retry
from nacre.inspect.stored_job import reading_store
from nacre.inspect.view import reading
from nacre.job.overview import (
    facts_of,
    live_overview,
    longest_fetches,
    queue_facts,
    slowest_queues,
    stored_overview,
)
from nacre.job.session import Session
from nacre.machine.layout import Layout
from nacre.runs.runs import read_run
from nacre.scope.patterns.matching import any_text, matcher
from nacre.settings.new_job import NewJob, create_job
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.engine.visiting import ManualClock
from tests.job.opened import opened
from tests.store.memory import MemoryEngine

SEEDS = ("http://a.test/", "http://a.test/2", "http://b.test/")


def made(root: Path) -> Layout:
    layout = Layout(root / "job")
    create_job(layout, NewJob(SEEDS, (), {}, ""))
    return layout


async def touched(layout: Layout) -> Session:
    async with opened(layout.root, seeds=SEEDS) as session:
        await session.editor.delete(lambda url: url.endswith("/2"), any_text)
    return session


def test_a_job_that_never_ran():
    assert stored_overview(Store(MemoryEngine()), None).state == "NASCENT"


def test_a_running_job_and_what_its_store_tells_afterwards(tmp_path: Path):
    layout = made(tmp_path)

    async def play() -> None:
        async with opened(layout.root, seeds=SEEDS) as session:
            await session.editor.delete(lambda url: url.endswith("/2"), any_text)
            live = live_overview(session)
            assert (live.state, live.run) == ("PREPARING", session.run_row.name)
            assert (live.discovered, live.queued, live.finished) == (3, 2, 1)
            assert (live.deleted, live.disregarded, live.refused) == (1, 1, 0)
            assert live.parallel == JobSettings().engine.parallel
            assert (live.busy, live.trouble, live.gives_up) == (0, "", 0.0)

    asyncio.run(play())
    with reading_store(layout) as store:
        stored = stored_overview(store, read_run(store))
    assert stored.state == CRASHED, "no end of the run is noted"
    assert (stored.queued, stored.deleted, stored.parallel, stored.busy) == (2, 1, 0, 0)


def test_queues_with_their_facts(tmp_path: Path):
    layout = made(tmp_path)
    asyncio.run(touched(layout))
    with reading(layout, JobSettings()) as view:
        found = {facts.queue: facts.pending for facts in queue_facts(view, any_text)}
        assert found == {"test,a,": 1, "test,b,": 1}
        assert [facts.queue for facts in queue_facts(view, matcher("b,$"))] == ["test,b,"]
        one = facts_of(view, "test,a,")
        assert one is not None
        assert (one.pending, one.retrying, one.budget) == (1, 0, None)
        keys = (
            "queue state why sharers pending retrying precedence spent budget balance successes "
            "failures delay backoff shares last"
        )
        assert list(to_builtins(one)) == keys.split()
        assert facts_of(view, "test,nowhere,") is None


def test_the_slowest_queues_and_the_longest_fetches(tmp_path: Path):
    async def play() -> None:
        clock = ManualClock()
        async with opened(tmp_path, seeds=SEEDS, clock=clock) as session:
            frontier, engine = session.frontier, session.engine
            assert slowest_queues(frontier) == [], "no delay is known yet"
            for toe, (url, started) in enumerate(
                [("http://a.test/", 9.0), ("http://b.test/", 4.0)]
            ):
                engine.current[toe] = Visit(CrawlURI(url, b"", ""), started=started)
            moment = clock.monotonic()
            assert [(one.url, one.seconds) for one in longest_fetches(engine, clock)] == [
                ("http://b.test/", max(moment - 4.0, 0.0)),
                ("http://a.test/", max(moment - 9.0, 0.0)),
            ]
            assert len(longest_fetches(engine, clock, 1)) == 1
            engine.current.clear()
            seed = frontier.next(clock.now(), clock.monotonic())
            assert seed is not None
            attempt = Attempt(200, 22.5, cause=DelayCause.SLOW)
            frontier.finished(seed, attempt, clock.monotonic())
            queue = next(one for one in frontier.queues_in_memory() if one.row.delay)
            queue.row.size += 1
            slow = slowest_queues(frontier)[0]
            queue.row.size -= 1
            assert (slow.delay, slow.cause, slow.most) == (22.5, "slow", 30.0)

    asyncio.run(play())


def test_an_end_that_is_noted_is_the_state(tmp_path: Path):
    layout = made(tmp_path)
    asyncio.run(touched(layout))
    with reading_store(layout) as store:
        run = read_run(store)
        assert run is not None
        ended = structs.replace(run, exit=ExitStatus.ABORTED)
        assert stored_overview(store, ended).state == "ABORTED"


def test_of_what_is_only_tried_again_the_queue_and_the_next_time_are_told(tmp_path: Path):
    async def play() -> None:
        async with opened(tmp_path, clock=ManualClock()) as session:
            now, mono = session.clock.now(), session.clock.monotonic()
            uri = session.frontier.next(now, mono)
            assert uri is not None
            retry = Retry(now + 600.0)
            session.frontier.retry(uri, Attempt(-2, error="refused"), retry, now, mono)
            held = live_overview(session)
            assert held.trouble == f"{uri.url}: refused (-2, try 1)"
            assert (held.trouble_queue, held.next_try) == (uri.queue, 0.0), "it does not run"
            session.state = JobState.RUNNING
            for _ in range(9):  # retries are looked through first
                session.frontier.next(now, session.clock.monotonic())
            assert now < live_overview(session).next_try <= now + 601.0

    asyncio.run(play())
