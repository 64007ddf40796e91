"""Goals measured for tests."""

from pathlib import Path

from nacre_simweb.goals import GoalResult
from nacre_simweb.sweep import Sweep, measured


def results_of(sweep: Sweep, directory: Path | None = None) -> list[GoalResult]:
    return [one for one in measured(sweep, directory) if isinstance(one, GoalResult)]
