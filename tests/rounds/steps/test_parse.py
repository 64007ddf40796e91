"""The step `parse`: facts made again of WARCs are those of the fetch; what is lost is told."""

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from nacre.cli.cycle.steps import parse_text
from nacre.errors import DamageError, JobError, NacreError
from nacre.rounds.check import check_storage
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.segments.export import FILES, parse_failed
from nacre.rounds.segments.named_files import MISSING
from nacre.rounds.segments.outside import remake_indexes
from nacre.rounds.segments.reparse import LOST, row_fact
from nacre.rounds.segments.segment_files import read_record, record_name
from nacre.rounds.steps.fetch import FetchOptions, fetch
from nacre.rounds.steps.parse import ParseResult, parse
from nacre.rounds.storage import local
from nacre.rounds.tables.tables import TaskPlace
from nacre.rounds.tables.versions import ARCHIVE, Cycle, CycleChanges
from tests.cli.site import site
from tests.rounds.lists import CLOCK, SEGMENT, segment
from tests.rounds.steps.test_fetch import context
from tests.rounds.test_crashes import DyingDisk

GBK = (
    '<meta charset="gbk"><title>国</title><a href="/书/一">国家图书馆</a><a href="b.html">书</a>'
).encode("gbk")
PAGES: dict[str, Any] = {
    "/a.html": '<a href="b.html" rel="next">b</a><a href="/书/二?q=国">国家</a><img src="i.png">',
    "/b.html": '<link rel="canonical" href="/a.html"><meta name="robots" content="noindex">',
    "/gbk.html": GBK,
    "/copy.html": GBK,
    "/lost.html": "<title>404 Not Found</title><h1>Not Found</h1>",
    "/robots.txt": "User-agent: *\nDisallow: /secret/\n",
}
TIMES = {"warc_file", "warc_offset"}


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("parse")
    names = ["a.html", "b.html", "gbk.html", "copy.html", "lost.html", "none.html", "secret/x.html"]
    with site(PAGES) as home:
        cycle = segment(root, [[f"{home}{name}" for name in names], ["http://127.0.0.1:1/"]])
        cycle.commit(
            cycle.newest(),
            CycleChanges(
                step="inject", clock=CLOCK, added={"crawldb": []}, buckets={"crawldb": 16}
            ),
        )
        assert fetch(context(root, cycle), SEGMENT, FetchOptions()).pages == 5
    return root


@pytest.fixture
def cycle(fetched: Path, tmp_path: Path) -> Cycle:
    """A copy, which a test may damage."""
    shutil.copytree(fetched / "cycle", tmp_path / "cycle")
    return Cycle.open(tmp_path)


def rows(cycle: Cycle, kind: str) -> list[tuple[Any, ...]]:
    """The rows of a kind of fact in all parts, in an order of their own."""
    found = []
    for unit in cycle.newest().segments[SEGMENT].parts.values():
        for part in unit:
            path = cycle.storage.local_path(f"{part}/{kind}.parquet")
            found += pq.read_table(path).to_pylist()
    return sorted((tuple(sorted(row.items())) for row in found), key=repr)


def facts(cycle: Cycle) -> dict[str, list[tuple[Any, ...]]]:
    return {kind: rows(cycle, kind) for kind in FILES}


def parsed(cycle: Cycle, **wanted: Any):
    place = TaskPlace(cycle.storage.place)
    return parse(cycle, LocalEngine(1), place, CLOCK, {SEGMENT: (), **wanted})


def part_of(cycle: Cycle, unit: str = "u0000") -> str:
    return cycle.newest().segments[SEGMENT].parts[unit][0]


def spoil(cycle: Cycle, name: str) -> None:
    path = cycle.storage.local_path(name)
    assert path is not None
    data = path.read_bytes()
    path.unlink()  # a file may have a second name
    path.write_bytes(data[:-9])


def checked(cycle: Cycle, *, repair: bool = False):
    place = TaskPlace(cycle.storage.place)
    return check_storage(cycle, LocalEngine(1), place, CLOCK, repair=repair)


