"""How URLs ended, by seen key."""

from typing import Any

import pytest

from nacre.core.processor import Visit
from nacre.engine.outcomes import Outcome, Outcomes, scan_outcomes
from nacre.store.store import Store
from tests.report.visits import make_visit
from tests.store.memory import MemoryEngine


@pytest.fixture
def store() -> Store:
    return Store(MemoryEngine())


def visit_of(url: str, status: int = 200, **facts: Any) -> Visit:
    return make_visit(url, status=status, **facts)


def test_the_last_result_of_a_url_is_kept(store: Store):
    outcomes = Outcomes(store)
    visit = visit_of("http://a.test/", 404, error="gone", annotations=["one", "two"])
    visit.stored_at("x.warc.gz", 77)
    outcomes.put(visit)
    found = outcomes.get(visit.uri.key)
    assert isinstance(found, Outcome)
    assert (found.url, found.status, found.error) == ("http://a.test/", 404, "gone")
    assert (found.file, found.offset) == ("x.warc.gz", 77)
    assert found.annotations == ("one", "two")
    assert found.attempts == visit.uri.attempts + 1
    assert outcomes.get(b"unknown") is None


@pytest.mark.parametrize(
    ("error", "robots", "kept"),
    [("why", "Disallow: /", "why"), ("", "Disallow: /", "Disallow: /"), ("", "", "")],
)
def test_the_line_of_robots_txt_stands_where_there_is_no_error(
    store: Store, error: str, robots: str, kept: str
):
    outcomes, visit = Outcomes(store), visit_of("http://a.test/", error=error, robots=robots)
    outcomes.put(visit, attempts=5)
    found = outcomes.get(visit.uri.key)
    assert found is not None
    assert (found.error, found.attempts) == (kept, 5)


def test_without_a_reply_nothing_was_received(store: Store):
    outcomes, visit = Outcomes(store), visit_of("http://a.test/", -2)
    visit.capture = None
    outcomes.put(visit)
    found = outcomes.get(visit.uri.key)
    assert found is not None
    assert found.finished == 0


def test_all_are_read_in_portions_and_may_change_meanwhile(store: Store):
    outcomes = Outcomes(store)
    for number in range(600):
        visit = visit_of("http://a.test/")
        visit.uri = visit.uri.__class__(f"http://a.test/{number:03}", b"%03d" % number, "q")
        outcomes.put(visit)
    seen = []
    for key, row in scan_outcomes(store):
        store.delete("urls", key)
        seen.append(row.url)
    assert seen == [f"http://a.test/{number:03}" for number in range(600)]
    assert list(scan_outcomes(store)) == []
