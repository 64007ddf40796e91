import asyncio
import socket
import time
from collections.abc import Coroutine
from contextlib import closing

import pytest

from nacre.core.capture import Trust
from nacre.fetch.connection import Connection, PoolKey
from nacre.fetch.pool import MAX_UNPROVEN, Pool

KEY = PoolKey("http", "192.0.2.1", 80)


class Wire(asyncio.Transport):
    """A transport that only remembers that it was aborted."""

    aborted = half_closed = False

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.half_closed = True


class Sockets:
    """A pair of sockets below a connection: what is sent stays unread."""

    def __init__(self, connection: Connection) -> None:
        own, self._peer = socket.socketpair()
        self._own = own
        wire(connection)._extra["socket"] = own  # type: ignore[attr-defined]  # of the base class

    def send(self, data: bytes) -> None:
        self._peer.send(data)

    def close(self) -> None:
        self._own.close()
        self._peer.close()


def connection(key: PoolKey = KEY) -> Connection:
    made = Connection()
    made.connection_made(Wire())
    made.key = key
    return made


def wire(made: Connection) -> Wire:
    assert isinstance(made.transport, Wire)
    return made.transport


def aborted(made: Connection) -> bool:
    return wire(made).aborted


def test_the_newest_is_taken_first_and_only_for_its_place() -> None:
    pool, one, two = Pool(), connection(), connection()
    pool.put(one, 1.0)
    pool.put(two, 2.0)
    assert pool.take(KEY._replace(port=81), 2.0) is None
    assert pool.take(KEY._replace(tls="strict"), 2.0) is None
    assert pool.take(KEY, 2.0) is two
    assert pool.take(KEY, 2.0) is one
    assert pool.take(KEY, 2.0) is None


def test_the_least_recently_used_gives_way() -> None:
    pool = Pool(size=2)
    made = [connection(KEY._replace(port=port)) for port in range(1, 4)]
    for number, each in enumerate(made):
        pool.put(each, float(number))
    assert [aborted(each) for each in made] == [True, False, False]
    assert len(pool) == 2


def test_one_that_ended_at_rest_is_forgotten() -> None:
    pool, one = Pool(), connection()
    pool.put(one, 1.0)
    one.connection_lost(None)
    assert len(pool) == 0
    assert pool.take(KEY, 1.0) is None


def test_one_that_rested_too_long_is_not_used() -> None:
    pool, one = Pool(max_age=60), connection()
    pool.put(one, 1.0)
    assert pool.take(KEY, 62.0) is None
    assert aborted(one)
    assert len(pool) == 0


def test_bytes_at_rest_end_it() -> None:
    pool, one = Pool(), connection()
    pool.put(one, 1.0)
    one.data_received(b"unasked")
    assert aborted(one)
    assert pool.take(KEY, 1.0) is None


def test_one_that_is_dead_is_not_kept() -> None:
    pool, one = Pool(), connection()
    one.connection_lost(None)
    pool.put(one, 1.0)
    assert len(pool) == 0


def test_closing_aborts_all() -> None:
    pool, made = Pool(), [connection(), connection()]
    for each in made:
        pool.put(each, 1.0)
    pool.close()
    assert all(aborted(each) for each in made)
    assert len(pool) == 0


REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
TIRED = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"


def used(pool: Pool, *firsts: bool, key: PoolKey = KEY) -> tuple[Connection, list[Trust]]:
    """A connection that carried some replies."""
    made, trusts = connection(key), [Trust(first=first) for first in firsts]
    made.unproven = list(trusts)
    made.listen(pool.surplus)
    return made, trusts


@pytest.mark.parametrize(
    ("rested", "data", "suspects"),
    [
        (0.0, REPLY, [True, True, True]),
        (0.0, b"\r\n" + REPLY, [True, True, True]),
        (0.0, b"garbage", [False, True, True]),
        (0.0, TIRED, [False, False, False]),
        (9.0, REPLY, [False, False, False]),
    ],
)
def test_what_a_surplus_at_rest_puts_in_doubt(
    rested: float, data: bytes, suspects: list[bool]
) -> None:
    async def main() -> None:
        pool, now = Pool(), asyncio.get_running_loop().time()
        one, trusts = used(pool, True, False, False)
        other = connection()
        pool.put(one, now - rested)
        pool.put(other, now)
        one.data_received(data)
        assert [trust.suspect for trust in trusts] == suspects
        assert aborted(one)
        # Where one connection brought a reply unasked, no other is used again.
        assert (pool.take(KEY, now) is other) is (not any(suspects))
        pool.close()

    asyncio.run(main())


def test_a_long_rest_proves_what_came_before() -> None:
    async def main() -> None:
        pool = Pool()
        one, (trust,) = used(pool, False)
        one.slowest = 1.0
        pool.put(one, 10.0)
        assert pool.take(KEY, 13.9) is one
        assert one.unproven == [trust]
        pool.put(one, 20.0)
        assert pool.take(KEY, 24.0) is one
        assert one.unproven == []
        pool.close()

    asyncio.run(main())


