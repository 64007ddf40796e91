import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from nacre.fetch.deadlines import Deadlines
from nacre.fetch.exchange import End, Exchange
from nacre.fetch.settings import FetchSettings
from nacre.fetch.spool import Spool
from nacre.simweb.loop import SimLoop
from nacre.wire.http1 import ReplyReader
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
        assert (await made.done, made.sink.length) == (End.COMPLETE, 2)
        made.closed(None, clean=True)
        assert made.error is None

    run(main())


@pytest.mark.parametrize(("deadline", "silence", "end"), [(5, 3, End.SILENT), (3, 5, End.OVERTIME)])
def test_limits_of_time(deadline: float, silence: float, end: End) -> None:
    async def main() -> End:
        return await exchange(deadline, silence_timeout=silence).done

    assert run_simulated(main()) is end


def test_each_byte_breaks_the_silence() -> None:
    async def main() -> End:
        made = exchange(6, silence_timeout=4)
        made.received(OK)
        await asyncio.sleep(3)
        made.received(b"X: y\r\n")
        return await made.done

    assert run_simulated(main()) is End.OVERTIME


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
        made.received(b"HTT")
        made.closed(None, clean=True)
        assert (await made.done, made.sink.length) == (End.CLOSED, 3)

    run(main())
