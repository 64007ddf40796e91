"""What `nacre history` shows of runs and pages."""

from typing import Any

import pytest

from nacre.inspect.summary.history_documents import (
    due_document,
    found_in_words,
    page_history,
    runs_document,
    statistics_document,
    top_document,
)
from nacre.messages import Message
from nacre.report.document import DataTable, ReportDocument
from nacre.report.plain import plain_text

DAY = 86_400.0
MONDAY = 1_795_392_000.0
"""Monday, 23 November 2026, 0 h UTC."""
URL = "http://a.test/x"
ROW: dict[str, Any] = {
    "url": URL, "kind": "index", "first_seen": MONDAY, "visits": 3, "changes": 1, "noise": 0,
    "errors": 0, "last_change": MONDAY + DAY, "life": "live", "life_since": 0.0, "target": "",
    "told": (),
}  # fmt: skip
VISIT: dict[str, Any] = {
    "time": MONDAY, "run": 2, "status": 200, "answer": "there", "kind": "minor", "stored": "novel",
    "reason": "text", "wanted": "rate", "score": 0.25, "chance": 0.5,
}  # fmt: skip


def history(*visits: dict[str, Any], due: Any = None, verbose: bool = False, **row: Any) -> Any:
    found = {"url": URL, "page": ROW | row, "visits": list(visits)}
    return page_history(found, due, verbose=verbose)


def facts(document: ReportDocument) -> dict[str, str]:
    return dict(document.sections[0].facts)


def table(document: ReportDocument, number: int = 0) -> DataTable:
    return document.sections[0].tables[number]


def test_a_page_that_changed():
    told = facts(history(VISIT, noise=2, errors=1, told=("sitemap", "feed")))
    assert told == {
        "URL": URL,
        "State": "there",
        "Kind": "page that lists others",
        "First seen": "2026-11-23 00:00 UTC",
        "Changes": "1 at 3 visits, the last on 2026-11-24 00:00 UTC; only noise differed at 2",
        "Without an answer": "1 visits",
        told_of(told): "sitemap, feed",
        "In the archive": "1 in full",
    }


def told_of(told: dict[str, str]) -> str:
    """The name of the fact that has the sources."""
    return next(name for name, value in told.items() if value == "sitemap, feed")


def test_a_page_that_moved_names_its_new_place():
    state = facts(history(VISIT, life="moved", life_since=MONDAY, target="http://a.test/y"))[
        "State"
    ]
    assert state == "moved to another URL, since 2026-11-23 00:00 UTC: http://a.test/y"


def test_a_page_that_was_not_visited():
    document = history(visits=0)
    assert facts(document)["State"] == "not visited yet"
    assert "Changes" not in facts(document)
    assert document.sections[0].text
    assert document.sections[0].tables == ()


def test_the_next_visit_with_its_reason():
    document = history(VISIT, due=("2026-11-30", "its schedule"))
    assert facts(document)["Next visit"] == "2026-11-30 (its schedule)"
    assert "Next visit" not in facts(history(VISIT))


def test_visits_stand_latest_first():
    later = VISIT | {"time": MONDAY + DAY, "run": 3, "kind": "none", "stored": "duplicate"}
    document = history(VISIT, later)
    assert table(document).rows == (
        (MONDAY + DAY, "3", "200", "unchanged", "a reference to the same content"),
        (MONDAY, "2", "200", "minor changes", "in full"),
    )
    assert facts(document)["In the archive"] == "1 in full, 1 a reference to the same content"


def test_what_a_visit_found_and_kept():
    cases = (
        ({"answer": "missing", "status": 404}, "newly missing", "in full"),
        ({"answer": "silent", "status": -2, "stored": ""}, "no answer or refused", "nothing"),
        ({"kind": "", "stored": ""}, "unchanged", "nothing: the same as at the last record"),
        ({"kind": "odd", "stored": "odd"}, "odd", "odd"),
    )
    for visit, found, kept in cases:
        assert table(history(VISIT | visit)).rows[0][3:] == (found, kept)


def test_a_second_fetch_at_once_is_no_visit_of_its_own():
    found = table(history(VISIT | {"wanted": "pair"})).rows[0][3]
    assert found == "fetched twice, to distinguish noise from changes"


