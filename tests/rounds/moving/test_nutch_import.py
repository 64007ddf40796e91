"""Tables of Nutch in those of a batch crawl: each column, again, damaged, filtered."""

from pathlib import Path
from typing import Any

import pytest

from nacre.crawldb.row import ONE
from nacre.errors import ConfigError, DamageError
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.moving.nutch import HOST_DATUM, INLINKS
from nacre.rounds.moving.nutch_import import ImportResult, NutchOptions, import_nutch, nutch_places
from nacre.rounds.tables.readers import TableView, sql, table_stats
from tests.rounds.made import INTERVAL, found
from tests.rounds.moving import hadoop_files as made
from tests.rounds.moving.hadoop_files import Container, datum, map_file
from tests.rounds.moving.test_hadoop_checksums import checksums
from tests.rounds.steps.fetched import FetchedCycle

GBK = "http://gbk.example/%D6%D0%CE%C4"
TIME = 1_700_000_000_000
DAY = 86_400
PST = "org.apache.nutch.protocol.ProtocolStatus"
ROWS = [
    (GBK, datum(2, TIME, interval=DAY, score=0.5, signature=b"s" * 16, modified=7,
                md={"Content-Type": "text/html", "lang": "zh", "_depth_": 3})),
    ("http://a.example/gone", datum(3, TIME, md={PST[-4:]: 1, "_pst_": (
        PST, made.protocol_status(18))})),
    ("http://a.example/new", datum(1, TIME, retries=2, score=2.5, md={"fixedInterval": 90.0})),
    ("http://A.example/new/../new2", datum(1, TIME, md={"x": ("org.example.Strange", b"\1")})),
    ("no url", datum(1, TIME)),
]  # fmt: skip


def imported(
    crawl: FetchedCycle, source: Path, size: int = 1 << 20, **options: bool
) -> ImportResult:
    with crawl.context() as context:
        return import_nutch(context, nutch_places(source), NutchOptions(**options), size)


@pytest.fixture
def crawl(tmp_path: Path) -> FetchedCycle:
    (tmp_path / "own").mkdir()
    return FetchedCycle(tmp_path / "own")


def asked(crawl: FetchedCycle, query: str) -> list[dict[str, Any]]:
    view = TableView(crawl.cycle, crawl.newest, LocalEngine(1), crawl.place, INTERVAL)
    with sql(view, query) as (_, batches):
        return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("how", [Container(), Container("ZStandardCodec", blocks=True)])