class StalledLoop(asyncio.SelectorEventLoop):
    """A loop of a process that others kept from running: its time passes between two turns."""

    stalled = 0.0

    def time(self) -> float:
        return super().time() + self.stalled


def stalled_run(work: Coroutine[None, None, None]) -> None:
    with asyncio.Runner(loop_factory=StalledLoop) as runner:
        runner.run(work)


def stall(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, StalledLoop)
    loop.stalled += seconds


@pytest.mark.parametrize("lingers", [False, True])
@pytest.mark.parametrize("turns", [0, 1, 2])
def test_a_stalled_process_proves_nothing(turns: int, lingers: bool) -> None:
    """A reply that came while the process was stopped is read when it goes on."""

    async def main() -> None:
        pool, now = Pool(), asyncio.get_running_loop().time()
        connection, (trust,) = used(pool, False)
        (pool.linger if lingers else pool.put)(connection, now)
        stall(100.0)
        for _ in range(turns):  # timers that are overdue run before what lies in the socket
            await asyncio.sleep(0)
        assert not aborted(connection)
        connection.data_received(REPLY)
        assert trust.suspect
        pool.close()

    stalled_run(main())


@pytest.mark.parametrize("seconds", [30.0, 100.0])
def test_unread_bytes_accuse_after_a_stall(seconds: float) -> None:
    async def main() -> None:
        pool = Pool()
        connection, (trust,) = used(pool, False)
        with closing(Sockets(connection)) as sockets:
            pool.put(connection, asyncio.get_running_loop().time())
            sockets.send(REPLY)
            stall(seconds)
            assert pool.take(KEY, asyncio.get_running_loop().time()) is None
            connection.data_received(REPLY)
            assert trust.suspect
            pool.close()

    stalled_run(main())


def test_unread_bytes_after_a_long_rest_accuse_nobody() -> None:
    async def main() -> None:
        pool, now = Pool(), asyncio.get_running_loop().time()
        connection, (trust,) = used(pool, False)
        with closing(Sockets(connection)) as sockets:
            pool.put(connection, now - 9.0)
            sockets.send(REPLY)
            assert pool.take(KEY, now) is None
            connection.data_received(REPLY)
            assert not trust.suspect
            pool.close()

    asyncio.run(main())


def test_rest_after_a_stall_proves_what_came_before() -> None:
    async def main() -> None:
        pool = Pool()
        connection, _ = used(pool, False)
        pool.put(connection, asyncio.get_running_loop().time())
        stall(100.0)
        await asyncio.sleep(0)
        for _ in range(16):  # 3.2 s in which it runs
            stall(0.2)
            await asyncio.sleep(0)
        assert connection.unproven == []
        pool.close()

    stalled_run(main())


def test_what_was_never_quiet_is_given_up_in_the_end_and_heard_out() -> None:
    async def main() -> None:
        pool, now = Pool(), asyncio.get_running_loop().time()
        one, trusts = used(pool, *[False] * MAX_UNPROVEN)
        pool.put(one, now)
        assert (len(pool), pool.take(KEY, now)) == (0, None)
        assert not aborted(one)
        one.data_received(REPLY)
        assert all(trust.suspect for trust in trusts)

    asyncio.run(main())


def test_settling_waits_for_what_is_in_doubt_only() -> None:
    async def main() -> None:
        pool, now = Pool(), asyncio.get_running_loop().time()
        proven, _ = used(pool, False, key=KEY._replace(port=81))
        pool.put(proven, now - 5.0)
        one, (trust,) = used(pool, False)
        two, _ = used(pool, False, key=KEY._replace(port=82))
        pool.put(one, now)
        pool.linger(two, now)
        settling = asyncio.ensure_future(pool.settle())
        await asyncio.sleep(0)
        assert wire(one).half_closed
        assert wire(two).half_closed
        assert not wire(proven).half_closed
        two.connection_lost(None)
        one.data_received(REPLY)
        one.connection_lost(None)
        await settling
        assert trust.suspect
        assert not aborted(proven)
        await pool.settle()
        pool.close()

    asyncio.run(main())


def test_a_process_that_had_no_turn_has_not_heard_a_server_out() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        pool = Pool()
        one, (trust,) = used(pool, False)
        pool.put(one, loop.time())

        def arrive(turns: int) -> None:
            """What lies in the socket is read some turns of the loop after the stall."""
            if turns:
                loop.call_soon(arrive, turns - 1)
            elif not aborted(one):
                one.data_received(REPLY)
                one.connection_lost(None)

        def stall() -> None:
            time.sleep(0.15)  # longer than it waits
            arrive(5)

        loop.call_soon(stall)
        await pool.settle()
        assert trust.suspect

    asyncio.run(main())


def test_places_that_are_not_trusted_are_forgotten_when_they_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nacre.fetch.pool._MAX_DISTRUSTED", 3)
    pool = Pool()
    keys = [KEY._replace(port=port) for port in range(9)]
    for key in keys:
        pool.distrust(key)
    for key in keys:
        pool.put(connection(key), 1.0)
    assert [pool.take(key, 1.0) is None for key in keys] == [False] * 6 + [True] * 3
