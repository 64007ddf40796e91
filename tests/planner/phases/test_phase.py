"""What one look at all rows shows."""

import pytest

from nacre.core.pagerow import PageKind, PageRow, TimingRow
from nacre.core.urlshape import shaped
from nacre.planner.discovery.index_pages import INDEX
from nacre.planner.discovery.traps import MANY, Traps
from nacre.planner.phases.phase import Pages, ScheduledPages, Survey, tried_again
from nacre.planner.schedules.schedules import FixedTiming
from nacre.planner.schedules.timetable import Timetable
from nacre.planner.visited import MemoryRows

DAY = 86_400.0
START = 1e9


def test_a_page_that_never_answers_is_tried_ever_more_rarely() -> None:
    row, tried = PageRow("http://a.test/dead", first_seen=START, errors=1), []
    for day in range(1, 400):
        survey = Survey(START + day * DAY)
        survey.take(row)
        if survey.unvisited:
            row.errors += 1
            tried.append(day)
    assert tried == [1, 7, 14, 28, 56, 112, 224]


def test_a_page_of_which_was_heard_is_visited_at_once() -> None:
    survey = Survey(START)
    survey.take(PageRow("http://a.test/new", first_seen=START, depth=3))
    assert survey.unvisited == {"http://a.test/new": 3}


def test_the_survey_tells_apart_what_phases_need() -> None:
    rows = [
        PageRow("http://a.test/map.xml", PageKind.SITEMAP, visits=1, told=("sitemap",)),
        PageRow("http://a.test/feed", PageKind.FEED, visits=1),
        PageRow("http://a.test/list/", visits=1, index=INDEX),
        PageRow("http://a.test/page", visits=1, index=INDEX - 0.01),
        PageRow("http://a.test/new"),
    ]
    survey = Survey(START)
    for row in rows:
        survey.take(row)
    assert survey.size == 5
    assert survey.sources == [
        ("http://a.test/map.xml", "sitemap"), ("http://a.test/feed", "feed")
    ]  # fmt: skip
    assert survey.lists == ["http://a.test/list/"]
    assert list(survey.told) == ["http://a.test/map.xml"]
    assert list(survey.unvisited) == ["http://a.test/new"]


def test_kinds_of_new_urls_are_shown_to_the_traps() -> None:
    traps, rows = Traps(), []
    survey = Survey(START, traps)
    for number in range(MANY):
        url = f"http://a.test/calendar/{number}"
        rows.append(PageRow(url, template=shaped(url).name, first_seen=START))
    for row in rows[1:]:
        survey.take(row)
    assert not traps.is_crowded(rows[0].template)
    survey.take(rows[0])
    assert traps.is_crowded(rows[0].template)
    assert len(survey.unvisited) == MANY


class _Timings:
    """No timing is kept."""

    def timing(self, url: str) -> TimingRow | None:
        return None

    def put_timing(self, row: TimingRow) -> None:
        raise AssertionError(row.url)


def _scheduled() -> ScheduledPages:
    """Every page of b.test is due a day after its visit."""
    table = Timetable(_Timings(), lambda url: FixedTiming(DAY) if "//b.test" in url else None)
    return ScheduledPages(table, START)


def test_pages_under_a_schedule_have_their_time_and_others_none() -> None:
    scheduled = _scheduled()
    late = PageRow("http://b.test/late", visits=1, last_visit=START - 3 * DAY)
    style = PageRow("http://b.test/a.css", PageKind.EMBED, visits=1, last_visit=START - 3 * DAY)
    early = PageRow("http://b.test/early", visits=1, last_visit=START)
    free, new = PageRow("http://a.test/", visits=1), PageRow("http://b.test/new")
    assert [scheduled.take(row) for row in (late, style, early, free, new)] == [
        True, True, True, False, False
    ]  # fmt: skip
    assert scheduled.due == [(START - 2 * DAY, late.url)]
    assert [scheduled.rests(row) for row in (late, early, free, new, None)] == [
        True, True, False, False, False
    ]  # fmt: skip


def test_without_a_timetable_no_page_is_under_a_schedule() -> None:
    scheduled, row = ScheduledPages(None, START), PageRow("http://b.test/", visits=1)
    assert not scheduled.governs(row.url)
    assert not scheduled.take(row)
    assert not scheduled.rests(row)


def test_phases_read_the_rows_that_are_under_no_schedule() -> None:
    rows = MemoryRows()
    for url in ("http://a.test/", "http://b.test/"):
        rows.put(PageRow(url, visits=1))
    pages, urls = Pages(rows, _scheduled(), 1), ["http://a.test/", "http://b.test/", "http://c.t/"]
    assert [row.url for row in pages.scan()] == urls[:1]
    assert [row.url for row in pages.planned(urls)] == urls[:1]
    assert [row.url for row in pages.rows_of(urls)] == urls[:2]
    assert pages.get(urls[1]) is not None
    assert pages.get(urls[2]) is None


@pytest.mark.parametrize(
    ("errors", "days"), [(0, None), (1, None), (2, 7), (3, 14), (22, 7 * 2**20), (40, 7 * 2**20)]
)
def test_when_a_page_that_never_answered_is_tried_again(errors: int, days: int | None) -> None:
    row = PageRow("http://a.test/dead", first_seen=START, errors=errors)
    assert tried_again(row) == (0.0 if days is None else START + days * DAY)
