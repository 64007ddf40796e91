"""The budget of an incremental run: requests, bytes or time."""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from nacre.config.component import parse_duration, parse_size
from nacre.errors import ConfigError
from nacre.messages import message

UNLIMITED = 1 << 40
_REQUESTS = re.compile(r"\s*([0-9][0-9_]*)\s*(?:requests?|r)?\s*\Z")
_DAY = frozenset(("day", "d", "24h"))
_HOURS = 24
DAY = 86_400.0
_ENOUGH = 50
"""Replies after which a run's own means are taken for those of the run before."""
_LEAST = 10
"""No fewer requests at a time, so that hosts are visited beside each other."""


class BudgetUnit(StrEnum):
    """The unit that a budget counts."""

    REQUESTS = "requests"
    BYTES = "bytes"
    TIME = "time"


_UNITS = tuple(BudgetUnit)


class Spent(NamedTuple):
    """The part of the budget that a run has spent so far.

    Attributes:
        requests: Replies, those that other URIs needed first left out.
        bytes: Bytes received.
        seconds: Time running.
    """

    requests: int
    bytes: int
    seconds: float

    def plus(self, amounts: tuple[int, int, float]) -> "Spent":
        """Both together."""
        return Spent(self.requests + amounts[0], self.bytes + amounts[1], self.seconds + amounts[2])

    def of(self, unit: BudgetUnit) -> float:
        """Return the amount in one unit."""
        return (self.requests, self.bytes, self.seconds)[_UNITS.index(unit)]


class Budget(NamedTuple):
    """A budget; none has no amount.

    Attributes:
        unit: What it counts.
        amount: How much: requests, bytes or seconds.
        daily: For all runs of any 24 hours together; else for one run.
    """

    unit: BudgetUnit = BudgetUnit.REQUESTS
    amount: float = UNLIMITED
    daily: bool = False

    def room(self, spent: Spent, bytes_each: float, seconds_each: float) -> int:
        """Return the remaining requests, by their average cost.

        Args:
            spent: So far.
            bytes_each: Mean bytes of a reply in the run before; 0 when unknown.
            seconds_each: Mean time for a reply there; 0 when unknown.
        """
        if self.amount >= UNLIMITED:
            return UNLIMITED
        if self.unit is BudgetUnit.REQUESTS:
            return max(0, int(self.amount) - spent.requests)
        used = spent.bytes if self.unit is BudgetUnit.BYTES else spent.seconds
        before = bytes_each if self.unit is BudgetUnit.BYTES else seconds_each
        cost = used / spent.requests if spent.requests >= _ENOUGH else before
        remaining = self.amount - used
        return max(0, int(remaining / cost)) if cost > 0.0 else (_ENOUGH if remaining > 0 else 0)

    def portion(self, spent: Spent, room: int) -> int:
        """Return the requests, of those that remain, before the room is computed again.

        Bytes and time are known by their means alone, and one page may be as long as a hundred
        others: the less is known of the mean, the sooner it is computed again.
        """
        if self.amount >= UNLIMITED or self.unit is BudgetUnit.REQUESTS:
            return room
        return max(_LEAST, room // (2 if spent.requests >= _ENOUGH else 8))


def parse_budget(text: str) -> Budget:
    """Return a budget as it is typed: `500`, `500 requests`, `2GB`, `3h`, `5000/day`; "" for none.

    Raises:
        ConfigError: It is none of these.
    """
    if not text.strip():
        return Budget()
    amount, _, per = text.partition("/")
    daily = per.strip().lower() in _DAY
    try:
        unit, number = _amount(amount if daily else text)
    except ValueError:
        raise ConfigError(
            message(
                "runs.budget-is-not-budget",
                "--budget {text!r} is not a budget; write requests (500), bytes (2GB) or time "
                "(3h), for one run, or with /day for all runs of a day",
                text=text,
            )
        ) from None
    return Budget(unit, number, daily)


def _amount(text: str) -> tuple[BudgetUnit, float]:
    match = _REQUESTS.match(text)
    if match:
        return BudgetUnit.REQUESTS, float(int(match[1].replace("_", "")))
    if text.rstrip().lower().endswith("b"):
        return BudgetUnit.BYTES, float(str(parse_size(text)))
    return BudgetUnit.TIME, float(str(parse_duration(text)))


class EndedRun(NamedTuple):
    """A run that is over: its end, seconds since the epoch, and its costs."""

    time: float
    spent: Spent


def spent_lately(runs: Iterable[EndedRun], now: float) -> Spent:
    """Return the amounts that runs spent which ended within the last 24 hours.

    One that seems to have ended more than a day from now ended before the clock was set back: it
    counts no more, or nothing could be spent until then.
    """
    total = Spent(0, 0, 0.0)
    for run in runs:
        if now - DAY < run.time <= now + DAY:
            total = total.plus(run.spent)
    return total


def affordable(budget: Budget, runs: Sequence[EndedRun], now: float) -> float:
    """The time when a daily budget has room for an hour's share again, seconds since the epoch."""
    if not budget.daily:
        return now
    share = budget.amount / _HOURS
    runs = [run for run in runs if run.time <= now + DAY]
    for time in (now, *sorted(run.time + DAY for run in runs if run.time + DAY > now)):
        if budget.amount - spent_lately(runs, time).of(budget.unit) >= share:
            return time
    return now
