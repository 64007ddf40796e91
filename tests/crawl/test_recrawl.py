"""A documentation site is crawled, a script edits it, and `recrawl` finds all that it did."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from nacre.core.pagerow import PageRow
from nacre.core.processor import Visit
from nacre.engine.steps.extract import ExtractStep
from nacre.errors import JobError
from nacre.history.dedup import History
from nacre.inspect.analysis.page_history import forget
from nacre.inspect.changes.reading import ChangeFilter, read_feed
from nacre.inspect.changes.wording import text_line
from nacre.machine.layout import Layout
from nacre.recrawl.pagestore import PageStore, fetch_rows
from nacre.runs.runs import plan_run, write_run
from nacre.store.store import Store
from tests.crawl.again import Kept, Site, again, first, kept
from tests.crawl.replay import judge, replaying
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.31"
KINDS = ("new", "changed", "gone")


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
            # Every page is visited: what the planner leaves out is another matter.
            every = {"recall": 1.0, "least": 0.0, "least_file": 0.0}
            assert again(job, f"{origin}/index.html", 7, keep=keep, recrawl=every) == "FINISHED"
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
    # The first visit of each new page is not a revisit, all others were known.
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
    notes = {url for url in twice.two.notes if twice.two.verdicts[url] != "probe"}
    assert twice.names(notes) == twice.site.done.markup


def test_the_change_feed_has_what_readers_see(twice: Twice):
    with Store.open(str(twice.job / "state/store"), read_only=True) as store:
        feed = read_feed(store, "postfix", ChangeFilter(most=1000))
    done = twice.site.done
    found = {kind: twice.names(e.url for e in feed.entries if e.kind == kind) for kind in KINDS}
    assert found == {"new": done.added, "changed": done.text, "gone": done.removed}
    texts = [text_line(text) for entry in feed.entries for text in entry.texts]
    assert sum("remark number" in text for text in texts) == 7


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


PAGE = "<html><head><title>{0}</title></head><body><h1>{0}</h1><p>{1}</p>{2}</body></html>"
LIES = "open_file_cache off; etag off; add_header ETag '\"same\"'; if_modified_since off;"


def small(root: Path) -> Path:
    """Twelve pages, each with a text of its own."""
    root.mkdir()
    links = "".join(f'<a href="{number}.html">Page {number}</a> ' for number in range(12))
    (root / "index.html").write_text(PAGE.format("Home", "Where all begins.", links))
    for number in range(12):
        text = f"Once upon a time there was page {number}, and it said little more than that."
        (root / f"{number}.html").write_text(PAGE.format(number, text, ""))
    return root


@contextmanager
def served(folder: Path, directives: str = "open_file_cache off;", port: int = 0) -> Iterator[str]:
    port = port or free_port((ADDRESS,))
    server = Server(ADDRESS, port, folder / "site", directives=directives)
    with serving([server], folder / f"nginx{len(directives)}"):
        yield f"http://{ADDRESS}:{port}/index.html"


def rewrite(site: Path, number: int, text: str) -> None:
    (site / f"{number}.html").write_text(PAGE.format(number, text, ""))


def test_a_site_whose_validators_lie_is_asked_without_them(tmp_path: Path):
    site, job = small(tmp_path / "site"), tmp_path / "job"
    with served(tmp_path, LIES) as seed:
        first(job, seed)
        rewrite(site, 3, "Nobody would know of this text, if the server were believed.")
        again(job, seed, 7, recrawl={"audits": 1.0})
        again(job, seed, 14, recrawl={"audits": 0.0, "recall": 1.0, "least": 0.0})
    log = (max((job / "runs").iterdir()) / "logs/crawl.log").read_text()
    assert "untrusted-validators" in log
    with Store.open(str(job / "state/store"), read_only=True) as store:
        visits = [row for row in fetch_rows(store) if row.url.endswith("/3.html")]
    assert [row.kind for row in visits if row.run == 2 and row.wanted != "pair"] == ["major"]
    alerts = "".join(path.read_text() for path in job.glob("runs/*/logs/alerts.log"))
    assert "other bytes under the same validators" in alerts


def test_a_validator_of_any_length_is_not_kept(tmp_path: Path):
    small(tmp_path / "site")
    job = tmp_path / "job"
    tag = "x" * 2500
    with served(tmp_path, f"open_file_cache off; etag off; add_header ETag '\"{tag}\"';") as seed:
        first(job, seed)
    log = (max((job / "runs").iterdir()) / "logs/crawl.log").read_text()
    assert "longValidator" in log
    with Store.open(str(job / "state/store"), read_only=True) as store:
        known = History(store).get(seed)
    assert known is not None
    assert known.date
    assert known.etag == b""
    assert known.last_modified  # this one is short, and serves as well


SOFT = "open_file_cache off; error_page 404 =200 /sorry.html;"


def test_a_page_that_says_politely_that_it_is_gone_is_gone(tmp_path: Path):
    site, job = small(tmp_path / "site"), tmp_path / "job"
    (site / "sorry.html").write_text(PAGE.format("Sorry", "Try our new search, or go home.", ""))
    with served(tmp_path, SOFT) as seed:
        first(job, seed)
        (site / "3.html").unlink()
        again(job, seed, 7)
    two = kept(max((job / "runs").iterdir()))
    with Store.open(str(job / "state/store"), read_only=True) as store:
        visits = {row.url.rpartition("/")[2]: row for row in fetch_rows(store) if row.run == 2}
        known = {row.url for row in PageStore(store).scan()}
    assert (visits["3.html"].answer, visits["3.html"].status) == ("soft-404", 200)
    probed = [url for url, verdict in two.verdicts.items() if verdict == "probe"]
    assert len(probed) == 1
    lines = (two.run / "logs/crawl.log").read_text().splitlines()
    order = [line.split()[3].rpartition("/")[2] for line in lines]
    before = order[: order.index(probed[0].rpartition("/")[2])]
    assert set(before) <= {"robots.txt", "index.html"}, "pages are judged by what it says"
    assert set(probed) <= set(two.notes) | set(two.revisits)
    assert not set(probed) & known


def test_a_budget_of_requests_is_kept(tmp_path: Path):
    small(tmp_path / "site")
    job = tmp_path / "job"
    with served(tmp_path) as seed:
        first(job, seed)
        again(job, seed, 7, budget="5")
    visited = [url for url in kept(max((job / "runs").iterdir())).dates if "robots" not in url]
    assert 1 < len(visited) <= 5


def test_a_full_run_finds_all_links_though_nothing_changed(tmp_path: Path):
    small(tmp_path / "site")
    job = tmp_path / "job"
    with served(tmp_path) as seed:
        first(job, seed)
        again(job, seed, 7, mode="full")
    one, two = (kept(run) for run in sorted((job / "runs").iterdir()))
    pages = {url for url, (_, status) in one.responses.items() if status == 200}
    icon = next(url for url in one.responses if url.endswith("/favicon.ico"))
    assert set(two.revisits) == pages | {icon}, "the same 404 as before is a revisit too"
    manifest = json.loads((two.run / "manifest.json").read_text())
    assert (manifest["mode"], manifest["parent"]) == ("full", one.run.name)


def test_a_run_that_is_not_over_gives_no_place_to_another(tmp_path: Path):
    small(tmp_path / "site")
    job = tmp_path / "job"
    with served(tmp_path) as seed:
        first(job, seed)
        with Store.open(str(job / "state/store")) as store:
            run = plan_run(store, Layout(job), 2e9, mode="incremental")
            assert plan_run(store, Layout(job), 3e9, mode="incremental") == run
            write_run(store, replace(run, fresh=False, clearing=False))
            with pytest.raises(JobError, match=r"is not over \(RUNNING\).*nacre run"):
                plan_run(store, Layout(job), 3e9, mode="full")


def test_what_the_rows_knew_is_found_again_in_the_archive(tmp_path: Path):
    site, job = small(tmp_path / "site"), tmp_path / "job"
    with served(tmp_path) as seed:
        first(job, seed)
        rewrite(site, 3, "This page was given another text, of quite some length, by its author.")
        again(job, seed, 7)
        with Store.open(str(job / "state/store")) as store:
            before = {row.url: facts(row) for row in PageStore(store).scan()}
            forget(store)
        again(job, seed, 7.001, budget="1")
    with Store.open(str(job / "state/store"), read_only=True) as store:
        after = {row.url: facts(row) for row in PageStore(store).scan()}
    home = seed
    assert before.keys() == after.keys()
    assert {url: row for url, row in after.items() if url != home} == {
        url: row for url, row in before.items() if url != home
    }


def facts(row: PageRow) -> tuple[object, ...]:
    return (row.visits, row.changes, row.noise, row.digest, row.life, row.kind, row.depth)


def test_a_bug_at_one_page_of_the_archive_keeps_no_other_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    small(tmp_path / "site")
    job, process = tmp_path / "job", ExtractStep.process

    async def fails(self: ExtractStep, visit: Visit) -> object:
        if visit.uri.url.endswith("/3.html"):
            raise ZeroDivisionError
        return await process(self, visit)

    with served(tmp_path) as seed:
        first(job, seed)
        with monkeypatch.context() as patch:
            patch.setattr(ExtractStep, "process", fails)
            assert again(job, seed, 7, budget="1") == "FINISHED"
    with Store.open(str(job / "state/store"), read_only=True) as store:
        known = {row.url.rpartition("/")[2] for row in PageStore(store).scan() if row.visits}
    assert {f"{number}.html" for number in range(12)} - known == {"3.html"}
    assert "ZeroDivisionError" in (job / "latest/logs/runtime-errors.log").read_text()


MOVED = """open_file_cache off;
    location = /3.html { return 301 /three.html; }
    location = /4.html { return 302 /index.html; }
    location = /5.html { return 410; }
    location = /6.html { return 503; }