def test_verbose_has_the_fields_of_the_planner():
    document = history(VISIT, verbose=True)
    assert table(document).rows[0][5:] == (0.25, "text", "", "rate", 0.5)
    assert len(table(history(VISIT)).columns) == 5
    inside = document.sections[1]
    assert inside.heading == "Inside: page"
    assert ("last_change", "2026-11-24 00:00") in inside.facts
    assert ("life_since", "never") in inside.facts
    assert ("told", "none") in inside.facts


def test_a_page_of_which_only_a_capture_is_known():
    capture = {"date": MONDAY * 1e6, "status": 200, "visits": 2, "visited": (MONDAY + DAY) * 1e6}
    document = page_history({"url": URL, "capture": capture, "visits": []}, None)
    told = facts(document)
    assert told["Captured"] == "2026-11-23 00:00 UTC, status 200"
    assert told["Visits"] == "2, the last on 2026-11-24 00:00 UTC"


def test_the_runs_of_a_job():
    run = {
        "number": 2, "name": "run2", "mode": "incremental", "started": MONDAY, "elapsed": 60.0,
        "exit": "INTERRUPTED", "found": {"new": 1, "minor": 2, "major": 3, "gone": 4, "none": 5},
        "keep": "lean", "budget": "",
    }  # fmt: skip
    assert table(runs_document([run])).rows == (
        (2, "run2", "incremental", MONDAY, 60.0, "interrupted", 1, 5, 4, 5, "lean", "none"),
    )
    stopped = table(runs_document([run | {"exit": "FINISHED_TIME_LIMIT", "budget": "90 %"}]))
    assert stopped.rows[0][5] == "stopped at a limit that was set"
    assert stopped.rows[0][-1] == "90 %"


@pytest.mark.parametrize(
    ("exit_", "text"),
    [
        ("RUNNING", "still running"),
        ("FINISHED", "finished"),
        ("ABORTED", "stopped by the operator"),
        ("FINISHED_DISK_WAIT", "stopped for lack of disk space"),
        ("FINISHED_ABNORMAL", "cut off"),
        ("CRASHED", "cut off"),
    ],
)
def test_the_end_of_a_run_is_a_short_message(exit_: str, text: str):
    run = {"number": 1, "name": "run1", "mode": "full", "started": MONDAY, "elapsed": 60.0,
           "exit": exit_, "found": {}, "keep": "strict", "budget": ""}  # fmt: skip
    end = table(runs_document([run])).rows[0][5]
    assert end == text
    assert isinstance(end, Message)


STATISTICS: dict[str, Any] = {
    "pages": 1200, "visited": 1000, "index_pages": 3, "changes": 4, "last_visit": MONDAY,
    "visits": {"1": {"new": 9}, "2": {"none": 5, "odd": 1}},
    "kinds": {"page": 8, "other": 1}, "lives": {"live": 7, "gone": 2},
}  # fmt: skip


def test_the_totals_of_a_job():
    document = statistics_document(STATISTICS)
    assert facts(document)["Pages known"] == "1,200, of which 1,000 were visited"
    kinds, states, visits = document.sections[0].tables
    assert kinds.rows == (("page", 8), ("other", 1))
    assert states.rows == (("there", 7), ("gone", 2))
    assert visits.rows == (("new", 9, 0), ("unchanged", 0, 5), ("odd", 0, 1))


def test_the_totals_by_host():
    document = statistics_document(STATISTICS | {"hosts": {"a.test": {"live": 7}, "b.test": {}}})
    hosts = table(document, 3)
    assert [column.name for column in hosts.columns] == ["host", "pages there"]
    assert hosts.rows == (("a.test", 7), ("b.test", 0))


def test_what_is_due():
    document = due_document([(MONDAY, URL, "its schedule")])
    assert table(document).rows == ((MONDAY, URL, "its schedule"),)
    assert "2026-11-23 00:00" in plain_text(document)


def test_pages_that_change_most():
    young = "http://a.test/young"
    document = top_document([(0.5, URL), (0.25, young)], [young], "")
    assert table(document).rows == ((0.5, 2.0, URL), (0.25, None, young))
    assert document.sections[0].text == ()
    doubtful = top_document([(0.5, URL)], [], "one visit is too few")
    assert table(doubtful).rows == ((0.5, None, URL),)
    assert doubtful.sections[0].text == ("One visit is too few.",)


def test_a_verdict_that_is_new_stays_as_it_is():
    assert found_in_words("never there") == "dead links"
    assert found_in_words("of a later version") == "of a later version"
