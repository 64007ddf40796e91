"""The goals G1 to G12."""

from nacre_simweb.archetypes import archetype
from nacre_simweb.estimates import BARE
from nacre_simweb.goalrows import all_goals, quick_goals
from nacre_simweb.goals import needs


def test_every_goal_names_runs_that_can_be_made() -> None:
    goals = all_goals()
    names = {goal.name for goal in goals}
    assert names == {"G1", "G1a", "G1f", "G1q", "G1'", *(f"G{number}" for number in range(2, 13))}
    assert len({(goal.name, goal.what) for goal in goals}) == len(goals)
    for goal in goals:
        for spec in needs(goal):
            if spec.world != BARE:
                archetype(spec.world, spec.hints)


def test_every_goal_is_a_floor_or_a_ceiling_or_only_to_compare() -> None:
    for goal in all_goals():
        assert goal.better in {"least", "most"}
        assert goal.what
    assert sum(goal.target is None for goal in all_goals()) < len(all_goals()) / 2


def test_the_quick_goals_are_of_a_small_world() -> None:
    specs = {spec for goal in quick_goals() for spec in needs(goal)}
    assert {spec.world for spec in specs} == {"small"}