def test_the_facts_are_those_of_the_fetch(cycle: Cycle):
    before, old = facts(cycle), part_of(cycle)
    soft = [dict(row)["key"] for row in before["visits"] if dict(row)["soft_404"]]
    assert [key.rpartition("/")[2] for key in soft] == ["lost.html"]
    result = parsed(cycle)
    assert (result.parts, result.pages, result.rebuilt, result.lost) == (2, 6, 0, 0)
    assert part_of(cycle) != old
    assert facts(cycle) == before
    links = [dict(row) for row in before["links"]]
    assert result.links == len(links)
    assert {"国家图书馆", "国家"} <= {row["anchor"] for row in links}
    assert checked(cycle).damaged == ()
    assert facts(Cycle(cycle.storage)) == before, "it can be done again"
    assert parsed(cycle).version is not None
    assert facts(cycle) == before


def test_what_a_parser_gave_up_is_kept_and_told(cycle: Cycle):
    one = next(dict(row) for row in rows(cycle, "visits") if dict(row)["status"] == 200)
    assert not parse_failed(row_fact(one))
    assert parse_failed(row_fact({**one, "parse_failed": True}))
    assert row_fact({**one, "simhash": 7}).simhash == 7
    for name in ("simhash", "soft_404", "parse_failed"):  # files of an earlier version lack them
        del one[name]
    assert not parse_failed(row_fact(one))
    said = parse_text(ParseResult(("s",), pages=3, links=4, failed=1))
    assert said == "3 pages, 4 links of 1 segment; 1 page not parsed"


@pytest.mark.parametrize("kind", ["links", "adds", "hosts"])
@pytest.mark.slow
def test_damaged_facts_are_made_again_of_the_warcs(cycle: Cycle, kind: str):
    before = facts(cycle)
    name = f"{part_of(cycle)}/{kind}.parquet"
    spoil(cycle, name)
    (damage,) = checked(cycle).damaged
    assert (damage.name, len(damage.expected), len(damage.found)) == (name, 64, 64)
    number = cycle.newest().number
    repaired = checked(cycle, repair=True)
    assert (repaired.remade, repaired.restored, repaired.now) == (1, 0, number + 1)
    now = facts(cycle)
    assert {one: now[one] for one in FILES if one != "hosts"} == {
        one: before[one] for one in FILES if one != "hosts"
    }
    if kind != "hosts":
        assert now == before
    assert checked(cycle).whole
    assert len(cycle.newest().segments[SEGMENT].parts["u0000"]) == 1


def test_visits_that_are_lost_are_made_of_the_archive_or_told(cycle: Cycle):
    before = {dict(row)["key"]: dict(row) for row in rows(cycle, "visits")}
    links = rows(cycle, "links")
    spoil(cycle, f"{part_of(cycle)}/visits.parquet")
    repaired = checked(cycle, repair=True)
    assert (repaired.remade, repaired.lost) == (1, 1)
    now = {dict(row)["key"]: dict(row) for row in rows(cycle, "visits")}
    assert set(now) == set(before)
    assert rows(cycle, "links") == links
    known = ("status", "time", "payload_digest", "signature", "warc_file", "warc_offset", "digest",
             "canonical", "noindex", "stored", "record_id", "mime", "links", "size")  # fmt: skip
    for key, row in before.items():
        if "/secret/" in key:
            assert (now[key]["reason"], now[key]["status"]) == (LOST, 0)
        else:
            assert {name: now[key][name] for name in known} == {name: row[name] for name in known}


def unrecorded(cycle: Cycle) -> None:
    """Let the segment be one of a Nacre that recorded no digests of its files."""
    state = msgspec.structs.replace(cycle.newest().segments[SEGMENT], files="")
    changes = CycleChanges(step="fetch", clock=CLOCK, segments={SEGMENT: state})
    cycle.commit(cycle.newest(), changes)


