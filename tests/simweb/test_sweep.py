"""Goals measured over seeds: parts, processes, and what an interrupted measurement kept."""

from pathlib import Path

import pytest

from nacre_simweb import sweep as sweeping
from nacre_simweb.goalrows import quick_goals
from nacre_simweb.goalruns import Runs
from nacre_simweb.goals import Spec, needs
from nacre_simweb.goaltable import written
from nacre_simweb.score import Score
from nacre_simweb.sweep import Sweep, measured, parts_of
from tests.simweb.results import results_of


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_parts_are_made_in_an_order_that_keeps_processes_busy() -> None:
    parts = parts_of(Sweep(quick_goals(), [2, 1]), Path("kept"))
    assert [len(part.specs) for part in parts] == sorted(
        (len(part.specs) for part in parts), reverse=True
    )
    assert len({part.file for part in parts}) == len(parts)
    wanted = {spec for goal in quick_goals() for spec in needs(goal)}
    assert {spec for part in parts for spec in part.specs} == wanted
    assert all(part.file.parent == Path("kept") for part in parts)
