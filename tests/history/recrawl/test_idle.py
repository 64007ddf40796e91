"""New URLs that differ in idle parameters alone wait, when that is wanted, and few are tested."""

from hashlib import sha1

import pytest

from nacre.history.recrawl.choice import Choice
from nacre.history.recrawl.planner import Planner
from nacre.history.recrawl.settings import RecrawlSettings
from nacre.history.recrawl.sites import Sites
from nacre.history.visited import DigestJudge, MemoryRows
from tests.history.visits import Link, Visit

DAY = 86_400.0
START = 1_767_571_200.0
HOME = "http://a.test/"


class _Site:
    """Ten pages, each linked under some values of `from`, which does not change what they say.

    Attributes:
        values: Of `from`.
        telling: It has a meaning by now.
    """

    def __init__(self) -> None:
        self.pages, self.values, self.telling = 10, ["a", "b"], False

    def urls(self) -> list[str]:
        return [
            f"{HOME}view?from={value}&id={page}"
            for page in range(self.pages)
            for value in self.values
        ]

    def visit(self, url: str, now: float) -> Visit:
        links = [Link(each) for each in self.urls()] if url == HOME else []
        said = url if self.telling else url.partition("&")[2]
        text = repr(links) if url == HOME else f"{said} {sha1(said.encode()).hexdigest()}"
        digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
        return Visit(url, now, 200, digest, "text/html", 10, links, bytes)


def _planner(mode: str) -> Planner:
    said = {"lots": 0.0, "floor": 0, "trap_share": 1.0, "idle_parameters": mode}
    settings = RecrawlSettings.model_validate(said)
    planner = Planner(MemoryRows(), Sites(), DigestJudge(), settings)
    planner.begin([HOME])
    return planner


def _new(planner: Planner, site: _Site, now: float) -> list[Choice]:
    """The new pages of a step."""
    chosen: list[Choice] = []
    while wave := planner.choose(now, 10**6):
        chosen += [one for one in wave if one.reason in {"new", "late"}]
        for one in wave:
            planner.learn(site.visit(one.url, now))
    return chosen


def _settled(mode: str) -> tuple[_Site, Planner]:
    site, planner = _Site(), _planner(mode)
    assert len(_new(planner, site, START)) == 20
    site.values = [f"v{number}" for number in range(200)]
    return site, planner


def test_by_default_all_are_visited() -> None:
    site, planner = _settled("report")
    assert len(_new(planner, site, START + DAY)) == 2_000
    assert planner.repeated == 0


def test_where_it_is_wanted_few_are_and_pages_of_their_own_all() -> None:
    site, planner = _settled("skip")
    site.pages = 12
    found = _new(planner, site, START + DAY)
    repeated = [one for one in found if one.propensity < 1.0]
    assert len(repeated) == pytest.approx(120, rel=0.3)
    assert planner.repeated == 2_398 - len(repeated)
    alone = [one.url.partition("&")[2] for one in found if one.propensity == 1.0]
    assert alone == ["id=10", "id=11"]


def test_a_parameter_that_has_a_meaning_after_all_holds_nothing_back() -> None:
    site, planner = _settled("skip")
    site.telling = True
    tested = len(_new(planner, site, START + DAY))
    assert 0 < tested < 200
    assert len(_new(planner, site, START + 2 * DAY)) == 2_000 - tested
