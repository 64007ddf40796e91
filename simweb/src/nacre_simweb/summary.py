"""Trials side by side: scores normalised between uniform and the oracle, tables, the score file."""

from collections.abc import Sequence
from itertools import pairwise

from nacre_simweb.experiment import ExperimentPlan, Trial
from nacre_simweb.score import Score, score_bytes

_COLUMNS = (
    ("ECR", "epoch", "recall"),
    ("VR", "versions", "recall"),
    ("NPR", "new_pages", "recall"),
    ("DR", "deletions", "recall"),
    ("fresh", "currency", "freshness"),
    ("requests", "cost", "requests"),
    ("embeds", "cost", "requests_embeds"),
    ("received MB", "cost", "bytes_received"),
    ("stored MB", "cost", "bytes_stored"),
    ("saved", "saving", "saved_requests"),
    ("overhead", "saving", "overhead"),
)
_MEGA = 1e6


def normalised(trials: Sequence[Trial]) -> dict[str, float | None]:
    """NS of each trial: version recall between that of uniform (0) and of the oracle (1).

    None if either was not run under that budget.
    """
    recalls = {(trial.policy, trial.budget): trial.scores["versions"]["recall"] for trial in trials}
    values: dict[str, float | None] = {}
    for trial in trials:
        low, high = recalls.get(("uniform", trial.budget)), recalls.get(("oracle", trial.budget))
        own = trial.scores["versions"]["recall"]
        values[label(trial)] = None
        if low is not None and high is not None and own is not None and high > low:
            values[label(trial)] = round((own - low) / (high - low), 6)
    return values


def areas(trials: Sequence[Trial]) -> dict[str, float]:
    """Area under version recall against requests, per policy, as a share of the rectangle.

    Policies with a single budget have none.
    """
    by_policy: dict[str, float] = {}
    for policy in dict.fromkeys(trial.policy for trial in trials):
        points = sorted(
            (trial.scores["cost"]["requests"] or 0.0, trial.scores["versions"]["recall"] or 0.0)
            for trial in trials
            if trial.policy == policy
        )
        width = points[-1][0] - points[0][0]
        if width:
            area = sum(
                (after[0] - before[0]) * (after[1] + before[1]) / 2
                for before, after in pairwise(points)
            )
            by_policy[policy] = round(area / width, 6)
    return by_policy


def label(trial: Trial) -> str:
    """Name of a trial: the policy and its budget."""
    return trial.policy if trial.budget is None else f"{trial.policy}@{trial.budget:g}"


def score_file(plan: ExperimentPlan, trials: Sequence[Trial]) -> bytes:
    """Return all scores as JSON: the same for the same plan, byte for byte."""
    scores: dict[str, Score] = {label(trial): trial.scores for trial in trials}
    return score_bytes(
        {
            "plan": plan._asdict(),
            "scores": scores,
            "normalised": normalised(trials),
            "areas": areas(trials),
        }
    )


def table(trials: Sequence[Trial]) -> list[list[str]]:
    """Return a row for each trial, under a row of names."""
    rows = [["policy", "budget", *(name for name, _, _ in _COLUMNS), "NS"]]
    scores = normalised(trials)
    for trial in trials:
        budget = "-" if trial.budget is None else f"{trial.budget:g} %"
        cells = [_cell(name, trial.scores[group][key]) for name, group, key in _COLUMNS]
        rows.append([trial.policy, budget, *cells, _cell("NS", scores[label(trial)])])
    return rows


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    if name.endswith("MB"):
        return f"{value / _MEGA:,.1f}"
    return f"{value:,.0f}" if name in {"requests", "embeds"} else f"{value:.3f}"


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Return the table in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first = row[0].ljust(widths[0])
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join((first, *cells)).rstrip())
    return "\n".join(lines) + "\n"
