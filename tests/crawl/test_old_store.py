"""Jobs that an earlier commit made are opened, resumed and recrawled; see `stores/README.md`."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nacre.machine.clock import SystemClock
from tests.cli.site import nacre
from tests.crawl.old_site import (
    ARTICLES,
    HOME,
    HOST,
    OldSite,
    added,
    deleted,
    old_site,
    pages,
    reworded,
    url,
)

pytestmark = pytest.mark.crawl

STORES = Path(__file__).parent / "stores"
COMMIT = "b039c00"
LATER = 1_795_373_700.0 + 7 * 86_400
"""A week after the jobs were made."""


@pytest.fixture(autouse=True)
def _a_week_later(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    began = time.monotonic()
    now = staticmethod(lambda: LATER + time.monotonic() - began)
    monkeypatch.setattr(SystemClock, "now", now)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def site() -> Iterator[OldSite]:
    with old_site() as running:
        yield running


def stored(name: str, folder: Path, site: OldSite | None = None) -> Path:
    """Unpack a job; its host is where the site listens."""
    shutil.unpack_archive(STORES / f"{name}-{COMMIT}.tar.xz", folder)
    job = folder / name
    if site:
        plan = (job / "crawl.yaml").read_text()
        address = plan.partition(f"{HOST}: ")[2].split()[0]
        (job / "crawl.yaml").write_text(plan.replace(address, site.address))
    return job


def told(*arguments: object, code: int = 0) -> Any:
    """What a command says in JSON."""
    done = nacre(*arguments, "--json")
    assert done.code == code, done.out + done.err
    return json.loads(done.out)


def visits(job: Path, page: str) -> list[tuple[int, int, str]]:
    """Run, status and verdict of each visit of a page; second fetches left out."""
    history = told("history", job, "url", page)
    rows = [(v["run"], v["status"], v["kind"]) for v in history["visits"] if v["reason"] != "pair"]
    return list(dict.fromkeys(rows))


def sound(job: Path) -> bool:
    """The archive has no damage."""
    return nacre("archive", job, "check").code == 0


def test_an_old_job_is_looked_at(tmp_path: Path):
    job = stored("recrawled", tmp_path)
    assert told("status", job)["overview"]["state"] == "INTERRUPTED"
    assert [run["mode"] for run in told("history", job, "runs")] == [
        "full",
        "incremental",
        "incremental",
    ]
    assert visits(job, f"{HOME}list1.html")[:2] == [(1, 200, "new"), (2, 200, "major")]
    assert visits(job, url(deleted(1)))[1][:2] == (2, 404)
    assert told("explain", job, url(3))["capture"]
    assert told("explain", job, f"{HOME}secret/x.html")["status"] == -9998
    # These two want the URL of a page.
    for name in set(told("report", job, "list")) - {"timeline", "diff"}:
        assert nacre("report", job, name).code == 0, name
    assert nacre("check", job).code == 0
    assert sound(job)


def test_an_old_crawl_is_resumed(tmp_path: Path, site: OldSite):
    job = stored("interrupted", tmp_path, site)
    before = told("status", job)["overview"]
    assert (before["state"], before["queued"] > 0) == ("INTERRUPTED", True)
    assert nacre("run", job, "--quiet").code == 0
    after = told("status", job)["overview"]
    assert (after["state"], after["queued"]) == ("FINISHED", 0)
    # What was fetched before the interruption is not asked for again, but for robots.txt.
    again = [path for path in site.asked if path != "/robots.txt"]
    assert len(again) == len(set(again)) == before["queued"]
    articles = [url(number) for number in range(ARTICLES)]
    assert all(told("explain", job, page)["status"] == 200 for page in articles)
    assert sound(job)


def test_an_old_recrawl_is_resumed_and_others_follow(tmp_path: Path, site: OldSite):
    job = stored("recrawled", tmp_path, site)
    site.edition = 2
    assert nacre("recrawl", job, "--quiet").code == 0
    assert len(told("history", job, "runs")) == 3
    assert visits(job, url(added(2)))[0] == (3, 200, "new")
    assert visits(job, url(deleted(2)))[-1][1] == 404

    site.edition = 3
    assert nacre("recrawl", job, "--quiet").code == 0
    assert told("status", job)["overview"]["state"] == "FINISHED"
    assert visits(job, url(added(3))) == [(4, 200, "new")]

    site.edition = 4
    site.asked.clear()
    assert nacre("recrawl", job, "--full", "--quiet").code == 0
    assert {"/", *(p for p in pages(4) if p.startswith("/a"))} <= set(site.asked)
    # What a full crawl found is learned at the start of the next incremental one.
    assert told("explain", job, url(deleted(4)))["status"] == 404
    for edition, run in ((1, 3), (2, 3), (3, 4)):
        for number in set(reworded(edition)) - {deleted(later) for later in range(1, 4)}:
            assert (run, 200, "major") in visits(job, url(number))
    assert visits(job, url(0))[0] == (1, 200, "new")
    assert sound(job)
    assert nacre("check", job).code == 0
