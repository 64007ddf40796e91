"""Segments of Nutch: pages in the archive, visits, links, captures of known URLs."""

from pathlib import Path

import pytest

from nacre.errors import ConfigError, DamageError, JobError
from nacre.rounds.check import check_storage
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.moving.nutch_segments import (
    SegmentsResult,
    import_segments,
    our_name,
    segment_places,
)
from nacre.rounds.page_check import checked_document
from nacre.rounds.segment_commands import drop_segment, visits_of
from nacre.rounds.steps.links import links
from nacre.rounds.steps.parse import parse
from nacre.rounds.tables.tables import CRAWLDB
from tests.rounds.made import NOW, found
from tests.rounds.moving.hadoop_files import content, datum, parse_data, segment
from tests.rounds.steps.fetched import FetchedCycle

A, B, GONE = "http://a.example/", "http://b.example/%D6%D0", "http://b.example/gone"
TIME = 1_700_000_000_000
HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "1"\r\n\r\n'


@pytest.fixture
def crawl(tmp_path: Path) -> FetchedCycle:
    (tmp_path / "own").mkdir()
    made = FetchedCycle(tmp_path / "own")
    made.add(found(A), found(B), found(GONE))
    return made


def nutch(folder: Path, name: str = "20261123154735", time: int = TIME) -> Path:
    pages = [
        (A, content(A, b"<p>a", {"_response.headers_": HEAD, "_ip_": "192.0.2.1"})),
        (B, content(B, "国家图书馆的新书".encode("gbk"), {"Server": "x"})),
    ]
    fetches = [(A, datum(0x21, time)), (B, datum(0x21, time + 1)), (GONE, datum(0x25, time))]
    parses = [(A, parse_data("题", (B, "国家图书馆"), ("bad url", "x"), (f"{A}#here", "same")))]
    return segment(folder / name, {"content": pages, "crawl_fetch": fetches, "parse_data": parses})


def imported(crawl: FetchedCycle, folder: Path, **options: bool) -> SegmentsResult:
    with crawl.context() as context:
        return import_segments(context, segment_places(folder), **options)


def test_pages_come_into_the_archive_with_visits_and_links(crawl: FetchedCycle, tmp_path: Path):
    nutch(tmp_path / "segments")
    result = imported(crawl, tmp_path / "segments")
    assert (result.pages, result.visits, result.links, result.no_urls) == (2, 3, 2, 1)
    rows = {one["key"]: one for one in crawl.rows()}
    assert (rows[A]["length"], rows[A]["etag"], rows[B]["mime"]) == (4, b'"1"', "text/html")
    assert rows[A]["warc_date"] == TIME * 1000
    assert rows[GONE]["digest"] is None
    with crawl.place.open() as work:
        batches = visits_of(work, crawl.newest, ())
        seen = [row for batch in batches for row in batch.to_pylist()]
    assert sorted((one["key"], one["status"]) for one in seen) == [(A, 200), (B, 200), (GONE, 404)]
    with crawl.context() as context:
        assert links(context).rows == 1
    assert check_storage(crawl.cycle, LocalEngine(1), crawl.place, NOW).whole
    with pytest.raises(JobError, match=r"was imported from Nutch.*`links`"):
        parse(crawl.cycle, LocalEngine(1), crawl.place, NOW, {"20261123T154735.000Z": ()})
    again = imported(crawl, tmp_path / "segments")
    assert (again.segments, again.known, again.version) == ((), ("20261123T154735.000Z",), None)


def test_pages_with_and_without_their_heads_are_indexed(crawl: FetchedCycle, tmp_path: Path):
    nutch(tmp_path / "segments")
    imported(crawl, tmp_path / "segments")
    state = {"status": 2, "fetch_time": NOW, "last_time": NOW * 1000}
    crawl.set("state", *({"key": key, **state} for key in (A, B)))
    with crawl.context() as context:
        documents = [checked_document(context, key) for key in (A, B)]
    contents = [one if isinstance(one, str) else one.content for one in documents]
    assert contents == ["a", "国家图书馆的新书"]


