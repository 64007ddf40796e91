"""Merges of crawls: the newest visit counts; what is merged again changes nothing."""

import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.crawldb.hosts import GONE_HOST_COLUMNS
from nacre.errors import JobError, StorageError
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.steps.merge import MergeOptions, MergeResult, merge
from nacre.rounds.tables.hashing import table_hash
from nacre.rounds.tables.readers import TableView, sql
from nacre.rounds.tables.versions import CycleChanges, version_name
from tests.rounds.made import BUCKETS, INTERVAL, MadeCycle, Row, fill, found
from tests.rounds.steps.fetched import FetchedCycle

A, B, C, D = (
    "http://a.example/",
    "http://b.example/书",
    "http://国.example/x",
    "http://d.example/",
)
URLS = [A, B, C, D, "http://www.a.example/2"]


def merged(
    mine: FetchedCycle, *others: MadeCycle, dry: bool = False, **options: bool
) -> MergeResult:
    with mine.context(dry=dry) as context:
        return merge(context, [other.cycle for other in others], MergeOptions(**options))


def crawl(folder: Path, buckets: int = 4) -> FetchedCycle:
    folder.mkdir()
    return FetchedCycle(folder, buckets)


def visited(key: str, time: int, status: int = 2, **more: Any) -> Row:
    """The state of a URL that was visited at a time in ms."""
    return {
        "key": key, "status": status, "last_time": time * 1000, "fetch_time": time + 60_000,
        "interval": 60, "retries": 0, "last_status": 200, **more,
    }  # fmt: skip


def asked(made: MadeCycle, query: str) -> list[dict[str, Any]]:
    view = TableView(made.cycle, made.newest, LocalEngine(1), made.place, INTERVAL)
    with sql(view, query) as (_, batches):
        return [row for batch in batches for row in batch.to_pylist()]


def hashes(made: MadeCycle) -> list[str]:
    view = TableView(made.cycle, made.newest, LocalEngine(1), made.place, INTERVAL)
    return [table_hash(view, table) for table in ("crawldb", "links", "hosts", "signatures")]


SIDE = st.dictionaries(
    st.sampled_from(URLS),
    st.tuples(st.integers(0, 9), st.integers(0, 5), st.integers(1, 9), st.integers(0, 9)),
)
"""Of a URL: the time of its visit, 0 for none; its status, score, and when it was first seen."""


def known(made: MadeCycle, side: dict[str, tuple[int, int, int, int]]) -> None:
    if not side:
        made.add(found("http://other.example/"))
        return
    made.add(
        *(
            found(key, score=score, cash=score * 2, inlinks=score, first_seen=seen,
                  via=f"http://v.example/{seen}", depth=seen + 1)
            for key, (_, _, score, seen) in side.items()
        )
    )  # fmt: skip
    states = [visited(key, time, status or 2) for key, (time, status, *_) in side.items() if time]
    if states:
        made.set("state", *states)


def oracle(sides: list[dict[str, tuple[int, int, int, int]]]) -> dict[str, tuple[Any, ...]]:
    """Of each URL its status, time of visit, score, first sight and depth, as a merge leaves it."""
    result = {}
    for key in {key for side in sides for key in side}:
        rows = [side[key] for side in sides if key in side]
        time, status, score, _ = max(rows, key=lambda row: row[0])
        seen = min(row[3] for row in rows)
        state = (status or 2, time * 1000) if time else (1, None)
        result[key] = (*state, score, score * 2, seen, seen + 1)
    return result


def told(made: MadeCycle) -> dict[str, tuple[Any, ...]]:
    names = ("status", "last_time", "score", "cash", "first_seen", "depth")
    return {
        row["key"]: tuple(row[name] for name in names)
        for row in made.rows()
        if row["key"] != "http://other.example/"
    }


@settings(max_examples=3, deadline=None)
@given(SIDE, SIDE, SIDE)
def test_the_newest_visit_counts_whatever_the_buckets(one, two, three):
    with tempfile.TemporaryDirectory() as folder:
        mine = crawl(Path(folder, "1"), 2)
        others = [crawl(Path(folder, "2"), 4), crawl(Path(folder, "3"), 1)]
        for made, side in zip((mine, *others), (one, two, three), strict=True):
            known(made, side)
        merged(mine, *others)
        assert told(mine) == oracle([one, two, three])
        before = hashes(mine)
        assert merged(mine, *others).newer == 0
        assert hashes(mine) == before


def test_what_is_merged_and_what_is_not(tmp_path):
    mine, other = crawl(tmp_path / "1"), crawl(tmp_path / "2", 16)
    mine.add(found(A, md=[("lang", "zh"), ("mine", "1")]), found(B))
    mine.set("state", visited(A, 10, signature=b"old"), visited(B, 90))
    mine.set("lease", {"key": A, "leased": "s", "leased_until": 5})
    other.add(found(A, md=[("lang", "en")], judged=77), found(B), found(C))
    other.set("state", visited(A, 20, signature=b"new"), visited(B, 50, 3))
    other.set("capture", {"key": A, "digest": "sha1:国", "record_id": "urn:1", "warc_date": 20})
    other.set("lease", {"key": B, "leased": "theirs", "leased_until": 9})
    other.set("duplicate", {"key": A, "dup_of": C})
    result = merged(mine, other)
    assert (result.known, result.new, result.newer) == (3, 1, 1)
    rows = {row["key"]: row for row in mine.rows()}
    assert rows[A]["digest"] == "sha1:国"
    assert rows[A]["dup_of"] == C
    assert rows[A]["leased"] == "s"
    assert dict(rows[A]["md"]) == {"lang": "en", "mine": "1"}
    assert rows[A]["rules"] is None
    assert (rows[B]["status"], rows[B]["leased"]) == (2, None)
    assert rows[C]["status"] == 1
    live = asked(mine, "select signature, key, live from signatures order by live")
    assert [(row["signature"], row["live"]) for row in live] == [(b"old", False), (b"new", True)]


