"""The fetches of a running job in process, as it answers them (pure)."""

from collections.abc import Mapping
from typing import Any

import msgspec


class FetchSlot(msgspec.Struct, frozen=True):
    """A toe and its visit.

    Attributes:
        toe: Its number.
        uri: The URL.
        path: Hop path from the seed.
        via: The page where it was found.
        attempts: Attempts made before.
        step: Step of its chain.
        seconds: Time since it was handed out.
        received: Bytes of the reply; null before it is complete.
    """

    toe: int
    uri: str
    path: str
    via: str
    attempts: int
    step: str
    seconds: float
    received: int | None = None


class ToeList(msgspec.Struct, frozen=True):
    """The toes of a job.

    Attributes:
        parallel: Number of toes.
        offset: Time that the clock is ahead of frontier time, seconds.
        toes: Those at work.
    """

    parallel: int
    offset: float
    toes: tuple[FetchSlot, ...]


def toe_list(answer: Mapping[str, Any]) -> ToeList:
    """The toes of an answer of a job."""
    return msgspec.convert({**answer}, ToeList)
