"""The times of events: processes of change, as sorted lists of times.

Only the first is the Poisson process that estimators assume; half of the worlds contain none of it,
so that no policy profits from using the same model.
"""

import math
from collections.abc import Callable
from typing import Literal

from nacre_simweb.calendar import DAY, HOUR, WEEK
from nacre_simweb.draw import Draw

Kind = Literal["poisson", "periodic", "bursty", "calendar", "heavy"]

_BRANCHING = 0.5
_KERNEL = 6 * HOUR
_TAIL = 1.5
"""Exponent of the gaps of heavy-tailed pages: their variance is infinite."""
_MOST = 20_000
"""Events of one page at most: a guard against absurd parameters."""


def events(kind: Kind, draw: Draw, rate: float, start: float, end: float) -> list[float]:
    """Return the times at which something happens.

    Args:
        kind: Which process.
        draw: Its random numbers.
        rate: Events a second on the long run; 0 for none.
        start: Begin, seconds.
        end: End, seconds; exclusive.
    """
    if rate <= 0 or end <= start:
        return []
    return [time for time in _PROCESSES[kind](draw, rate, start, end) if start <= time < end]


def _poisson(draw: Draw, rate: float, start: float, end: float) -> list[float]:
    times: list[float] = []
    time = start
    for number in range(_MOST):
        time += draw.exponential(number) / rate
        if time >= end:
            break
        times.append(time)
    return times


def _periodic(draw: Draw, rate: float, start: float, end: float) -> list[float]:
    """Return every so often, give or take a twentieth."""
    period = 1 / rate
    count = min(int((end - start) / period) + 2, _MOST)
    phase = draw.uniform() * period
    wobble = [0.1 * (draw.uniform(number + 1) - 0.5) for number in range(count)]
    return sorted(start + phase + (number + wobble[number]) * period for number in range(count))


def _bursty(draw: Draw, rate: float, start: float, end: float) -> list[float]:
    """Hawkes: each event begets half an event on the average, within hours."""
    parents = _poisson(draw.at("parents"), rate * (1 - _BRANCHING), start, end)
    children = draw.at("children")
    todo, number = list(parents), 0
    times: list[float] = []
    while todo and len(times) < _MOST:
        time = todo.pop()
        times.append(time)
        while children.uniform(number) < _BRANCHING / (1 + _BRANCHING):
            todo.append(time + _KERNEL * children.exponential(number + 1))
            number += 2
        number += 1
    return sorted(times)


def _calendar(draw: Draw, rate: float, start: float, end: float) -> list[float]:
    """Return the same hours of the week, to the minute; rarer than weekly: each n-th week."""
    a_week = rate * WEEK
    slots = max(round(a_week), 1)
    every = max(round(1 / a_week), 1) if a_week < 1 else 1
    first = int(start // WEEK) + draw.below(every)
    offsets = sorted(draw.uniform(1 + slot) * WEEK for slot in range(min(slots, _MOST)))
    weeks = range(first, int(end // WEEK) + 1, every)
    return [week * WEEK + offset for week in weeks for offset in offsets]


def _heavy(draw: Draw, rate: float, start: float, end: float) -> list[float]:
    """Pareto gaps: long silences, then a few changes in a row."""
    shortest = (_TAIL - 1) / _TAIL / rate
    time = start - draw.uniform() * shortest
    times: list[float] = []
    for number in range(1, _MOST):
        time += shortest * draw.uniform(number) ** (-1 / _TAIL)
        if time >= end:
            break
        times.append(time)
    return times


_PROCESSES: dict[Kind, Callable[[Draw, float, float, float], list[float]]] = {
    "poisson": _poisson,
    "periodic": _periodic,
    "bursty": _bursty,
    "calendar": _calendar,
    "heavy": _heavy,
}


def early_edits(draw: Draw, per_day: float, fading: float, born: float, end: float) -> list[float]:
    """Return the corrections of a fresh page: so many a day at first, fading with its age.

    Args:
        draw: Random numbers.
        per_day: Edits a day at the moment of birth.
        fading: Age at which a third of that is left, days.
        born: Birth, seconds.
        end: End, seconds; exclusive.
    """
    if per_day <= 0:
        return []
    expected, times, passed = per_day * fading, [], 0.0
    for number in range(_MOST):
        passed += draw.exponential(number)
        if passed >= expected:
            break
        times.append(born - fading * DAY * math.log1p(-passed / expected))
    return [time for time in times if time < end]
