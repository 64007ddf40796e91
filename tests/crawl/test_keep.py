"""Three versions of a site, kept strictly, leanly and as differences: what is in the WARCs."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from nacre.archive.check import Checker
from nacre.archive.delta import TARGET, page_url
from nacre.archive.reader import WarcReader
from nacre.core.history import FetchRow, HistoryRecord
from nacre.history.dedup import Digests, History
from nacre.inspect.analysis.difference import page_difference
from nacre.inspect.analysis.page_history import forget
from nacre.inspect.analysis.recrawl_data import StoredRecrawlData
from nacre.job.stopped_job import salvage
from nacre.machine.layout import Layout
from nacre.packing.expand_warcs import ExpandedWarc, expand
from nacre.recrawl.pagestore import PageStore, fetch_rows
from nacre.store.store import Store
from tests.cli.site import nacre
from tests.crawl.again import again, first, settings
from tests.crawl.replay import judge, replaying
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.41"
PAGES = 8
DIRECTIVES = "open_file_cache off;"
NOTHING = "nothing to expand: this job has neither differences nor references to outlinks"


def words(page: int, size: int = 900) -> str:
    """Text that does not compress to nothing, the same each time."""
    return " ".join(f"{page * 7919 + n * n * 104729 % 99991:x}" for n in range(size))


class Site:
    """A folder of pages whose versions are remembered."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.versions: list[dict[str, bytes]] = []
        root.mkdir(parents=True)
        links = "".join(f'<a href="{n}.html">Page {n}</a> ' for n in range(PAGES))
        self._write("index.html", f"<h1>Home</h1><p>Where all begins.</p>{links}")
        for number in range(PAGES):
            self._write(f"{number}.html", f"<h1>{number}</h1><p>{words(number)}</p>")
        self.note()

    def note(self) -> None:
        self.versions.append({p.name: p.read_bytes() for p in sorted(self.root.glob("*.html"))})

    def edit(self, version: int) -> None:
        """Text in 0 and 1, a comment in 2, all of 3; 4 only in the second version."""
        for number in (0, 1):
            self._change(number, "</p>", f" and version {version} says more of it all.</p>")
        self._change(2, "</body>", f"<!-- {version} --></body>")
        self._write("3.html", f"<h1>3</h1><p>{words(3 + 100 * version)}</p>")
        if version == 1:
            self._change(4, "</p>", " and once only there is something else to be told.</p>")
        self.note()

    def _change(self, number: int, old: str, new: str) -> None:
        path = self.root / f"{number}.html"
        path.write_text(path.read_text().replace(old, new, 1))

    def _write(self, name: str, body: str) -> None:
        page = f"<html><head><title>{name}</title></head><body>{body}</body></html>"
        (self.root / name).write_text(page)


@contextmanager
def served(site: Site, folder: Path, directives: str = DIRECTIVES) -> Iterator[str]:
    port = free_port((ADDRESS,))
    server = Server(ADDRESS, port, site.root, directives=directives)
    with serving([server], folder / "nginx"):
        yield f"http://{ADDRESS}:{port}"


@dataclass(frozen=True)
class Job:
    root: Path
    origin: str
    site: Site

    @property
    def warcs(self) -> list[Path]:
        return sorted(self.root.glob("runs/*/archive/*.warc.gz"))

    def stored(self, paths: list[Path]) -> dict[str, list[tuple[str, str, bytes]]]:
        """Type, URL of the page, date and block of all records but requests, by type."""
        found: dict[str, list[tuple[str, str, bytes]]] = {}
        for path in paths:
            with path.open("rb") as file:
                for entry in WarcReader(file):
                    url = entry.get("WARC-Target-URI") or ""
                    kind = entry.get("WARC-Type") or ""
                    kind = "delta" if url.startswith(TARGET) else kind
                    block = b"".join(iter(entry.read, b""))
                    found.setdefault(kind, []).append(
                        (page_url(url), entry.get("WARC-Date") or "", block)
                    )
        return found

    def bodies(self, paths: list[Path]) -> dict[tuple[str, bytes], str]:
        """Dates of the replies in response records by name and body."""
        return {
            (url.rpartition("/")[2], block.partition(b"\r\n\r\n")[2]): date
            for url, date, block in self.stored(paths).get("response", ())
            if block.startswith(b"HTTP/1.1 200")
        }

    def log(self, run: int) -> dict[str, str]:
        """What the archive got of each page in a run."""
        with Store.open(str(self.root / "state/store"), read_only=True) as store:
            return {
                row.url.rpartition("/")[2]: row.stored
                for row in fetch_rows(store)
                if row.run == run and row.wanted != "pair"
            }


Run = Callable[[str], Job]
ALL = {"recall": 1.0, "least": 0.0, "lots": 0.0, "probes": 0, "audits": 0.0}


