import asyncio

import pytest

from nacre.console.settings.config import NewestWins
from nacre.fleet.refusals import RefusedRequestError


def test_of_those_that_wait_only_the_newest_is_asked():
    asked: list[int] = []

    async def scene() -> None:
        wins, gate = NewestWins(), asyncio.Event()

        async def question(number: int) -> int:
            asked.append(number)
            await gate.wait()
            return number

        async def refused(number: int) -> None:
            with pytest.raises(RefusedRequestError):
                await wins.ask("anna", lambda: question(number))

        async def answered(number: int) -> None:
            assert await wins.ask("anna", lambda: question(number)) == number

        async with asyncio.TaskGroup() as group:
            group.create_task(answered(1))
            await asyncio.sleep(0)
            group.create_task(refused(2))
            group.create_task(refused(3))
            group.create_task(answered(4))
            await asyncio.sleep(0)
            gate.set()
        assert asked == [1, 4]
        assert await wins.ask("anna", lambda: question(5)) == 5

    asyncio.run(scene())
