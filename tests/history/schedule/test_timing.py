"""What each schedule makes of visits, and which pages a timetable calls due."""

import math
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.pagerow import PageRow
from nacre.core.timingrow import TimingRow
from nacre.history.schedule.nutch import NutchRates
from nacre.history.schedule.settings import ScheduleSettings
from nacre.history.schedule.timetable import Timetable, timing_of
from nacre.history.schedule.timing import Met, Timing
from nacre.history.verdict.deletion import Answer

URL = "http://a.test/1"
DAY = 86_400.0
HOUR = 3600.0
START = 1_760_000_000.0
RATES = {"application/pdf": NutchRates(0.1, 0.4)}
KINDS = ["fixed", "calendar", "nutch-default", "nutch-adaptive", "nutch-mime-adaptive", "heritrix",
         "stormcrawler"]  # fmt: skip


def _timing(kind: str, **said: object) -> Timing:
    timing = timing_of(ScheduleSettings.model_validate({"kind": kind, **said}), RATES)
    assert timing is not None
    return timing


def _visits(timing: Timing, story: str, mime: str = "text/html") -> list[tuple[float, float]]:
    """A page visited whenever it is due; its interval and the wait after each visit, in days.

    A letter a visit: `n` new, `c` changed, `s` the same, `3` a 304, `g` gone (404), `f` failed,
    `m` moved.
    """
    row: TimingRow | None = None
    now = START
    found = []
    for letter in story:
        status, answer = {
            "g": (404, Answer.MISSING),
            "f": (-2, Answer.SILENT),
            "m": (301, Answer.MOVED),
            "3": (304, Answer.THERE),
        }.get(letter, (200, Answer.THERE))
        met = Met(now, status, answer, letter in "cg", letter == "n", mime)
        row = timing.after(URL, row, met)
        due = timing.due(row, now)
        found.append((round(row.interval / DAY, 3), round((due - now) / DAY, 3)))
        now = due
    return found


def test_the_planner_is_no_schedule() -> None:
    assert timing_of(ScheduleSettings(), {}) is None


STORIES = [
    ("fixed", "text/html", "nscgf", [(7, 7)] * 5),
    # Heritrix: text waits 12 h first, others by their kind; what said nothing waits 3 days.
    ("heritrix", "text/html", "nscc", [(0.5, 0.5), (0.75, 0.75), (0.5, 0.5), (0.333, 0.333)]),
    ("heritrix", "image/png", "ns", [(2, 2), (3, 3)]),
    ("heritrix", "", "ns", [(3, 3), (4.5, 4.5)]),
    ("heritrix", "application/pdf", "nfs", [(1, 1), (1, 3), (1.5, 1.5)]),
    ("heritrix", "text/html", "n" + "s" * 12, [(28, 28)]),
    # StormCrawler shrinks towards the shortest interval, an hour.
    ("stormcrawler", "text/html", "nscf", [(1, 1), (1.5, 1.5), (0.771, 0.771), (0.771, 0.083)]),
    ("stormcrawler", "text/html", "n" + "s" * 9, [(14, 14)]),
    # Nutch: the first visit has nothing to compare with.
    ("nutch-default", "text/html", "ncs3m", [(30, 30)] * 5),
    # Adaptive, from the table of the reference: 30 d, changed; then unchanged since 24 days.
    ("nutch-adaptive", "text/html", "nc", [(30, 30), (24, 24)]),
    ("nutch-adaptive", "text/html", "ncs", [(30, 30), (24, 24), (33.6, 26.4)]),
    # Gone pages are asked for again ever more rarely, but at 0.9 of the longest interval.
    ("nutch-adaptive", "text/html", "ngggg", [(45, 45), (67.5, 67.5), (81, 81), (81, 81)]),
    # A failure waits a day; the third in a row counts as gone.
    ("nutch-adaptive", "text/html", "nfff", [(30, 30), (30, 1), (30, 1), (45, 45)]),
    ("nutch-adaptive", "text/html", "nffs", [(30, 30), (30, 1), (30, 1), (42, 32.4)]),
    # After a redirect there is nothing to compare with.
    ("nutch-adaptive", "text/html", "nmcc", [(30, 30), (30, 21), (51, 35.7), (40.8, 40.8)]),
    ("nutch-mime-adaptive", "application/pdf", "nc", [(30, 30), (18, 18)]),
    ("nutch-mime-adaptive", "text/html", "nc", [(30, 30), (24, 24)]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "mime", "story", "expected"), STORIES)
def test_stories(kind: str, mime: str, story: str, expected: list[tuple[float, float]]) -> None:
    found = _visits(_timing(kind), story, mime)
    assert found[-len(expected) :] == expected


def test_nutch_forces_what_waits_longer_than_the_longest() -> None:
    """Reference 1.4 step 7: it becomes a page that was never seen, and its interval 0.9 of that."""
    timing = _timing("nutch-adaptive")
    met = Met(START, 200, Answer.THERE, first=True, mime="text/html")
    row = TimingRow(URL, "nutch-adaptive", START - 80 * DAY, 80 * DAY, START, START - 200 * DAY)
    row = timing.after(URL, row, met._replace(first=False))
    assert (row.interval, row.signed, row.modified) == (round(0.9 * 90 * DAY), False, 0.0)
    assert row.due == pytest.approx(START + 140 * DAY, abs=1.0)
    # A date so far ahead is due at once, until it has come nearer.
    assert timing.due(row, START) == START
    again = timing.after(URL, row, met._replace(time=START + DAY, first=False, changed=True))
    assert (again.interval, again.signed) == (81 * DAY, True)


