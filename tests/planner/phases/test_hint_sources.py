"""What tells of other pages is asked first: sitemaps, start pages, what is due, lists."""

import pytest
from msgspec.structs import replace

from nacre.core.pagerow import PageKind, PageRow, TimingRow
from nacre.planner.change_rate.rates import NO_EVIDENCE, observe, observe_count
from nacre.planner.discovery.hints import HintSource, ReplyAudit, map_key
from nacre.planner.phases.hint_sources import (
    DoubtedSitemaps,
    DuePages,
    HintedPages,
    HintTrial,
    IndexPages,
    SitemapIndexes,
    Sources,
    StartPages,
)
from nacre.planner.phases.phase import PhaseResult
from nacre.planner.ranking import VisitValue
from nacre.planner.schedules.schedules import FixedTiming
from nacre.planner.schedules.timetable import Timetable
from nacre.planner.sites import TRIED
from nacre.planner.step import TRUSTED, Choice
from tests.planner.phases.scene import (
    DAY,
    NOW,
    SITE,
    Scene,
    chosen,
    page,
    paths,
    valued,
    whole,
)

MAPS = [SITE + f"map{number}.xml" for number in range(30)]
INDEX = SITE + "index.xml"
SOURCES = [Choice(url, 1.0, "sitemap") for url in (INDEX, *MAPS)]


def _proven(scene: Scene) -> None:
    """An index that was right ten times says that no sitemap changed since it was read."""
    maps, before = scene.sites.maps, NOW - 7 * DAY
    maps.was_read(INDEX, before, links=30, children=30, news=False)
    for url in MAPS:
        maps.note(INDEX, url, "2020-01-01", before)
        maps.was_read(url, before, links=3, children=0, news=False)
    for url in MAPS:
        maps.note(INDEX, url, "2020-01-01", NOW)
    maps.was_read(INDEX, NOW, links=30, children=30, news=False)
    row = maps.get(INDEX)
    assert row is not None
    maps._rows[map_key(INDEX)] = replace(row, audit=ReplyAudit(clean=10))


def _starting(scene: Scene, *starts: str) -> StartPages:
    maps = scene.sites.maps
    return StartPages(starts, SOURCES, maps, scene.pages, scene.valuation, scene.step)


def test_phases_keep_to_the_room_that_is_left() -> None:
    scene = Scene()
    for url in MAPS:
        scene.sites.maps.was_read(url, NOW - DAY, links=30, children=30, news=False)
    assert len(chosen(SitemapIndexes(SOURCES, scene.sites.maps), room=3).visits) == 3
    assert len(chosen(_starting(scene, SITE), room=5).visits) == 5


def test_indexes_of_sitemaps_come_first() -> None:
    scene = Scene()
    scene.sites.maps.was_read(INDEX, NOW - DAY, links=30, children=30, news=False)
    assert chosen(SitemapIndexes(SOURCES, scene.sites.maps)).visits == SOURCES[:1]


def test_sitemaps_and_feeds_are_read_before_start_pages() -> None:
    result = chosen(_starting(Scene(), SITE))
    assert result.visits == [*SOURCES, Choice(SITE, 1.0, "start")]
    assert not result.left_out


@pytest.mark.parametrize(("room", "read"), [(1, 1), (19, 1), (30, 3), (50, 31)])
def test_sitemaps_have_a_share_of_a_tight_budget(room: int, read: int) -> None:
    pages = [page(f"{number}.html") for number in range(50)]
    result = chosen(_starting(Scene(*pages)), room=room)
    assert len(result.visits) == read
    assert result.left_out == {one.url for one in SOURCES} - {one.url for one in result.visits}


def test_sitemaps_that_change_are_read_first() -> None:
    calm, often = NO_EVIDENCE, NO_EVIDENCE
    for _ in range(5):
        calm = observe(calm, 30.0, changed=False)
        often = observe(often, 7.0, changed=True)
    pages = [page(f"{number}.html") for number in range(50)]
    rows = [
        PageRow(url, PageKind.SITEMAP, visits=6, evidence=calm, last_visit=NOW - 7 * DAY)
        for url in (INDEX, *MAPS)
    ]
    rows[7].evidence = often
    assert chosen(_starting(Scene(*pages, *rows)), room=19).visits[0].url == rows[7].url


