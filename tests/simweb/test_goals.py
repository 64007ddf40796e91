"""The harness of the goals: intervals, pairs in one world, the table, verdicts and truth."""

from pathlib import Path

import msgspec
import pytest

from nacre.planner.change_detection.change import ChangeClass
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.visited import VisitFinding
from nacre_simweb.archetypes import archetype
from nacre_simweb.calendar import DAY
from nacre_simweb.estimates import estimates
from nacre_simweb.experiment import ExperimentPlan, make_world
from nacre_simweb.goalrows import quick_goals
from nacre_simweb.goalruns import Runs
from nacre_simweb.goals import (
    Goal,
    GoalResult,
    Scores,
    Spec,
    figure,
    interval,
    lead,
    needs,
    ratio,
    result,
)
from nacre_simweb.goaltable import GoalFigures, figure_of, into, markdown, written
from nacre_simweb.kept import KeptCapture, KeptCaptures
from nacre_simweb.lean import lean
from nacre_simweb.recall import CountedWindow
from nacre_simweb.servelog import Row
from nacre_simweb.state import rules
from nacre_simweb.sweep import Sweep
from nacre_simweb.verdicts import verdicts
from nacre_simweb.world import World
from tests.simweb.results import results_of
from tools.goals import page

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
    assert GoalResult(floor, (0.95,), 0.95, 0.95, 0.95).reached
    assert not GoalResult(ceiling, (0.95,), 0.95, 0.95, 0.95).reached
    assert not GoalResult(floor, (), None, None, None).reached


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


@pytest.mark.slow
def test_the_quick_goals_make_a_table() -> None:
    sweep = Sweep(quick_goals()[:2], [1, 2])
    results = results_of(sweep)
    table = markdown([figure_of(one) for one in results])
    assert table.count("\n") == 4
    assert "| G1 | small: ECR | ≥ 0.9 |" in table
    assert "| 2 | reached |" in table
    assert written(results) == written(results_of(sweep))


def test_a_document_gets_its_table_from_the_file() -> None:
    results = results_of(Sweep(quick_goals()[:1], [1]))
    figures = msgspec.json.decode(written(results, [1], 0), type=GoalFigures)
    shown = into("before\n<!-- goals -->\nold\n<!-- end of goals -->\nafter\n", figures)
    assert shown.startswith("before\n<!-- goals -->\nSeeds 1.\n\n| goal |")
    assert shown.endswith("|\n<!-- end of goals -->\nafter\n")
    assert "old" not in shown
    assert into(shown, figures) == shown
    with pytest.raises(ValueError, match="has no <!-- goals -->"):
        into("no place", figures)


def test_the_table_of_the_documents_is_that_of_their_file() -> None:
    root = Path(__file__).parents[2]
    assert (root / "docs" / "simulated-goals.md").read_text("utf-8") == page()


def test_what_needs_the_machine_for_itself_is_measured_once() -> None:
    seen = []

    def speed(_: Scores) -> float:
        seen.append(1)
        return 2.0

    goal = Goal("G11", "speed", 1.0, "least", speed, apart=True)
    assert needs(goal) == []
    assert result(goal, [Runs(1), Runs(2)]).values == (2.0,)
    assert len(seen) == 1


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
        VisitFinding(there),
        VisitFinding(there, ChangeClass.MINOR),
        VisitFinding(there, ChangeClass.MAJOR),
        VisitFinding(there, ChangeClass.NOISE),
        VisitFinding(Answer.SOFT),
    ]
    world = World(archetype("small"), 1)
    url = rows[0].url
    found = verdicts(world, KeptCaptures(rows, [], []), {url: held}, {url: [0, 0, 5, 5, 5]})
    assert (found["noise_only"], found["false_changed"]) == (1.0, 1.0)
    assert (found["real_changes"], found["false_unchanged"]) == (2.0, 0.5)
    assert (found["false_changed_cold"], found["false_changed_warm"]) == (1.0, None)
    assert (found["soft_recall"], found["soft_precision"]) == (1.0, 1.0)


def test_what_a_run_tells_of_the_planner() -> None:
    state = Runs(1)(Spec("small", "nacre", "honest", days=14.0))["state"]
    assert 100.0 < (state["row_bytes"] or 0.0) < 400.0
    assert 0.5 < (state["index_f1"] or 0.0) <= 1.0


