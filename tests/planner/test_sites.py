"""What is known of each site: trust in hints, lists, hours and ages of changes, co-change."""

import json

import msgspec
import pytest

from nacre.core.pagerow import PageRow
from nacre.planner.discovery.hints import HintSource
from nacre.planner.discovery.index_pages import Shown
from nacre.planner.sites import ShownRow, SiteRow, Sites

DAY = 86_400.0
NOW = 1_767_571_200.0
URL = "http://a.test/news/1.html"
MAP = "http://a.test/sitemap.xml"


def _page(**facts: object) -> PageRow:
    known = {"template": "http://a.test/news/{int}.html", "visits": 2, "last_visit": NOW - 9 * DAY}
    return PageRow(URL, **{**known, **facts})  # type: ignore[arg-type]


def _mapped(*, read: bool = True) -> Sites:
    """A site whose sitemap was read a week ago, and now."""
    sites = Sites()
    sites.read_map(MAP, NOW - 7 * DAY)
    if read:
        sites.read_map(MAP, NOW)
    return sites


def test_a_sitemap_would_have_told_of_pages_that_it_dates() -> None:
    sites = _mapped()
    assert [name for name, _ in sites.signals(_page(lastmod="2026-01-01", listed=NOW))] == [
        HintSource.SITEMAP
    ]
    assert sites.signals(_page(lastmod="2026-01-01", listed=NOW - 7 * DAY)) == []
    assert sites.signals(_page(listed=NOW)) == []
    told = _page(told=("feed", "sitemap"))
    assert [name for name, _ in sites.signals(told)] == ["feed", "sitemap"]


def test_a_sitemap_that_dates_everything_now_is_not_believed() -> None:
    sites = _mapped(read=False)
    assert not sites.read_dates(MAP, ["2026-01-05T00:00:00Z"] * 30, 30, NOW)
    assert not sites.is_mapped(URL, NOW)
    assert sites.signals(_page(lastmod="2026-01-05", listed=NOW)) == []
    assert sites.read_dates(MAP, ["2020-01-01", "never"], 1, NOW + DAY)
    sites.read_map(MAP, NOW + DAY)
    assert sites.is_mapped(URL, NOW + DAY)


def test_a_sitemap_covers_the_pages_that_it_names() -> None:
    sites = _mapped()
    named, other = _page(listed=NOW), _page()
    assert [sites.covers(row, NOW) for row in (named, other)] == [True, False]
    assert not sites.covers(named, NOW + DAY)


def test_visits_show_how_right_a_source_is() -> None:
    sites = _mapped()
    told = _page(told=("sitemap",), lastmod="2026-01-01", listed=NOW)
    assert (sites.is_tried(told), sites.proved(told)) == (False, 0.0)
    for number in range(20):
        sites.learn_hints(told, NOW, changed=number < 15, propensity=1.0)
    assert sites.is_tried(told)
    assert sites.proved(told) == pytest.approx(16 / 22)


def test_a_change_that_a_sampled_visit_found_untold_counts_for_many() -> None:
    sites = _mapped()
    silent = _page(lastmod="2020-01-01", listed=NOW)
    sites.learn_hints(silent, NOW, changed=False, propensity=1.0)
    told = _page(told=("sitemap",), lastmod="2026-01-01", listed=NOW)
    for _ in range(100):
        sites.learn_hints(told, NOW, changed=True, propensity=1.0)
    assert sites.is_silent(silent, NOW)
    assert sites.watched(URL) == 1
    sites.learn_hints(silent, NOW, changed=True, propensity=0.01)
    assert not sites.is_silent(silent, NOW)


def test_a_page_that_its_sitemap_drops_is_likely_withdrawn() -> None:
    sites = _mapped()
    dropped, named = _page(listed=NOW - 7 * DAY), _page(listed=NOW)
    assert sites.look_for_withdrawal(dropped, NOW)
    assert dropped.told == ("sitemap",)
    assert not sites.look_for_withdrawal(dropped, NOW)
    assert not sites.look_for_withdrawal(named, NOW)
    assert not sites.look_for_withdrawal(_page(), NOW)


