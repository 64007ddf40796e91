"""When the next run is worth its while, and why (pure)."""

from typing import NamedTuple

import msgspec

from nacre.history.verdict.deletion import Existence, Life, next_look
from nacre.job.studies.known import Known
from nacre.job.studies.model import Model, is_visited
from nacre.report.units import span

_DAY = 86_400.0


class Trigger(msgspec.Struct, frozen=True):
    """The next run.

    Attributes:
        time: When it is due, seconds since the epoch; 0 when there is nothing to base it on.
        why: The reason.
        visits: Known pages that it would visit now.
        changes: Changes that it would find now, as expected.
        reasons: Those visits by reason.
    """

    time: float
    why: str
    visits: int
    changes: float
    reasons: dict[str, int]


class _Wish(NamedTuple):
    time: float
    why: str


def next_trigger(known: Known, model: Model, interval: float, doubt: str = "") -> Trigger:
    """The earliest of what calls for a run.

    Args:
        known: What is known.
        model: Its rates.
        interval: The recommended days between runs.
        doubt: Why that is no more than a guess, so that nothing is based on it; "" when it is sure.
    """
    plan = model.plan(known.now)
    reasons: dict[str, int] = {}
    for bid in plan.chosen:
        reasons[bid.reason] = reasons.get(bid.reason, 0) + 1
    by_interval = [] if doubt else _interval(known, interval)
    wishes = [*by_interval, *_told(known), *_looks(known)]
    first = min(wishes, default=_Wish(0.0, doubt or "no run has ended yet"))
    return Trigger(first.time, first.why, len(plan.chosen), plan.found, reasons)


def _interval(known: Known, interval: float) -> list[_Wish]:
    runs = known.runs()
    if not runs:
        return []
    why = f"the recommended interval of {span(interval)} since the last run began is over then"
    return [_Wish(runs[-1].started + interval * _DAY, why)]


def _told(known: Known) -> list[_Wish]:
    told = sum(bool(row.told) for row in known.rows() if is_visited(row))
    return [_Wish(known.now, f"hints tell of changes of {_pages(told)}")] if told else []


def _pages(number: int) -> str:
    return f"{number:,} page{'' if number == 1 else 's'}"


def _looks(known: Known) -> list[_Wish]:
    """A second look at a page that may be gone proves its deletion, and when it was."""
    looks = [
        look
        for row in known.rows()
        if row.life == Life.SUSPECT
        and (look := next_look(Existence(Life.SUSPECT, row.life_since, row.looks), row.last_visit))
    ]
    why = f"a second look at what was missing is due ({_pages(len(looks))})"
    return [_Wish(max(min(looks), known.now), why)] if looks else []
