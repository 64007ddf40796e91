"""The formats of measured goals: JSON, and from that a table of a document."""

from collections.abc import Sequence

import msgspec

from nacre_simweb.goals import GoalResult
from nacre_simweb.score import score_bytes

BEGIN, END = "<!-- goals -->", "<!-- end of goals -->"
"""Comments before and after the table in a document."""


class Figure(msgspec.Struct, frozen=True):
    """A goal as it was measured.

    Attributes:
        goal: As in docs/simulated-goals.md, `G1`.
        what: The measure and its world.
        target: The figure to be reached; None if there is none.
        better: Whether the value must be at least, or at most, the target.
        values: By seed.
        mean: Their mean; None if there are no values.
        interval: Ends of its 95 % interval.
        reached: Whether the mean reaches the target.
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


def figure_of(goal_result: GoalResult) -> Figure:
    """Return a result as it is written."""
    goal = goal_result.goal
    values = tuple(round(value, 6) for value in goal_result.values)
    return Figure(
        goal.name, goal.what, goal.target, goal.better, values, _round(goal_result.mean),
        (_round(goal_result.low), _round(goal_result.high)), goal_result.reached,
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


def line(figure: Figure) -> str:
    """Return a figure as a row of the table."""
    low, high = figure.interval
    several = len(figure.values) > 1
    cells = (
        figure.goal,
        figure.what,
        _format_target(figure),
        _format_value(figure.mean),
        f"{_format_value(low)} to {_format_value(high)}" if several else "-",
        str(len(figure.values)),
        _outcome(figure),
    )
    return f"| {' | '.join(cells)} |"


def _format_target(figure: Figure) -> str:
    if figure.target is None:
        return "-"
    return f"{'≥' if figure.better == 'least' else '≤'} {_format_value(figure.target, short=True)}"


def _outcome(figure: Figure) -> str:
    if figure.mean is None:
        return "not measured"
    if figure.target is None:
        return "to compare"
    return "reached" if figure.reached else "missed"


def into(document: str, figures: GoalFigures) -> str:
    """Return a document with its table replaced.

    Raises:
        ValueError: It has no place for the table.
    """
    before, begin, after_begin = document.partition(BEGIN)
    _, end, after = after_begin.partition(END)
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


def _format_value(value: float | None, *, short: bool = False) -> str:
    if value is None:
        return "-"
    if abs(value) >= 1000.0:
        return f"{value:,.0f}"
    if short:
        return f"{value:g}"
    # Near 0 and just below 1, more digits tell whether it is.
    close = 0.0 < abs(value) < 0.01 or 0.999 < value < 1.0
    return f"{value:.4f}" if close else f"{value:.3f}"