def test_sitemaps_rest_on_the_word_of_a_proven_index_but_for_a_sample() -> None:
    scene = Scene()
    _proven(scene)
    result = chosen(_starting(scene))
    read = {one.url for one in result.visits if one.propensity < 1.0}
    assert read | result.left_out == set(MAPS)
    assert 0 < len(read) < 10


def test_an_index_that_proves_wrong_has_all_that_rested_on_it_read() -> None:
    scene = Scene()
    _proven(scene)
    spared = chosen(_starting(scene)).left_out
    doubted = DoubtedSitemaps(SOURCES, scene.sites.maps, scene.step)
    assert chosen(doubted).visits == []
    read = next(url for url in MAPS if url not in spared)
    scene.sites.maps.was_read(read, NOW, links=4, children=0, news=True)
    result = chosen(doubted)
    assert {one.url for one in result.visits} == result.again == spared


def _told(scene: Scene) -> HintedPages:
    return HintedPages(scene.survey, scene.pages, scene.valuation, scene.step)


def test_pages_of_which_a_trusted_source_told_come_by_their_value() -> None:
    rows = [page(name, told=("sitemap",)) for name in "abcd"]
    scene = Scene(*rows, page("quiet"))
    valued(scene, {"a": (1.0, 0.5), "b": (3.0, 0.5), "c": (3.0, TRUSTED), "d": (9.0, 0.19)})
    assert paths(chosen(_told(scene))) == ["b", "c", "a"]
    assert paths(chosen(_told(scene), room=2)) == ["b", "c"]


def test_what_a_step_told_counts_too() -> None:
    row, other = page("fresh"), page("quiet")
    scene = Scene(row, other)
    scene.step.tell(row, HintSource.FEED)
    valued(scene, {"fresh": (1.0, 0.5), "quiet": (1.0, 0.5)})
    assert paths(chosen(_told(scene))) == ["fresh"]


def _trial(scene: Scene) -> HintTrial:
    return HintTrial(scene.survey, scene.pages, scene.valuation, scene.sites, scene.step)


def test_a_source_that_was_not_tried_is_tried_with_a_few() -> None:
    rows = [page(f"p{number}", told=("feed",)) for number in range(TRIED + 10)]
    scene = Scene(*rows, page("quiet"))
    found = paths(chosen(_trial(scene)))
    assert len(found) == TRIED
    assert found != [f"p{number}" for number in range(TRIED)], "drawn at random"
    assert len(chosen(_trial(scene), room=3).visits) == 3
    for number in range(TRIED):
        scene.sites.learn_hints(rows[number], NOW, changed=True, propensity=1.0)
    assert chosen(_trial(scene)).visits == []


def test_each_source_is_tried_by_itself() -> None:
    rows = [page(f"a{number}", told=("feed",)) for number in range(30)]
    rows += [page(f"b{number}", told=("listing",)) for number in range(30)]
    found = paths(chosen(_trial(Scene(*rows))))
    assert [sum(path[0] == kind for path in found) for kind in "ab"] == [TRIED, TRIED]


class _Timings:
    """Pages are due a day after their visit, or a week."""

    def __init__(self) -> None:
        self.rows: dict[str, TimingRow] = {}

    def timing(self, url: str) -> TimingRow | None:
        return self.rows.get(url)

    def put_timing(self, row: TimingRow) -> None:
        self.rows[row.url] = row


def _daily(url: str) -> FixedTiming | None:
    return FixedTiming(DAY) if "/daily" in url else None


def test_what_is_due_by_its_schedule_comes_in_order_of_its_time() -> None:
    rows = [page(f"daily{days}", last_visit=NOW - days * DAY) for days in (2, 0, 5)]
    scene = Scene(*rows, page("b"), timetable=Timetable(_Timings(), _daily))
    due = DuePages(scene.scheduled, scene.pages, scene.valuation)
    result = chosen(due)
    assert paths(result, "due") == ["daily5", "daily2"]
    assert all(one.chance > 0.1 for one in result.visits)
    assert paths(chosen(due, room=1)) == ["daily5"]


def test_a_start_page_under_a_schedule_waits_for_its_time() -> None:
    scene = Scene(page("daily", last_visit=NOW), timetable=Timetable(_Timings(), _daily))
    result = chosen(_starting(scene, SITE + "daily", SITE + "daily-new", SITE))
    assert paths(result, "start") == ["daily-new", ""]