@pytest.mark.slow
def test_links_and_hosts(tmp_path):
    mine, other = crawl(tmp_path / "1"), crawl(tmp_path / "2", 16)
    for made, time in ((mine, 5), (other, 9)):
        made.add(found(A))
        text = {"anchor": f"国 {time}", "first": time, "last": time}
        fill(made, "links", [{"dst": C, "src": A, **text}], "add")
        host = {"host": "a.example", "visits": time, "time": time}
        fill(made, "hosts", [host])
    fill(other, "links", [{"dst": C, "src": B, "first": 1, "last": 1}], "add")
    fill(other, "hosts", [{"host": "国.example", "visits": 3, "time": 2}])
    result = merged(mine, other)
    assert (result.links, result.hosts) == (2, 2)
    rows = asked(mine, "select src, anchor, first, last from links order by src")
    assert [tuple(row.values()) for row in rows] == [(A, "国 9", 5, 9), (B, None, 1, 1)]
    rows = asked(mine, "select host, visits from hosts order by host")
    assert [tuple(row.values()) for row in rows] == [("a.example", 9), ("国.example", 3)]
    (row,) = asked(mine, "select * from hosts where host = 'a.example'")
    assert not set(row) & set(GONE_HOST_COLUMNS), "files of earlier versions have more columns"
    before = hashes(mine)
    merged(mine, other)
    assert hashes(mine) == before


def test_urls_are_judged_and_normalized_where_it_is_wanted(tmp_path):
    mine, other = crawl(tmp_path / "1"), crawl(tmp_path / "2")
    rules = "name: x\nseeds: []\nscope: [accept, {rule: matches-regex, decision: REJECT, "
    rules += "regex: '.*b\\.example.*'}]\n"
    (mine.folder / "crawl.yaml").write_text(rules)
    other.add(found(A), found("http://A.example/?sid=1#x"), found(B, path="L"), found(C))
    other.set("state", visited("http://A.example/?sid=1#x", 8))
    result = merged(mine, other, filter=True)
    assert (result.new, sum(result.refused.values())) == (3, 1)
    two = crawl(tmp_path / "3")
    assert merged(two, other, normalize=True).new == 4
    keys = {row["key"] for row in two.rows()}
    assert {A, "http://a.example/?sid=1", "http://xn--vcs.example/x"} <= keys
    assert all(map(str.isascii, keys))


def test_a_new_directory_takes_all_and_a_dry_run_nothing(tmp_path):
    mine, other = crawl(tmp_path / "1"), crawl(tmp_path / "2")
    other.add(found(A), found(C))
    assert merged(mine, other, dry=True).new == 2
    assert mine.newest.number == 0
    assert merged(mine, other).version is not None
    assert {row["key"] for row in mine.rows()} == {A, C}
    assert mine.newest.tables["crawldb"].buckets == BUCKETS
    assert mine.storage.walk("exchange") == []


def test_what_cannot_be_merged(tmp_path):
    mine, other = crawl(tmp_path / "1"), crawl(tmp_path / "2")
    with pytest.raises(JobError, match="no table of URLs"):
        merged(mine, other)
    mine.add(found(A))
    with pytest.raises(JobError, match="this crawl itself"):
        merged(mine, mine)
    other.add(found(A))
    [file] = other.cycle.files(other.newest, "crawldb")
    path = other.storage.local_path(file.path)
    table = pq.read_table(path)
    pq.write_table(table.append_column("rank", pa.array([1], pa.int32())), path)
    with pytest.raises(JobError, match="has the column 'rank' of type int32; here it is not known"):
        merged(mine, other)
    newer = {**msgspec.to_builtins(other.newest), "schema": 3, "nacre": "9.1"}
    other.storage.put(version_name(1), msgspec.json.encode(newer))
    with pytest.raises(StorageError, match=r"of version 3, made by Nacre 9\.1"):
        merged(mine, other)
    assert mine.newest.number == 1


def test_of_two_drivers_one_begins_again(tmp_path, monkeypatch):
    mine, other = crawl(tmp_path / "1"), crawl(tmp_path / "2")
    mine.add(found(A))
    other.add(found(C))
    with mine.context() as context:
        parent = context.cycle.newest()
        context.cycle.commit(parent, CycleChanges(step="dedup", clock=1))
        monkeypatch.setattr(context.cycle, "newest", lambda: parent)
        with pytest.raises(JobError, match="version 2 was committed by dedup"):
            merge(context, [other.cycle])
