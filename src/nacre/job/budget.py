"""What an incremental run may spend: requests, bytes or time."""

import re
from enum import StrEnum
from typing import NamedTuple

from nacre.config.component import parse_duration, parse_size
from nacre.errors import ConfigError

UNLIMITED = 1 << 40
_REQUESTS = re.compile(r"\s*([0-9][0-9_]*)\s*(?:requests?|r)?\s*\Z")
_ENOUGH = 50
"""Replies after which a run's own means are taken for those of the run before."""


class Unit(StrEnum):
    """What a budget counts."""

    REQUESTS = "requests"
    BYTES = "bytes"
    TIME = "time"


class Spent(NamedTuple):
    """What a run has spent so far.

    Attributes:
        requests: Replies, those that other URIs needed first left out.
        bytes: Bytes received.
        seconds: Time running.
    """

    requests: int
    bytes: int
    seconds: float


class Budget(NamedTuple):
    """A budget; none has no amount.

    Attributes:
        unit: What it counts.
        amount: How much: requests, bytes or seconds.
    """

    unit: Unit = Unit.REQUESTS
    amount: float = UNLIMITED

    def room(self, spent: Spent, bytes_each: float, seconds_each: float) -> int:
        """Requests that are left, by what one costs on average.

        Args:
            spent: So far.
            bytes_each: Mean bytes of a reply in the run before; 0 when unknown.
            seconds_each: Mean time for a reply there; 0 when unknown.
        """
        if self.amount >= UNLIMITED:
            return UNLIMITED
        if self.unit is Unit.REQUESTS:
            return max(0, int(self.amount) - spent.requests)
        used = spent.bytes if self.unit is Unit.BYTES else spent.seconds
        before = bytes_each if self.unit is Unit.BYTES else seconds_each
        each = used / spent.requests if spent.requests >= _ENOUGH else before
        left = self.amount - used
        return max(0, int(left / each)) if each > 0.0 else (_ENOUGH if left > 0 else 0)


def parse_budget(text: str) -> Budget:
    """A budget as it is typed: `500`, `500 requests`, `2GB`, `3h`; "" for none.

    Raises:
        ConfigError: It is none of these.
    """
    if not text.strip():
        return Budget()
    match = _REQUESTS.match(text)
    if match:
        return Budget(Unit.REQUESTS, float(int(match[1].replace("_", ""))))
    try:
        if text.rstrip().lower().endswith("b"):
            return Budget(Unit.BYTES, float(str(parse_size(text))))
        return Budget(Unit.TIME, float(str(parse_duration(text))))
    except ValueError:
        raise ConfigError(
            f"--budget {text!r} is no budget; write requests (500), bytes (2GB) or time (3h)"
        ) from None
