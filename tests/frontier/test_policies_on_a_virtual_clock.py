"""Budgets, turns and the floor over a whole crawl, on a virtual clock."""

from collections import Counter
from itertools import groupby
from random import Random

import pytest

from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.queues import QueueState
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from tests.frontier.making import NOW, candidate, frontier
from tests.frontier.memory_rows import MemoryRows

DELAY = 3.0


def crawl(front: Frontier, mono: float = 0.0, most: int = 10**6) -> tuple[list[str], float]:
    """Fetch one after the other, each in 0.1 s; the queues in order, and when it was over."""
    order: list[str] = []
    while len(order) < most:
        uri = front.next(NOW + mono, mono)
        if uri is None:
            wait = front.next_wake(mono)
            if wait is None:
                break
            mono += max(wait, 0.001)
            continue
        order.append(uri.queue)
        mono += 0.1
        front.finished(uri, Attempt(200, DELAY), mono)
    return order, mono


def filled(settings: FrontierSettings, sizes: dict[str, int]) -> Frontier:
    front = frontier(MemoryRows(), settings, PolitenessSettings(delay=DELAY))
    for host, size in sizes.items():
        front.schedule([candidate(host, str(n)) for n in range(size)], NOW)
    return front


@pytest.mark.parametrize("budget", [1, 7, 30])
def test_no_queue_spends_more_than_its_budget(budget: int) -> None:
    sizes = {f"h{n}": Random(budget).randrange(1, 40) for n in range(30)}
    front = filled(FrontierSettings(queue_total_budget=budget), sizes)
    order, _ = crawl(front)
    done = Counter(order)
    assert done == {f"{host},": min(size, budget) for host, size in sizes.items()}
    rows = [front.queue_states.find(f"{host},").row for host in sizes]
    assert {row.spent for row in rows} <= set(range(budget + 1))
    retired = sum(size > budget for size in sizes.values())
    assert front.totals.states[QueueState.RETIRED] == retired
    assert front.totals.queued == 0


def test_budgets_raised_step_by_step_fetch_everything_once() -> None:
    sizes = {f"h{n}": 3 * n + 1 for n in range(10)}
    front = filled(FrontierSettings(queue_total_budget=5), sizes)
    order, mono = crawl(front)
    for budget in (10, 20, -1):
        front.queue_states.settings.frontier.replace([FrontierSettings(queue_total_budget=budget)])
        while front.operator.step(3):
            pass
        more, mono = crawl(front, mono)
        order += more
    assert Counter(order) == {f"{host},": size for host, size in sizes.items()}
    assert front.is_empty


def test_turns_end_when_the_balance_is_spent() -> None:
    settings = FrontierSettings(balance_replenish=4, max_queues_in_memory=16)
    front = filled(settings, dict.fromkeys("abc", 12))
    front.queue_states.settings.politeness.replace([PolitenessSettings(delay=0)])
    for host in "abc":
        assert front.queue_states.find(f"{host},").row.state is QueueState.INACTIVE
    order = []
    while (uri := front.next(NOW, 0.0)) is not None:
        order.append(uri.queue)
        front.finished(uri, Attempt(200), 0.0)
    turns = [(name, len(list(same))) for name, same in groupby(order)]
    assert turns == [(f"{host},", 4) for host in "abc"] * 3


def test_a_floor_that_rises_and_falls_loses_nothing() -> None:
    random = Random(4)
    front = filled(FrontierSettings(), {f"h{n}": 5 for n in range(20)})
    order, mono = crawl(front, most=30)
    for _ in range(6):
        floor = random.choice([1, 3, 4, 255])
        front.queue_states.settings.frontier.replace([FrontierSettings(precedence_floor=floor)])
        while front.operator.step(7):
            pass
        closed = floor <= 3
        more, mono = crawl(front, mono, most=1000 if closed else 10)
        if closed:  # those that are active hand out what they had taken up, at most
            assert len(more) <= 20
        order += more
    front.queue_states.settings.frontier.replace([FrontierSettings()])
    while front.operator.step(7):
        pass
    more, _ = crawl(front, mono)
    assert Counter(order + more) == {f"h{n},": 5 for n in range(20)}
