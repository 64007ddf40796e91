"""A documentation site is crawled, a script edits it, and `recrawl` finds all that it did."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from nacre.history.pagestore import PageStore, fetch_rows
from nacre.store.store import Store
from tests.crawl.again import Kept, Site, again, first, kept
from tests.crawl.replay import judge, replaying
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.31"


@dataclass(frozen=True)
class Twice:
    """Two runs of one job, and what happened between them."""

    job: Path
    origin: str
    site: Site
    before: dict[str, bytes]
    one: Kept
    two: Kept

    def names(self, urls: object) -> set[str]:
        return {str(url).rpartition("/")[2] for url in urls}  # type: ignore[attr-defined]


def edit(site: Site) -> None:
    for number, name in enumerate(site.pages("[B-M]*_README.html")[:7]):
        site.say_more(name, f"This is remark number {number}, and it matters to readers.")
    for name in site.pages("[a-d]*.html")[:5]:
        site.comment(name)
    site.reword("SASL_README.html", "Postfix", "The program")
    site.add("appendix.html", linked_from="index.html")
    site.add("notes.html", linked_from="TLS_README.html")
    site.add("more-notes.html", linked_from="TUNING_README.html")
    for name in site.pages("p*.1.html")[:4]:
        site.remove(name)


Run = Callable[[str], Twice]


@pytest.fixture(scope="module")
def run(package: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Both runs, the second with a way of keeping; once for each."""

    @cache
    def make(keep: str) -> Twice:
        folder = tmp_path_factory.mktemp(keep)
        site = Site(package("postfix-doc") / "usr/share/doc/postfix/html", folder / "site")
        port = free_port((ADDRESS,))
        server = Server(ADDRESS, port, site.root, directives="open_file_cache off;")
        origin, job = f"http://{ADDRESS}:{port}", folder / "job"
        with serving([server], folder / "nginx"):
            assert first(job, f"{origin}/index.html") == "FINISHED"
            before = {path.name: path.read_bytes() for path in site.root.glob("*.html")}
            edit(site)
            assert again(job, f"{origin}/index.html", 7, keep=keep) == "FINISHED"
        one, two = (kept(run) for run in sorted((job / "runs").iterdir()))
        return Twice(job, origin, site, before, one, two)

    return make


@pytest.fixture(params=["strict", "lean"])
def twice(request: pytest.FixtureRequest, run: Run) -> Twice:
    return run(request.param)


def test_every_new_page_is_found(twice: Twice):
    found = twice.names(url for url, (_, status) in twice.two.responses.items() if status == 200)
    assert twice.site.done.added <= found


def test_every_removed_page_is_found(twice: Twice):
    gone = twice.names(url for url, (_, status) in twice.two.responses.items() if status == 404)
    known = twice.names(twice.one.dates)
    assert twice.site.done.removed <= known
    assert twice.site.done.removed <= gone


def test_strict_stores_exactly_the_pages_whose_bytes_differ(run: Run):
    twice = run("strict")
    full = twice.names(url for url, (_, status) in twice.two.responses.items() if status == 200)
    assert full == twice.site.done.differing
    # The first visit of each new page is no revisit, all others were known.
    assert twice.names(twice.two.revisits) <= twice.names(twice.one.dates)


def test_lean_stores_exactly_what_is_classed_minor_or_major(run: Run):
    twice = run("lean")
    full = {url for url, (_, status) in twice.two.responses.items() if status == 200}
    told = {
        url
        for url, verdict in twice.two.verdicts.items()
        if any(f"class={kind} " in verdict for kind in ("new", "minor", "major"))
    }
    assert full == told
    assert twice.names(full) == twice.site.done.text | twice.site.done.added
    assert twice.names(twice.two.notes) == twice.site.done.markup


def test_the_fetch_log_and_the_rows_say_the_same(twice: Twice):
    with Store.open(str(twice.job / "state/store"), read_only=True) as store:
        log = {row.url: row for row in fetch_rows(store) if row.run == 2 and row.wanted != "pair"}
        rows = {row.url: row for row in PageStore(store).scan()}
    kinds = {name: row.kind for name, row in ((u.rpartition("/")[2], r) for u, r in log.items())}
    assert {kinds[name] for name in twice.site.done.text} <= {"minor", "major"}
    assert {kinds[name] for name in twice.site.done.markup} == {"markup"}
    assert {kinds[name] for name in twice.site.done.added} == {"new"}
    for name in twice.site.done.removed:
        assert rows[f"{twice.origin}/{name}"].life == "suspect"
        assert log[f"{twice.origin}/{name}"].answer == "missing"
    for url, verdict in twice.two.verdicts.items():
        if url in log and verdict:
            assert f"class={log[url].kind} " in verdict


def test_the_archive_of_both_runs_is_sound(twice: Twice):
    paths = [str(path) for path in twice.job.glob("runs/*/archive/*.warc.gz")]
    checked = judge("warcio", "check", *paths)
    assert checked.returncode == 0, checked.stdout


def test_pywb_serves_both_dates_of_each_page(run: Run, tmp_path: Path):
    twice = run("strict")
    warcs = sorted(twice.job.glob("runs/*/archive/*.warc.gz"))
    with replaying(warcs, tmp_path) as replay:
        for stored, files in ((twice.one, twice.before), (twice.two, None)):
            for url, date in stored.dates.items():
                name = url.rpartition("/")[2]
                path = twice.site.root / name
                expected = files.get(name) if files is not None else _now(path)
                if expected is not None and not url.endswith("favicon.ico"):
                    replayed = replay.get(url, date)
                    assert (replayed.status, replayed.body) == (200, expected), (url, date)


def _now(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