def test_nutch_keeps_whole_seconds_and_milliseconds() -> None:
    timing = _timing("nutch-adaptive", nutch={"interval": 100.0})
    row = timing.after(URL, None, Met(START + 0.0004, 200, Answer.THERE, first=True))
    for number in range(3):
        row = timing.after(URL, row, Met(row.due, 200, Answer.THERE, changed=number == 1))
    assert row.interval == int(row.interval)
    assert round(row.due * 1000) == pytest.approx(row.due * 1000, abs=1e-3)


def test_a_calendar_has_its_times() -> None:
    timing = _timing("calendar", at="0 3 * * *", time_zone="Asia/Shanghai")
    row = timing.after(URL, None, Met(START, 200, Answer.THERE, first=True))
    assert row.due == timing.due(row, START) == 1_760_036_400.0
    never = _timing("calendar", at="0 0 30 2 *")
    assert never.due(row, START) == math.inf


def test_another_interval_holds_at_once() -> None:
    row = _timing("fixed").after(URL, None, Met(START, 200, Answer.THERE, first=True))
    assert _timing("fixed", interval="1d").due(row, START) == START + DAY


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"kind": "sometimes"}, "worth"),
        ({"kind": "calendar", "at": "0 25 * * *"}, "hour"),
        ({"kind": "calendar", "time_zone": "Mars/Olympus"}, "time zone"),
        ({"kind": "fixed", "interval": 0}, "greater than 0"),
    ],
)
def test_what_is_no_schedule(said: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        ScheduleSettings.model_validate(said)


@given(
    kind=st.sampled_from(KINDS),
    story=st.text("nsc3gfm", min_size=1, max_size=25),
    mime=st.sampled_from(["", "text/html", "image/png", "application/pdf"]),
)
def test_a_page_always_comes_back(kind: str, story: str, mime: str) -> None:
    """Whatever happens it is due again, not before the visit and within a year."""
    for interval, wait in _visits(_timing(kind), story, mime):
        assert 0.0 <= wait <= 366.0
        assert interval > 0.0


@given(st.text("nsc", min_size=2, max_size=20))
def test_factors_follow_what_was_seen(story: str) -> None:
    found = _visits(_timing("heritrix"), story)
    for letter, ((before, _), (after, _)) in zip(story[1:], pairwise(found), strict=True):
        if letter == "s":
            assert after >= before
        elif letter == "c":
            assert after <= before


class _Rows:
    def __init__(self) -> None:
        self.rows: dict[str, TimingRow] = {}

    def timing(self, url: str) -> TimingRow | None:
        return self.rows.get(url)

    def put_timing(self, row: TimingRow) -> None:
        self.rows[row.url] = row


def _table(of: Callable[[str], Timing | None]) -> tuple[Timetable, _Rows]:
    rows = _Rows()
    return Timetable(rows, of), rows


def test_a_page_of_the_planner_has_no_time() -> None:
    table, rows = _table(lambda _: None)
    page = PageRow(URL, visits=3, last_visit=START)
    assert (table.governs(URL), table.due(page, START)) == (False, None)
    table.learn(URL, Met(START, 200, Answer.THERE))
    assert not rows.rows


def test_a_new_page_has_no_time_and_a_known_one_is_taken_over() -> None:
    table, _ = _table(lambda _: _timing("fixed"))
    assert table.due(PageRow(URL), START) is None
    assert table.due(PageRow(URL, visits=1, last_visit=START), START) == (START + 7 * DAY, False)


def test_a_visit_counts_once() -> None:
    table, rows = _table(lambda _: _timing("heritrix"))
    for _ in range(2):
        table.learn(URL, Met(START, 200, Answer.THERE, first=True, mime="text/html"))
        table.learn(URL, Met(START + DAY, 200, Answer.THERE, mime="text/html"))
    assert rows.rows[URL].interval == 18 * HOUR


def test_another_schedule_begins_anew_where_the_last_left_it() -> None:
    kinds = ["fixed"]
    table, rows = _table(lambda _: _timing(kinds[0]))
    table.learn(URL, Met(START, 200, Answer.THERE, first=True, mime="text/html"))
    kinds[0] = "heritrix"
    page = PageRow(URL, visits=1, last_visit=START - DAY)
    assert table.due(page, START) == (START + 12 * HOUR, False)
    table.learn(URL, Met(START + DAY, 200, Answer.THERE, changed=True, mime="text/html"))
    assert (rows.rows[URL].kind, rows.rows[URL].interval) == ("heritrix", 8 * HOUR)


def test_a_page_that_never_answered_waits_as_its_schedule_says() -> None:
    table, _ = _table(lambda _: _timing("nutch-default"))
    table.learn(URL, Met(START, -2, Answer.SILENT, first=True))
    assert table.due(PageRow(URL, errors=1), START) == (START + DAY, False)


def test_a_run_of_every_week_finds_what_the_last_one_visited_at_its_end() -> None:
    """Intervals count from the beginning of the run, and runs never begin to the second."""
    table, _ = _table(lambda _: _timing("fixed"))
    page = PageRow(URL, visits=1, last_visit=START)
    table.learn(URL, Met(START + 9 * HOUR, 200, Answer.THERE, first=True, run=START))
    assert table.due(page, START + 7 * DAY - HOUR) == (START + 7 * DAY, True)
    assert table.due(page, START + 7 * DAY - 2 * HOUR) == (START + 7 * DAY, False)


def test_nutch_counts_to_the_millisecond() -> None:
    table, _ = _table(lambda _: _timing("nutch-default"))
    page = PageRow(URL, visits=1, last_visit=START)
    table.learn(URL, Met(START + 9.0, 200, Answer.THERE, first=True, run=START))
    due = START + 9.0 + 30 * DAY
    assert table.due(page, due - 0.002) == (due, False)
    assert table.due(page, due) == (due, True)