def _lists(count: int, last_visit: float) -> Scene:
    rows = [page(f"list{number}/", index=0.9, last_visit=last_visit) for number in range(count)]
    return Scene(*rows)


def _index_pages(scene: Scene) -> IndexPages:
    return IndexPages(
        scene.survey, scene.pages, scene.valuation, scene.sites, scene.settings, scene.step
    )


def test_lists_are_read_as_far_as_they_may_show_something() -> None:
    scene = Scene(page("list/", index=0.9), page("article"))
    assert paths(chosen(_index_pages(scene))) == ["list/"]


def test_under_a_tight_budget_lists_compete_with_pages() -> None:
    rows = [page(f"hot{number}", weight=50.0) for number in range(9)]
    scene = Scene(page("list/", index=0.9), *rows)
    assert paths(chosen(_index_pages(scene), room=5)) == []


def test_with_room_for_all_values_lists_are_chosen_by_themselves() -> None:
    """Where the room suffices exactly, what other pages promise takes no list out."""
    rows = [page(f"hot{number}") for number in range(9)]
    scene = Scene(page("list/", index=0.9), *rows, page("new", visits=0), recall=0.5)
    valued(scene, {"list/": (0.1, 0.1), **{f"hot{number}": (1.0, 0.9) for number in range(9)}})
    assert paths(chosen(_index_pages(scene), room=10)) == ["list/"]
    assert paths(chosen(_index_pages(scene), room=9)) == []


def test_what_was_found_already_counts_towards_the_wanted_recall() -> None:
    rows = [page(f"list{number}/", index=0.9) for number in range(4)]
    scene = Scene(*rows, recall=0.5, least=0.0)
    valued(scene, {f"list{number}/": (1.0, 0.5) for number in range(4)})
    assert len(chosen(_index_pages(scene)).visits) == 2
    scene.step.found = 3.0
    assert chosen(_index_pages(scene)).visits == []
    scene.step.found = 0.0
    for name in "abc":
        scene.step.tell(page(name), HintSource.FEED)
    assert chosen(_index_pages(scene)).visits == []


def test_a_budget_that_does_for_all_pages_is_not_tight() -> None:
    """Lists are chosen among all pages only where there are more pages than visits."""
    rows = [page(f"p{number}") for number in range(4)]
    scene = Scene(page("list/", index=0.9), *rows)
    seen: list[str] = []
    valued(scene, {"list/": (1.0, 0.5)})
    of = scene.valuation.of

    def noted(row: PageRow) -> VisitValue | None:
        seen.append(row.url)
        return of(row)

    scene.valuation.of = noted  # type: ignore[method-assign]
    assert paths(chosen(_index_pages(scene), room=5)) == ["list/"]
    assert seen == [SITE + "list/"]
    chosen(_index_pages(scene), room=4)
    assert len(seen) == 6


@pytest.mark.parametrize(("room", "read"), [(10_000, ["list0/", "list1/"]), (5, ["list1/"])])
def test_lists_of_a_flooded_site_are_read_unless_the_budget_is_tight(
    room: int, read: list[str]
) -> None:
    """Under a tight one those that are likely to show something new; later pages never."""
    rows = [page(f"list{number}/", index=0.9) for number in range(2)]
    rows += [page("list1/index_2.html", index=0.9), *(page(f"p{number}") for number in range(9))]
    scene = Scene(*rows, least=0.5)
    values = {"list0/": (0.0, 0.09), "list1/": (0.0, 0.1), "list1/index_2.html": (0.0, 0.3)}
    valued(scene, values)
    assert chosen(_index_pages(scene), room=room).visits == []
    scene.step.flooded.add("b.test")
    assert chosen(_index_pages(scene), room=room).visits == []
    scene.step.flooded.add("a.test")
    assert paths(chosen(_index_pages(scene), room=room)) == read


def test_where_a_sitemap_is_believed_a_sample_of_the_lists_is_read() -> None:
    scene = Scene(*(page(f"list{number}/", index=0.9) for number in range(200)), least=0.9)
    scene.sites.read_map(SITE + "map.xml", NOW)
    scene.sites.learn_news(SITE, 1_000_000, 0)
    result = chosen(_index_pages(scene), room=10_000)
    sampled = [one for one in result.visits if one.propensity < 1.0]
    assert 5 < len(sampled) < 40


