"""Queries on the ledger: what a page has at all times, in rows whose number is limited."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nacre.core.pagerow import PageRow
from nacre.engine.rights_book import RightsRows, own_key, site_key
from nacre.inspect.analysis.page_history import page
from nacre.inspect.reports import rights_report
from nacre.inspect.reports.base import ReportRequest
from nacre.inspect.rights import MOST_ROWS, ledger_rows, url_versions
from nacre.recrawl.pagestore import PageStore
from nacre.rights.ledger import SignalVersion
from nacre.rights.signals import HEADER, ROBOTS, PreferenceSignal
from nacre.rights.vocabulary import Preference
from nacre.store.store import Store

URL = "http://h.test/书"
SIGNALS = 30
"""Signals of each version."""
VERSIONS = MOST_ROWS // SIGNALS + 2


def signal(source: str, number: int) -> PreferenceSignal:
    return PreferenceSignal(source, str(number), f"X: a{number}", (Preference(f"a{number}"),))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A page that states something else with each of many replies."""
    with Store.open(str(tmp_path)) as opened:
        rows = RightsRows(opened)
        robots = SignalVersion(1, "http://h.test/robots.txt", "urn:uuid:r", (signal(ROBOTS, 0),))
        rows.put(site_key("http://h.test", ROBOTS), robots)
        for time in range(VERSIONS):
            signals = tuple(signal(HEADER, time + number) for number in range(SIGNALS))
            rows.put(own_key(URL), SignalVersion(time + 2, URL, "", signals))
        PageStore(opened).put(PageRow(URL))
        opened.commit()
        yield opened


def test_all_rows_of_a_page_are_those_of_its_site_and_its_own(store: Store):
    rows = list(url_versions(store, URL))
    assert [row.source for row in rows[:2]] == ["robots.txt", "header"]
    assert len(rows) == len(list(ledger_rows(store))) == 1 + SIGNALS * VERSIONS


@pytest.mark.parametrize("url", ["", URL])
def test_a_report_has_the_first_rows_and_says_so(store: Store, url: str):
    view: Any = SimpleNamespace(store=store, clock=SimpleNamespace(now=lambda: 9.0))
    report, request = rights_report.RightsReport(), ReportRequest(url=url)
    figures = report.data(view, request)
    assert (len(figures.rows), figures.is_cut) == (MOST_ROWS, True)
    assert (figures.held is None) is not bool(url)
    (section,) = report.document(figures, request).sections
    assert any(f"the first {MOST_ROWS} rows" in note for note in section.text)


def test_the_history_of_a_page_has_the_first_rows(store: Store):
    found = page(store, URL)
    assert found is not None
    assert len(found["rights"]) == MOST_ROWS
