"""The harness of the goals: intervals, pairs in one world, the table, verdicts and truth."""

import pytest

from nacre.history.change import ChangeClass
from nacre.history.deletion import Answer
from nacre.history.visited import Finding
from nacre.simweb.experiment import Plan, make_world
from nacre.simweb.goals import Goal, Result, Runs, Spec, figure, interval, lead, measured, ratio
from nacre.simweb.goaltable import all_goals, figures, markdown, quick_goals
from nacre.simweb.kept import Archive
from nacre.simweb.servelog import Row
from nacre.simweb.state import rules
from nacre.simweb.verdicts import verdicts

_SMALL = Spec("small", "uniform", days=14.0, budget=20.0)


def test_an_interval_holds_its_mean_and_is_the_same_each_time() -> None:
    mean, low, high = interval([0.1, 0.2, 0.6])
    assert mean == pytest.approx(0.3)
    assert low == pytest.approx(0.1)
    assert high == pytest.approx(0.6)
    assert interval([0.1, 0.2, 0.6]) == (mean, low, high)
    assert interval([0.5]) == (0.5, 0.5, 0.5)
    assert interval([]) == (None, None, None)


def test_a_goal_is_a_floor_or_a_ceiling() -> None:
    floor = Goal("G1", "saved", 0.9, "least", lambda _: None)
    ceiling = floor._replace(better="most")
    assert Result(floor, (0.95,), 0.95, 0.95, 0.95).reached
    assert not Result(ceiling, (0.95,), 0.95, 0.95, 0.95).reached
    assert not Result(floor, (), None, None, None).reached


def test_runs_of_one_seed_are_compared_and_made_once() -> None:
    runs = Runs(3)
    oracle = _SMALL._replace(policy="oracle")
    assert runs(_SMALL) is runs(_SMALL)
    assert ratio("versions", "recall", _SMALL, _SMALL)(runs) == 1.0
    assert lead("versions", "recall", oracle, oracle)(runs) == 0.0
    assert figure("cost", "requests", _SMALL)(runs) == runs(_SMALL)["cost"]["requests"]


def test_a_budget_can_be_what_another_spent() -> None:
    runs = Runs(3)
    paper = Spec("small", "nlc", days=14.0)
    matched = paper._replace(policy="uniform", spend="nlc")
    spent = runs(paper)["cost"]["requests"] or 0.0
    assert 0.7 * spent <= (runs(matched)["cost"]["requests"] or 0.0) <= spent


def test_the_quick_goals_make_a_table() -> None:
    results = list(measured(quick_goals()[:2], [1]))
    table = markdown(results)
    assert table.count("\n") == 4
    assert "| G1 | small: ECR | ≥ 0.9 |" in table
    assert figures(results) == figures(list(measured(quick_goals()[:2], [1])))


def test_every_goal_names_worlds_that_exist() -> None:
    names = {goal.name for goal in all_goals()}
    assert {"G1", "G1'", "G1q", "G2", "G4", "G5", "G6", "G7", "G8", "G9", "G10"} <= names


def _row(kind: str, version: int, digest: str, status: int = 200) -> Row:
    return Row(0.0, "http://a.test/1", kind, status, version, 0, False, 10, digest, 0.0)


def test_verdicts_are_held_against_the_log() -> None:
    rows = [
        _row("article", 0, "a"),
        _row("article", 0, "b"),
        _row("article", 1, "c"),
        _row("article", 2, "d"),
        _row("error", 0, "e"),
    ]
    there = Answer.THERE
    held = [
        Finding(there),
        Finding(there, ChangeClass.MINOR),
        Finding(there, ChangeClass.MAJOR),
        Finding(there, ChangeClass.NOISE),
        Finding(Answer.SOFT),
    ]
    found = verdicts(Archive(rows, [], []), {"http://a.test/1": held})
    assert (found["noise_only"], found["false_changed"]) == (1.0, 1.0)
    assert (found["real_changes"], found["false_unchanged"]) == (2.0, 0.5)
    assert (found["soft_recall"], found["soft_precision"]) == (1.0, 1.0)


def test_what_a_run_tells_of_the_planner() -> None:
    state = Runs(1)(Spec("small", "nacre", "honest", days=14.0))["state"]
    assert 100.0 < (state["row_bytes"] or 0.0) < 400.0
    assert 0.5 < (state["index_f1"] or 0.0) <= 1.0


def test_small_sections_share_the_rule_of_their_layout() -> None:
    """Half an article a day in six sections: none sees enough for a rule of its own."""
    plan = Plan("culture", seed=11, days=90.0)
    assert (rules(make_world(plan)) or 0.0) >= 0.98


def test_a_run_may_begin_without_a_budget() -> None:
    budgeted = Spec("small", "uniform", days=14.0, budget=5.0, warm=7.0)
    runs = Runs(3)
    spent = runs(budgeted)["cost"]["requests"]
    assert runs(budgeted._replace(free=7.0))["cost"]["requests"] == spent
    assert (runs(budgeted._replace(warm=0.0, free=7.0))["cost"]["requests"] or 0.0) > 2 * (
        runs(budgeted._replace(warm=0.0))["cost"]["requests"] or 0.0
    )