def test_lists_of_a_site_that_published_more_than_one_shows_are_all_read() -> None:
    scene = _lists(5, last_visit=NOW - 60.0)
    scene.step.flooded.add("a.test")
    assert len(chosen(_index_pages(scene), room=10_000).visits) == 5


def test_a_sitemap_is_no_page_of_a_list() -> None:
    scene = Scene(page("map.xml", PageKind.SITEMAP, index=0.9))
    assert scene.survey.sources == [(SITE + "map.xml", "sitemap")]
    assert paths(chosen(_index_pages(scene))) == []


def _shows(links: int) -> bytes:
    return observe_count(NO_EVIDENCE, links, 28.0)


def _sources(scene: Scene) -> Sources:
    return Sources(scene.pages, scene.valuation, scene.step)


def test_pages_come_by_the_links_that_they_showed_and_by_their_depth() -> None:
    rows = [page(f"p{number}", arrivals=_shows(0), depth=3) for number in range(200)]
    rows += [page("some", arrivals=_shows(3), depth=2), page("many", arrivals=_shows(30), depth=2)]
    rows += [page("deep", arrivals=_shows(3), depth=6)]
    found = whole(_sources(Scene(*rows)), room=25)
    assert paths(found) == ["many", "some"]
    assert {one.reason for one in found.visits} == {"index"}


@pytest.mark.parametrize(("room", "portions"), [(100, [2, 2, 2, 2]), (40, [1, 1, 1]), (12, [])])
def test_sources_are_visited_until_their_new_pages_use_up_the_room(
    room: int, portions: list[int]
) -> None:
    scene = Scene(*(page(f"p{number}", arrivals=_shows(3)) for number in range(200)))
    sources = _sources(scene)
    sizes: list[int] = []
    while (result := chosen(sources, room)).visits:
        assert result.repeat == (len(sizes) + 1 < len(portions))
        sizes.append(len(result.visits))
    assert sizes == portions
    sources = _sources(scene)
    chosen(sources, room)
    scene.step.new["http://a.test/new"] = 1
    assert chosen(sources, room) == PhaseResult([]), "a new page waits already"


def test_with_room_for_all_no_page_needs_a_share() -> None:
    rows = [page(f"p{number}", arrivals=_shows(3)) for number in range(10)]
    assert paths(chosen(_sources(Scene(*rows)), room=10)) == []
    assert len(chosen(_sources(Scene(*rows)), room=9).visits) == 0


def test_with_room_for_all_but_one_page_some_have_a_share() -> None:
    rows = [page(f"p{number}", arrivals=_shows(3)) for number in range(20)]
    assert paths(chosen(_sources(Scene(*rows)), room=20)) == []
    assert len(chosen(_sources(Scene(*rows)), room=19).visits) == 1


def test_of_equal_sources_the_one_that_waits_longest_comes_first() -> None:
    rows = [page(f"p{number}", arrivals=_shows(3)) for number in range(18)]
    rows += [page("old", arrivals=_shows(3), last_visit=NOW - 28 * DAY)]
    assert paths(chosen(_sources(Scene(*rows)), room=18)) == ["old"]
    assert not _sources(Scene())._worth(page("just now", last_visit=NOW))


def test_no_other_page_takes_the_room_of_a_source() -> None:
    rows = [page(f"p{number}", arrivals=_shows(0)) for number in range(17)]
    rows += [page("never", arrivals=_shows(30), visits=0)]
    rows += [page("gone", arrivals=_shows(30), life="gone")]
    rows += [page("file", PageKind.FILE, arrivals=_shows(30))]
    rows += [page("source", arrivals=_shows(3))]
    assert paths(chosen(_sources(Scene(*rows)), room=18)) == ["source"]


def test_what_was_chosen_is_gone_or_was_never_visited_is_no_source() -> None:
    rows = [page("new", visits=0), page("gone", life="gone"), page("done"), page("left")]
    rows += [page(f"p{number}", depth=9) for number in range(20)]
    scene = Scene(*rows)
    scene.step.done.add(rows[2].url)
    assert paths(chosen(_sources(scene), room=20)) == ["left"]
