"""A site whose pages change but for their links, kept strictly, leanly and as differences."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nacre.archive.check import Checker
from nacre.archive.link_files import LinkFiles, reference_of
from nacre.archive.link_reference import links_in
from nacre.archive.reader import WarcReader
from nacre.engine.readback import CaptureReader
from nacre.job.archived_links import archived_links
from nacre.job.stopped_job import salvage
from nacre.machine.layout import Layout
from nacre.packing.expand_warcs import expand
from tests.cli.site import nacre, site
from tests.crawl.again import again, first, settings
from tests.crawl.replay import judge
from tools.nginx import free_port

pytestmark = pytest.mark.crawl

PAGES = 24
WAYS = ("strict", "lean", "delta")
ALL = {"recall": 1.0, "least": 0.0, "lots": 0.0, "probes": 0, "audits": 0.0}
RUNS = 4


def text(page: int, version: int) -> str:
    return " ".join(f"{page * 7919 + version * 31 + n * n * 104729 % 99991:x}" for n in range(300))


def site_at(version: int) -> dict[str, str]:
    """Menus that stay but for one link, comments that change, other text on some pages."""
    menu = "".join(f'<li><a href="/p{n}.html?section=文">Page {n}</a>' for n in range(PAGES))
    more = f'<script src="/build-{version}.js"></script>' if version > 1 else ""
    pages = {"/": f"<html><body><h1>Home</h1>{menu}</body></html>"}
    for n in range(PAGES):
        words = text(n, version if n % 6 == 0 else 0)
        body = f"<h1>{n}</h1>{menu}<p>{words}</p>{more if n % 2 else ''}"
        pages[f"/p{n}.html?section=%E6%96%87"] = (
            f"<html><body>{body}<!-- made {version * 7919} --></body></html>"
        )
    return pages


@dataclass(frozen=True)
class Archived:
    root: Path
    home: str

    @property
    def warcs(self) -> list[Path]:
        return sorted(self.root.glob("runs/*/archive/*.warc.gz"))

    def metadata(self) -> Iterator[tuple[dict[str, str], bytes]]:
        """Fields and blocks of the metadata records."""
        for path in self.warcs:
            with path.open("rb") as file:
                for entry in WarcReader(file):
                    if entry.get("WARC-Type") == "metadata":
                        yield dict(entry.fields), b"".join(iter(entry.read, b""))

    def references(self) -> Iterator[tuple[Path, bytes]]:
        """Files and blocks of the records that refer to outlinks."""
        for path in self.warcs:
            with path.open("rb") as file:
                for entry in WarcReader(file):
                    block = b"".join(iter(entry.read, b""))
                    if reference_of(entry, block) is not None:
                        yield path, block

    def links(self) -> dict[tuple[str, str], list[tuple[str, str, str]]]:
        """The outlinks of each capture, by run and URL."""
        finder, runs = LinkFiles(self.warcs), sorted((self.root / "runs").iterdir())
        found = {}
        for path in self.warcs:
            number = [run in path.parents for run in runs].index(True)
            for kept in CaptureReader(path, 0, path.stat().st_size, finder.lines):
                assert kept.links_lost == ""
                if "robots.txt" not in kept.url:
                    links = [(one.url, str(one.hop), one.context) for one in kept.outlinks]
                    found[str(number), kept.url] = links
        return found


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Archived]:
    """The same site crawled in each way at the same moments."""
    folder, pages = tmp_path_factory.mktemp("links"), site_at(0)
    # Later tests serve the site on its port again.
    with site(pages, port=free_port()) as home:
        for way in WAYS:
            assert first(folder / way, home) == "FINISHED"
        for version in range(1, RUNS):
            pages.update(site_at(version))
            for way in WAYS:
                root = folder / way
                assert again(root, home, 7 * version, keep=way, recrawl=ALL) == "FINISHED"
        for way in WAYS:
            (folder / way / "crawl.yaml").write_text("{}\n")
        return {way: Archived(folder / way, home) for way in WAYS}


def test_only_runs_that_keep_less_refer_to_links(archives: dict[str, Archived]):
    references, bytes_of = {}, {}
    for way, job in archives.items():
        found = list(job.metadata())
        marked = [b"outlinksDigest: " in block for _, block in found]
        refers = ["WARC-Refers-To" in fields for fields, _ in found]
        references[way] = sum(marked)
        if way != "delta":  # whose differences are metadata records that refer to their base
            assert refers == marked
        links = [block for fields, block in found if fields["Content-Type"].endswith("fields")]
        bytes_of[way] = sum(map(len, links))
    assert references["strict"] == 0
    assert references["lean"] > PAGES
    assert references["delta"] > PAGES
    assert bytes_of["lean"] < 0.6 * bytes_of["strict"]
    assert bytes_of["delta"] < 0.6 * bytes_of["strict"]


def test_new_links_are_written_beside_a_reference(archives: dict[str, Archived]):
    blocks = [block for _, block in archives["lean"].metadata() if b"outlinksAs: " in block]
    mixed = [block for block in blocks if links_in(block)]
    assert mixed
    for block in mixed:
        assert b"/build-" in links_in(block)
        assert links_in(block).count(b"outlink: ") == 1


@pytest.mark.parametrize("way", ["lean", "delta"])
def test_all_links_are_read_as_if_they_were_written(archives: dict[str, Archived], way: str):
    strict, less = archives["strict"].links(), archives[way].links()
    assert len(less) > PAGES  # notes are no captures
    assert {place: strict[place] for place in less} == less


@pytest.mark.parametrize(
    "way", ["lean", *(pytest.param(way, marks=pytest.mark.slow) for way in ("strict", "delta"))]
)
def test_every_judge_accepts_the_files(archives: dict[str, Archived], way: str):
    job = archives[way]
    for path in job.warcs:
        for command in (("warcio", "check"), ("fastwarc", "check")):
            judged = judge(*command, str(path))
            assert judged.returncode == 0, judged.stdout + judged.stderr
        made = judge("cdxj-indexer", "--sort", "--post-append", path.name, cwd=path.parent)
        index = path.with_name(path.name.removesuffix(".warc.gz") + ".cdxj")
        assert made.stdout == index.read_text(), path.name
    checker = Checker()
    for path in job.warcs:
        checker.file(path, path.with_name(path.name.removesuffix(".warc.gz") + ".cdxj"))
    assert checker.finish() == []


SCRIPT = """
import json, sys
from warcio.archiveiterator import ArchiveIterator
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "metadata":
                headers = dict(record.rec_headers.headers)
                print(json.dumps([headers, record.content_stream().read().decode("latin-1")]))