def manifest_of(cycle: Cycle, unit: str = "u0000") -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(cycle.storage.read(f"{part_of(cycle, unit)}.json"))
    return found


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.slow
def test_facts_whose_manifest_is_damaged_are_made_again(cycle: Cycle, lost: bool):
    before, number = facts(cycle), cycle.newest().number
    virtual = cycle.newest().segments[SEGMENT].more["virtual"]
    old = manifest_of(cycle)
    name = f"{part_of(cycle)}.json"
    spoil(cycle, f"{part_of(cycle, 'u0001')}/links.parquet")
    if lost:
        cycle.storage.delete(name)
    else:
        spoil(cycle, name)
    damaged = {one.name: one for one in checked(cycle).damaged}
    assert set(damaged) == {name, f"{part_of(cycle, 'u0001')}/links.parquet"}
    assert len(damaged[name].expected) == 64
    assert damaged[name].found == MISSING if lost else len(damaged[name].found) == 64
    repaired = checked(cycle, repair=True)
    assert (repaired.remade, repaired.restored, repaired.lost) == (2, 0, 0)
    assert (repaired.now, repaired.left) == (number + 1, ())
    assert facts(cycle) == before
    now = manifest_of(cycle)
    known = ("unit", "attempt", "number", "last", "rows", "statuses", "virtual", "not_attempted")
    assert {one: now[one] for one in known} == {one: old[one] for one in known}
    assert cycle.newest().segments[SEGMENT].more["virtual"] == virtual > 0
    assert checked(cycle).whole
    spoil(cycle, f"{part_of(cycle)}.json")
    assert len(checked(cycle).damaged) == 1, "what a repair made is recorded, too"


def test_a_damaged_manifest_of_an_older_directory_is_made_again_of_the_warcs(cycle: Cycle):
    before = {dict(row)["key"]: dict(row) for row in rows(cycle, "visits")}
    links = rows(cycle, "links")
    unrecorded(cycle)
    assert checked(cycle).whole
    spoil(cycle, f"{part_of(cycle)}.json")
    (damage,) = checked(cycle).damaged
    assert (damage.name, damage.expected) == (f"{part_of(cycle)}.json", "a manifest of a part")
    repaired = checked(cycle, repair=True)
    assert (repaired.remade, repaired.lost, repaired.restored) == (1, 1, 0)
    assert {dict(row)["key"] for row in rows(cycle, "visits")} == set(before)
    assert rows(cycle, "links") == links
    parts = cycle.newest().segments[SEGMENT].parts
    assert cycle.newest().segments[SEGMENT].more["virtual"] == sum(
        manifest_of(cycle, unit)["virtual"] for unit in parts
    )
    assert checked(cycle).whole


def test_facts_and_the_record_of_their_segment_are_mended_in_one_version(cycle: Cycle):
    number, record = cycle.newest().number, record_name(SEGMENT, files_of(cycle))
    spoil(cycle, record)
    spoil(cycle, f"{part_of(cycle)}/links.parquet")
    repaired = checked(cycle, repair=True)
    assert (repaired.remade, repaired.forgotten, repaired.left) == (1, (record,), ())
    assert repaired.now == cycle.newest().number == number + 1
    assert record in cycle.storage.list(f"segments/{SEGMENT}"), "earlier versions name it"
    assert record != record_name(SEGMENT, files_of(cycle))
    assert checked(cycle).whole


def files_of(cycle: Cycle) -> str:
    return cycle.newest().segments[SEGMENT].files


def test_a_fetch_records_its_parts_beside_the_lists(cycle: Cycle):
    files = read_record(cycle.storage, SEGMENT, cycle.newest().segments[SEGMENT])
    names = {one.name for one in files}
    part = part_of(cycle)
    assert names >= {f"{part}.json", *(f"{part}/{kind}.parquet" for kind in FILES)}
    assert names >= {f"segments/{SEGMENT}/{one}" for one in ("fetch.json", "lists/u0000.parquet")}
    spoil(cycle, f"segments/{SEGMENT}/fetch.json")
    (damage,) = checked(cycle).damaged
    assert damage.name == f"segments/{SEGMENT}/fetch.json"
    assert parsed(cycle).version is not None
    assert checked(cycle).damaged == (damage,), "a later step does not take it for whole"


