"""Schedules in place of the planner: where they settle, calendars, what visits make of them."""

import random
from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.pagerow import TimingRow
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.schedules.schedules import (
    DAY,
    HERITRIX,
    HOUR,
    STORMCRAWLER,
    Calendar,
    Factors,
    Met,
    Timing,
    heritrix_first,
)
from tests.planner.schedules.made import START, URL, made


def _changed_share(factors: Factors, rate: float) -> float:
    """Share of visits that see a change, once the interval has settled."""
    rng = random.Random(1)
    interval, seen, total = 0.0, 0, 0
    for visit in range(40_000):
        waited = interval or factors.first
        changed = rng.random() > 2.718281828 ** (-rate * waited / DAY)
        interval = factors.next_interval(interval, changed=changed)
        if visit > 500:
            seen, total = seen + changed, total + 1
    return seen / total


@pytest.mark.parametrize(("factors", "expected"), [(HERITRIX, 0.500), (STORMCRAWLER, 0.369)])
def test_schedules_settle_where_the_reference_says(factors: Factors, expected: float) -> None:
    """Reference 2.2: the share of visits that find a change does not depend on the rate."""
    assert _changed_share(factors, rate=0.1) == pytest.approx(expected, rel=0.05)


def test_bounds_hold() -> None:
    assert HERITRIX.next_interval(28 * DAY, changed=False) == 28 * DAY
    assert HERITRIX.next_interval(HOUR, changed=True) == HOUR


def test_heritrix_waits_by_media_type() -> None:
    assert heritrix_first("text/html") == 12 * HOUR
    assert heritrix_first("image/png") == 2 * DAY
    assert heritrix_first("") == 3 * DAY
    assert heritrix_first("application/pdf") == DAY


def _time(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


CALENDARS = [
    ("0 3 * * *", "2026-11-21T02:59:59", "2026-11-21T03:00:00"),
    ("0 3 * * *", "2026-11-21T03:00:00", "2026-11-22T03:00:00"),
    ("*/20 * * * *", "2026-11-21T03:01:00", "2026-11-21T03:20:00"),
    ("30 1 1 jan *", "2026-11-21T00:00:00", "2027-01-01T01:30:00"),
    ("0 0 * * mon-fri", "2026-11-21T00:00:00", "2026-11-23T00:00:00"),
    ("0 0 * * 7", "2026-11-21T12:00:00", "2026-11-22T00:00:00"),
    ("0 0 13 * fri", "2026-11-21T00:00:00", "2026-11-27T00:00:00"),
    ("0 0 29 2 *", "2026-11-21T00:00:00", "2028-02-29T00:00:00"),
    ("5,10 8-9 * * *", "2026-11-21T08:07:00", "2026-11-21T08:10:00"),
    ("@monthly", "2026-11-21T00:00:00", "2026-12-01T00:00:00"),
]


@pytest.mark.parametrize(("text", "now", "expected"), CALENDARS)
def test_calendars(text: str, now: str, expected: str) -> None:
    assert Calendar(text).after(_time(now)) == _time(expected)


def test_a_calendar_keeps_to_its_zone() -> None:
    at = Calendar("0 2 * * *", "Asia/Shanghai").after(_time("2026-11-21T00:00:00"))
    assert at == _time("2026-11-21T18:00:00")


def test_a_date_that_never_comes() -> None:
    assert Calendar("0 0 31 2 *").after(_time("2026-11-21T00:00:00")) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 0 * *", "five fields"),
        ("60 0 * * *", "minute '60'"),
        ("0 x * * *", "hour 'x'"),
        ("0 0 5-2 * *", "day '5-2'"),
        ("0 */0 * * *", "hour"),
    ],
)
def test_bad_calendars_say_which_field(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r"five|not") as caught:
        Calendar(text)
    assert told in str(caught.value)


def test_unknown_zones_are_refused() -> None:
    with pytest.raises(ValueError, match="not a time zone"):
        Calendar("0 0 * * *", "Mars/Olympus")


@given(st.floats(0, 4e9))
def test_the_next_time_lies_ahead(now: float) -> None:
    after = Calendar("15 */6 * * *").after(now)
    assert after is not None
    assert now < after <= now + 6 * HOUR


