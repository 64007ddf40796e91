"""Room for pages: one of a queue at a time, and toes that are lent for a few."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from nacre.engine.pages.room import WAITING, PageRoom


class Lender:
    def __init__(self) -> None:
        self.lent = self.most = 0

    @contextmanager
    def lend(self) -> Iterator[None]:
        self.lent += 1
        self.most = max(self.most, self.lent)
        try:
            yield
        finally:
            self.lent -= 1


def test_pages_of_a_queue_are_never_open_at_once():
    async def run() -> None:
        room, order = PageRoom(lambda: 8, Lender().lend, bool), list[str]()

        async def open_page(queue: str, name: str) -> None:
            async with room.enter(queue):
                order.append(f"begin {name}")
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                order.append(f"end {name}")

        async with asyncio.TaskGroup() as group:
            for queue, name in (("a", "a1"), ("a", "a2"), ("b", "b1")):
                group.create_task(open_page(queue, name))
        assert order.index("end a1") < order.index("begin a2")
        assert order.index("begin b1") < order.index("end a1")
        assert room._queues == {}

    asyncio.run(run())


def test_toes_are_lent_for_open_pages_and_a_few_that_wait():
    async def run() -> None:
        lender, go = Lender(), asyncio.Event()
        room = PageRoom(lambda: 2, lender.lend, bool)

        async def open_page(number: int) -> None:
            async with room.enter(f"q{number}"):
                await go.wait()

        async with asyncio.TaskGroup() as group:
            for number in range(20):
                group.create_task(open_page(number))
            await asyncio.sleep(0)
            assert lender.lent == 2 * (1 + WAITING)
            go.set()
        assert (lender.lent, lender.most) == (0, 2 * (1 + WAITING))
        # What was lent is there again.
        async with room.enter("q"):
            assert lender.lent == 1

    asyncio.run(run())


def test_no_more_pages_than_places_are_open():
    async def run() -> None:
        room, number = PageRoom(lambda: 2, Lender().lend, bool), [0, 0]

        async def open_page(queue: str) -> None:
            async with room.enter(queue) as may_open:
                assert may_open
                number[0] += 1
                number[1] = max(number)
                await asyncio.sleep(0)
                number[0] -= 1

        async with asyncio.TaskGroup() as group:
            for queue in "abcdef":
                group.create_task(open_page(queue))
        assert number == [0, 2]

    asyncio.run(run())


def test_pages_that_wait_are_not_opened_once_the_crawl_halts():
    async def run() -> None:
        halts, answers = list[bool](), list[bool]()
        room = PageRoom(lambda: 1, Lender().lend, lambda: bool(halts))

        async def open_page(queue: str) -> None:
            async with room.enter(queue) as may_open:
                answers.append(may_open)
                await asyncio.sleep(0)
                halts.append(True)

        async with asyncio.TaskGroup() as group:
            for queue in "aab":
                group.create_task(open_page(queue))
        assert answers == [True, False, False]

    asyncio.run(run())