def test_the_latest_capture_counts(crawl: FetchedCycle, tmp_path: Path):
    nutch(tmp_path / "1", "20261123154736", TIME + 50)
    nutch(tmp_path / "2", "20261123154735", TIME)
    imported(crawl, tmp_path / "1")
    imported(crawl, tmp_path / "2")
    assert next(one for one in crawl.rows() if one["key"] == A)["warc_date"] == (TIME + 50) * 1000


def test_urls_that_are_not_known_get_no_row(crawl: FetchedCycle, tmp_path: Path):
    other = "http://c.example/"
    segment(tmp_path / "20261123154735", {"content": [(other, content(other, b"x", {}))]})
    assert imported(crawl, tmp_path / "20261123154735").pages == 1
    assert other not in {one["key"] for one in crawl.rows()}


def test_what_is_damaged(crawl: FetchedCycle, tmp_path: Path):
    good = content(A, b"x", {})
    segment(tmp_path / "20261123154735", {"content": [(B, good[:20]), (A, good)]})
    with pytest.raises(DamageError, match=r"record 0 at byte .*--salvage"):
        imported(crawl, tmp_path)
    assert (crawl.newest.segments, crawl.newest.archive) == ({}, None)
    result = imported(crawl, tmp_path, salvage=True)
    assert (result.pages, result.damaged) == (1, 1)


def test_other_directories(crawl: FetchedCycle, tmp_path: Path):
    with pytest.raises(ConfigError, match="is no segment of Nutch"):
        segment_places(crawl.folder)
    with pytest.raises(ConfigError, match="a time such as 20261123154735"):
        our_name(tmp_path / "first")
    (tmp_path / "new").mkdir()
    with pytest.raises(JobError, match="import the CrawlDb first"):
        imported(FetchedCycle(tmp_path / "new"), nutch(tmp_path))


@pytest.mark.parametrize("kind", ["/visits.parquet", "/links.parquet", ".json"])
@pytest.mark.slow
def test_damaged_facts_are_left_by_a_repair_and_come_back_with_another_import(
    crawl: FetchedCycle, tmp_path: Path, kind: str
):
    nutch(tmp_path / "segments")
    imported(crawl, tmp_path / "segments")
    (segment,) = crawl.newest.segments
    crawl.storage.put(f"{crawl.newest.segments[segment].parts['u0001'][0]}{kind}", b"spoilt")
    number = crawl.newest.number
    at = (crawl.cycle, LocalEngine(1), crawl.place, NOW)
    for dry in (True, False):
        result = check_storage(*at, repair=True, dry=dry)
        assert (result.left, result.imported) == (result.tables, {segment: "nutch"})
        assert (result.remade, result.restored, crawl.newest.number) == (0, 0, number)
    with crawl.context() as context:
        drop_segment(context, segment)
    assert check_storage(*at).whole
    again = imported(crawl, tmp_path / "segments")
    assert (again.segments, again.visits, again.links) == ((segment,), 3, 2)
    assert check_storage(*at).whole
    state = {"status": 2, "fetch_time": NOW, "last_time": NOW * 1000}
    crawl.set("state", *({"key": key, **state} for key in (A, B)))
    with crawl.context() as context:
        documents = [checked_document(context, key) for key in (A, B)]
    assert [one if isinstance(one, str) else one.content for one in documents] == [
        "a", "国家图书馆的新书"
    ]  # fmt: skip


def test_damaged_facts_of_nutch_keep_no_table_from_a_repair(crawl: FetchedCycle, tmp_path: Path):
    nutch(tmp_path / "segments")
    imported(crawl, tmp_path / "segments")
    (segment,) = crawl.newest.segments
    crawl.add(found("http://c.example/"))
    number = crawl.newest.number
    before = {one.path for one in crawl.cycle.files(crawl.cycle.version(number - 1), CRAWLDB)}
    late = [one for one in crawl.cycle.files(crawl.newest, CRAWLDB) if one.path not in before]
    crawl.storage.put(late[0].path, b"spoilt")
    visits = f"{crawl.newest.segments[segment].parts['u0001'][0]}/visits.parquet"
    crawl.storage.put(visits, b"spoilt")
    result = check_storage(crawl.cycle, LocalEngine(1), crawl.place, NOW, repair=True)
    assert (result.restored, [one.name for one in result.left]) == (number - 1, [visits])
