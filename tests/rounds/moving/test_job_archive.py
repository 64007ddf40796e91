"""The archive of an imported job: rounds find its captures, index them, and take their links."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from nacre.crawldb.seeds import SEEDS
from nacre.errors import DamageError
from nacre.machine.layout import Layout
from nacre.rounds.check import check_storage
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.moving.job_import import JobImport, import_job
from nacre.rounds.segment_commands import drop_segment, visits_of
from nacre.rounds.steps.links import links
from nacre.rounds.steps.parse import parse
from nacre.rounds.tables.seedlist import injected_lines
from nacre.rounds.tables.tables import buckets_of
from nacre.rounds.tables.versions import ARCHIVE, OUTSIDE
from nacre.store.store import Store
from tests.cli.site import nacre, site
from tests.rounds.made import NOW
from tests.rounds.steps.fetched import FetchedCycle

BOOK = "/%E4%B9%A6.html"
PAGES = {
    "/": '<meta charset=gbk><a href="书.html">图书</a>'.encode("gbk"),
    BOOK: "<meta charset=gbk><title>书</title><p>国家图书馆的新书</p>".encode("gbk"),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    job = tmp_path_factory.mktemp("crawled") / "job"
    with site(PAGES) as home:
        done = nacre("crawl", home, "--scope", "host", "--out", job, "--delay", 0, "-q")
        assert done.code == 0, done.err
    return job


@pytest.fixture
def job(crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawled, tmp_path / "job", symlinks=True))


@pytest.fixture
def made(tmp_path: Path) -> FetchedCycle:
    (tmp_path / "rounds").mkdir()
    return FetchedCycle(tmp_path / "rounds")


def imported(made: FetchedCycle, job: Path) -> JobImport:
    with made.context() as context:
        return import_job(context, Layout(job))


def visits(made: FetchedCycle) -> list[dict[str, Any]]:
    with made.place.open() as work:
        found = visits_of(work, made.newest, ())
        return [row for batch in found for row in batch.to_pylist()]


def outside(made: FetchedCycle) -> list[Path]:
    files = made.cycle.files(made.newest, ARCHIVE)
    return [Path(file.path) for file in files if file.kind == OUTSIDE]


def test_its_warcs_are_named_and_its_captures_are_visits(made: FetchedCycle, job: Path):
    result = imported(made, job)
    assert (result.rows.captures, result.located, result.warcs) == (2, 2, 1)
    assert [path.is_file() for path in outside(made)] == [True]
    found = {one["key"]: one for one in visits(made)}
    assert len(found) == 2
    book = next(one for key, one in found.items() if key.endswith(BOOK))
    assert (book["status"], book["mime"], book["stored"]) == (200, "text/html", "novel")
    assert book["warc_file"] == outside(made)[0].name
    assert {one["mime"] for one in made.rows() if one["record_id"]} == {"text/html"}


def test_what_was_imported_is_not_named_again(made: FetchedCycle, job: Path):
    first = imported(made, job)
    again = imported(made, job)
    assert (again.warcs, again.located, again.taken.version) == (0, 0, None)
    assert first.taken.version is not None


def test_links_are_made_of_its_records(made: FetchedCycle, job: Path):
    imported(made, job)
    (segment,) = made.newest.segments
    done = parse(made.cycle, LocalEngine(1), made.place, NOW, {segment: ()})
    assert (done.pages, done.links > 0) == (2, True)
    with made.context(links__ignore_internal="none") as context:
        assert links(context).rows == done.links


@pytest.mark.slow
def test_its_pages_are_in_the_index(job: Path, tmp_path: Path):
    root = tmp_path / "new"
    done = nacre("cycle", root, "import", job)
    assert "1 WARC file with 2 new captures" in done.out, done.err
    assert (root / "crawl.yaml").read_bytes() == (job / "crawl.yaml").read_bytes()
    (warc,) = (job / "runs").glob("*/archive/*.warc.gz")
    assert nacre("cycle", root, "versions", "--files", "archive").out == f"{warc.resolve()}\n"
    assert nacre("cycle", root, "index").code == 0
    assert "国家图书馆的新书" in nacre("search", root, "国家图书馆").out.replace("*", "")


def test_a_warc_that_is_open_has_its_last_name(made: FetchedCycle, job: Path):
    imported(made, job)
    (path,) = outside(made)
    path.rename(f"{path}.open")
    (segment,) = made.newest.segments
    assert parse(made.cycle, LocalEngine(1), made.place, NOW, {segment: ()}).links > 0
    assert check_storage(made.cycle, LocalEngine(1), made.place, NOW).whole


def test_a_warc_that_is_gone_is_told(made: FetchedCycle, job: Path):
    imported(made, job)
    (path,) = outside(made)
    path.unlink()
    result = check_storage(made.cycle, LocalEngine(1), made.place, NOW)
    assert [(one.name, one.found) for one in result.records] == [(str(path), "missing")]
    assert not result.tables


def test_a_robots_txt_is_no_page(made: FetchedCycle, job: Path):
    imported(made, job)
    assert not [one["key"] for one in made.rows() if one["key"].endswith("robots.txt")]


def test_its_seeds_and_directives_come_with_it(made: FetchedCycle, job: Path):
    line = "+http://(example,a,"
    with Store.open(str(Layout(job).store)) as store:
        store.put("scope", b"directive:" + line.encode(), line.encode())
        store.commit()
    assert imported(made, job).rows.seeds == 1
    with made.place.open() as work:
        lines = list(injected_lines(work, buckets_of(made.cycle, made.newest, SEEDS)))
    directive, seed = sorted(lines)
    assert seed.startswith("http://127.")
    assert directive == line


@pytest.mark.parametrize("kinds", [("/visits.parquet",), ("/visits.parquet", ".json")])
@pytest.mark.slow
def test_damaged_visits_are_left_by_a_repair_and_come_back_with_another_import(
    made: FetchedCycle, job: Path, kinds: tuple[str, ...]
):
    imported(made, job)
    before = visits(made)
    (segment,) = made.newest.segments
    (part,) = made.newest.segments[segment].parts["u0001"]
    for kind in kinds:
        made.storage.put(f"{part}{kind}", b"spoilt")
    number = made.newest.number
    at = (made.cycle, LocalEngine(1), made.place, NOW)
    for dry in (True, False):
        result = check_storage(*at, repair=True, dry=dry)
        assert {one.name for one in result.left} == {f"{part}{kind}" for kind in kinds}
        assert (result.imported, result.remade, result.restored) == ({segment: "job"}, 0, 0)
    assert made.newest.number == number
    with pytest.raises(DamageError, match=f"visits are damaged.*segments drop {segment}"):
        parse(made.cycle, LocalEngine(1), made.place, NOW, {segment: ()})
    with made.context() as context:
        drop_segment(context, segment)
    again = imported(made, job)
    assert (again.warcs, again.located) == (0, 2)
    (now,) = made.newest.segments
    assert visits(made) == [{**one, "segment": now} for one in before]
    assert check_storage(*at).whole


@pytest.mark.parametrize("kind", ["/links.parquet", ".json"])
@pytest.mark.slow
def test_other_damaged_facts_are_made_again_of_its_records(
    made: FetchedCycle, job: Path, kind: str
):
    imported(made, job)
    (segment,) = made.newest.segments
    (part,) = made.newest.segments[segment].parts["u0001"]
    made.storage.put(f"{part}{kind}", b"spoilt")
    result = check_storage(made.cycle, LocalEngine(1), made.place, NOW, repair=True)
    assert (result.remade, result.left, result.imported) == (1, (), {})
    assert len(visits(made)) == 2
