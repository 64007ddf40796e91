"""Every kind of `recrawl.schedule` for rows: Nutch's, calendars, factors, change rates."""

from nacre.crawldb.revisits import RowTiming, revisits_of
from nacre.planner.schedules.nutch import PageState
from nacre.planner.schedules.timetable import ScheduleSettings
from tests.crawldb.made import DAY, NOW

MONTH = 30 * 86_400
MAX = 90 * 86_400


def test_the_schedule_of_the_settings_is_used():
    fixed = revisits_of(ScheduleSettings(kind="fixed", interval=7 * 86_400), {})
    after = fixed.fetched(RowTiming(MONTH), NOW, PageState.UNKNOWN, "text/html")
    assert (after.interval, after.fetch_time, after.modified) == (604_800, NOW + 7 * DAY, NOW)
    storm = revisits_of(ScheduleSettings(kind="stormcrawler"), {})
    later = storm.fetched(
        after._replace(last_time=NOW - DAY), NOW, PageState.NOT_MODIFIED, "text/html"
    )
    assert later.interval == 907_200
    daily = revisits_of(ScheduleSettings(kind="calendar", at="@daily"), {})
    assert daily.fetched(RowTiming(MONTH), NOW, PageState.UNKNOWN, "").fetch_time % DAY == 0
    assert (fixed.pull, revisits_of(ScheduleSettings(kind="nutch-default"), {}).pull) == (0, MAX)


def test_a_fixed_interval_of_a_seed_is_obeyed_and_pages_that_are_gone_wait_longer():
    for kind in ("worth", "fixed", "nutch-adaptive"):
        schedule = revisits_of(ScheduleSettings(kind=kind), {})
        timed = RowTiming(MONTH, fixed=3600.0, last_time=NOW - DAY)
        assert schedule.fetched(timed, NOW, PageState.NOT_MODIFIED, "").interval == 3600
        assert schedule.gone(RowTiming(MONTH), NOW).interval == 45 * 86_400
        assert schedule.interval == MONTH


def test_by_change_rate_busy_pages_are_visited_sooner_and_quiet_ones_never_beyond_the_longest():
    schedule = revisits_of(ScheduleSettings(kind="worth"), {})
    found = {}
    for name, state in (("busy", PageState.MODIFIED), ("quiet", PageState.NOT_MODIFIED)):
        timed = schedule.fetched(RowTiming(MONTH), NOW, PageState.UNKNOWN, "")
        assert timed.interval == MONTH
        at = NOW
        for _ in range(12):
            timed = timed._replace(last_time=at)
            at = timed.fetch_time
            timed = schedule.fetched(timed, at, state, "")
        found[name] = timed.interval
    assert found["busy"] < 5 * 86_400
    assert 60 * 86_400 < found["quiet"] <= MAX
