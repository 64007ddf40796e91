"""Tests that are coroutines."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import ParamSpec

P = ParamSpec("P")


def in_loop(test: Callable[P, Coroutine[object, object, None]]) -> Callable[P, None]:
    """Run a test in a loop of its own."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


async def wait_until(condition: Callable[[], object], seconds: float = 100.0) -> None:
    """Wait for something that comes from another process."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - the other process sets no event
            await asyncio.sleep(0.005)