def crawl_thrice(folder: Path, keep: str, directives: str = DIRECTIVES) -> Job:
    site, root = Site(folder / "site"), folder / "job"
    with served(site, folder, directives) as origin:
        seed = f"{origin}/index.html"
        assert first(root, seed) == "FINISHED"
        for version in (1, 2):
            site.edit(version)
            assert again(root, seed, 7 * version, keep=keep, recrawl=ALL) == "FINISHED"
        assert again(root, seed, 21, keep=keep, recrawl=ALL) == "FINISHED"
    return Job(root, origin, site)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    @cache
    def make(keep: str) -> Job:
        return crawl_thrice(tmp_path_factory.mktemp(keep), keep)

    return make


@pytest.fixture(scope="module")
def expanded(run: Run) -> list[ExpandedWarc]:
    job = run("delta")
    return list(expand(job.warcs, job.root / "expanded"))


def test_each_way_writes_what_it_says(run: Run):
    assert run("strict").log(2) | run("strict").log(3) == {
        "0.html": "novel", "1.html": "novel", "2.html": "novel", "3.html": "novel",
        "4.html": "not-modified", "5.html": "not-modified", "6.html": "not-modified",
        "7.html": "not-modified", "index.html": "not-modified",
    }  # fmt: skip
    assert run("lean").log(3)["2.html"] == "noted"
    # The server is asked with the validators of what was noted.
    assert run("lean").log(4)["2.html"] == "not-modified"
    assert run("delta").log(2) == run("strict").log(2) | {
        "0.html": "delta", "1.html": "delta", "2.html": "delta", "4.html": "delta"
    }  # fmt: skip


def test_a_version_that_does_not_resemble_the_last_is_stored_in_full(run: Run):
    assert run("delta").log(2)["3.html"] == "novel"
    assert run("delta").log(3)["3.html"] == "novel"


def test_differences_are_always_from_what_is_stored_in_full(run: Run):
    job = run("delta")
    blocks = [block for _, _, block in job.stored(job.warcs)["delta"]]
    assert {line for block in blocks for line in block.split(b"\r\n") if b"number" in line} == {
        b"number: 1", b"number: 2"
    }  # fmt: skip


def test_no_revisit_refers_to_a_difference(run: Run):
    job = run("delta")
    deltas = {(url, date) for url, date, _ in job.stored(job.warcs)["delta"]}
    for path in job.warcs:
        with path.open("rb") as file:
            for entry in WarcReader(file):
                uri = entry.get("WARC-Refers-To-Target-URI") or ""
                assert (uri, entry.get("WARC-Refers-To-Date") or "") not in deltas
    # Page 4 did not change any more: that is a note.
    assert job.log(3)["4.html"] == "not-modified"


def test_expanding_gives_every_version_byte_for_byte(run: Run, expanded: list[ExpandedWarc]):
    job = run("delta")
    assert all(not made.defects for made in expanded)
    assert sum(made.responses for made in expanded) == 7
    assert sum(made.revisits for made in expanded) >= 2
    bodies = set(job.bodies([*job.warcs, *(made.path for made in expanded)]))
    assert bodies >= {
        (name, body) for version in job.site.versions for name, body in version.items()
    }
    # And nothing that was never served.
    strict = run("strict")
    assert bodies == set(strict.bodies(strict.warcs))


def test_expanding_again_makes_the_same(run: Run, expanded: list[ExpandedWarc], tmp_path: Path):
    job = run("delta")
    for one, other in zip(expanded, expand(job.warcs, tmp_path), strict=True):
        assert one.path.read_bytes() == other.path.read_bytes()
        one_index, other_index = (
            made.path.with_name(made.path.name.removesuffix(".warc.gz") + ".cdxj").read_bytes()
            for made in (one, other)
        )
        assert one_index == other_index


@pytest.mark.parametrize(
    "keep", ["delta", *(pytest.param(keep, marks=pytest.mark.slow) for keep in ("strict", "lean"))]
)
def test_every_judge_accepts_the_files(run: Run, expanded: list[ExpandedWarc], keep: str):
    job = run(keep)
    paths = job.warcs + ([made.path for made in expanded] if keep == "delta" else [])
    for path in paths:
        for command in (("warcio", "check"), ("fastwarc", "check")):
            judged = judge(*command, str(path))
            assert judged.returncode == 0, judged.stdout + judged.stderr
        made = judge("cdxj-indexer", "--sort", "--post-append", path.name, cwd=path.parent)
        index = path.with_name(path.name.removesuffix(".warc.gz") + ".cdxj")
        assert made.stdout == index.read_text(), path.name