"""


@pytest.mark.parametrize("way", ["lean", "delta"])
def test_another_reader_follows_the_references(
    archives: dict[str, Archived], way: str, tmp_path: Path
):
    """With warcio and the documentation of the lines alone."""
    script = tmp_path / "read.py"
    script.write_text(SCRIPT)
    told = judge("python", str(script), *map(str, archives[way].warcs))
    assert told.returncode == 0, told.stderr
    records = [json.loads(line) for line in told.stdout.splitlines()]
    by_id = {headers["WARC-Record-ID"]: block for headers, block in records}

    def outlinks(block: str) -> list[str]:
        return [line for line in block.split("\r\n") if line.startswith("outlink: ")]

    followed = 0
    for headers, block in records:
        if "outlinksAs: " not in block:
            continue
        others, lines = outlinks(by_id[headers["WARC-Refers-To"]]), list[str]()
        for line in block.split("\r\n"):
            name, _, value = line.partition(": ")
            if name == "outlinksAs":
                low, high = map(int, value.split("-"))
                lines += others[low - 1 : high]
            elif name == "outlink":
                lines.append(line)
        assert len(lines) >= PAGES
        followed += 1
    assert followed > PAGES


@pytest.mark.parametrize("way", ["lean", "delta"])
def test_expanding_gives_the_records_in_full(
    archives: dict[str, Archived], way: str, tmp_path: Path
):
    job = archives[way]
    made = list(expand(job.warcs, tmp_path))
    assert [defect for one in made for defect in one.defects] == []
    references = {}
    for fields, block in job.metadata():
        if b"outlinksDigest: " in block:
            references[fields["WARC-Target-URI"], fields["WARC-Date"]] = block
    assert sum(one.metadata for one in made) == len(references) > PAGES
    strict = {
        (fields["WARC-Target-URI"], links_in(block))
        for fields, block in archives["strict"].metadata()
    }
    checker = Checker()
    for path in [*job.warcs, *(one.path for one in made)]:
        checker.file(path)
    assert checker.finish() == []
    for path in (one.path for one in made):
        with path.open("rb") as file:
            for entry in WarcReader(file):
                if entry.get("WARC-Type") == "metadata":
                    block = b"".join(iter(entry.read, b""))
                    assert reference_of(entry, block) is None
                    assert (entry.get("WARC-Target-URI"), links_in(block)) in strict
    again = list(expand(job.warcs, tmp_path / "again"))
    for one, other in zip(made, again, strict=True):
        assert one.path.read_bytes() == other.path.read_bytes()


def test_the_commands_follow_references(archives: dict[str, Archived], tmp_path: Path):
    given = settings(archives["strict"].home)
    page = f"{archives['strict'].home}p3.html?section=%E6%96%87"
    found = {
        way: archived_links(Layout(archives[way].root), given, page) for way in ("strict", "delta")
    }
    assert found["strict"].lost == found["delta"].lost == 0
    assert [one.dst for one in found["delta"].on_it] == [one.dst for one in found["strict"].on_it]
    assert {one.src for one in found["delta"].to_it} == {one.src for one in found["strict"].to_it}
    root = archives["lean"].root
    checked = nacre("archive", root, "check", "--json")
    assert (checked.code, json.loads(checked.out)["links"] > PAGES) == (0, True)
    assert "references to outlinks of other records followed" in nacre("archive", root, "check").out
    done = nacre("archive", root, "expand", "--out", tmp_path / "out")
    assert (done.code, "metadata records" in done.out) == (0, True)


def copied(job: Archived, folder: Path) -> Archived:
    shutil.copytree(job.root, folder / "job", symlinks=True)
    return Archived(folder / "job", job.home)


def target_run(job: Archived) -> Path:
    """The WARC that most references lead to."""
    names = [
        line.partition(b": ")[2].decode()
        for _, block in job.metadata()
        for line in block.split(b"\r\n")
        if line.startswith(b"outlinksFilename: ")
    ]
    name = max(set(names), key=names.count)
    return next(path for path in job.warcs if path.name == name)


def test_a_lost_warc_is_named_and_the_rest_is_read(archives: dict[str, Archived], tmp_path: Path):
    job = copied(archives["delta"], tmp_path)
    lost = target_run(job)
    lost.rename(tmp_path / lost.name)
    checked = nacre("archive", job.root, "check")
    assert checked.code != 0
    (finding, *_) = [line for line in checked.out.splitlines() if "error links-unresolved" in line]
    assert "the outlinks of http://127.0.0.1" in finding
    assert lost.name in finding
    assert "put back its WARC" in finding
    expanded = nacre("archive", job.root, "expand", "--out", tmp_path / "out")
    assert expanded.code != 0
    assert "links-unresolved" in expanded.err
    given, page = settings(job.home), f"{job.home}p3.html?section=%E6%96%87"
    assert archived_links(Layout(job.root), given, page).lost > 0
    (job.root / "crawl.yaml").write_text(f"seeds: [{job.home}]\n")
    told = nacre("links", job.root, page)
    assert "cannot be read" in told.err
    assert "archive" in told.err
    (tmp_path / lost.name).rename(lost)
    assert nacre("archive", job.root, "check").code == 0


def test_after_an_accepted_loss_nothing_new_refers_to_it(
    archives: dict[str, Archived], tmp_path: Path
):
    job = copied(archives["lean"], tmp_path)
    lost = target_run(job)
    lost.unlink()
    pages = site_at(9)
    with site(pages, port=int(job.home.rsplit(":", 1)[1].strip("/"))) as home:
        assert home == job.home
        (job.root / "crawl.yaml").write_text(
            json.dumps({"seeds": [home], "politeness": {"delay": 0}})
        )
        accepted = nacre("run", job.root, "--accept-loss", "--quiet")
        # The pages whose last records refer to it, too.
        assert "they are fetched again" in accepted.err
        assert again(job.root, home, 28, keep="lean", recrawl=ALL) == "FINISHED"
        pages.update(site_at(10))
        assert again(job.root, home, 29, keep="lean", recrawl=ALL) == "FINISHED"
    new = sorted((job.root / "runs").iterdir())[RUNS:]
    checker = Checker()
    for path in job.warcs:
        checker.file(path)
    lacking = [Path(one.file) for one in checker.finish() if one.code == "links-unresolved"]
    assert lacking
    assert not [path for path in lacking if any(run in path.parents for run in new)]
    late = Archived(job.root, home)
    later = [block for path, block in late.references() if any(run in path.parents for run in new)]
    assert len(later) >= PAGES


def test_what_a_store_does_not_know_is_salvaged_with_its_links(
    archives: dict[str, Archived], tmp_path: Path
):
    job = copied(archives["delta"], tmp_path)
    pages, store = site_at(RUNS), Layout(job.root).store
    with site(pages, port=int(job.home.rsplit(":", 1)[1].strip("/"))) as home:
        shutil.copytree(store, tmp_path / "older")
        assert again(job.root, home, 28, keep="delta", recrawl=ALL) == "FINISHED"
    shutil.rmtree(store)
    (tmp_path / "older").rename(store)
    assert salvage(Layout(job.root), settings(home)).captures > PAGES
    logs = [path.read_text() for path in job.root.glob("runs/*/logs/recovery.log")]
    assert not any("lost links" in text for text in logs)
    checked = nacre("archive", job.root, "check", "--json")
    assert json.loads(checked.out)["counts"].get("links-unresolved") is None
