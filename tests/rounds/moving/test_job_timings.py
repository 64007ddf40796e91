"""What a continuous crawl has learned of when pages change, and back."""

import math
from pathlib import Path
from typing import Any

import pytest

from nacre.core.pagerow import PageKind, PageRow, TimingRow
from nacre.crawldb.row import Status
from nacre.planner.change_rate.rates import NO_EVIDENCE, observe
from nacre.recrawl.pagestore import PageStore
from nacre.rounds.moving.job_timings import page_row, revisit_timings, timing_row
from nacre.settings.settings import JobSettings
from nacre.store.store import Store

URL, OTHER = "http://a.example/%D6%D0", "http://a.example/2"
DAY = 86_400.0
VISIT = 1_800_000_000.0


def learned(kind: str, folder: Path, *rows: TimingRow | PageRow) -> dict[str, Any]:
    said = {"seeds": [], "recrawl": {"schedule": {"kind": kind}}}
    with Store.open(str(folder / "store")) as store:
        pages = PageStore(store)
        for row in rows:
            if isinstance(row, TimingRow):
                pages.put_timing(row)
            else:
                pages.put(row)
        return dict(revisit_timings(JobSettings.model_validate(said)).of(store))


def test_the_timing_of_the_same_schedule(tmp_path: Path):
    mine = TimingRow(URL, "nutch-adaptive", VISIT, 3_600.4, VISIT + 3_600, VISIT - 9, 2)
    other = TimingRow(OTHER, "fixed", VISIT, 60.0, VISIT + 60)
    found = learned("nutch-adaptive", tmp_path, mine, other)
    assert list(found) == [URL]
    one = found[URL]
    assert (one.interval, one.fetch_time) == (3_600, round((VISIT + 3_600) * 1000))
    assert (one.modified, one.retries, one.evidence) == (round((VISIT - 9) * 1000), 2, b"")


def test_a_page_that_is_never_due(tmp_path: Path):
    mine = TimingRow(URL, "fixed", VISIT, 60.0, math.inf)
    assert learned("fixed", tmp_path, mine)[URL].fetch_time == 1 << 53


def test_the_evidence_of_change_rates_gives_an_interval(tmp_path: Path):
    evidence = NO_EVIDENCE
    for _ in range(12):
        evidence = observe(evidence, 1.0, changed=True)
    often = PageRow(URL, visits=13, last_visit=VISIT, last_change=VISIT, evidence=evidence)
    once = PageRow(OTHER, visits=1, last_visit=VISIT)
    found = learned("worth", tmp_path, often, once)
    assert list(found) == [URL]
    one = found[URL]
    assert one.evidence == evidence
    assert 60 <= one.interval < DAY
    assert one.fetch_time == round(VISIT * 1000) + one.interval * 1000
    assert one.modified == round(VISIT * 1000)


ROW = {
    "last_time": round(VISIT * 1e6), "interval": 3_600, "fetch_time": round(VISIT + 3_600) * 1000,
    "modified": 5_000, "retries": 1, "mime": None,
}  # fmt: skip


def test_a_row_gives_the_timing_back(tmp_path: Path):
    row = timing_row(ROW, URL, "nutch-default")
    assert row == TimingRow(URL, "nutch-default", VISIT, 3_600.0, VISIT + 3_600, 5.0, 1)
    assert row is not None
    one = learned("nutch-default", tmp_path, row)[URL]
    assert (one.interval, one.fetch_time, one.modified, one.retries) == (
        3_600, ROW["fetch_time"], 5_000, 1,
    )  # fmt: skip


@pytest.mark.parametrize(("kind", "changed"), [("worth", {}), ("fixed", {"last_time": None})])
def test_rows_without_a_timing(kind: str, changed: dict[str, Any]):
    assert timing_row({**ROW, **changed}, URL, kind) is None


PAGE = {
    **ROW, "status": Status.FETCHED, "digest": "sha1:A", "length": 7, "path": "LL",
    "evidence": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "kind", "life"),
    [
        ({}, PageKind.PAGE, "live"),
        ({"path": "LE"}, PageKind.EMBED, "live"),
        ({"mime": "application/pdf", "status": Status.NOT_MODIFIED}, PageKind.FILE, "live"),
        ({"status": Status.GONE, "digest": None}, PageKind.PAGE, "gone"),
        ({"status": Status.REDIR_PERM, "length": None}, PageKind.PAGE, "moved"),
    ],
)
def test_a_row_is_a_page_that_a_recrawl_knows(changed: dict[str, Any], kind: PageKind, life: str):
    page = page_row({**PAGE, **changed}, URL)
    assert page is not None
    assert (page.kind, page.life, page.visits, page.changes) == (kind, life, 1, 0)
    assert (page.last_visit, page.last_change) == (VISIT, 0.0)
    assert page.depth == 2


def test_evidence_goes_there_and_back(tmp_path: Path):
    evidence = observe(NO_EVIDENCE, 1.0, changed=True)
    page = page_row({**PAGE, "evidence": evidence, "modified": round(VISIT) * 1000}, URL)
    assert page is not None
    one = learned("worth", tmp_path, page)[URL]
    assert (one.evidence, one.modified) == (evidence, round(VISIT * 1000))


@pytest.mark.parametrize("changed", [{"status": Status.UNFETCHED}, {"last_time": None}])
def test_rows_that_are_no_pages_yet(changed: dict[str, Any]):
    assert page_row({**PAGE, **changed}, URL) is None
