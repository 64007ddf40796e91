import asyncio
import errno
import ssl

import pytest

from nacre.fetch.connection import Connection
from nacre.fetch.dial import describe, race, weigh
from nacre.fetch.request import is_starvation
from tests.fetch.server import run
from tests.fetch.test_pool import aborted, connection


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "Connection refused (errno 111)"),
        (OSError(errno.EHOSTUNREACH, "No route\nto host"), "No route to host (errno 113)"),
        (ConnectionResetError(), "ConnectionResetError"),
        (OSError("odd\r\ntext"), "odd text"),
        (ssl.SSLError(1, "[SSL] wrong\nversion"), "[SSL] wrong version"),
    ],
)
def test_an_error_is_one_line_for_the_log(error: OSError, text: str) -> None:
    assert describe(error) == text


FAST = 0.02


class Dials:
    """Opens what the plan says: a delay and then success, or an error."""

    def __init__(self, **plan: tuple[float, bool]) -> None:
        self.plan = plan
        self.begun: list[str] = []
        self.opened: dict[str, Connection] = {}

    async def __call__(self, address: str) -> Connection:
        self.begun.append(address)
        delay, good = self.plan[address]
        await asyncio.sleep(delay)
        if not good:
            raise ConnectionRefusedError(address)
        self.opened[address] = connection()
        return self.opened[address]


def test_the_first_that_answers_at_once_is_alone() -> None:
    dials = Dials(a=(0, True), b=(0, True))
    assert run(race(["a", "b"], dials, FAST)) is dials.opened["a"]
    assert dials.begun == ["a"]


def test_a_slow_one_is_overtaken_and_cancelled() -> None:
    dials = Dials(a=(9, True), b=(0, True))
    assert run(race(["a", "b"], dials, FAST)) is dials.opened["b"]
    assert dials.begun == ["a", "b"]


def test_a_failure_starts_the_next_at_once() -> None:
    dials = Dials(a=(0, False), b=(0, False), c=(0, True))
    assert run(race(["a", "b", "c"], dials, 9)) is dials.opened["c"]


def test_when_all_fail_the_first_error_is_told() -> None:
    dials = Dials(a=(0, False), b=(0, False))
    with pytest.raises(ConnectionRefusedError, match="a"):
        run(race(["a", "b"], dials, FAST))


def test_a_lack_of_file_handles_is_told_before_other_errors() -> None:
    async def dial(address: str) -> Connection:
        raise OSError(errno.EMFILE if address == "b" else errno.ENETUNREACH, address)

    with pytest.raises(OSError, match="b") as caught:
        run(race(["a", "b"], dial, FAST))
    assert is_starvation(caught.value)


TELLING = (
    OSError(errno.EMFILE, "no handle"),
    ssl.SSLCertVerificationError(1, "certificate verify failed"),
    ConnectionResetError(errno.ECONNRESET, "reset"),
    TimeoutError("no answer"),
    ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
    OSError(errno.ENETUNREACH, "unreachable"),
)
"""Errors, the most telling first."""


def test_errors_have_an_order() -> None:
    weights = [weigh(error) for error in TELLING]
    assert weights == sorted(set(weights), reverse=True)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("telling", range(len(TELLING) - 1))
def test_the_most_telling_error_is_told(order: int, telling: int) -> None:
    errors = dict(zip("ab", TELLING[telling : telling + 2][::order], strict=True))

    async def dial(address: str) -> Connection:
        raise errors[address]

    with pytest.raises(OSError, match=str(TELLING[telling].args[-1])) as caught:
        run(race(["a", "b"], dial, FAST))
    assert caught.value is TELLING[telling]


def test_two_winners_at_once_leave_one() -> None:
    dials = Dials(a=(FAST, True), b=(0, True))

    async def main() -> Connection:
        return await race(["a", "b"], dials, FAST)

    winner = run(main())
    losers = [each for each in dials.opened.values() if each is not winner]
    assert all(aborted(each) for each in losers)
    assert not aborted(winner)


def test_cancelling_leaves_nothing_open() -> None:
    dials = Dials(a=(9, True), b=(9, True))

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(FAST * 3):
                await race(["a", "b"], dials, FAST)

    run(main())
    assert dials.begun == ["a", "b"]
    assert dials.opened == {}
