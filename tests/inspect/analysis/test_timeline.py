import pytest

from nacre.errors import JobError
from nacre.inspect.analysis.timeline import document, page_timeline
from nacre.report.document import TimeLine
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.inspect.analysis.given import DAY, MONDAY, SITE, Given
from tests.report.pages import harmless


@pytest.fixture
def known() -> Given:
    given = Given()
    given.page("/a", visits=4, last=6, lastmod="2026-11-27", listed=MONDAY + 5 * DAY)
    given.visit("/a", 0, 1, kind="new", stored="novel")
    given.visit("/a", 1, 2, status=304, stored="not-modified")
    given.visit("/a", 2, 3, status=-2, answer="silent", kind="", stored="")
    given.visit("/a", 3, 4, kind="minor", stored="novel", score=0.04, reason="text")
    given.visit("/a", 3.001, 4, answer="silent", wanted="pair")
    given.visit("/a", 6, 5, status=404, answer="missing", stored="novel")
    given.visit("/other", 4, 4)
    return given


def test_each_visit_has_its_lane(known: Given):
    found = page_timeline(known, f"{SITE}/a")
    assert [look.lane for look in found.visits] == [
        "stored", "unchanged", "no answer", "stored", "unchanged", "missing",
    ]  # fmt: skip


def test_a_change_lies_between_the_last_answer_without_it_and_the_first_with_it(known: Given):
    found = page_timeline(known, f"{SITE}/a")
    since = [look.since for look in found.visits]
    # The visit without an answer says nothing.
    assert since == [0.0, 0.0, 0.0, MONDAY + DAY, 0.0, MONDAY + 3.001 * DAY]


def test_the_plot_has_bars_and_hints(known: Given):
    (section,) = document(page_timeline(known, f"{SITE}/a")).sections
    (plot,) = section.plots
    assert isinstance(plot, TimeLine)
    bars = [one for one in plot.spans if one.lane == "changed"]
    assert [(one.start, one.end) for one in bars] == [
        (MONDAY + DAY, MONDAY + 3 * DAY),
        (MONDAY + 3.001 * DAY, MONDAY + 6 * DAY),
    ]
    hints = sorted(one.start for one in plot.spans if one.lane == "hint")
    assert hints == [MONDAY + 4 * DAY, MONDAY + 5 * DAY]


def test_a_page_for_people(known: Given):
    page = html_page(document(page_timeline(known, f"{SITE}/a")))
    harmless(page)
    assert "minor changes between 2026-11-24 00:00 and 2026-11-26 00:00" in page


def test_a_page_that_only_the_log_knows(known: Given):
    found = page_timeline(known, f"{SITE}/other")
    assert found.page is None
    harmless(html_page(document(found)))


def test_an_unknown_page(known: Given):
    with pytest.raises(JobError, match="have nothing of http"):
        page_timeline(known, f"{SITE}/nothing")


def test_the_captures_of_a_full_run_that_is_not_in_the_log_are_visits(known: Given):
    known.capture("/full", "2026-11-23T10:00:00Z")
    known.capture("/full", "2026-11-24T10:00:00Z", mime="warc/revisit")
    known.capture("/full", "2026-11-25T10:00:00Z", status="404")
    found = page_timeline(known, f"{SITE}/full")
    assert [(look.time, look.status, look.lane, look.kind) for look in found.visits] == [
        (MONDAY + 36_000.0, 200, "stored", ""),
        (MONDAY + DAY + 36_000.0, 200, "unchanged", ""),
        (MONDAY + 2 * DAY + 36_000.0, 404, "missing", "missing"),
    ]
    harmless(html_page(document(found)))


def test_a_difference_is_stored_and_a_page_vanishes_once(known: Given):
    known.visit("/a", 7, 6, status=404, answer="missing", stored="")
    known.visit("/a", 8, 7, kind="minor", stored="delta")
    found = page_timeline(known, f"{SITE}/a").visits
    assert [(one.lane, one.kind, one.since > 0.0) for one in found[-3:]] == [
        ("missing", "missing", True), ("missing", "missing", False), ("stored", "minor", True),
    ]  # fmt: skip


def test_a_visit_is_told_in_words(known: Given):
    text = plain_text(document(page_timeline(known, SITE + "/a")))
    assert "minor changes" in text
    assert "what was found" in text
    assert "in full" in text
