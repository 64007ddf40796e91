"""A world with traps: a step without a budget ends, and all that is none was visited."""

import asyncio

import pytest

from nacre.extract.settings import ExtractSettings
from nacre_simweb.calendar import DAY
from nacre_simweb.decision import Decisions
from nacre_simweb.driver import DriverSteps, drive
from nacre_simweb.experiment import ExperimentPlan, make_world
from nacre_simweb.ours import Nacre
from nacre_simweb.policy import WantedVisit
from nacre_simweb.truth import Truth
from nacre_simweb.world import World

WIDE_PAGE = "http://www.trap.test/wide.html"


@pytest.mark.slow
def test_a_forum_with_session_ids_ends():
    plan = ExperimentPlan("forum", "none", 1, 14.0, 7 * DAY)
    world = make_world(plan, 0.05)
    decisions, policy = Decisions(world, {}), Nacre(hints=False)
    drive(world, policy, decisions, DriverSteps(7 * DAY, 14.0))
    searches = [row for row in decisions.archive.rows if "sid=" in row.url]
    assert 50 <= len(searches) < 200
    assert policy.planner.trapped > 50
    visited = {row.url for row in decisions.archive.rows}
    first = [one for one in Truth(world).tracks.values() if one.kind == "article" and one.born < 0]
    assert {one.url for one in first if one.spans[0].end > 0} <= visited


def test_a_page_shows_no_more_links_than_the_crawler_keeps_of_one():
    plan = ExperimentPlan("trap", "none", 1, 7.0, 7 * DAY)
    world = make_world(plan, 0.05)
    wide = world.parameters.traps.model_copy(update={"wide": 7_000, "huge": 1_000})
    world = World(world.parameters.model_copy(update={"traps": wide}), 1)
    decisions, policy = Decisions(world, {}), Nacre(hints=False)
    (outcome,) = asyncio.run(decisions.visit([WantedVisit(WIDE_PAGE)], policy))
    assert len(outcome.links) == ExtractSettings().max_outlinks < 7_000


@pytest.mark.slow
def test_a_step_in_a_world_of_all_traps_ends():
    plan = ExperimentPlan("trap", "none", 1, 7.0, 7 * DAY)
    world = make_world(plan, 0.05)
    few = world.parameters.traps.model_copy(update={"wide": 300, "huge": 1_000})
    world = World(world.parameters.model_copy(update={"traps": few}), 1)
    decisions, policy = Decisions(world, {}), Nacre(hints=False)
    drive(world, policy, decisions, DriverSteps(7 * DAY, 7.0))
    visited = {row.url for row in decisions.archive.rows}
    assert WIDE_PAGE in visited
    assert policy.planner.trapped > 100
    assert len(visited) < 5_000  # of more than 100,000 combinations of filters alone
