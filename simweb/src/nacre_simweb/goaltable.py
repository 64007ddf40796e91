"""The formats of measured goals: JSON, and from that a table of a document."""

from collections.abc import Sequence

import msgspec

from nacre_simweb.goals import GoalResult
from nacre_simweb.score import score_bytes

BEGIN, END = "<!-- goals -->", "<!-- end of goals -->"
"""What stands before and after the table in a document."""


class Figure(msgspec.Struct, frozen=True):
    """A goal as it was measured.

    Attributes:
        goal: As in docs/simulated-goals.md, `G1`.
        what: What was measured, where.
        target: The figure to be reached; None where there is none.
        better: It is to be at least, or at most, so great.
        values: By seed.
        mean: Their mean; None where there is none.
        interval: Ends of its 95 % interval.
        reached: The mean is what it should be.
    """

    goal: str
    what: str
    target: float | None
    better: str
    values: tuple[float, ...]
    mean: float | None
    interval: tuple[float | None, float | None]
    reached: bool


class GoalFigures(msgspec.Struct, frozen=True):
    """The figures of all goals of a measurement.

    Attributes:
        seeds: Seeds of the worlds.
        few: How many of them were used for all goals but G1; 0: all.
        goals: The figures.
    """

    seeds: tuple[int, ...]
    few: int
    goals: tuple[Figure, ...]


def figure_of(one: GoalResult) -> Figure:
    """A result as it is written."""
    goal = one.goal
    values = tuple(round(value, 6) for value in one.values)
    return Figure(
        goal.name, goal.what, goal.target, goal.better, values, _round(one.mean),
        (_round(one.low), _round(one.high)), one.reached,
    )  # fmt: skip


def written(results: Sequence[GoalResult], seeds: Sequence[int] = (), few: int = 0) -> bytes:
    """Results as JSON: the same for the same seeds, byte for byte, but for speeds."""
    return score_bytes(GoalFigures(tuple(seeds), few, tuple(map(figure_of, results))))


def markdown(figures: Sequence[Figure]) -> str:
    """Figures as a table of a document."""
    lines = [
        "| goal | what | target | result | 95 % interval | seeds | |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(line, figures)]) + "\n"


def line(one: Figure) -> str:
    """A figure as a row of the table."""
    low, high = one.interval
    several = len(one.values) > 1
    cells = (
        one.goal,
        one.what,
        _wanted(one),
        _shown(one.mean),
        f"{_shown(low)} to {_shown(high)}" if several else "-",
        str(len(one.values)),
        _outcome(one),
    )
    return f"| {' | '.join(cells)} |"


def _wanted(one: Figure) -> str:
    if one.target is None:
        return "-"
    return f"{'≥' if one.better == 'least' else '≤'} {_shown(one.target, short=True)}"


def _outcome(one: Figure) -> str:
    if one.mean is None:
        return "not measured"
    if one.target is None:
        return "to compare"
    return "reached" if one.reached else "missed"


def into(document: str, figures: GoalFigures) -> str:
    """A document with its table made anew.

    Raises:
        ValueError: It has no place for the table.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{_heading(figures)}\n\n{markdown(figures.goals)}{END}{after}"


def _heading(figures: GoalFigures) -> str:
    seeds = figures.seeds
    span = f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"{seeds[0]}" if seeds else "none"
    fewer = f"; of these the first {figures.few} for all goals but G1" if figures.few else ""
    return f"Seeds {span}{fewer}."


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _shown(value: float | None, *, short: bool = False) -> str:
    if value is None:
        return "-"
    if abs(value) >= 1000.0:
        return f"{value:,.0f}"
    if short:
        return f"{value:g}"
    # Near 0 and just below 1, more digits tell whether it is.
    close = 0.0 < abs(value) < 0.01 or 0.999 < value < 1.0
    return f"{value:.4f}" if close else f"{value:.3f}"