def test_columns_of_a_crawldb(crawl: FetchedCycle, tmp_path: Path, how: Container):
    map_file(tmp_path / "crawldb", ROWS, how)
    result = imported(crawl, tmp_path / "crawldb")
    assert (result.records, result.no_urls, result.unknown) == (5, 1, {"org.example.Strange": 1})
    assert result.taken[:3] == (4, 4, 0)
    rows = {one["key"]: one for one in crawl.rows()}
    gbk = rows[GBK]
    assert (gbk["status"], gbk["fetch_time"], gbk["interval"]) == (2, TIME, DAY)
    assert (gbk["score"], gbk["cash"], gbk["depth"]) == (ONE // 2, 0, 3)
    assert (gbk["signature"], gbk["modified"], gbk["mime"]) == (b"s" * 16, 7, "text/html")
    assert gbk["last_time"] == (TIME - DAY * 1000) * 1000
    assert dict(gbk["md"]) == {"lang": "zh"}
    gone, new = rows["http://a.example/gone"], rows["http://a.example/new"]
    assert (gone["status"], gone["last_status"]) == (3, -9998)
    assert (new["retries"], new["fixed_interval"]) == (2, 90.0)
    assert new["score"] == new["cash"] == ONE * 5 // 2
    assert new["last_time"] is None
    strange = rows["http://a.example/new2"]
    assert dict(strange["md"]) == {"x": "org.example.Strange:01"}


def test_an_import_that_is_done_again_changes_nothing_and_newer_visits_count(
    crawl: FetchedCycle, tmp_path: Path
):
    map_file(tmp_path / "crawldb", ROWS[:1])
    imported(crawl, tmp_path)
    again = imported(crawl, tmp_path)
    assert (again.taken.new, again.taken.newer, again.version) == (0, 0, None)
    map_file(tmp_path / "crawldb", [(GBK, datum(3, TIME + 1, interval=DAY, score=0.25))])
    newer = imported(crawl, tmp_path)
    assert (newer.taken.new, newer.taken.newer) == (0, 1)
    assert [(one["status"], one["score"]) for one in crawl.rows()] == [(3, ONE // 4)]


def test_two_forms_of_a_url_are_one(crawl: FetchedCycle, tmp_path: Path):
    map_file(tmp_path, [
        ("http://a.example:80/", datum(2, TIME, score=1.0)),
        ("http://a.example/", datum(3, TIME + 5, score=2.0)),
    ])  # fmt: skip
    imported(crawl, tmp_path)
    assert [(one["status"], one["score"]) for one in crawl.rows()] == [(3, 2 * ONE)]


def test_parts_and_ranges_have_every_record_once(crawl: FetchedCycle, tmp_path: Path):
    urls = [f"http://h{number % 7}.example/{number}" for number in range(300)]
    for part in range(2):
        of = [(url, datum(1, TIME, retries=1)) for url in urls[part::2]]
        map_file(tmp_path, of, Container("DefaultCodec"), part)
    result = imported(crawl, tmp_path, 2_000)
    assert (result.records, result.taken.new) == (300, 300)
    view = TableView(crawl.cycle, crawl.newest, LocalEngine(1), crawl.place, INTERVAL)
    stats = table_stats(view)
    assert (stats.total, dict(stats.retries)) == (300, {1: 300})


def test_links_and_hosts(crawl: FetchedCycle, tmp_path: Path):
    map_file(tmp_path / "crawldb", ROWS[:1])
    links = made.inlinks(("http://b.example/", "国家图书馆"), (f"{GBK}#x", "self"))
    map_file(tmp_path / "linkdb", [(GBK, links)], Container(value_class=INLINKS))
    host = made.host_datum(TIME, "http://a.example/", *range(1, 9))
    map_file(tmp_path / "hostdb", [("A.example", host)], Container(value_class=HOST_DATUM))
    result = imported(crawl, tmp_path)
    assert (result.links, result.taken.hosts) == (1, 1)
    assert asked(crawl, "select dst, src, anchor, hop from links") == [
        {"dst": GBK, "src": "http://b.example/", "anchor": "国家图书馆", "hop": "L"}
    ]
    assert asked(
        crawl, "select dns_failures, gone, homepage from hosts where host='a.example'"
    ) == [{"dns_failures": 1, "gone": 8, "homepage": "http://a.example/"}]


def test_what_is_damaged_is_told_or_left_out(crawl: FetchedCycle, tmp_path: Path):
    path = map_file(tmp_path, [*ROWS[:1], ("http://a.example/bad", datum(0x43)), *ROWS[2:3]])
    with pytest.raises(DamageError, match=r"record 1 at byte [\d,]+: status 0x43 .*--salvage"):
        imported(crawl, tmp_path)
    result = imported(crawl, tmp_path, salvage=True)
    assert (result.records, result.damaged) == (2, 1)
    assert str(path) in result.messages[0]
    assert len(crawl.rows()) == 2


def test_bytes_without_their_checksum_are_told_or_left_out(crawl: FetchedCycle, tmp_path: Path):
    urls = [f"http://a.example/{number:03d}" for number in range(60)]
    path = map_file(tmp_path, [(url, datum(1, TIME)) for url in urls])
    data = bytearray(path.read_bytes())
    path.with_name(".data.crc").write_bytes(checksums(bytes(data)))
    at = data.index(b"a.example/030") + len("a.example/03")
    data[at] = ord("9")  # it can be read, and is another URL
    path.write_bytes(bytes(data))
    with pytest.raises(DamageError, match=r"checksum differs \(\.data\.crc\).*--salvage"):
        imported(crawl, tmp_path)
    result = imported(crawl, tmp_path, salvage=True)
    assert result.records + result.damaged == 60
    assert 1 < result.damaged < 30
    keys = {one["key"] for one in crawl.rows()}
    assert urls[30] not in keys
    assert "http://a.example/039" in keys, "it has a row of its own elsewhere"
    assert urls[0] in keys


def test_what_the_scope_refuses_is_left_out(crawl: FetchedCycle, tmp_path: Path):
    settings = "name: x\nseeds: []\nscope: [accept, {rule: matches-regex, decision: REJECT, "
    settings += "regex: '.*gbk.*'}]\n"
    (crawl.folder / "crawl.yaml").write_text(settings)
    map_file(tmp_path / "crawldb", ROWS)
    result = imported(crawl, tmp_path, filter=True)
    assert sum(result.refused.values()) == 1
    assert GBK not in {one["key"] for one in crawl.rows()}


def test_other_directories(crawl: FetchedCycle, tmp_path: Path):
    crawl.add(found("http://own.example/"))
    with pytest.raises(ConfigError, match="has no part-"):
        imported(crawl, crawl.folder)
    map_file(tmp_path / "other", [], Container(value_class="org.example.Other"))
    with pytest.raises(ConfigError, match=r"values org\.example\.Other"):
        imported(crawl, tmp_path / "other")
    map_file(tmp_path / "linkdb", ROWS)
    with pytest.raises(ConfigError, match=r"CrawlDatum .*expected .*Inlinks"):
        imported(crawl, tmp_path)
