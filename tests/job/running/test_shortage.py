import sys
from typing import cast

import pytest

from nacre.job.running.engine import Engine
from nacre.job.running.shortage import CALM, Shortage
from tests.job.test_chain import Clock


class Busy:
    """What a shortage sees of an engine."""

    def __init__(self) -> None:
        self.busy = 20
        self.ceiling = sys.maxsize
        self.woken = 0

    def wake(self) -> None:
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


def test_after_a_minute_of_calm_all_is_as_before(shortage: Shortage, engine: Busy, clock: Clock):
    shortage.note()
    clock.mono += CALM - 1
    shortage.look()
    assert engine.ceiling == 10
    clock.mono += 1
    shortage.look()
    assert (engine.ceiling, engine.woken) == (sys.maxsize, 1)
