"""The schedules of a job that does not run: which pages are under one, by its settings."""

from pathlib import Path

import pytest

from nacre.core.pagerow import PageRow, TimingRow
from nacre.recrawl.pagestore import PageStore
from nacre.recrawl.scheduling import has_schedules, stored_timetable
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

DAY = 86_400.0
URL = "http://a.test/x"


def _settings(**schedule: object) -> JobSettings:
    return JobSettings.model_validate({"seeds": [URL], "recrawl": {"schedule": schedule}})


@pytest.mark.parametrize(("kind", "wanted"), [("worth", False), ("fixed", True)])
def test_a_job_without_schedules_has_no_timetable(tmp_path: Path, kind: str, wanted: bool) -> None:
    settings = _settings(kind=kind)
    assert has_schedules(settings) is wanted
    table = stored_timetable(tmp_path, settings, Store(MemoryEngine()))
    assert (table is not None) is wanted


def test_pages_are_due_as_it_was_last_committed(tmp_path: Path) -> None:
    store = Store(MemoryEngine())
    PageStore(store).put_timing(TimingRow(URL, "fixed", 5.0, DAY, 5.0 + DAY))
    table = stored_timetable(tmp_path, _settings(kind="fixed", interval="1d"), store)
    assert table is not None
    due = table.due(PageRow(URL, visits=1), 10.0)
    assert due is not None
    assert (due.time, due.now) == (5.0 + DAY, False)
    assert table.governs("http://b.test/")
