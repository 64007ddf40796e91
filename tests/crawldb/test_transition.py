"""Nutch's state machine: every status met by every outcome, and two years of visits day by day.

The oracle is written from the reference (N 1.4, 1.5), in days and with the default schedule and the
adaptive one; it shares no code with Nacre.
"""

import random
from itertools import product

import pytest

from nacre.crawldb.revisits import NutchRevisits
from nacre.crawldb.row import COLUMNS, Status, group_columns
from nacre.crawldb.settings import UpdateSettings
from nacre.crawldb.transition import (
    FetchOutcome,
    FinalVisit,
    StateRow,
    outcome_of,
    retry_delay,
    transition,
)
from nacre.planner.schedules.nutch import NutchSchedule
from tests.crawldb.made import DAY, NOW

NUTCH = UpdateSettings(nutch_retry=True)
DEFAULT = NutchRevisits(NutchSchedule(kind="default"))
MONTH = 30 * 86_400
MAX = 90 * 86_400
A, B = b"a" * 16, b"b" * 16


def visited(status, at=NOW, **more):
    return FinalVisit(status, at * 1000, **more)


def after(row, visit, schedule=DEFAULT, settings=NUTCH) -> StateRow:
    state = transition(row, visit, schedule, settings).state
    assert state is not None
    return state


def test_the_state_is_the_group_of_its_columns():
    assert StateRow._fields == tuple(one.name for one in group_columns("state"))
    assert len(COLUMNS) > len(StateRow._fields)


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        ((200, 204, 299, 1), "success"),
        ((304,), "notmodified"),
        ((300, 301, 305, 308), "redir_perm"),
        ((302, 303, 307), "redir_temp"),
        ((400, 401, 403, 404, 410, 451, -9998, -7), "gone"),
        ((408, 429, 500, 503, 599, 999, -1, -2, -3, -4, -5, -61), "retry"),
        ((0, -50, -5000, -5001, -5003, -7000, -6000), "not_attempted"),
    ],
)
def test_outcomes(statuses, outcome):
    assert {outcome_of(status) for status in statuses} == {FetchOutcome(outcome)}


# ---- the whole matrix

VISITS = {
    "success": visited(200, signature=B),
    "success, same": visited(200, signature=A),
    "success, no signature": visited(200),
    "parse failed": visited(200, signature=B, parse_failed=True),
    "notmodified": visited(304),
    "redir_temp": visited(302),
    "redir_perm": visited(301),
    "retry": visited(500),
    "gone": visited(404),
}


def oracle(old, name, retries, *, signed):
    """Status, signature, retries and days until the next visit."""
    interval, longer = 30.0, 45.0
    mine = A if signed else None
    if name == "retry":
        if retries + 1 < 3:
            return Status.UNFETCHED, mine, retries + 1, 1.0
        return Status.GONE, mine, retries + 1, longer
    if name == "success, same" and signed:
        return Status.NOT_MODIFIED, A, 0, interval
    return {
        "gone": (Status.GONE, mine, retries, longer),
        "parse failed": (Status.PARSE_FAILED, mine, retries, longer),
        "notmodified": (Status.NOT_MODIFIED, mine, 0, interval),
        "redir_temp": (Status.REDIR_TEMP, None, 0, interval),
        "redir_perm": (Status.REDIR_PERM, None, 0, interval),
    }.get(name) or (Status.FETCHED, VISITS[name].signature, 0, interval)


@pytest.mark.parametrize(
    ("old", "name", "retries", "signed"),
    list(product(Status, VISITS, (0, 1, 2, 7), (True, False))),
)
def test_every_status_meets_every_outcome(old, name, retries, signed):
    row = StateRow(int(old), NOW - DAY, MONTH, None, retries, NOW - 9 * DAY, A if signed else None)
    found = transition(row, VISITS[name], DEFAULT, NUTCH)
    status, signature, count, days = oracle(old, name, retries, signed=signed)
    state = found.state
    assert state is not None
    assert (state.status, state.signature, state.retries) == (status, signature, count)
    assert state.fetch_time == NOW + days * DAY
    assert found.no_duplicate == (old is Status.DUPLICATE)
    assert (state.last_status, state.last_time) == (VISITS[name].status, NOW * 1000)
    assert not found.purged


