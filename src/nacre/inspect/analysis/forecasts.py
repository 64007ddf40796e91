"""Forecasts of incremental runs, checked against what their visits found (pure).

The Brier score is the mean square of the difference between a forecast and its outcome; that of the
base rate is what a forecast of the mean for every visit would have. Source: Brier, "Verification of
forecasts expressed in terms of probability", 1950.
"""

from collections.abc import Sequence

import msgspec

from nacre.messages import message
from nacre.report.document import Column, DataTable, Format, Section

NO_FORECAST = frozenset(("", "new", "late", "pair", "embed", "sign", "sitemap", "feed", "paging"))
"""Reasons of visits without a forecast: new URLs, second fetches, pages that every run reads, and
pages that are read because something near them changed."""


class ForecastScore(msgspec.Struct):
    """Forecasts and their outcomes.

    Attributes:
        visits: Visits with a forecast.
        expected: Changes that were forecast.
        changes: Changes that there were.
        squares: Sum of the squares of the differences.
    """

    visits: int = 0
    expected: float = 0.0
    changes: int = 0
    squares: float = 0.0

    def add(self, chance: float, *, changed: bool) -> None:
        """Count a visit."""
        self.visits += 1
        self.expected += chance
        self.changes += changed
        self.squares += (chance - changed) ** 2

    def plus(self, added: "ForecastScore") -> "ForecastScore":
        """Both together."""
        return ForecastScore(
            self.visits + added.visits,
            self.expected + added.expected,
            self.changes + added.changes,
            self.squares + added.squares,
        )

    @property
    def brier(self) -> float | None:
        """The Brier score: 0 is perfect; None without a forecast."""
        return self.squares / self.visits if self.visits else None

    @property
    def base(self) -> float | None:
        """The Brier score of the base rate; None without a forecast."""
        share = self.changes / self.visits if self.visits else 0.0
        return share * (1.0 - share) if self.visits else None


def forecasts_section(runs: Sequence[tuple[str, ForecastScore]], total: ForecastScore) -> Section:
    """The forecasts of runs, for people.

    Args:
        runs: Names of runs, with their forecasts.
        total: All of them.
    """
    columns = (
        Column("run"),
        Column("visits with a forecast", Format.COUNT),
        Column("changes forecast"),
        Column("changes found", Format.COUNT),
        Column("Brier score"),
        Column("Brier score of the base rate"),
    )
    rows = tuple(_row(name, score) for name, score in (*runs, ("all", total)))
    text = (
        message(
            "study.forecasts-explained",
            "The planner forecasts for each visit of a known page whether it has changed. The "
            "Brier score is the mean square of its error: 0 is perfect, and a forecast is of "
            "use when it is lower than that of the base rate, which forecasts the mean for "
            "every visit. Where it is not, the planner uses the intervals of a simple schedule "
            "instead.",
        ),
    )
    return Section("Forecasts", text, tables=(DataTable("Forecasts by run", columns, rows),))


def _row(name: str, score: ForecastScore) -> tuple[str | float | None, ...]:
    return (
        name,
        score.visits,
        f"{score.expected:.1f}",
        score.changes,
        _written(score.brier),
        _written(score.base),
    )


def _written(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"