def test_facts_without_their_warc_are_not_made_up(cycle: Cycle):
    warcs = [file for file in cycle.files(cycle.newest(), ARCHIVE) if file.kind == "warc"]
    for file in warcs:
        spoil(cycle, file.path)
    spoil(cycle, f"{part_of(cycle)}/links.parquet")
    with pytest.raises(DamageError, match=f"{warcs[0].sha256}.*Put back the file"):
        parsed(cycle)
    found = checked(cycle)
    assert {one.name for one in found.damaged} >= {file.path for file in warcs}
    assert checked(cycle, repair=True).restored == 2, "before the fetch"


def test_a_lost_index_is_made_again_of_its_warc(cycle: Cycle):
    files = {one.kind: one for one in cycle.files(cycle.newest(), ARCHIVE) if one.bucket == 0}
    index, number = files["cdxj"], cycle.newest().number
    before = cycle.storage.read(index.path)
    cycle.storage.delete(index.path)
    (damage,) = checked(cycle).damaged
    assert damage == (index.path, index.sha256, MISSING)
    found = checked(cycle, repair=True)
    assert found.indexes == ((index.path, index.sha256, index.sha256),)
    assert (found.left, found.restored, cycle.newest().number) == ((), 0, number)
    assert cycle.storage.read(index.path) == before
    spoil(cycle, index.path)
    spoil(cycle, files["warc"].path)
    found = checked(cycle, repair=True)
    assert (found.indexes, len(found.left)) == ((), 2), "no index of a WARC that is damaged"


def test_an_index_that_is_made_again_with_other_bytes_is_told(cycle: Cycle):
    [index, *_] = [one for one in cycle.files(cycle.newest(), ARCHIVE) if one.kind == "cdxj"]
    expected = index.sha256
    other = [one for one in cycle.files(cycle.newest(), ARCHIVE) if one.path != index.path]
    changed = [*other, msgspec.structs.replace(index, sha256="0" * 64)]
    version = cycle.newest()
    place = TaskPlace(cycle.storage.place)
    (made,) = remake_indexes(LocalEngine(1), place, changed, {index.path: "0" * 64})
    assert (made.is_same, made.expected, made.found) == (False, "0" * 64, expected)
    assert cycle.newest() == version


def test_segments_that_cannot_be_parsed(cycle: Cycle):
    place = TaskPlace(cycle.storage.place)
    with pytest.raises(JobError, match="no segment 'x'"):
        parse(cycle, LocalEngine(1), place, CLOCK, {"x": ()})
    state = cycle.newest().segments[SEGMENT]
    changes = CycleChanges(
        step="generate", clock=CLOCK, segments={"x": msgspec.structs.replace(state, parts={})}
    )
    cycle.commit(cycle.newest(), changes)
    with pytest.raises(JobError, match="segment x was not fetched"):
        parse(cycle, LocalEngine(1), place, CLOCK, {"x": ()})


@pytest.mark.slow
def test_a_parse_that_is_killed_changes_nothing_and_is_done_again(
    cycle: Cycle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before, number = facts(cycle), cycle.newest().number
    monkeypatch.setattr(local, "RealDisk", DyingDisk)
    shutil.copytree(tmp_path / "cycle", tmp_path / "whole" / "cycle")
    DyingDisk.left, DyingDisk.done = 10**9, 0
    parsed(Cycle.open(tmp_path / "whole"))
    operations = DyingDisk.done
    for left in (0, operations // 2, operations - 6):
        DyingDisk.left = left
        with pytest.raises(NacreError):
            parsed(Cycle.open(tmp_path))
        DyingDisk.left = 10**9
        assert Cycle.open(tmp_path).newest().number == number
        assert checked(cycle).damaged == ()
    assert parsed(Cycle.open(tmp_path)).version is not None
    assert facts(cycle) == before
