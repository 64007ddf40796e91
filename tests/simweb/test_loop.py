"""The simulated loop: time jumps only when everybody sleeps."""

import asyncio

import pytest

from nacre_simweb.answer import Sending
from nacre_simweb.loop import SimLoop


def run(main, respond=lambda _: None):
    loop = SimLoop(respond)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(main())


def test_months_pass_at_once():
    async def main():
        loop, order = asyncio.get_running_loop(), []

        async def sleeper(days):
            await asyncio.sleep(days * 86400)
            order.append((days, loop.time()))

        async with asyncio.TaskGroup() as group:
            for days in (90, 1, 30):
                group.create_task(sleeper(days))
        return order

    assert [(days, round(time)) for days, time in run(main)] == [
        (1, 86400), (30, 30 * 86400), (90, 90 * 86400),
    ]  # fmt: skip


def test_time_stands_still_while_there_is_work():
    async def main():
        loop = asyncio.get_running_loop()
        for _ in range(1000):
            await asyncio.sleep(0)
        value = await loop.run_in_executor(None, lambda: 42)
        return value, loop.time()

    assert run(main) == (42, 0.0)


def test_errors_of_threads_arrive():
    async def main():
        await asyncio.get_running_loop().run_in_executor(None, lambda: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        run(main)


def test_a_simulation_that_nobody_wakes_says_so():
    async def main():
        await asyncio.get_running_loop().create_future()

    loop = SimLoop(lambda _: None)
    task = loop.create_task(main())
    with pytest.raises(RuntimeError, match="stands still"):
        loop.run_until_complete(task)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        loop.run_until_complete(task)
    loop.close()


class Client(asyncio.Protocol):
    def __init__(self):
        self.events = []

    def data_received(self, data):
        self.events.append((round(asyncio.get_running_loop().time(), 3), data))

    def eof_received(self):
        self.events.append("eof")

    def connection_lost(self, error):
        self.events.append("lost")


def test_a_connection_to_a_world():
    def respond(head):
        assert head.endswith(b"\r\n\r\n")
        if b"drip" in head:
            return Sending(((0.0, b"a"), (5.0, b"b")), close=True)
        return Sending(((0.0, b"whole"),), close=False)

    async def main():
        loop = asyncio.get_running_loop()
        transport, client = await loop.create_connection(Client, "198.18.0.1", 80)
        assert transport.get_extra_info("peername") == ("198.18.0.1", 80)
        transport.write(b"GET / HTTP/1.1\r\n")
        await asyncio.sleep(1)
        assert client.events == []
        transport.write(b"\r\n")
        await asyncio.sleep(1)
        transport.write(b"GET /drip HTTP/1.1\r\n\r\n")
        transport.pause_reading()
        await asyncio.sleep(3)
        transport.resume_reading()
        await asyncio.sleep(10)
        assert transport.is_closing()
        return client.events

    assert run(main, respond) == [(1.04, b"whole"), (5.02, b"a"), (10.02, b"b"), "eof", "lost"]
