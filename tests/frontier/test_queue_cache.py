"""Queues in memory, their settings, and frontier time."""

import pytest

from nacre.config.effective import Effective, fixed
from nacre.frontier.policy import Backoff
from nacre.frontier.queue_cache import (
    FrontierTime,
    NoSheets,
    QueueCache,
    QueueSettings,
    read_queue,
    scan_queues,
)
from nacre.frontier.queues import Queue, QueueRow, QueueState, Totals
from nacre.frontier.rows import queue_id
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from tests.frontier.making import candidate
from tests.frontier.memory_rows import MemoryRows


class LastLetter:
    """The sheet 1 for URLs that end with `x`."""

    def of(self, uri: object) -> int:
        return self.of_url(uri.url)  # type: ignore[attr-defined]

    def of_url(self, url: str) -> int:
        return int(url.endswith("x"))


def settings_of(*sheets: dict[str, object], in_flight: int = 4) -> QueueSettings:
    every = [FrontierSettings.model_validate(sheet) for sheet in sheets or ({},)]
    polite = [PolitenessSettings(in_flight=in_flight) for _ in every]
    return QueueSettings(Effective(every), Effective(polite), LastLetter())


def cache_of(
    rows: MemoryRows, run: int = 1, memory: int = 50_000, time: FrontierTime | None = None
) -> QueueCache:
    settings = FrontierSettings(max_queues_in_memory=memory)
    of_queues = QueueSettings(fixed(settings), fixed(PolitenessSettings()), NoSheets())
    return QueueCache(rows, Totals(run=run), time or FrontierTime(1000.0, 0.0, 3.0), of_queues)


# ---- settings


def test_a_crawl_without_sheets_has_the_first_settings() -> None:
    none = NoSheets()
    assert (none.of(candidate("a", "x")), none.of_url("http://a/x")) == (0, 0)


@pytest.mark.parametrize(
    ("sheet", "spent", "over"),
    [
        ({}, 10**9, False),
        ({"queue_total_budget": 5}, 4, False),
        ({"queue_total_budget": 5}, 5, True),
        ({"queue_total_budget": 0}, 0, True),
        ({"force_retire": True}, 0, True),
    ],
)
def test_a_budget_is_that_of_the_sheets_of_the_queue(
    sheet: dict[str, object], spent: int, over: bool
) -> None:
    settings = settings_of({}, sheet)
    queue = Queue(QueueRow("a,", spent=spent))
    assert not settings.is_over_budget(queue)
    queue.use_sheets(1)
    assert settings.is_over_budget(queue) is over


def test_a_queue_out_of_memory_finds_its_sheets_by_its_last_url() -> None:
    settings = settings_of({}, {"balance_replenish": 7})
    queue = Queue(QueueRow("a,", last_queued="http://a/x"))
    settings.find_overlay(queue)
    assert settings.replenish(queue) == 7
    queue.row.hand_out("http://a/y", 1.0)
    settings.find_overlay(queue)
    assert settings.replenish(queue) == 3000


def test_a_site_that_asks_for_it_is_fetched_from_one_at_a_time() -> None:
    settings, queue = settings_of(), Queue(QueueRow("a,"))
    assert settings.limit(queue) == 4
    queue.row.set_pace(1.0, None, alone=True)
    assert settings.limit(queue) == 1


def test_last_tries_can_only_be_shortened() -> None:
    settings = settings_of({"last_tries_within": 60, "last_extras_within": 30})
    assert (settings.last_tries_within, settings.last_extras_within) == (60, 30)
    settings.shorten_last_tries(20.0)
    assert (settings.last_tries_within, settings.last_extras_within) == (20, 20)
    settings.shorten_last_tries(200.0)
    assert settings.last_tries_within == 60
    settings.shorten_last_tries(None)
    assert settings.last_tries_within == 60


def test_what_holds_for_the_whole_crawl_is_said_without_sheets() -> None:
    choice = {"policy": "highest-uri", "base": 2}
    settings = settings_of({"queue_precedence": choice, "precedence_floor": 9}, {})
    assert settings.whole.precedence_floor == settings.precedence_floor == 9
    assert settings.base_precedence == 2
    assert settings.orders_by_uri
    assert not settings_of().orders_by_uri


# ---- time


def test_frontier_time_runs_with_the_monotonic_clock() -> None:
    time = FrontierTime(1000.0, 5.0, 3.0)
    assert (time.now, time.at(7.0)) == (1005.0, 1007.0)
    time.advance(6.5)
    assert (time.mono, time.now) == (6.5, 1006.5)