@pytest.mark.parametrize("name", list(VISITS))
def test_a_url_that_is_not_known_begins_with_the_default_interval(name):
    state = transition(None, VISITS[name], DEFAULT, NUTCH).state
    status, _, retries, days = oracle(Status.UNFETCHED, name, 0, signed=False)
    assert state is not None
    assert (state.status, state.retries) == (status, retries)
    assert state.fetch_time == NOW + days * DAY


@pytest.mark.parametrize("old", list(Status))
def test_what_was_not_attempted_keeps_its_state_and_says_why(old):
    row = StateRow(int(old), NOW - DAY, MONTH, None, 2, 5, A, 500, 77)
    found = transition(row, visited(0, reason="deadline"), DEFAULT, NUTCH)
    kept = Status.FETCHED if old is Status.DUPLICATE else old
    assert found.state == row._replace(status=int(kept), last_reason="deadline")
    assert found.outcome is FetchOutcome.NOT_ATTEMPTED
    assert transition(None, visited(0), DEFAULT, NUTCH).state is None


def test_failures_are_counted_to_255_and_a_page_that_is_back_has_none():
    row = StateRow(int(Status.UNFETCHED), NOW, MONTH)
    at = NOW
    for _ in range(300):
        row = after(row, visited(503, at), DEFAULT, NUTCH)
        at = row.fetch_time
    assert (row.status, row.retries, row.interval) == (Status.GONE, 255, 81 * 86_400)
    row = after(row, visited(200, at, signature=A), DEFAULT, NUTCH)
    assert (row.status, row.retries) == (Status.FETCHED, 0)


def test_a_page_that_comes_back_from_a_redirect_is_never_unmodified():
    row = StateRow(int(Status.FETCHED), NOW, MONTH, signature=A)
    row = after(row, visited(301), DEFAULT, NUTCH)
    row = after(row, visited(200, signature=A), DEFAULT, NUTCH)
    assert row.status == Status.FETCHED


def test_an_interval_beyond_the_longest_makes_a_page_that_was_never_fetched():
    adaptive = NutchRevisits(NutchSchedule(kind="adaptive", sync_delta=False))
    row = StateRow(int(Status.FETCHED), NOW, 80 * 86_400, modified=NOW - DAY, signature=A)
    state = after(row, visited(304), adaptive)
    assert (state.status, state.signature, state.modified) == (Status.UNFETCHED, None, 0)
    assert state.interval == 0.9 * MAX


def test_a_page_that_says_that_it_is_missing_is_gone_where_settings_say_so():
    soft = visited(200, signature=A, soft_404=True)
    assert after(None, soft, DEFAULT, UpdateSettings()).status == Status.GONE
    nutch = UpdateSettings(soft_404="success")
    assert after(None, soft, DEFAULT, nutch).status == Status.FETCHED


def test_gone_pages_are_purged_where_settings_say_so():
    purging = UpdateSettings(purge_gone=True, retry_max=1)
    assert transition(None, visited(404), DEFAULT, purging).purged
    assert transition(None, visited(-1), DEFAULT, purging).purged
    assert not transition(None, visited(200), DEFAULT, purging).purged


