"""Happy eyeballs: several addresses, a new attempt each 250 ms, the first to connect wins.

Source: RFC 8305; uvloop has none of its own.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from nacre.fetch.connection import Connection
from nacre.fetch.starvation import is_starvation

STAGGER = 0.25
"""Seconds between the beginnings of two attempts, unless one fails earlier."""

Open = Callable[[str], Awaitable[Connection]]


async def race(addresses: Sequence[str], open_one: Open, stagger: float = STAGGER) -> Connection:
    """Connect to the first address that answers; the losers are aborted.

    Raises:
        OSError: No attempt succeeded: the error of the first, or a lack of file handles.
    """
    if len(addresses) == 1:
        return await open_one(addresses[0])
    outcomes: list[Connection | OSError] = []
    try:
        async with asyncio.TaskGroup() as group:
            await _run(group, addresses, open_one, outcomes, stagger)
    except BaseException:
        _abort(outcomes)
        raise
    winners = [outcome for outcome in outcomes if isinstance(outcome, Connection)]
    if not winners:
        errors = [outcome for outcome in outcomes if isinstance(outcome, OSError)]
        raise next((error for error in errors if is_starvation(error)), errors[0])
    _abort(winners[1:])
    return winners[0]


async def _run(
    group: asyncio.TaskGroup,
    addresses: Sequence[str],
    open_one: Open,
    outcomes: list[Connection | OSError],
    stagger: float,
) -> None:
    """Start the attempts, and cancel what runs once one has won."""

    async def attempt(address: str) -> None:
        try:
            outcomes.append(await open_one(address))
        except OSError as error:
            outcomes.append(error)

    waiting = deque(addresses)
    pending: set[asyncio.Task[None]] = set()
    while waiting or pending:
        if waiting:
            pending.add(group.create_task(attempt(waiting.popleft())))
        _, pending = await asyncio.wait(
            pending,
            timeout=stagger if waiting else None,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if any(isinstance(outcome, Connection) for outcome in outcomes):
            break
    for task in pending:
        task.cancel()


def _abort(outcomes: Sequence[Connection | OSError]) -> None:
    for outcome in outcomes:
        if isinstance(outcome, Connection):
            outcome.abort()