"""


def test_moves_ends_and_failures_are_told_apart(tmp_path: Path):
    site, job = small(tmp_path / "site"), tmp_path / "job"
    with served(tmp_path) as seed:
        first(job, seed)
    (site / "3.html").rename(site / "three.html")
    with served(tmp_path, MOVED, int(seed.rpartition(":")[2].partition("/")[0])):
        again(job, seed, 7, frontier={"max_retries": 1, "throttled_retries": 0})
    with Store.open(str(job / "state/store"), read_only=True) as store:
        visits = {
            row.url.rpartition("/")[2]: (row.status, row.answer, row.kind)
            for row in fetch_rows(store)
            if row.run == 2 and row.wanted != "pair"
        }
        rows = {row.url.rpartition("/")[2]: row for row in PageStore(store).scan()}
    assert visits["3.html"][:2] == (301, "moved")
    assert visits["three.html"] == (200, "there", "new")
    assert visits["4.html"][:2] == (302, "moved")
    assert visits["5.html"][:2] == (410, "gone")
    assert visits["6.html"][:2] == (503, "silent")
    assert rows["3.html"].target.endswith("/three.html")
    assert [rows[f"{number}.html"].life for number in (3, 5, 6, 7)] == [
        "moved", "gone", "live", "live",
    ]  # fmt: skip
    assert (rows["6.html"].errors, rows["6.html"].changes) == (1, 0)


LOGIN = "location ~ ^/[0-9]+.html$ { return 302 /login?next=$uri; }"


def test_a_site_that_asks_everybody_to_log_in_for_a_while_loses_no_page(tmp_path: Path):
    site, job = small(tmp_path / "site"), tmp_path / "job"
    (site / "login").write_text("<form>Name and password, please.</form>")
    eager = {"recall": 1.0, "least": 0.0}
    with served(tmp_path) as seed:
        first(job, seed)
    port = int(seed.rpartition(":")[2].partition("/")[0])
    with served(tmp_path, LOGIN, port):
        again(job, seed, 7, recrawl=eager)
    rewrite(site, 3, "What was written here while nobody could read it.")
    with served(tmp_path, "open_file_cache off;", port):
        again(job, seed, 14, recrawl=eager)
    with Store.open(str(job / "state/store"), read_only=True) as store:
        visits = [row for row in fetch_rows(store) if row.url.endswith(".html")]
        lives = {row.life for row in PageStore(store).scan()}
    turned_away = {(row.answer, row.reason) for row in visits if row.status == 302}
    assert turned_away == {("silent", "blocked")}
    assert any(
        row.kind == "major" and row.run == 3 for row in visits if row.url.endswith("/3.html")
    )
    assert lives == {"live"}
