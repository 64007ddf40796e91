"""Events of sites: one row for what many pages of a run have in common."""

from nacre.core.history import FetchRow
from nacre.inspect.analysis.site_events import document, site_events
from nacre.report.plain import plain_text
from tests.inspect.analysis.given import SITE, Given


def _visit(number: int, run: int, reason: str = "event", site: str = SITE) -> FetchRow:
    proof = "on 9 URLs of the run: 3.2.1 → 3.2.3"
    kind = "template" if reason == "event" else "minor"
    return FetchRow(f"{site}/{number}", 1000.0 * run + number, run, 200, "there", kind,
                    reason=reason, evidence=proof)  # fmt: skip


def test_the_pages_of_a_run_are_one_event() -> None:
    known = Given()
    known.given_visits = [
        *(_visit(number, 2) for number in range(9)),
        *(_visit(number, 3) for number in range(3)),
        *(_visit(number, 3, site="http://b.test") for number in range(4)),
        _visit(9, 2, "text"),
    ]
    events = site_events(known).events
    assert [(one.run, one.site, one.pages) for one in events] == [
        (3, "b.test", 4),
        (3, "a.test", 3),
        (2, "a.test", 9),
    ]
    assert events[-1].url == f"{SITE}/0"
    assert "3.2.1 → 3.2.3" in plain_text(document(site_events(known)))


def test_without_events_the_table_is_empty() -> None:
    assert site_events(Given()).events == []
