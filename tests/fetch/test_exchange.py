import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.fetch.exchange import Bucket, Deadlines, Exchange, ExchangeEnd, Throttle
from nacre.fetch.settings import FetchSettings
from nacre.fetch.spool import Spool
from nacre.wire.http1 import ReplyReader
from nacre_simweb.loop import SimLoop
from tests.fetch.server import OK, SystemClock, run
from tests.fetch.test_connection import Wire

T = TypeVar("T")


def run_simulated(main: Coroutine[Any, Any, T]) -> T:
    """Run while time jumps from one timer to the next, however busy the machine is."""
    with asyncio.Runner(loop_factory=lambda: SimLoop(lambda _: None)) as runner:
        return runner.run(main)


def exchange(deadline: float = 5, **settings: Any) -> Exchange:
    """A begun exchange; the deadline is counted from now."""
    made = Exchange(
        SystemClock(),
        ReplyReader(),
        Spool().sink(),
        FetchSettings(**settings),
        deadlines=Deadlines(asyncio.get_running_loop()),
        deadline=asyncio.get_running_loop().time() + deadline,
    )
    made.begin(Wire())
    return made


def test_the_end_of_the_reply_is_the_end() -> None:
    async def main() -> None:
        made = exchange()
        made.received(OK + b"Content-Length: 2\r\n\r\n")
        assert not made.over
        assert made.first_byte > 0
        made.received(b"hi")
        assert (await made.done, made.sink.length) == (ExchangeEnd.COMPLETE, 2)
        made.closed(None, clean=True)
        assert made.error is None

    run(main())


@pytest.mark.parametrize(
    ("deadline", "silence", "end"), [(5, 3, ExchangeEnd.SILENT), (3, 5, ExchangeEnd.OVERTIME)]
)
def test_limits_of_time(deadline: float, silence: float, end: ExchangeEnd) -> None:
    async def main() -> ExchangeEnd:
        return await exchange(deadline, silence_timeout=silence).done

    assert run_simulated(main()) is end


def test_each_byte_breaks_the_silence() -> None:
    async def main() -> ExchangeEnd:
        made = exchange(6, silence_timeout=4)
        made.received(OK)
        await asyncio.sleep(3)
        made.received(b"X: y\r\n")
        return await made.done

    assert run_simulated(main()) is ExchangeEnd.OVERTIME


def test_a_failure_is_raised_where_it_is_waited_for() -> None:
    async def main() -> None:
        made = exchange()
        made.fail(KeyError("bug"))
        made.fail(KeyError("another"))
        with pytest.raises(KeyError, match="bug"):
            await made.done

    run(main())


def test_bytes_held_back_come_at_the_close() -> None:
    async def main() -> None:
        made = exchange()
        made.received(b"\n\n")
        made.closed(None, clean=True)
        assert (await made.done, made.sink.length) == (ExchangeEnd.CLOSED, 2)

    run(main())


class Loop:
    """Time that stands still, and the timers that were set."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.set = 0

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, call: Callable[[], None]) -> "Handle":
        self.set += 1
        timer = (when, call)
        self.timers.append(timer)
        return Handle(self, timer)

    def go(self, until: float) -> None:
        """Let the timers fire that are due by then; there is one at most."""
        while self.timers and self.timers[0][0] <= until:
            self.now, call = self.timers.pop()
            call()
        self.now = until


class Handle:
    """Of a timer; cancelling it again changes nothing."""

    def __init__(self, loop: Loop, timer: tuple[float, Callable[[], None]]) -> None:
        self._loop, self._timer = loop, timer

    def cancel(self) -> None:
        if self._timer in self._loop.timers:
            self._loop.timers.remove(self._timer)


class Task:
    """Ends at its due time, which may be put off."""

    def __init__(self, deadlines: Deadlines, due: float) -> None:
        self.due = due
        self.ended: float | None = None
        self._deadlines = deadlines
        deadlines.watch(self, due)

    def look(self, now: float) -> None:
        if now >= self.due:
            self.ended = now
            self._deadlines.drop(self)


def made() -> tuple[Loop, Deadlines]:
    loop = Loop()
    return loop, Deadlines(cast("asyncio.AbstractEventLoop", loop))


def test_each_ends_at_its_time_in_whatever_order_they_came() -> None:
    loop, deadlines = made()
    tasks = [Task(deadlines, due) for due in (3.0, 1.0, 2.0)]
    loop.go(10.0)
    assert [task.ended for task in tasks] == [3.0, 1.0, 2.0]
    assert loop.timers == []


def test_what_was_put_off_ends_later() -> None:
    loop, deadlines = made()
    task = Task(deadlines, 1.0)
    task.due = 1.5
    loop.go(1.2)
    assert task.ended is None
    loop.go(2.0)
    assert task.ended == 1.5


def test_a_thousand_that_end_in_time_set_one_timer() -> None:
    loop, deadlines = made()
    for count in range(1000):
        loop.now = count / 1000
        deadlines.drop(Task(deadlines, loop.now + 20))
    loop.go(100.0)
    assert loop.set == 1


def test_many_that_are_due_soon_after_each_other_are_looked_at_together() -> None:
    loop, deadlines = made()
    tasks = [Task(deadlines, 1.0 + count / 1000) for count in range(1000)]
    loop.go(3.0)
    assert loop.set <= 22
    assert all(task.ended is not None and task.ended - task.due < 0.06 for task in tasks)


def test_nothing_is_watched_after_the_end() -> None:
    loop, deadlines = made()
    task = Task(deadlines, 1.0)
    deadlines.close()
    loop.go(5.0)
    assert task.ended is None


@given(st.integers(100, 10_000), st.lists(st.integers(1, 5000), min_size=1, max_size=50))
def test_the_rate_is_kept_on_average(rate: int, sizes: list[int]) -> None:
    bucket, now = Bucket(), 1000.0
    for size in sizes:
        now += bucket.take(size, rate, now)
    passed = now - 1000.0
    assert sum(sizes) <= rate * (passed + 0.25) + 1e-6
    assert passed <= sum(sizes) / rate


def test_what_rested_may_burst_a_little() -> None:
    bucket = Bucket()
    assert bucket.take(250, 1000, 50.0) == 0.0
    assert 0.099 < bucket.take(100, 1000, 50.0) < 0.101
    assert 0.099 < bucket.wait(50.0) < 0.101
    assert bucket.wait(51.0) == 0.0


def test_hosts_wait_for_themselves_and_all_for_the_whole() -> None:
    throttle = Throttle()
    assert throttle.meter("a", 0, 0.0) is None
    slow, quick = throttle.meter("a", 1000, 9.0), throttle.meter("b", 10_000, 9.0)
    assert slow is not None
    assert quick is not None
    assert slow(1250, 9.0) == 1.0
    assert quick(1250, 9.0) == 0.0
    again = throttle.meter("a", 1000, 9.0)
    assert again is not None
    assert again(1000, 9.0) == 2.0
    assert throttle.wait(9.0) == 0.0
    throttle.total = 100
    assert quick(125, 9.0) == 1.0
    assert throttle.wait(9.0) == 1.0
    throttle.total = 0
    assert throttle.wait(9.0) == 0.0


def test_hosts_at_rest_are_forgotten() -> None:
    throttle = Throttle()
    for number in range(10_050):
        throttle.meter(f"h{number}", 10, float(number))
    assert len(throttle._hosts) < 100