def test_looks_at_dead_links_show_how_many_come_back() -> None:
    sites = Sites()
    sites.begin_step(NOW, 7.0)
    assert sites.time(URL).back == 0.05
    for back in (False,) * 20:
        sites.learn_return(URL, back=back)
    sites.begin_step(NOW + 7 * DAY, 7.0)
    assert sites.time(URL).back == pytest.approx(1.0 / 40.0)
    sites.learn_return(URL, back=True)
    sites.begin_step(NOW + 14 * DAY, 7.0)
    assert sites.time(URL).back == pytest.approx(2.0 / 41.0)


def test_youth_is_learned_from_changes_that_the_own_rate_does_not_explain() -> None:
    sites = Sites()
    old = _page(born=NOW - 400 * DAY)
    sites.learn_age(_page(), NOW, 0.1, changed=True)
    for _ in range(50):
        sites.learn_age(_page(born=NOW - 9.5 * DAY), NOW, 0.1, changed=True)
        sites.learn_age(old, NOW, 0.1, changed=False)
    sites.begin_step(NOW, 7.0)
    time = sites.time(URL)
    fresh = _page(born=NOW - DAY)
    assert time.young(fresh, NOW, NOW + DAY) > 0.01
    assert time.young(old, NOW, NOW + DAY) == 0.0
    assert time.young(_page(), NOW, NOW + DAY) == 0.0


def test_lists_are_worth_what_they_tell_as_far_as_it_is_right() -> None:
    sites, quiet = Sites(), Sites()
    quiet.use_hints(enabled=False)
    told = _page(told=("listing",))
    for _ in range(40):
        sites.learn_tells(URL, 2)
        sites.learn_hints(told, NOW, changed=True, propensity=1.0)
    assert sites.time(URL).lists > 0.9
    assert quiet.time(URL).lists == 0.003
    for _ in range(2_000):
        sites.learn_tells(URL, 0)
    sites.begin_step(NOW, 7.0)
    assert sites.time(URL).lists == 0.3
    assert sites.beside_map(URL).lists < 0.1


def test_beside_a_sitemap_lists_are_worth_what_it_misses() -> None:
    sites = _mapped()
    assert sites.beside_map(URL).untold == 0.5
    sites.learn_news(URL, 99, 1)
    beside = sites.beside_map(URL)
    assert beside.untold == pytest.approx(1.25 / 100.5)
    assert beside.lists <= 1.0 - 0.7 + 1e-9


def test_pages_of_lists_that_are_still_to_be_read_are_remembered() -> None:
    sites = Sites()
    sites.read_on("http://a.test/2")
    sites.read_on("http://a.test/2")
    sites.read_on("http://b.test/3")
    assert sites.paging() == ["http://a.test/2", "http://b.test/3"]
    sites.was_read("http://a.test/2")
    sites.was_read("http://c.test/")
    assert sites.paging() == ["http://b.test/3"]


def test_what_a_list_showed_and_when_is_kept() -> None:
    sites = Sites()
    assert (sites.list_row(URL), sites.shown_at(URL), sites.since_shown(URL, NOW)) == (None, 0, 0)
    sites.keep_list(URL, ShownRow(Shown(), NOW - DAY))
    assert (sites.shown_at(URL), sites.since_shown(URL, NOW)) == (NOW - DAY, DAY)
    assert not ShownRow(Shown(), NOW).repeats
    assert ShownRow(Shown(), NOW, settled=1).repeats


def test_the_forecast_of_a_page_has_the_events_of_its_sections() -> None:
    sites = Sites()
    sites.begin_step(NOW, 7.0)
    before = sites.forecasting(_page(last_visit=NOW - 7 * DAY), sites.time(URL)).event
    for _ in range(8):
        sites.events(URL).look(_page(last_visit=NOW - 7 * DAY), 0.01, NOW, changed=True)
    assert sites.take_event_news()
    assert not sites.take_event_news()
    time = sites.forecasting(_page(last_visit=NOW - 7 * DAY), sites.time(URL))
    assert before < 0.02
    assert time.event > 0.9
    assert sites.forecasting(_page(last_visit=NOW), sites.time(URL)).event < 0.02


def test_a_row_of_an_earlier_version_opens() -> None:
    row = msgspec.convert(json.loads(msgspec.json.encode(SiteRow()))[:-3], SiteRow)
    assert (row.sections, row.forecasts.forecasts) == ({}, 0.0)
    together = {"http://a.test/{int}": [[1.0, 4, 2]]}
    assert SiteRow(together=together).together == together