def test_small_sections_share_the_rule_of_their_layout() -> None:
    """Half an article a day in six sections: none sees enough for a rule of its own."""
    plan = ExperimentPlan("culture", seed=11, days=90.0)
    assert (rules(make_world(plan)) or 0.0) >= 0.98


def test_lean_keeps_each_version_and_a_sample_a_month() -> None:
    url = "http://a.test/1"
    times = [0.0, 7 * DAY, 14 * DAY, 35 * DAY, 42 * DAY]
    rows = [
        msgspec.structs.replace(_row("article", version, digest), time=time)
        for time, version, digest in zip(times, [0, 0, 1, 1, 1], "abcde", strict=True)
    ]
    kinds = [ChangeClass.NONE, ChangeClass.NOISE, ChangeClass.MINOR, *[ChangeClass.NOISE] * 2]
    held = [VisitFinding(Answer.THERE, kind, proven=kind is ChangeClass.NOISE) for kind in kinds]
    archive = KeptCaptures(rows, [KeptCapture(row, True, 10) for row in rows], [])
    world = World(archetype("small"), 1)
    found = lean(world, archive, {url: held}, CountedWindow(times))
    assert (found["recall"], found["strict"], found["news"]) == (1.0, 2.5, 1.0)
    assert found["lean"] == 1.0, "28 days after the last version no sample is due"
    late = [*rows[:4], msgspec.structs.replace(rows[4], time=44 * DAY)]
    archive = KeptCaptures(late, [KeptCapture(row, True, 10) for row in late], [])
    found = lean(world, archive, {url: held}, CountedWindow(times))
    assert (found["lean"], found["new_lean"], found["new_strict"]) == (1.5, 2.0, 4.0)


def _kept_once(world: World, url: str, times: list[float]) -> float | None:
    """Recall where the second of two versions was held for noise."""
    rows = [
        msgspec.structs.replace(_row("article", number, digest), url=url, time=time)
        for number, (time, digest) in enumerate(zip(times, "ab", strict=True))
    ]
    noise = VisitFinding(Answer.THERE, ChangeClass.NOISE, proven=True)
    held = [VisitFinding(Answer.THERE), noise]
    archive = KeptCaptures(rows, [KeptCapture(row, True, 10) for row in rows], [])
    return lean(world, archive, {url: held}, CountedWindow(times))["recall"]


def test_a_version_that_shows_what_is_held_is_held_with_it() -> None:
    world = World(archetype("small"), 1)
    article, changed = next(
        (one, versions[1].start)
        for one in world.site.articles[0]
        if one.born < 0.0 and len(versions := world.lives.of(one).versions) > 1
        if versions[1].change == "major" and versions[1].start < 20 * DAY
    )
    url = f"http://{world.site.hosts[0]}{world.resources.names.article(article)}"
    assert _kept_once(world, url, [changed - 1.0, changed + 1.0]) == 0.5
    assert _kept_once(world, url, [changed + 1.0, changed + 1.0]) == 1.0


def test_a_figure_without_a_goal_is_there_to_compare() -> None:
    goal = Goal("G3", "strict", None, "most", lambda _: None)
    beside = GoalResult(goal, (1.12,), 1.12, 1.12, 1.12)
    assert not beside.reached
    assert "| G3 | strict | - | 1.120 | - | 1 | to compare |" in markdown([figure_of(beside)])


@pytest.mark.slow
def test_rates_are_known_better_after_more_visits() -> None:
    found = estimates(1)
    assert (found["rmse_ln_30"] or 9.0) < (found["rmse_ln_3"] or 0.0) < 1.2


def test_a_run_may_begin_without_a_budget() -> None:
    budgeted = Spec("small", "uniform", days=14.0, budget=5.0, warm=7.0)
    runs = Runs(3)
    spent = runs(budgeted)["cost"]["requests"]
    assert runs(budgeted._replace(free=7.0))["cost"]["requests"] == spent
    assert (runs(budgeted._replace(warm=0.0, free=7.0))["cost"]["requests"] or 0.0) > 2 * (
        runs(budgeted._replace(warm=0.0))["cost"]["requests"] or 0.0
    )
