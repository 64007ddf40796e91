"""A documentation site is crawled, the next release takes its place, and `recrawl` finds it all."""

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from nacre.recrawl.pagestore import fetch_rows
from nacre.store.store import Store
from tests.crawl.again import Kept, again, first, kept
from tests.crawl.reachable import Folder
from tests.crawl.replay import replaying
from tools import releases
from tools.nginx import Server, free_port, serving

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(300)]

ADDRESS = "127.0.9.32"
Files = dict[str, bytes]


@dataclass(frozen=True)
class Twice:
    """Two runs of one job, and what links lead to in the two releases that were served."""

    job: Path
    old: Files
    new: Files
    one: Kept
    two: Kept

    @property
    def added(self) -> set[str]:
        return self.new.keys() - self.old.keys()

    @property
    def removed(self) -> set[str]:
        return self.old.keys() - self.new.keys()

    @property
    def changed(self) -> set[str]:
        return {name for name in self.old.keys() & self.new.keys() if self.differs(name)}

    def differs(self, name: str) -> bool:
        return self.old[name] != self.new[name]

    @property
    def novel(self) -> set[str]:
        """What is new or changed, and no copy of what was there under another name."""
        held = set(self.old.values())
        return {name for name in self.added | self.changed if self.new[name] not in held}

    def stored(self, status: int) -> set[str]:
        """Names of what the second run stored in full with a status."""
        return {_name(url) for url, (_, one) in self.two.responses.items() if one == status}


def _name(url: str) -> str:
    return urlsplit(url).path.lstrip("/")


class _Release(Folder):
    """Style sheets and scripts have a checksum behind their name."""

    def file(self, path: str) -> Path | None:
        return super().file(path.partition("?")[0])


def _files(root: Path) -> Files:
    paths, _ = _Release(root).reachable("/index.html")
    names = {path.lstrip("/").partition("?")[0] for path in paths}
    return {name: (root / name).read_bytes() for name in names}


def _put(release: Path, site: Path, ago: float) -> None:
    """Files as if written so many seconds ago, or a server would take some for the old ones."""
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(release, site)
    written = time.time() - ago
    for path in site.rglob("*"):
        os.utime(path, (written, written))


Run = Callable[[str], Twice]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Both runs, the second with a way of keeping; once for each."""
    try:
        old, new = (releases.ensure(version) for version in (releases.FIRST, releases.SECOND))
    except releases.ReleaseError as error:
        pytest.skip(f"two releases of {releases.PROJECT} are needed: {error}")

    @cache
    def make(keep: str) -> Twice:
        folder = tmp_path_factory.mktemp(keep)
        site, job, port = folder / "site", folder / "job", free_port((ADDRESS,))
        server = Server(ADDRESS, port, site, directives="open_file_cache off;")
        seed = f"http://{ADDRESS}:{port}/index.html"
        _put(old, site, 7200)
        with serving([server], folder / "nginx"):
            assert first(job, seed) == "FINISHED"
            _put(new, site, 3600)
            assert again(job, seed, 7, keep=keep) == "FINISHED"
        one, two = (kept(run) for run in sorted((job / "runs").iterdir()))
        return Twice(job, _files(old), _files(new), one, two)

    return make


@pytest.fixture(params=["strict", "lean"])
def twice(request: pytest.FixtureRequest, run: Run) -> Twice:
    return run(request.param)


def test_the_releases_differ_in_pages_and_in_what_pages_need(run: Run) -> None:
    twice = run("strict")
    for names in (twice.added, twice.removed, twice.changed):
        assert sum(name.endswith(".html") for name in names) >= 5
        assert sum(name.startswith("_sources/") for name in names) >= 5
    assert {"searchindex.js", "_static/alabaster.css", "_static/pygments.css"} <= twice.changed
    held = {_name(url) for url, (_, status) in twice.one.responses.items() if status == 200}
    assert twice.old.keys() <= held


def test_everything_new_is_found(twice: Twice) -> None:
    found = {_name(url) for url in twice.two.dates}
    assert twice.added - found == set()


def test_everything_changed_is_found(run: Run) -> None:
    twice = run("strict")
    assert twice.changed - twice.stored(200) == set()


def test_everything_removed_is_found(twice: Twice) -> None:
    assert twice.removed - twice.stored(404) == set()


def test_strict_stores_exactly_what_has_other_bytes(run: Run) -> None:
    twice = run("strict")
    assert twice.stored(200) == twice.novel
    # What was there before under another name refers to it.
    assert twice.added - twice.novel <= {_name(url) for url in twice.two.revisits}


def test_lean_stores_what_is_a_change_and_what_is_not_proven_to_be_noise(run: Run) -> None:
    twice = run("lean")
    told, doubted = (
        {
            _name(url)
            for url, verdict in twice.two.verdicts.items()
            if any(f"class={kind} " in verdict for kind in kinds)
        }
        for kinds in (("new", "minor", "major"), ("template", "noise"))
    )
    assert told & twice.novel <= twice.stored(200) <= (told | doubted) & twice.novel
    # What no verdict on text can pass over: style sheets, scripts, sources.
    assets = {name for name in twice.changed if not name.endswith(".html")}
    assert assets <= twice.stored(200)


def test_every_verdict_is_in_the_fetch_log(twice: Twice) -> None:
    with Store.open(str(twice.job / "state/store"), read_only=True) as store:
        seen = {_name(row.url) for row in fetch_rows(store) if row.run == 2}
    assert twice.added | twice.changed | twice.removed <= seen


def test_both_dates_replay(run: Run, tmp_path: Path) -> None:
    twice = run("strict")
    warcs = sorted(twice.job.glob("runs/*/archive/*.warc.gz"))
    with replaying(warcs, tmp_path) as replay:
        for stored, files in ((twice.one, twice.old), (twice.two, twice.new)):
            for url, date in stored.dates.items():
                if _name(url) in files:
                    replayed = replay.get(url, date)
                    assert (replayed.status, replayed.body) == (200, files[_name(url)]), url
