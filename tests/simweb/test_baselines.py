"""Baselines against their references: the stationary points of 2.2, and what each promises."""

import math

import pytest

from nacre.planner.schedules.nutch import NutchSchedule
from nacre.planner.schedules.schedules import HERITRIX
from nacre_simweb.archetypes import archetype
from nacre_simweb.baselines.adaptive import (
    Adaptive,
    FactorInterval,
    NutchInterval,
    heritrix,
    nutch_code,
    nutch_conf,
    stormcrawler,
)
from nacre_simweb.baselines.learned import ObservedIntervals, harmonic_frequency, likeliest_rate
from nacre_simweb.baselines.paper import Paper
from nacre_simweb.baselines.table import POLICIES, make_policy
from nacre_simweb.calendar import DAY, START
from nacre_simweb.decision import Decisions
from nacre_simweb.draw import Draw
from nacre_simweb.driver import DriverSteps, drive
from nacre_simweb.page import SimulatedLink
from nacre_simweb.policy import Task, VisitOutcome
from nacre_simweb.world import World


def outcome(url, time, digest="a", status=200, links=()):
    return VisitOutcome(
        url, time, status, digest, "text/html", "", "", 100, tuple(links), lambda: b""
    )


def changed_share(interval, rate, changes):
    """Visit one page for ever, each time when the scheduler says so: share that find a change."""
    draw, count = Draw(11), 0
    next_change = draw.exponential(0) / rate
    time = interval.next_visit(outcome("u", 0.0), changed=False, first=True)
    visits = seen = 0
    while count < changes:
        changed = False
        while next_change <= time:
            count += 1
            next_change += draw.exponential(count) / rate
            changed = True
        visits, seen = visits + 1, seen + changed
        time = interval.next_visit(outcome("u", time), changed=changed, first=False)
    return seen / visits


# Source: the table of 2.2: share of visits that find a change, visits a change, capture.
@pytest.mark.parametrize(
    ("policy", "share", "visits", "capture"),
    [
        (heritrix, 0.5, 1.44, 0.721),
        (stormcrawler, 0.369, 2.17, 0.801),
        (lambda: nutch(0.2), 0.45, 1.67, 0.753),
        (lambda: nutch(0.4), 0.601, 1.09, 0.654),
    ],
)
def test_stationary_points(policy, share, visits, capture):
    """All within 5 % of the reference: from the factors, and the share in a simulation too."""
    interval = policy()._interval
    assert changed_share(interval, 1 / (4 * DAY), 20_000) == pytest.approx(share, rel=0.05)
    grow, shrink = factors(interval)
    found = math.log(grow) / (math.log(grow) - math.log(shrink))
    spacing = -math.log(1 - found)
    assert found == pytest.approx(share, rel=0.05)
    assert 1 / spacing == pytest.approx(visits, rel=0.05)
    assert found / spacing == pytest.approx(capture, rel=0.05)


def factors(interval):
    """What an interval is multiplied by after an unchanged visit, and after a changed one."""
    interval.next_visit(outcome("u", 0.0), changed=False, first=True)
    waits = [0.0]
    for changed in (False, False, False, True):
        now = 1e9
        waits.append(interval.next_visit(outcome("u", now), changed=changed, first=False) - now)
    return waits[3] / waits[2], waits[4] / waits[3]


def nutch(inc):
    """Without sync_delta, as the reference computed it."""
    return Adaptive("n", NutchInterval(NutchSchedule(inc_rate=inc, sync_delta=False)))


@pytest.mark.parametrize("maker", [heritrix, stormcrawler, nutch_code, nutch_conf])
def test_a_url_is_visited_once_a_step(maker):
    policy = maker()
    policy.begin(Task(("http://a.test/",), 0.0, DAY, 10, None, 0))
    assert [wish.url for wish in policy.choose(0.0, 10)] == ["http://a.test/"]
    policy.learn(outcome("http://a.test/", 0.0))
    assert policy.choose(0.0, 10) == []
    now = 40 * DAY
    for wish in policy.choose(now, 10):
        policy.learn(outcome(wish.url, now, digest=f"{now}"))
    assert policy.choose(now, 10) == []


