"""How a continuous crawl waits for its next pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.machine.layout import Layout
from nacre.ops.passes import Waiting, _StoppedBetween
from nacre.runs.passes import NextPass, PassKeeper, find_recurring, lock_passes


class SetClock:
    """A clock that a test sets."""

    def __init__(self, time: float) -> None:
        self.time = time

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        raise AssertionError("passes begin by the time of day")

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("a command sleeps in its thread")


@contextmanager
def wait(
    root: Path, clock: SetClock, nap: Callable[[float], None]
) -> Iterator[tuple[Waiting, PassKeeper]]:
    with lock_passes(Layout(root), "--every 40s") as keeper:
        yield Waiting(Layout(root), keeper, clock, print, nap), keeper


def test_a_clock_that_is_set_back_while_one_waits_makes_the_wait_anew(tmp_path: Path):
    clock = SetClock(9000.0)
    asked: list[float] = []
    naps: list[float] = []

    def ask() -> NextPass:
        asked.append(clock.now())
        return NextPass(clock.now() + 3.5)

    def nap(seconds: float) -> None:
        naps.append(seconds)
        clock.time += seconds if len(naps) > 1 else -8000.0

    with wait(tmp_path, clock, nap) as (waiting, _):
        assert waiting.wait(ask)
    assert asked == [9000.0, 1000.0]
    assert naps == [1.0, 1.0, 1.0, 1.0, 0.5]


def test_who_wants_it_to_end_is_heard_within_a_nap(tmp_path: Path):
    clock, layout = SetClock(9000.0), Layout(tmp_path)
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        clock.time += seconds
        if len(naps) == 3:
            layout.control.mkdir()
            (layout.control / "stop").touch()

    with wait(tmp_path, clock, nap) as (waiting, _), pytest.raises(_StoppedBetween):
        waiting.wait(lambda: NextPass(9e9))
    assert len(naps) == 3
    assert not (layout.control / "stop").exists()


def test_a_wish_that_comes_as_the_wait_ends_is_heard(tmp_path: Path):
    clock, layout = SetClock(9000.0), Layout(tmp_path)

    def nap(seconds: float) -> None:
        clock.time += seconds
        layout.control.mkdir()
        (layout.control / "stop").touch()

    with wait(tmp_path, clock, nap) as (waiting, _), pytest.raises(_StoppedBetween):
        waiting.wait(lambda: NextPass(9000.5))


def test_what_is_waited_for_is_told_and_the_last_word_counts(tmp_path: Path):
    layout = Layout(tmp_path)
    assert find_recurring(layout) is None
    with wait(tmp_path, SetClock(1.0), lambda _: None) as (_, keeper):
        keeper.announce(NextPass(123456789.0, "http://a.test/通知: a long reason"))
        keeper.announce(NextPass(7.0, "short"))
        found = find_recurring(layout)
        assert found is not None
        assert (found.time, found.why, found.waits) == (7.0, "short", True)
        assert found.rhythm == "--every 40s"
    assert find_recurring(layout) is None


def test_what_is_no_note_of_passes_is_none(tmp_path: Path):
    layout = Layout(tmp_path)
    layout.state.mkdir()
    layout.passes.write_bytes(b"\xff[[[")
    assert find_recurring(layout) is None
    with wait(tmp_path, SetClock(1.0), lambda _: None):
        assert find_recurring(layout) is not None
