"""Sentinels: a few pages of each section, the widest first."""

from nacre.core.pagerow import PageKind
from nacre.planner.phases.sentinels import SectionDraws, Sentinels
from nacre.planner.step import SENTINEL
from tests.planner.phases.scene import NOW, Scene, chosen, page, paths


def _sentinels(scene: Scene) -> Sentinels:
    draws = SectionDraws(NOW)
    for row in scene.rows.scan():
        draws.take(row)
    return Sentinels(draws, scene.pages, scene.valuation, scene.sites, scene.step)


def test_a_site_and_each_large_section_have_some() -> None:
    rows = [page(f"api/Class{name}.html") for name in map(chr, range(97, 123))]
    rows += [page(f"blog/{name}.html") for name in map(chr, range(97, 123))]
    rows += [page(f"few/{name}.html") for name in "abc"]
    found = chosen(_sentinels(Scene(*rows)), room=1_000)
    assert {one.reason for one in found.visits} == {SENTINEL}
    names = paths(found)
    assert 8 <= len(names) <= 12
    assert sum(name.startswith("api/") for name in names) >= 3
    assert sum(name.startswith("blog/") for name in names) >= 3
    assert all(one.chance > 0.0 for one in found.visits), "each has a forecast"


def test_a_tight_budget_gives_them_a_small_share() -> None:
    scene = Scene(*(page(f"api/{name}.html") for name in map(chr, range(97, 123))))
    assert len(chosen(_sentinels(scene), room=10).visits) == 0
    assert len(chosen(_sentinels(scene), room=100).visits) == 2


def test_who_can_be_one() -> None:
    rows = [
        page("new", visits=0),
        page("gone", life="gone"),
        page("a.pdf", PageKind.FILE),
        page("done"),
        page("left"),
    ]
    scene = Scene(*rows)
    scene.step.done.add(rows[3].url)
    assert paths(chosen(_sentinels(scene), room=1_000)) == ["left"]


def test_pages_that_a_believed_sitemap_names_are_none() -> None:
    named = [page(f"api/{name}.html", listed=NOW) for name in "abcdefgh"]
    scene = Scene(*named, page("other.html"))
    scene.sites.read_map("http://a.test/sitemap.xml", NOW)
    assert paths(chosen(_sentinels(scene), room=1_000)) == ["other.html"]
