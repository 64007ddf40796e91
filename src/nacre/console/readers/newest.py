"""Questions of somebody who types: the newest one wins."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

from nacre.console.problems import RefusedRequestError
from nacre.messages import message


class _Place:
    """The questions of one asker: the number of the newest, and the turn of the one in process."""

    def __init__(self) -> None:
        self.newest = 0
        self.inside = 0
        self.turn = asyncio.Lock()


class NewestWins:
    """Lets one question of each asker through at a time; of those that wait, only the newest."""

    def __init__(self) -> None:
        self._places: dict[Hashable, _Place] = {}

    async def ask(self, key: Hashable, question: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - as the question gives it
        """Ask, unless a newer question of the same asker comes before its turn.

        Args:
            key: Whose question it is, and about what.
            question: Asks it.

        Raises:
            RefusedRequestError: A newer one came (409).
        """
        place = self._places.setdefault(key, _Place())
        place.newest += 1
        mine = place.newest
        place.inside += 1
        try:
            async with place.turn:
                if mine != place.newest:
                    raise RefusedRequestError(
                        409,
                        "newer",
                        message("console.newer-text", "a newer text was sent meanwhile"),
                    )
                return await question()
        finally:
            place.inside -= 1
            if not place.inside:
                self._places.pop(key, None)
