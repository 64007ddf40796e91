"""Nacre's planner as a policy of the simulated web."""

import pytest

from nacre.planner.settings import RecrawlSettings
from nacre_simweb.archetypes import archetype
from nacre_simweb.calendar import DAY
from nacre_simweb.decision import Decisions
from nacre_simweb.driver import DriverSteps, drive
from nacre_simweb.ours import Nacre
from nacre_simweb.policy import Task, VisitOutcome
from nacre_simweb.world import World

STEPS = DriverSteps(7 * DAY, 28, 0.3)
TASK = Task(("http://a.test/",), 1e9, 7 * DAY, 28, 0.3, 1)


def outcome(url, body=b"", status=200, mime="text/html"):
    return VisitOutcome(url, 1e9, status, str(body), mime, "", "", len(body), (), lambda: body)


@pytest.fixture(scope="module")
def driven():
    world = World(archetype("small", "honest"), 11)
    policy, visits = Nacre(), Decisions(world)
    drive(world, policy, visits, STEPS)
    return world, policy, visits


def test_sitemaps_are_looked_for_first_where_hints_are_believed():
    policy = Nacre()
    policy.begin(TASK)
    (first,) = policy.choose(1e9, 100)
    assert (policy.name, first.url) == ("nacre", "http://a.test/robots.txt")
    robots = b"User-agent: *\nsitemap: http://a.test/map.xml\nSitemap:\n"
    policy.learn(outcome("http://a.test/robots.txt", body=robots, mime="text/plain"))
    chosen = set()
    while wishes := policy.choose(1e9, 100):
        for wish in wishes:
            chosen.add(wish.url)
            policy.learn(outcome(wish.url, status=404))
    assert {"http://a.test/", "http://a.test/map.xml"} <= chosen


def test_without_hints_nothing_is_asked_but_pages():
    policy = Nacre(hints=False)
    policy.begin(TASK)
    assert policy.name == "nacre-nohints"
    assert [wish.url for wish in policy.choose(1e9, 100)] == ["http://a.test/"]


def test_it_keeps_a_finding_for_each_visit(driven):
    _, policy, visits = driven
    seen: dict[str, int] = {}
    for row in visits.archive.rows:
        seen[row.url] = seen.get(row.url, 0) + 1
    assert policy.findings
    for url, findings in policy.findings.items():
        assert len(findings) == len(policy.pairs[url]) <= seen[url]


def test_it_says_what_it_believes_of_rates_and_of_what_is_gone(driven):
    world, policy, _ = driven
    rates = policy.rates()
    assert rates
    assert all(rate >= 0 for rate in rates.values())
    for url, time in policy.register().items():
        assert url.startswith("http://www.small.test/")
        assert world.epoch(0.0) <= time <= world.epoch(28 * DAY)


def test_views_are_shared_by_policies_of_one_world():
    world = World(archetype("small", "honest"), 11)
    views: dict[str, object] = {}
    for _ in range(2):
        drive(world, Nacre(views=views), Decisions(world), STEPS._replace(days=7))  # type: ignore[arg-type]
    once = len(views)
    drive(world, Nacre(views=views), Decisions(world), STEPS._replace(days=7))  # type: ignore[arg-type]
    assert len(views) == once > 0


def test_the_same_settings_make_the_same_choices():
    def made():
        world = World(archetype("small", "honest"), 11)
        visits = Decisions(world)
        drive(world, Nacre(settings=RecrawlSettings(audits=0.5)), visits, STEPS)
        return [(row.time, row.url, row.conditional) for row in visits.archive.rows]

    first = made()
    assert first == made()
    assert any(not conditional for *_, conditional in first[-50:])
