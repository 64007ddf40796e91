import asyncio
from collections.abc import Callable
from typing import cast

from nacre.fetch.deadlines import Deadlines


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
