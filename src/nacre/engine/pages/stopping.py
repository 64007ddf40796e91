"""Ends pages in a browser when the crawl stops: one that is not whole soon is fetched again."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")

STOP_GRACE = 3.0
"""Seconds for pages that are open when the crawl stops; then they go back to their queues."""


async def finish_or_cancel(
    work: Coroutine[object, object, T], stopped: asyncio.Event, grace: float | None = None
) -> T | None:
    """Await some work; cancel it a moment after the crawl has stopped.

    Args:
        work: What is awaited.
        stopped: Set when the crawl stops.
        grace: Seconds that it gets then; None for `STOP_GRACE`.

    Returns:
        Its result; None if it was cancelled.
    """
    task = asyncio.ensure_future(work)
    stop = asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait((task, stop), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await asyncio.wait((task,), timeout=STOP_GRACE if grace is None else grace)
        if task.done():
            return task.result()
        return None
    finally:
        stop.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait((task,))