@pytest.mark.parametrize("keep", ["strict", "lean", "delta"])
def test_our_own_check_finds_nothing(run: Run, expanded: list[ExpandedWarc], keep: str):
    job = run(keep)
    checker = Checker()
    for path in job.warcs + ([made.path for made in expanded] if keep == "delta" else []):
        checker.file(path, path.with_name(path.name.removesuffix(".warc.gz") + ".cdxj"))
    assert checker.finish() == []
    assert checker.summary.rebuilt == (7 if keep == "delta" else 0)


def test_reports_read_differences_like_pages(run: Run):
    job = run("delta")
    url = f"{job.origin}/0.html"
    with Store.open(str(job.root / "state/store"), read_only=True) as store:
        known = StoredRecrawlData(job.root, store, settings(url), time.time())
        found = [one for one in known.captures([url]) if one.status == "200" and not one.is_revisit]
        texts = [known.text(one) for one in found]
        difference = page_difference(known, url)
    pages = [version["0.html"].decode() for version in job.site.versions]
    assert texts == pages[:3]
    assert [one.url for one in found] == [url] * 3
    assert {one.mime for one in found} == {"text/html"}
    assert difference.pieces


def test_the_command_line_checks_and_expands(run: Run, tmp_path: Path):
    job = run("delta")
    (job.root / "crawl.yaml").write_text("{}\n")
    checked = nacre("archive", job.root, "check", "--json")
    assert (checked.code, json.loads(checked.out)["rebuilt"]) == (0, 7)
    done = nacre("archive", job.root, "expand", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    *made, browse = done.out.splitlines()
    assert browse.startswith("Browse: ")
    assert f"{job.root.name} " in browse
    told = [line.rpartition(": ")[2].partition(",")[0] for line in made]
    assert told == ["4 responses", "3 responses", "0 responses"]
    assert len(list((tmp_path / "out").glob("*.warc.gz"))) == 3
    nothing = nacre("archive", run_without(run), "expand")
    assert (nothing.code, nothing.out.strip()) == (0, NOTHING)


def run_without(run: Run) -> Path:
    root = run("strict").root
    (root / "crawl.yaml").write_text("{}\n")
    return root


def test_plain_files_are_written_and_expanded_alike(tmp_path: Path):
    site, root = Site(tmp_path / "site"), tmp_path / "job"
    plain = {"compress": False}
    with served(site, tmp_path) as origin:
        seed = f"{origin}/index.html"
        first(root, seed)
        for version in (1, 2):
            site.edit(version)
            again(root, seed, 7 * version, keep="delta", recrawl=ALL, archive=plain)
    warcs = sorted(path for path in root.glob("runs/*/archive/*.warc*"))
    made = list(expand(warcs, tmp_path / "out"))
    assert sum(one.responses for one in made) == 7
    checker = Checker()
    for path in [*warcs, *(one.path for one in made)]:
        index = path.with_name(path.name.partition(".warc")[0] + ".cdxj")
        checker.file(path, index)
        told = judge("cdxj-indexer", "--sort", "--post-append", path.name, cwd=path.parent)
        assert told.stdout == index.read_text(), path.name
    assert checker.finish() == []
    assert [path.suffix for path in warcs] == [".gz", ".warc", ".warc"]


def test_pywb_serves_no_difference_as_a_page(run: Run, tmp_path: Path):
    job = run("delta")
    with replaying(job.warcs, tmp_path) as replay:
        for url, date, _ in job.stored(job.warcs)["delta"]:
            replayed = replay.get(url, date)
            assert replayed.status == 200
            assert replayed.body in {
                version[url.rpartition("/")[2]] for version in job.site.versions
            }


def test_pywb_serves_every_version_of_the_expanded_archive(
    run: Run, expanded: list[ExpandedWarc], tmp_path: Path
):
    job = run("delta")
    paths = [*job.warcs, *(made.path for made in expanded)]
    with replaying(paths, tmp_path) as replay:
        for (name, body), date in job.bodies(paths).items():
            replayed = replay.get(f"{job.origin}/{name}", date)
            assert (replayed.status, replayed.body) == (200, body), (name, date)
        confirmed = [
            (url, date) for url, date, _ in job.stored([made.path for made in expanded])["revisit"]
        ]
        day = max(date for _, date in confirmed)[:10]
        final = [(url, date) for url, date in confirmed if date.startswith(day)]
        assert len(final) == 4
        for url, date in final:
            assert replay.get(url, date).body == job.site.versions[-1][url.rpartition("/")[2]]


GZIP = "open_file_cache off; gzip on; gzip_min_length 0;"


def learned(job: Job) -> tuple[dict[str, tuple[object, ...]], list[FetchRow]]:
    """Rows of the pages by URL, and the fetch log."""
    with Store.open(str(job.root / "state/store"), read_only=True) as store:
        rows: dict[str, tuple[object, ...]] = {
            row.url: (row.visits, row.changes, row.noise, row.digest, row.last_visit)
            for row in PageStore(store).scan()
        }
        return rows, list(fetch_rows(store))


def test_what_is_forgotten_is_read_back_from_differences_too(tmp_path: Path):
    job = crawl_thrice(tmp_path, "delta", GZIP)
    before, log = learned(job)
    with Store.open(str(job.root / "state/store")) as store:
        forget(store)
    # Nothing is visited: only the archive is read.
    none = {"recall": 0.0, "least": 1.0, "least_file": 1.0, "floor": 0, "lots": 0.0, "probes": 0}
    again(job.root, f"{job.origin}/none.html", 28, keep="delta", recrawl=none)
    after, more = learned(job)
    pages = [url for url in before if url.endswith(".html")]
    assert len(pages) == PAGES + 1
    assert {url: after[url] for url in pages} == {url: before[url] for url in pages}
    assert [row for row in more if row.run < 5] == log


def history_of(job: Job) -> dict[str, HistoryRecord]:
    with Store.open(str(job.root / "state/store"), read_only=True) as store:
        history = History(store)
        urls = {row.url for row in fetch_rows(store)}
        found = {url.rpartition("/")[2]: history.get(url) for url in urls}
    return {name: row for name, row in found.items() if row is not None}


def test_a_store_that_is_gone_learns_of_differences_again(tmp_path: Path):
    site, root = Site(tmp_path / "site"), tmp_path / "job"
    with served(site, tmp_path) as origin:
        seed = f"{origin}/index.html"
        first(root, seed)
        site.edit(1)
        again(root, seed, 7, keep="delta", recrawl=ALL)
        job = Job(root, origin, site)
        before = {name: row.base for name, row in history_of(job).items()}
        assert before["0.html"] is not None
        (root / "crawl.yaml").write_text("{}\n")
        shutil.rmtree(root / "state/store")
        salvage(Layout(root), settings(seed))
        with Store.open(str(root / "state/store"), read_only=True) as store:
            history, digests = History(store), Digests(store)
            for name, base in before.items():
                if base is None:
                    continue
                row = history.get(f"{origin}/{name}")
                assert row is not None
                assert row.base == base
                found, whole = (
                    digests.get(digest, framing)
                    for digest, framing in ((row.digest, row.framing), (base.digest, base.framing))
                )
                assert found is not None
                assert found.base == base.record_id
                assert whole is not None
                assert (whole.record_id, whole.base) == (base.record_id, "")


def test_a_lost_base_is_not_built_upon(tmp_path: Path):
    site, root = Site(tmp_path / "site"), tmp_path / "job"
    with served(site, tmp_path) as origin:
        seed = f"{origin}/index.html"
        first(root, seed)
        site.edit(1)
        again(root, seed, 7, keep="delta", recrawl=ALL)
        job = Job(root, origin, site)
        data = bytearray(job.warcs[0].read_bytes())
        for at in range(400, len(data), 400):
            data[at] ^= 0xFF  # every record of the first run is damaged
        job.warcs[0].write_bytes(data)
        site.edit(2)
        assert again(root, seed, 14, keep="delta", recrawl=ALL) == "FINISHED"
    assert {job.log(3)[name] for name in ("0.html", "1.html", "2.html", "3.html")} == {"novel"}
    checker = Checker()
    for path in job.warcs:
        checker.file(path)
    codes = {finding.code for finding in checker.finish()}
    assert codes & {"delta-unresolved", "delta-base"}
    assert "gzip-damaged" in codes


FAILING = DIRECTIVES + " if (-f $document_root/down) { return 500; }"


def test_confirmations_and_failures_are_written_once_a_day(tmp_path: Path):
    site, root = Site(tmp_path / "site"), tmp_path / "job"
    with served(site, tmp_path, FAILING) as origin:
        seed = f"{origin}/index.html"
        first(root, seed)
        noon = 12 - time.time() % 86_400 / 3600
        for run, hours in enumerate((24, 25, 26, 50), 2):
            days = (noon + hours) / 24
            if run == 5:
                (site.root / "down").touch()
            again(root, seed, days, recrawl=ALL)
        job = Job(root, origin, site)
        logs = [job.log(run) for run in (2, 3, 4, 5)]
    pages = [f"{number}.html" for number in range(PAGES)]
    assert [{log[name] for name in pages} for log in logs[:3]] == [{"not-modified"}, {""}, {""}]
    assert sorted(logs[3].values()).count("novel") == 1
    assert set(logs[3].values()) == {"", "novel"}
    third = sorted((root / "runs").iterdir())[2]
    assert not list(third.glob("archive/*.warc.gz")) or not Job(root, origin, site).stored(
        list(third.glob("archive/*.warc.gz"))
    ).get("revisit")
    lines = (third / "logs/crawl.log").read_text().splitlines()
    assert sum("unrecorded" in line for line in lines) >= PAGES
