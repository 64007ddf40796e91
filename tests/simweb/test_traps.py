"""A world with traps: a step without a budget ends, and all that is none was visited."""

from nacre.simweb.calendar import DAY
from nacre.simweb.decision import Decisions
from nacre.simweb.driver import Steps, drive
from nacre.simweb.experiment import Plan, make_world
from nacre.simweb.ours import Nacre
from nacre.simweb.truth import Truth


def test_a_forum_with_session_ids_ends():
    plan = Plan("forum", "none", 1, 14.0, 7 * DAY)
    world = make_world(plan, 0.05)
    decisions, policy = Decisions(world, {}), Nacre(hints=False)
    drive(world, policy, decisions, Steps(7 * DAY, 14.0))
    searches = [row for row in decisions.archive.rows if "sid=" in row.url]
    assert 50 <= len(searches) < 200
    assert policy.planner.held > 50
    visited = {row.url for row in decisions.archive.rows}
    first = [one for one in Truth(world).tracks.values() if one.kind == "article" and one.born < 0]
    assert {one.url for one in first if one.spans[0].end > 0} <= visited