def test_likeliest_rate():
    # One visit in ten finds a change, a day apart: -ln(1 - 0.1), but for the imaginary visits.
    evidence = ObservedIntervals((1.0,) * 100, 900.0)
    assert likeliest_rate(evidence) == pytest.approx(-math.log(0.9), rel=0.02)
    assert likeliest_rate(ObservedIntervals()) == pytest.approx(math.log(2) / 0.5)


def test_harmonic_frequency_is_never_zero():
    assert harmonic_frequency(1.0, 0.5) == pytest.approx(1.0)
    assert harmonic_frequency(1e-6, 100.0) > 0


def paper():
    policy = Paper()
    policy.begin(Task(("http://a.test/",), START, 7 * DAY, 28, None, 0))
    return policy


def links(*paths):
    return [SimulatedLink(f"http://a.test{path}") for path in paths]


def test_the_papers_rules():
    policy = paper()
    first = links("/n/", "/n/t20251230_9.html", "/x/12345.htm", "/x/k.html")
    assert len(policy.choose(START, 10)) == 1
    policy.learn(outcome("http://a.test/", START, links=first))
    for wish in policy.choose(START, 10):
        policy.learn(outcome(wish.url, START))
    week = START + 7 * DAY
    # The list is an index page by its URL; the articles are not.
    assert {wish.url for wish in policy.choose(week, 10)} == {"http://a.test/", "http://a.test/n/"}
    later = links(
        "/n/t20260105_10.html",  # rule T: not before the last cycle
        "/n/t20010105_11.html",  # before it: lost, for the rule has the last word in the paper
        "/x/12346.htm",  # rule S: beyond the last number
        "/x/12000.htm",
        "/x/other.html",  # rule K: an unknown key
        "/x/k.html",
    )
    policy.learn(outcome("http://a.test/", week, links=later))
    assert {wish.url for wish in policy.choose(week, 10)} == {
        "http://a.test/n/t20260105_10.html",
        "http://a.test/x/12346.htm",
        "http://a.test/x/other.html",
    }


def test_the_paper_never_looks_at_an_old_page_again():
    world = World(archetype("small"), 3)
    decisions = Decisions(world)
    drive(world, make_policy("nlc", world), decisions, DriverSteps(7 * DAY, 42))
    articles = [row.url for row in decisions.archive.rows if row.kind == "article"]
    assert len(articles) == len(set(articles))


@pytest.mark.parametrize("name", sorted(POLICIES))
@pytest.mark.slow
def test_no_policy_spends_more_than_its_budget(name):
    world = World(archetype("small"), 3)
    decisions, steps = Decisions(world), DriverSteps(7 * DAY, 35, 0.25)
    drive(world, make_policy(name, world), decisions, steps)
    rows = [row for row in decisions.archive.rows if row.kind != "embed"]
    pages = {row.url for row in rows if row.time == 0 and row.status == 200}
    for time in steps.times[1:]:
        assert sum(row.time == time for row in rows) <= round(0.25 * len(pages))


def test_full_visits_everything_that_is_known_at_every_step():
    world = World(archetype("small"), 3)
    decisions = Decisions(world)
    drive(world, make_policy("full", world), decisions, DriverSteps(7 * DAY, 21))
    for time in (7 * DAY, 21 * DAY):
        urls = [row.url for row in decisions.archive.rows if row.time == time]
        assert len(urls) == len(set(urls))
        known = {row.url for row in decisions.archive.rows if row.time < time}
        assert {url for url in known if "/upload/" not in url} <= set(urls)


def test_the_clairvoyant_visits_only_what_changed():
    world = World(archetype("small"), 3)
    decisions = Decisions(world)
    drive(world, make_policy("clairvoyant", world), decisions, DriverSteps(7 * DAY, 42))
    seen: dict[str, tuple[str, int]] = {}
    for row in decisions.archive.rows:
        if row.time > 0 and row.kind not in {"embed", "list", "home"}:
            assert seen.get(row.url) != (row.kind, row.version)
        seen[row.url] = (row.kind, row.version)


def test_factor_interval_by_type():
    interval = FactorInterval(HERITRIX, by_type=True)
    assert interval.next_visit(outcome("u", 0.0), changed=False, first=True) == DAY / 2
