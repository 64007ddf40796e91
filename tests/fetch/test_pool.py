import asyncio

from nacre.fetch.connection import Connection, PoolKey
from nacre.fetch.pool import Pool

KEY = PoolKey("http", "192.0.2.1", 80)


class Wire(asyncio.Transport):
    """A transport that only remembers that it was aborted."""

    aborted = False

    def abort(self) -> None:
        self.aborted = True


def connection(key: PoolKey = KEY) -> Connection:
    made = Connection()
    made.connection_made(Wire())
    made.key = key
    return made


def aborted(made: Connection) -> bool:
    return isinstance(made.transport, Wire) and made.transport.aborted


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
