"""The harness of the goals: intervals, pairs in one world, the table, verdicts and truth."""

from pathlib import Path

import msgspec
import pytest

from nacre.history.verdict.change import ChangeClass
from nacre.history.verdict.deletion import Answer
from nacre.history.visited import Finding
from nacre.simweb import sweep as sweeping
from nacre.simweb.archetypes import archetype
from nacre.simweb.calendar import DAY
from nacre.simweb.estimates import BARE, estimates
from nacre.simweb.experiment import Plan, make_world
from nacre.simweb.goalrows import all_goals, quick_goals
from nacre.simweb.goalruns import Runs
from nacre.simweb.goals import (
    Goal,
    Result,
    Scores,
    Spec,
    figure,
    interval,
    lead,
    needs,
    ratio,
    result,
)
from nacre.simweb.goaltable import Figures, figure_of, into, markdown, written
from nacre.simweb.kept import Archive, Kept
from nacre.simweb.lean import lean
from nacre.simweb.recall import Window
from nacre.simweb.score import Score
from nacre.simweb.servelog import Row
from nacre.simweb.state import rules
from nacre.simweb.sweep import Sweep, measured, parts_of
from nacre.simweb.verdicts import verdicts
from nacre.simweb.world import World
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


def results_of(sweep: Sweep, directory: Path | None = None) -> list[Result]:
    return [one for one in measured(sweep, directory) if isinstance(one, Result)]


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
    figures = msgspec.json.decode(written(results, [1], 0), type=Figures)
    shown = into("before\n<!-- goals -->\nold\n<!-- end of goals -->\nafter\n", figures)
    assert shown.startswith("before\n<!-- goals -->\nSeeds 1.\n\n| goal |")
    assert shown.endswith("|\n<!-- end of goals -->\nafter\n")
    assert "old" not in shown
    assert into(shown, figures) == shown
    with pytest.raises(ValueError, match="has no <!-- goals -->"):
        into("no place", figures)


def test_the_table_of_the_documents_is_that_of_their_file() -> None:
    root = Path(__file__).parents[2]
    assert (root / "docs" / "incremental.md").read_text("utf-8") == page()


def test_a_measurement_goes_on_where_it_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = Sweep(quick_goals(), [1])
    whole = written(results_of(sweep))
    steps = measured(sweep, tmp_path)
    next(steps)  # one part is made, and then the process dies
    made = {path.name for path in tmp_path.iterdir()}
    assert len(made) == 1
    runs: list[Spec] = []
    plain = Runs._run

    def run(self: Runs, spec: Spec) -> Score:
        runs.append(spec)
        return plain(self, spec)

    monkeypatch.setattr(Runs, "_run", run)
    assert written(results_of(sweep, tmp_path)) == whole
    first, second = parts_of(sweep, tmp_path)
    assert tuple(runs) == second.specs, "those of the first part were kept"
    runs.clear()
    monkeypatch.setattr(sweeping, "code", lambda: "another")
    assert written(results_of(sweep, tmp_path)) == whole
    assert len(runs) == len(first.specs) + len(second.specs), "other code makes them again"


def test_parts_that_cannot_be_read_are_made_again(tmp_path: Path) -> None:
    sweep = Sweep(quick_goals()[:1], [1])
    whole = written(results_of(sweep, tmp_path))
    for path in tmp_path.iterdir():
        path.write_bytes(b'{"code": 1')
    assert written(results_of(sweep, tmp_path)) == whole


@pytest.mark.slow
def test_two_processes_come_to_the_same(tmp_path: Path) -> None:
    sweep = Sweep(quick_goals()[:2], [1, 2])
    assert written(results_of(sweep._replace(jobs=2), tmp_path)) == written(results_of(sweep))


def test_few_seeds_for_all_but_the_headline() -> None:
    sweep = Sweep(quick_goals(), [1, 2, 3], few=1)
    assert [len(sweep.seeds_of(goal)) for goal in sweep.goals] == [3, 3, 1, 1]
    seeds = [(part.seed, part.place.hints) for part in parts_of(sweep, Path())]
    assert sorted(seeds) == [(1, "honest"), (1, "none"), (2, "honest"), (3, "honest")]


def test_every_goal_names_runs_that_can_be_made() -> None:
    goals = all_goals()
    names = {goal.name for goal in goals}
    assert names == {"G1", "G1f", "G1q", "G1'", *(f"G{number}" for number in range(2, 13))}
    assert len({(goal.name, goal.what) for goal in goals}) == len(goals)
    for goal in goals:
        for spec in needs(goal):
            if spec.world != BARE:
                archetype(spec.world, spec.hints)


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
        Finding(there),
        Finding(there, ChangeClass.MINOR),
        Finding(there, ChangeClass.MAJOR),
        Finding(there, ChangeClass.NOISE),
        Finding(Answer.SOFT),
    ]
    world = World(archetype("small"), 1)
    url = rows[0].url
    found = verdicts(world, Archive(rows, [], []), {url: held}, {url: [0, 0, 5, 5, 5]})
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
    plan = Plan("culture", seed=11, days=90.0)
    assert (rules(make_world(plan)) or 0.0) >= 0.98


def test_lean_keeps_each_version_and_a_sample_a_month() -> None:
    url = "http://a.test/1"
    times = [0.0, 7 * DAY, 14 * DAY, 35 * DAY, 42 * DAY]
    rows = [
        msgspec.structs.replace(_row("article", version, digest), time=time)
        for time, version, digest in zip(times, [0, 0, 1, 1, 1], "abcde", strict=True)
    ]
    kinds = [ChangeClass.NONE, ChangeClass.NOISE, ChangeClass.MINOR, *[ChangeClass.NOISE] * 2]
    held = [Finding(Answer.THERE, kind) for kind in kinds]
    archive = Archive(rows, [Kept(row, True, 10) for row in rows], [])
    world = World(archetype("small"), 1)
    found = lean(world, archive, {url: held}, Window(times))
    assert (found["recall"], found["strict"], found["news"]) == (1.0, 2.5, 1.0)
    assert found["lean"] == 1.0, "28 days after the last version no sample is due"
    late = [*rows[:4], msgspec.structs.replace(rows[4], time=44 * DAY)]
    archive = Archive(late, [Kept(row, True, 10) for row in late], [])
    found = lean(world, archive, {url: held}, Window(times))
    assert (found["lean"], found["new_lean"], found["new_strict"]) == (1.5, 2.0, 4.0)


def _kept_once(world: World, url: str, times: list[float]) -> float | None:
    """Recall where the second of two versions was held for noise."""
    rows = [
        msgspec.structs.replace(_row("article", number, digest), url=url, time=time)
        for number, (time, digest) in enumerate(zip(times, "ab", strict=True))
    ]
    held = [Finding(Answer.THERE, kind) for kind in (ChangeClass.NONE, ChangeClass.NOISE)]
    archive = Archive(rows, [Kept(row, True, 10) for row in rows], [])
    return lean(world, archive, {url: held}, Window(times))["recall"]


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
    beside = Result(goal, (1.12,), 1.12, 1.12, 1.12)
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