KINDS = ["fixed", "calendar", "nutch-default", "nutch-adaptive", "nutch-mime-adaptive", "heritrix",
         "stormcrawler"]  # fmt: skip


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
    found = _visits(made(kind), story, mime)
    assert found[-len(expected) :] == expected


@given(
    kind=st.sampled_from(KINDS),
    story=st.text("nsc3gfm", min_size=1, max_size=25),
    mime=st.sampled_from(["", "text/html", "image/png", "application/pdf"]),
)
def test_a_page_always_comes_back(kind: str, story: str, mime: str) -> None:
    """Whatever happens it is due again, not before the visit and within a year."""
    for interval, wait in _visits(made(kind), story, mime):
        assert 0.0 <= wait <= 366.0
        assert interval > 0.0


@given(st.text("nsc", min_size=2, max_size=20))
def test_factors_follow_what_was_seen(story: str) -> None:
    found = _visits(made("heritrix"), story)
    for letter, ((before, _), (after, _)) in zip(story[1:], pairwise(found), strict=True):
        if letter == "s":
            assert after >= before
        elif letter == "c":
            assert after <= before


def times(text: str, zone: str, begin: str, end: str) -> list[str]:
    """The times of a calendar between two local times, as local times with their offsets."""
    since, until = (
        datetime.fromisoformat(one).replace(tzinfo=ZoneInfo(zone)).timestamp()
        for one in (begin, end)
    )
    found, time = [], Calendar(text, zone).after(since - 1)
    while time is not None and time < until:
        found.append(datetime.fromtimestamp(time, ZoneInfo(zone)).strftime("%d %H:%M %z")[:-2])
        time = Calendar(text, zone).after(time)
    return found


BERLIN = "Europe/Berlin"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0 * * * *", ["25 01:00 +02", "25 02:00 +02", "25 02:00 +01", "25 03:00 +01"]),
        ("30 */2 * * *", ["25 02:30 +02", "25 02:30 +01"]),
        ("*/30 2-2/1 * * *", ["25 02:00 +02", "25 02:30 +02", "25 02:00 +01", "25 02:30 +01"]),
        ("30 2 * * *", ["25 02:30 +02"]),
        ("0,30 1-3 * * *", ["25 01:00 +02", "25 01:30 +02", "25 02:00 +02", "25 02:30 +02",
                            "25 03:00 +01", "25 03:30 +01"]),
    ],
)  # fmt: skip
def test_an_hour_that_is_repeated(text, found):
    assert times(text, BERLIN, "2026-10-25T01:00", "2026-10-25T04:00") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0 * * * *", ["29 01:00 +01", "29 03:00 +02"]),
        ("30 */2 * * *", []),
        ("30 2 * * *", ["29 03:00 +02"]),
        ("*/10 2 * * *", ["29 03:00 +02"]),
        ("30 2,3 * * *", ["29 03:00 +02", "29 03:30 +02"]),
        ("0 2,3 * * *", ["29 03:00 +02"]),
    ],
)
def test_an_hour_that_is_skipped(text, found):
    assert times(text, BERLIN, "2026-03-29T01:00", "2026-03-29T04:00") == found


@pytest.mark.parametrize(
    ("text", "zone", "begin", "end", "found"),
    [
        # half an hour
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-04T01:00", "2026-10-04T04:00",
         ["04 02:30 +11"]),
        ("45 * * * *", "Australia/Lord_Howe", "2026-04-05T01:00", "2026-04-05T03:00",
         ["05 01:45 +11", "05 01:45 +10", "05 02:45 +10"]),
        # midnight is skipped, and repeated
        ("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00", "2026-04-24T12:00", ["24 01:00 +03"]),
        ("@daily", "America/Havana", "2026-10-31T12:00", "2026-11-01T12:00", ["01 00:00 -04"]),
        ("@hourly", "America/Havana", "2026-11-01T00:00", "2026-11-01T02:00",
         ["01 00:00 -04", "01 00:00 -05", "01 01:00 -05"]),
        # a day is skipped
        ("0 9 30 12 *", "Pacific/Apia", "2011-12-29T12:00", "2011-12-31T12:00", ["31 00:00 +14"]),
    ],
)  # fmt: skip
def test_clocks_of_other_places(text, zone, begin, end, found):
    assert times(text, zone, begin, end) == found
