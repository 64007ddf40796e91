"""Merges of crawls that overlap: what is taken has its captures, which stay where they are."""

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nacre.rounds.check import check_storage
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.segments.outside import outside_warcs
from nacre.rounds.steps.links import LINKS, TAKEN
from nacre.rounds.steps.merge import MergeResult, merge
from nacre.rounds.steps.merge_archive import (
    ArchiveFound,
    ArchiveSpec,
    OtherArchive,
    _add_buckets,
    archive_task,
)
from nacre.rounds.steps.taking import ComparedRows, CompareSpec, compare_task
from nacre.rounds.storage import open_storage
from nacre.rounds.storage.local import LocalStorage
from nacre.rounds.tables.tables import TaskWork
from nacre.rounds.tables.versions import (
    ARCHIVE,
    OUTSIDE,
    Cycle,
    CycleChanges,
    SegmentState,
    TableFile,
)
from tests.cli.site import nacre, site
from tests.rounds.made import NOW
from tests.rounds.steps.fetched import FetchedCycle

PAGES = {
    "/": b'<a href="a.html">a</a>',
    "/a.html": b'<title>A</title>apples <a href="b.html">berries</a>',
    "/b.html": b"<title>B</title>berries",
}

INTERNAL = ("--set", "cycle.links.ignore_internal=none")
"""A step `links` that takes links within a host."""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two crawls of a site: `a` has two of its pages, `b` has them newer, and the third."""
    root = tmp_path_factory.mktemp("crawled")
    with site(PAGES) as home:
        for name, rounds in (("a", 2), ("b", 3)):
            options = ("--rounds", rounds, "--delay", 0, "-q", "--set", "extract.infer_favicon=no")
            done = nacre("cycle", root / name, "-s", home, *options)
            assert done.code == 0, done.err
    return root


@pytest.fixture
def roots(crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawled, tmp_path / "crawls"))


def outside(root: Path) -> list[str]:
    cycle = Cycle.open(root)
    return [one.path for one in cycle.files(cycle.newest(), ARCHIVE) if one.kind == OUTSIDE]


@pytest.mark.slow
def test_pages_stay_in_the_index_and_those_that_are_new_come_in(roots: Path):
    a, b = roots / "a", roots / "b"
    assert nacre("cycle", a, "index").out.startswith("2 pages added")
    merged = nacre("cycle", a, "merge", b)
    assert merged.code == 0, merged.err
    assert "3 newer" in merged.out
    assert "3 WARC files with 3 new captures" in merged.out
    warcs = sorted((b / "cycle/archive").glob("*.warc.gz"))
    assert sorted(outside(a)) == [str(path) for path in warcs]
    assert nacre("cycle", a, "index").out.startswith("1 page added, 0 updated, 0 deleted")
    assert "elsewhere" not in nacre("cycle", a, "index", "--rebuild").out
    assert "1 page found" in nacre("search", a, "title:B").out
    assert nacre("cycle", a, "storage", "check").code == 0
    assert nacre("cycle", a, "dedup").code == 0


@pytest.mark.slow
def test_what_was_merged_is_not_named_again_nor_by_the_crawl_that_it_came_from(roots: Path):
    a, b = roots / "a", roots / "b"
    first = Cycle.open(a).newest().number
    assert "3 WARC files with 3 new captures" in nacre("cycle", a, "merge", b, "--dry-run").out
    assert Cycle.open(a).newest().number == first
    nacre("cycle", a, "merge", b)
    before = Cycle.open(a).newest().number
    for one, other in ((a, b), (b, a)):
        done = nacre("cycle", one, "merge", other)
        assert "0 WARC files with 0 new captures" in done.out, done.err
    assert Cycle.open(a).newest().number == before
    assert outside(b) == []


@pytest.mark.slow
def test_only_visits_of_others_are_read_for_the_records_that_came_already(
    roots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "new").mkdir()
    made = FetchedCycle(tmp_path / "new")
    made.add({"key": "http://a.example/"})
    made.visit("own", {"key": "http://a.example/", "status": 200})
    assert _merged(made, roots / "a").located == 2
    specs: list[CompareSpec] = []

    def seen(spec: CompareSpec) -> ComparedRows:
        specs.append(spec)
        return compare_task(spec)

    monkeypatch.setattr("nacre.rounds.steps.taking.compare_task", seen)
    again = _merged(made, roots / "a")
    assert (again.located, again.warcs) == (0, 0)
    segments = {name.split("/")[1] for spec in specs for name in spec.facts}
    assert segments == made.newest.segments.keys() - {"own"}


def test_a_merge_before_captures_came_along_is_mended_by_another(roots: Path, monkeypatch):
    a, b = roots / "a", roots / "b"
    monkeypatch.setattr("nacre.rounds.steps.merge.import_captures", _nothing_taken)
    assert "0 new captures" in nacre("cycle", a, "merge", b).out
    monkeypatch.undo()
    assert "0 newer; 0 links, 0 hosts; 3 WARC files with 3 new" in nacre("cycle", a, "merge", b).out


def _nothing_taken(*_: object) -> OtherArchive:
    return OtherArchive()


@pytest.mark.slow
def test_files_of_a_crawl_that_it_took_itself_are_named_where_they_are(roots: Path, tmp_path: Path):
    nacre("cycle", roots / "a", "merge", roots / "b")
    (tmp_path / "new").mkdir()
    made = FetchedCycle(tmp_path / "new")
    result = _merged(made, roots / "a")
    assert (result.new, result.located, result.warcs) == (3, 3, 3)
    assert all("/b/cycle/archive/" in path for path in outside(made.folder))
    readable = nacre("cycle", made.folder, "readlinks", "--out", "--url", _key(made, "a.html"))
    assert "berries" in readable.out, readable.err


def test_links_that_a_merged_crawl_never_took_are_taken_here(roots: Path, tmp_path: Path):
    (tmp_path / "new").mkdir()
    made = FetchedCycle(tmp_path / "new")
    _merged(made, roots / "a")
    asked = ("cycle", made.folder, "readlinks", "--url", _key(made, "b.html"))
    assert "`nacre cycle DIR links` makes it" in nacre(*asked).err
    taken = nacre("cycle", made.folder, "links", *INTERNAL)
    assert taken.code == 0, taken.err
    assert "berries" in nacre(*asked).out


@pytest.mark.slow
def test_links_that_a_merged_crawl_took_are_not_taken_again(roots: Path, tmp_path: Path):
    _links_there(roots / "a")
    (tmp_path / "new").mkdir()
    made = FetchedCycle(tmp_path / "new")
    _merged(made, roots / "a")
    version = made.cycle.newest()
    assert [TAKEN in state.more for state in version.segments.values()] == [True]
    asked = ("cycle", made.folder, "readlinks", "--url", _key(made, "b.html"))
    assert "berries" in nacre(*asked).out


def test_links_of_a_segment_that_came_after_the_last_links_there_are_taken_here(
    roots: Path, tmp_path: Path
):
    _links_there(roots / "a")
    _not_taken(roots / "a", max(Cycle.open(roots / "a").newest().segments))
    (tmp_path / "new").mkdir()
    made = FetchedCycle(tmp_path / "new")
    _merged(made, roots / "a")
    states = made.cycle.newest().segments.values()
    assert [TAKEN in state.more for state in states] == [False]


@pytest.mark.slow
def test_a_task_reads_some_parts_and_writes_a_part_of_its_own(
    roots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("nacre.rounds.steps.merge_archive._TASK_PARTS", 1)
    specs: list[ArchiveSpec] = []

    def seen(spec: ArchiveSpec) -> ArchiveFound:
        specs.append(spec)
        return archive_task(spec)

    monkeypatch.setattr("nacre.rounds.steps.merge_archive.archive_task", seen)
    (tmp_path / "new").mkdir()
    made = FetchedCycle(tmp_path / "new")
    assert _merged(made, roots / "b").located == 3
    assert [len(one.parts) for spec in specs for one in spec.facts] == [1, 1, 1]
    (state,) = made.newest.segments.values()
    assert len(state.parts["u0001"]) == len(specs) == 3
    readable = nacre("cycle", made.folder, "readlinks", "--out", "--url", _key(made, "a.html"))
    assert "berries" in readable.out, readable.err


def test_copies_of_facts_of_another_crawl_are_deleted_when_they_were_read(
    roots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(LocalStorage, "local_path", lambda *_: None)
    left: list[int] = []

    def placed(work: TaskWork, *arguments: Any) -> None:
        left.append(len(list((work.scratch / "segments").rglob("*.parquet"))))
        _add_buckets(work, *arguments)

    monkeypatch.setattr("nacre.rounds.steps.merge_archive._add_buckets", placed)
    (tmp_path / "new").mkdir()
    made = FetchedCycle(tmp_path / "new")
    assert _merged(made, roots / "b").located == 3
    assert left == [0, 0]


@pytest.mark.slow
def test_a_warc_of_a_merged_crawl_that_is_gone_is_told(roots: Path, tmp_path: Path):
    (tmp_path / "new").mkdir()
    made = FetchedCycle(tmp_path / "new")
    _merged(made, roots / "b")
    gone = outside(made.folder)[0]
    Path(gone).unlink()
    found = check_storage(made.cycle, LocalEngine(1), made.place, NOW)
    assert [(one.name, one.found) for one in found.records] == [(gone, "missing")]


def _links_there(root: Path) -> None:
    """Give a crawl a table of links that has those within its host, too."""
    _not_taken(root, *Cycle.open(root).newest().segments)
    done = nacre("cycle", root, "links", *INTERNAL)
    assert done.code == 0, done.err
    assert LINKS in Cycle.open(root).newest().tables


def _not_taken(root: Path, *names: str) -> None:
    """Make segments those that the step `links` has not taken yet."""
    cycle = Cycle.open(root)
    version = cycle.newest()
    states: dict[str, SegmentState | None] = {}
    for name in names:
        state = version.segments[name]
        more = {key: value for key, value in state.more.items() if key != TAKEN}
        states[name] = msgspec.structs.replace(state, more=more)
    cycle.commit(version, CycleChanges(step="update", clock=NOW, segments=states))


@pytest.mark.slow
def test_damaged_visits_are_left_by_a_repair_and_come_back_with_another_merge(roots: Path):
    a, b = roots / "a", roots / "b"
    nacre("cycle", a, "merge", b)
    segments = Cycle.open(a).newest().segments
    (name,) = (one for one, state in segments.items() if "imported" in state.more)
    (part,) = segments[name].parts["u0001"]
    (a / f"cycle/{part}/visits.parquet").write_bytes(b"spoilt")
    number = Cycle.open(a).newest().number
    done = nacre("cycle", a, "storage", "check", "--repair")
    assert (done.code, Cycle.open(a).newest().number) == (7, number)
    assert f"segments drop {name}`, and then `merge` the other crawl again" in done.out
    assert nacre("cycle", a, "segments", "drop", name).code == 0
    assert "0 WARC files with 3 new captures" in nacre("cycle", a, "merge", b).out
    assert nacre("cycle", a, "storage", "check").code == 0
    assert nacre("cycle", a, "index").out.startswith("3 pages added")


def test_facts_of_our_own_are_mended_beside_those_that_are_left(roots: Path):
    a = roots / "a"
    nacre("cycle", a, "merge", roots / "b")
    damaged = []
    for state in Cycle.open(a).newest().segments.values():
        part = state.parts[min(state.parts)][0]
        kind = "visits" if "imported" in state.more else "links"
        damaged.append((f"{part}/{kind}.parquet", kind))
        path = a / f"cycle/{part}/{kind}.parquet"
        path.unlink()  # a file may have a second name
        path.write_bytes(b"spoilt")
    plan = json.loads(nacre("cycle", a, "storage", "check", "--repair", "--dry-run", "--json").out)
    done = json.loads(nacre("cycle", a, "storage", "check", "--repair", "--json").out)
    for told in (plan, done):
        assert (told["remade"], told["restored"]) == (2, 0)
    assert [one["name"] for one in done["left"]] == [
        name for name, kind in damaged if kind == "visits"
    ]
    assert len(json.loads(nacre("cycle", a, "storage", "check", "--json").out)["damaged"]) == 1


def _merged(made: FetchedCycle, *others: Path) -> MergeResult:
    with made.context() as context:
        return merge(context, [Cycle.open(other) for other in others])


def _key(made: FetchedCycle, end: str) -> str:
    return next(str(row["key"]) for row in made.rows() if row["key"].endswith(end))


def test_another_file_of_a_name_that_is_here_cannot_be_named(tmp_path: Path):
    mine, theirs = (open_storage(str(tmp_path / name)) for name in ("mine", "theirs"))
    here = TableFile(path="archive/x.warc.gz", kind="warc", sha256="1")
    own = TableFile(path=f"{tmp_path}/mine/archive/y.warc.gz", kind=OUTSIDE)
    known = {"x.warc.gz": here, "y.warc.gz": TableFile(path="archive/y.warc.gz", kind="warc")}
    others = {
        "x.warc.gz": TableFile(path="archive/x.warc.gz", kind="warc", sha256="2"),
        "y.warc.gz": own,
        "z.warc.gz": TableFile(path="archive/z.warc.gz", kind="warc", size=7),
    }
    found = outside_warcs(mine, known, others, theirs.place)
    path = f"{tmp_path}/theirs/archive/z.warc.gz"
    assert found == {
        "y.warc.gz": known["y.warc.gz"],
        "z.warc.gz": TableFile(path=path, kind=OUTSIDE, size=7),
    }
    copied = {"x.warc.gz": TableFile(path="archive/x.warc.gz", kind="warc", sha256="1")}
    assert outside_warcs(mine, known, copied, theirs.place) == {"x.warc.gz": here}
