"""The guesses among the constants of the planner, in one table (pure).

A constant has its source in its docstring: a paper, a standard, a measurement, the format of rows,
or a bound of memory or work. One that has none is made by `guess`, which puts it into `GUESSES`.
`make ablation` halves and doubles each of them, and writes into docs/incremental.md what that does
to the goals.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from nacre.messages import message

N = TypeVar("N", int, float, tuple[float, ...])


class GuessedConstant(NamedTuple):
    """A constant that was guessed.

    Attributes:
        name: Its name: module and constant.
        value: What it is, not scaled.
        purpose: What it means, with its unit.
    """

    name: str
    value: float | tuple[float, ...]
    purpose: str


GUESSES: dict[str, GuessedConstant] = {}
"""All guesses of the modules that were imported, by name."""
_factors: dict[str, float] = {}


def guess(name: str, value: N, purpose: str, most: float = math.inf) -> N:
    """Give a guessed constant its value, scaled where `scale` says so.

    Args:
        name: Its name: module and constant.
        value: Its value. A whole number stays one, and at least 1, when it is scaled.
        purpose: What it means.
        most: Largest value that makes sense: 1 for a share.

    Raises:
        ValueError: The name was given before.
    """
    if name in GUESSES:
        raise ValueError(
            message("recrawl.two-guesses-are-called", "two guesses are called {name}", name=name)
        )
    GUESSES[name] = GuessedConstant(name, value, purpose)
    factor = _factors.get(name, 1.0)
    if factor == 1.0:
        return value
    if isinstance(value, tuple):
        return tuple(number * factor for number in value)
    if isinstance(value, int):
        return max(1, round(min(value * factor, most)))
    return min(value * factor, most)


def scale(factors: Mapping[str, float]) -> None:
    """Multiply some guesses, before the modules that make them are imported.

    Raises:
        ValueError: A module has made one of them already.
    """
    late = sorted(factors.keys() & GUESSES.keys())
    if late:
        raise ValueError(
            message(
                "recrawl.scale-guesses-before-anything-else",
                "{names}: scale guesses before anything else is imported",
                names=", ".join(late),
            )
        )
    _factors.update(factors)
