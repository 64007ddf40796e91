"""Sources: a share of a tight budget goes to pages that may show new links."""

from nacre.planner.change_rate.rates import NO_EVIDENCE, observe_count
from nacre.planner.phases.sources import Sources
from tests.planner.phases.scene import Scene, chosen, page, paths


def _shows(links: int) -> bytes:
    return observe_count(NO_EVIDENCE, links, 28.0)


def _sources(scene: Scene) -> Sources:
    return Sources(scene.pages, scene.valuation, scene.step)


def test_pages_come_by_the_links_that_they_showed_and_by_their_depth() -> None:
    rows = [page(f"p{number}", arrivals=_shows(0), depth=3) for number in range(200)]
    rows += [page("some", arrivals=_shows(3), depth=2), page("many", arrivals=_shows(30), depth=2)]
    rows += [page("deep", arrivals=_shows(3), depth=6)]
    found = chosen(_sources(Scene(*rows)), room=25)
    assert paths(found) == ["many", "some"]
    assert {one.reason for one in found.visits} == {"index"}


def test_with_room_for_all_no_page_needs_a_share() -> None:
    rows = [page(f"p{number}", arrivals=_shows(3)) for number in range(10)]
    assert paths(chosen(_sources(Scene(*rows)), room=10)) == []
    assert len(chosen(_sources(Scene(*rows)), room=9).visits) == 0


def test_what_was_chosen_is_gone_or_was_never_visited_is_no_source() -> None:
    rows = [page("new", visits=0), page("gone", life="gone"), page("done"), page("left")]
    rows += [page(f"p{number}", depth=9) for number in range(20)]
    scene = Scene(*rows)
    scene.step.done.add(rows[2].url)
    assert paths(chosen(_sources(scene), room=20)) == ["left"]