@pytest.mark.parametrize(
    ("status", "retry_after", "retries", "minutes"),
    [
        (-1, None, 0, 60),
        (-1, None, 2, 240),
        (-6, None, 1, 120),
        (-4, None, 0, 10),
        (-2, None, 3, 80),
        (408, None, 1, 20),
        (500, None, 4, 60),
        (503, None, 0, 60),
        (503, 7200.0, 0, 120),
        (429, 600.0, 5, 10),
        (429, 0.0, 0, 1),
        (429, 1e12, 0, 30 * 24 * 60),
        (-61, None, 2, 60),
        (-1, None, 255, 7 * 24 * 60),
    ],
)
def test_a_failure_waits_as_long_as_its_kind_suggests(status, retry_after, retries, minutes):
    visit = visited(status, retry_after=retry_after)
    assert retry_delay(visit, retries) == minutes * 60_000
    row = StateRow(retries=min(retries, 1))
    waited = after(row, visit, DEFAULT, UpdateSettings(retry_max=9)).fetch_time - NOW
    assert waited == retry_delay(visit, min(retries, 1))
    assert after(row, visit, DEFAULT, NUTCH).fetch_time == NOW + DAY


# ---- two years, day by day


def nutch_day(row, signature, at):
    """A visit under the default schedule; a signature, or None for 304."""
    if row is None:
        return [Status.FETCHED, signature, at, at + 30 * DAY]
    old_signature, modified = row[1], row[2]
    if signature is None or signature == old_signature:
        return [Status.NOT_MODIFIED, old_signature, modified, at + 30 * DAY]
    return [Status.FETCHED, signature, at, at + 30 * DAY]


@pytest.mark.parametrize("by_signature", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_two_years_of_visits_under_the_default_schedule(seed, by_signature):
    dice = random.Random(seed)
    content, row, expected = A, None, None
    visits = 0
    for day in range(730):
        at = NOW + day * DAY
        changed = dice.random() < 0.02
        content = bytes([dice.randrange(256)]) * 16 if changed else content
        if row is not None and not (row.fetch_time <= at):
            continue
        visits += 1
        same = expected is not None and content == expected[1]
        answer = None if same and not by_signature else content
        visit = visited(304, at) if answer is None else visited(200, at, signature=answer)
        row = after(row, visit, DEFAULT, NUTCH)
        expected = nutch_day(expected, answer, at)
        assert [row.status, row.signature, row.modified, row.fetch_time] == expected
        assert row.interval == MONTH
    assert visits == 25


def adaptive_day(interval, modified, state, at):
    """Nutch's adaptive schedule in seconds with the defaults of nutch-default.xml."""
    modified = modified if modified > 0 else at
    if state == "modified":
        interval, modified = interval * 0.8, at
    elif state == "same":
        interval = interval * 1.4
    delta = at - modified
    if delta > interval * 1000:
        interval = delta // 1000
    reference = at - round(delta * 0.3)
    interval = min(max(interval, 60), 365 * 86_400)
    return interval, modified, reference + interval * 1000


@pytest.mark.parametrize("seed", range(8))
def test_two_years_of_visits_under_the_adaptive_schedule(seed):
    dice = random.Random(seed)
    adaptive = NutchRevisits(NutchSchedule(kind="adaptive"))
    content, row = A, None
    interval, modified, due, signature = float(MONTH), 0, NOW, None
    forced = 0
    for day in range(730):
        at = NOW + day * DAY
        if dice.random() < 0.01 * seed:
            content = bytes([dice.randrange(256)]) * 16
        # shouldFetch pulls dates beyond the maximum to now
        if due > at and due - at <= MAX * 1000:
            continue
        state = "unknown"
        if signature is not None:
            state = "same" if signature == content else "modified"
        row = after(row, visited(200, at, signature=content), adaptive, NUTCH)
        interval, modified, due = adaptive_day(interval, modified, state, at)
        signature = content
        status = Status.NOT_MODIFIED if state == "same" else Status.FETCHED
        if interval > MAX:
            interval, modified, signature, status = 0.9 * MAX, 0, None, Status.UNFETCHED
            forced += 1
        assert row.status == status
        assert row.signature == signature
        assert row.interval == pytest.approx(interval, rel=1e-5, abs=2)
        assert row.fetch_time == pytest.approx(due, abs=interval * 1000 * 1e-4 + 5000)
        interval, due, modified = row.interval, row.fetch_time, row.modified
    assert seed or forced, "a page that never changes reaches the longest interval"