@pytest.mark.parametrize(
    ("wake", "delay", "old", "mono"),
    [
        (1020.0, 2.0, False, 20.0),
        (1000.0, 2.0, False, 0.0),
        (1000.0, 2.0, True, 8.0),  # the delay of a restart, from its start at 5
        (1000.0, 9.0, True, 14.0),
        (1020.0, 9.0, True, 20.0),
    ],
)
def test_a_queue_of_an_earlier_run_waits_its_delay_from_the_start(
    wake: float, delay: float, old: bool, mono: float
) -> None:
    assert FrontierTime(1000.0, 5.0, 3.0).first_wake(wake, delay, old=old) == mono


# ---- the cache


def test_a_new_queue_is_written_at_once() -> None:
    rows = MemoryRows()
    cache = cache_of(rows)
    assert cache.get("a,") is None
    queue = cache.find("a,")
    assert cache.find("a,") is queue
    assert cache.get("a,") is queue
    stored = read_queue(rows, queue_id("a,"))
    assert stored is not None
    assert (stored.name, stored.state, stored.run) == ("a,", QueueState.EXHAUSTED, 1)
    assert read_queue(rows, queue_id("b,")) is None


def test_what_changed_is_written_with_the_next_save() -> None:
    rows = MemoryRows()
    cache = cache_of(rows)
    queue = cache.find("a,")
    queue.row.set_pace(7.0, Backoff(2.0, 0.5), alone=None)
    cache.touch(queue)
    cache.touch(queue)
    before = read_queue(rows, queue.identity)
    cache.save()
    after = read_queue(rows, queue.identity)
    assert before is not None
    assert after is not None
    assert (before.delay, after.delay, after.backoff) == (0.0, 7.0, 2.0)
    queue.row.set_pace(9.0, None, alone=None)
    cache.save()
    assert read_queue(rows, queue.identity) == after, "it was not touched"


def test_queues_of_the_store_keep_their_wake_time() -> None:
    rows = MemoryRows()
    cache = cache_of(rows)
    queue = cache.find("a,")
    queue.wait_until(50.0, 1050.0)
    cache.touch(queue)
    cache.save()
    assert cache_of(rows).find("a,").wake == 50.0
    later = FrontierTime(1040.0, 0.0, 3.0)
    assert cache_of(rows, run=2, time=later).find("a,").wake == 10.0
    later = FrontierTime(1049.0, 0.0, 3.0)
    assert cache_of(rows, run=2, time=later).find("a,").wake == 3.0
    assert cache_of(rows, run=1, time=later).find("a,").wake == 1.0


def test_only_so_many_queues_stay_in_memory_and_what_changed_is_not_lost() -> None:
    rows = MemoryRows()
    cache = cache_of(rows, memory=16)
    first = cache.find("q0,")
    first.row.set_pace(7.0, None, alone=None)
    cache.touch(first)
    for number in range(1, 30):
        cache.find(f"q{number},")
    assert len(list(cache.in_memory())) <= 16
    assert cache.get("q0,") is None
    stored = read_queue(rows, first.identity)
    assert stored is not None
    assert stored.delay == 7.0
    assert {row.name for row in scan_queues(rows)} == {f"q{n}," for n in range(30)}


def test_what_is_busy_stays_in_memory() -> None:
    cache = cache_of(MemoryRows(), memory=16)
    busy = []
    for number in range(20):
        busy.append(cache.find(f"busy{number},"))
        cache.keep(busy[-1])
    assert cache.busy == 20
    for number in range(40):
        cache.find(f"q{number},")
    assert all(cache.get(queue.name) is queue for queue in busy)
    for queue in busy:
        cache.release(queue)
    assert cache.busy == 0
    assert len(list(cache.in_memory())) <= 16


def test_many_queues_are_loaded_with_one_look_up() -> None:
    rows = MemoryRows()
    known = cache_of(rows)
    for name in "abc":
        known.find(f"{name},")
    cache = cache_of(rows)
    before = rows.gets
    cache.preload(["a,"])
    assert list(cache.in_memory()) == [], "one is looked up when it is asked for"
    cache.preload(["a,", "b,", "b,", "new,"])
    cache.preload(["a,", "b,", "new,"])
    assert {queue.name for queue in cache.in_memory()} == {"a,", "b,", "new,"}
    assert rows.gets == before + 1


def test_many_queues_are_scanned_in_chunks() -> None:
    rows = MemoryRows()
    cache = cache_of(rows)
    for number in range(600):
        cache.find(f"q{number},")
    names = []
    for row in scan_queues(rows):
        names.append(row.name)
        cache.find(f"later{len(names)},")
    assert {f"q{number}," for number in range(600)} <= set(names)
    assert len(names) == len(set(names))
