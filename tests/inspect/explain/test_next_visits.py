"""When known pages are due next, and why."""

import math
from pathlib import Path

import pytest

from nacre.core.pagerow import PageKind, PageRow, TimingRow
from nacre.inspect.explain.next_visits import DAY, HOUR, NextVisit, NextVisits
from nacre.inspect.view import View
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.planner.change_rate.rates import NO_EVIDENCE, observe
from nacre.recrawl.pagestore import PageStore
from nacre.recrawl.recrawl import PRICE, PRICES
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

NOW = 1_760_000_000.0
URL = "http://a.test/1"


def evidence(changed: str, days: float = 7.0) -> bytes:
    found = NO_EVIDENCE
    for letter in changed:
        found = observe(found, days, changed=letter == "1", noise=0.0, keep=1.0)
    return found


def upcoming(
    root: Path, *rows: PageRow | TimingRow, price: float = 0.05, **recrawl: object
) -> NextVisits:
    store = Store(MemoryEngine())
    pages = PageStore(store)
    for row in rows:
        if isinstance(row, PageRow):
            pages.put(row)
        else:
            pages.put_timing(row)
    store.set_counter(PRICE, round(price * PRICES))
    store.commit()
    settings = JobSettings.model_validate({"recrawl": recrawl, "seeds": ["http://a.test/"]})
    return NextVisits(View(Layout(root), settings, store, SystemClock()), NOW)


def page(**said: object) -> PageRow:
    facts: dict[str, object] = {"visits": 4, "last_visit": NOW - DAY, "template": "t"}
    return PageRow(URL, **facts | said)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "days", "why"),
    [
        (page(visits=0, last_visit=0.0), 0.0, "never visited so far"),
        (page(kind=PageKind.SITEMAP), 0.0, "a sitemap: each run reads it"),
        (page(told=("feed",)), -1.0, "a change is announced by feed"),
        (
            page(life="suspect", life_since=NOW - DAY, digest="sha1:A"),
            0.0,
            "it is suspect, and is checked again",
        ),
        (page(evidence=evidence("0" * 9, 60.0)), 179.0, "every page is visited at least so often"),
    ],
)
def test_why_the_planner_comes_back(tmp_path: Path, row: PageRow, days: float, why: str) -> None:
    found = upcoming(tmp_path, row, price=0.4).of(URL)
    assert found is not None
    assert found.reason.startswith(why)
    assert (found.time - NOW) / DAY == pytest.approx(days, abs=0.2)


def test_a_page_is_due_the_sooner_the_more_it_changes(tmp_path: Path) -> None:
    times, whys = [], []
    for story in ("1111", "0101", "0000"):
        found = upcoming(tmp_path, page(evidence=evidence(story))).of(URL)
        assert found is not None
        times.append(found.time)
        whys.append(found.reason)
    assert times == sorted(times)
    assert whys[0].startswith("it is worth a visit by then")


@pytest.mark.parametrize(("errors", "days"), [(0, 0.0), (1, 0.0), (2, 0.0), (3, 4.0), (5, 46.0)])
def test_a_page_that_never_answered_comes_back_ever_more_rarely(
    tmp_path: Path, errors: int, days: float
) -> None:
    row = page(visits=0, last_visit=0.0, errors=errors, first_seen=NOW - 10 * DAY)
    found = upcoming(tmp_path, row).of(URL)
    assert found is not None
    assert found.reason == "never visited so far"
    assert (found.time - NOW) / DAY == pytest.approx(days)


@pytest.mark.parametrize("row", [None, page(kind=PageKind.EMBED)])
def test_what_nobody_visits(tmp_path: Path, row: PageRow | None) -> None:
    assert upcoming(tmp_path, *([row] if row else [])).of(URL) is None


def timed(kind: str, **said: object) -> TimingRow:
    facts: dict[str, object] = {"visited": NOW - DAY, "interval": 2 * HOUR, "due": NOW + HOUR}
    return TimingRow(URL, kind, **facts | said)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "schedule", "why"),
    [
        (timed("fixed"), {"kind": "fixed", "interval": "2h"}, "fixed, 2 h after the last visit"),
        (timed("heritrix"), {"kind": "heritrix"}, "heritrix, 2 h after the last visit"),
        (timed("heritrix", retries=2), {"kind": "heritrix"}, "heritrix, after 2 failures"),
        (timed("nutch-default", due=NOW + 99 * DAY), {"kind": "nutch-default"},
         "nutch-default, a date too far ahead counts as now"),
    ],
)  # fmt: skip
def test_why_a_schedule_comes_back(
    tmp_path: Path, row: TimingRow, schedule: dict[str, object], why: str
) -> None:
    known = upcoming(tmp_path, page(), row, schedule=schedule)
    found = known.of(URL)
    assert found is not None
    assert found == known.scheduled(URL)
    assert found.reason == why
    assert found.time == (NOW if "ahead" in why else row.due)


def test_a_calendar_may_have_no_more_times(tmp_path: Path) -> None:
    never = {"kind": "calendar", "at": "0 0 30 2 *"}
    known = upcoming(tmp_path, page(), schedule=never)
    assert known.of(URL) == NextVisit(math.inf, URL, "calendar")
    assert known.first(5) == []
    assert known.earliest(NOW, is_spent=False) is None


def test_the_earliest_of_all(tmp_path: Path) -> None:
    rows = [page(evidence=evidence("0" * 9, 60.0))]
    rows += [PageRow(f"{URL}{n}", visits=4, last_visit=NOW - n, template="t") for n in range(3)]
    calm = upcoming(tmp_path, *rows, price=0.9)
    # Nothing is worth it: start pages and sitemaps make a pass of every day.
    found = calm.earliest(NOW, is_spent=False)
    assert found is not None
    assert (found.time, found.url) == (NOW + DAY, "")
    busy = page(evidence=evidence("1" * 9, 0.1))
    found = upcoming(tmp_path, *rows, busy, price=0.05).earliest(NOW + HOUR, is_spent=False)
    assert found is not None
    assert found.url == URL
    new = PageRow("http://a.test/new")
    found = upcoming(tmp_path, *rows, new, price=0.9).earliest(NOW, is_spent=True)
    assert found == NextVisit(NOW, new.url, "never visited so far")
    assert calm.first(2)[0].time <= calm.first(2)[1].time
