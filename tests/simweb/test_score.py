"""Scores of archives made by hand, where the right answer is plain."""

from dataclasses import dataclass

import pytest

from nacre.core.pagerow import PageRow
from nacre_simweb.archetypes import archetype
from nacre_simweb.baselines.table import make_policy
from nacre_simweb.calendar import DAY
from nacre_simweb.cost import costs
from nacre_simweb.decision import Decisions
from nacre_simweb.draw import Draw
from nacre_simweb.driver import Driver, DriverSteps, Forecast, drive
from nacre_simweb.forecasts import forecast_quality, rate_error
from nacre_simweb.holdings import Holdings
from nacre_simweb.judgement import judgements
from nacre_simweb.kept import KeptCapture, KeptCaptures
from nacre_simweb.oracle import Oracle
from nacre_simweb.ours import Nacre
from nacre_simweb.recall import CountedWindow
from nacre_simweb.score import Claims, claims_of, score, score_bytes
from nacre_simweb.steadiness import blur, coherence, freshness
from nacre_simweb.truth import Track, TrueVersion
from nacre_simweb.world import World
from tests.simweb.archives import ALL, EDITED, INF, NOTHING, STILL, TRACKS, WINDOW, archive, row


def test_a_policy_claims_what_it_knows():
    site = World(archetype("small", "honest"), 11)
    ours, other = Nacre(), make_policy("heritrix", site)
    ours.known.put(PageRow("http://a.test/gone", life="gone", life_since=5.0))
    ours.known.put(PageRow("http://a.test/suspect", life="suspect", life_since=6.0))
    steps, visits = DriverSteps(DAY, 1), Decisions(site)
    claims = claims_of(ours, Driver(site, ours, visits, steps))
    assert (claims.rates, claims.register) == ({}, {"http://a.test/gone": 5.0})
    assert claims_of(other, Driver(site, other, visits, steps)) == Claims(None, [], None)


def test_freshness():
    # Of e: fresh 0-4 and 10-15, stale for 6; of b: 12-20 unknown until 20; of s: all.
    found = freshness(TRACKS, Holdings(ALL), WINDOW)
    assert found["freshness"] == pytest.approx((4 + 5 + 20) / (15 + 8 + 20), abs=1e-6)
    assert found["age_days"] == pytest.approx((18 + 32) / 43 / DAY, abs=1e-6)


def test_coherence_and_blur():
    window = CountedWindow([0.0, 14.0])
    pairs = [(EDITED, STILL)]
    assert coherence(pairs, Holdings(ALL), window, Draw(1)) == 1
    embed = Track("i", "embed", (TrueVersion(0, "new", -5, 8), TrueVersion(1, "image", 8, INF)))
    mixed = archive(row("e", 0, 0), row("i", 0, 1, "embed"))
    assert coherence([(EDITED, embed)], Holdings(mixed), window, Draw(1)) == 0
    # e is captured once, at 0, and changes at 4: 10 of 14 seconds are one change late.
    found = blur([EDITED], Holdings(NOTHING), window, Draw(1))
    assert found == pytest.approx(10 / 14, abs=0.05)


def test_judgements():
    world = World(archetype("small"), 3)
    url = "http://www.small.test" + world.resources.names.article(world.site.articles[0][0])
    rows = [
        row(url, 0, 0, digest="a"),
        row(url, 1, 0, digest="b"),  # noise alone, stored in full: falsely changed
        row(url, 2, 0, digest="c"),  # noise alone, not stored
        row(url, 3, 1, status=304, digest="d"),  # a false 304: falsely unchanged
        row(url, 4, 1, digest="d"),
    ]
    kept = [KeptCapture(each, True, 100) for each in (rows[0], rows[1], rows[4])]
    found = judgements(world, KeptCaptures(rows, kept, []))
    assert (found["real_changes"], found["false_unchanged"]) == (2, 0.5)
    assert (found["noise_only"], found["false_changed"]) == (2, 0.5)


def test_costs_multiply_embeds_back():
    world = World(archetype("small"), 3)
    rows = archive(
        row("http://a/1", 0, 0), row("http://a/2", 10, 0), row("http://a/i", 10, 0, "embed"),
        row("http://a/robots.txt", 10, -1, "robots"),
    )  # fmt: skip
    found = costs(world, rows, WINDOW)
    assert (found["requests"], found["requests_embeds"]) == (1, 1)
    assert found["bytes_received"] == 100 + 100 / 0.01
    assert found["politeness_hours"] == pytest.approx(6 / 3600, abs=1e-4)


def test_forecasts():
    visits = archive(row("p", 0, 0), row("p", DAY, 1), row("q", 0, 0), row("q", DAY, 0))
    sure = [Forecast("p", DAY, 1.0), Forecast("q", DAY, 0.0)]
    found = forecast_quality(visits, sure)
    assert found.pop("brier_skill_class") is None, "each is a class of its own"
    assert found == {"brier": 0, "brier_skill": 1, "reliability_slope": 1}
    assert forecast_quality(visits, [])["brier"] is None


def test_rate_error():
    world = World(archetype("small"), 3)
    oracle = Oracle(world)
    rates = {url: oracle.rate(url, world.epoch(30 * DAY)) for url in oracle.living(0.0 + 1.77e9)}
    assert rate_error(world, rates, 30 * DAY) == 0
    doubled = {url: rate * 2.718281828 for url, rate in rates.items()}
    assert rate_error(world, doubled, 30 * DAY) == pytest.approx(1, abs=1e-6)
    assert rate_error(world, None, 30 * DAY) is None


@dataclass
class Scored:
    scores: dict[str, dict[str, float | None]]
    text: bytes


def scored(name, share=None):
    world = World(archetype("small", "none"), 3)
    decisions, steps = Decisions(world), DriverSteps(7 * DAY, 42, share)
    drive(world, make_policy(name, world), decisions, steps)
    scores = score(world, decisions.archive, CountedWindow(steps.times))
    return Scored(scores, score_bytes(scores))


def test_a_full_crawl_misses_nothing_of_its_epochs():
    full = scored("full").scores
    assert full["epoch"]["recall"] == 1
    assert full["deletions"]["recall"] == 1
    assert set(full["invariants"].values()) == {0.0}
    digest = scored("digest").scores
    assert digest["epoch"] == full["epoch"]
    stored, all_stored = digest["cost"]["bytes_stored"], full["cost"]["bytes_stored"]
    assert stored is not None
    assert all_stored is not None
    assert stored < all_stored / 3


def test_the_same_seed_gives_the_same_bytes():
    assert scored("heritrix", 0.3).text == scored("heritrix", 0.3).text


def test_what_is_known_counts():
    """The clairvoyant bounds the oracle, the oracle beats uniform."""
    recalls = [
        scored(name, 0.3).scores["versions"]["recall"] or 0.0
        for name in ("clairvoyant", "oracle", "uniform")
    ]
    assert recalls == sorted(recalls, reverse=True)
    assert recalls[1] > 1.2 * recalls[2]
