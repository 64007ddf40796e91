"""Compaction: no row changes, whatever the schedule; what is removed, and when."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.crawldb.row import bucket_of
from nacre.errors import JobError
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.segments import compaction
from nacre.rounds.segments.compaction import (
    KEPT_FOR,
    compact,
    compact_task,
    merge_bucket,
    needs_merge,
    remove_dropped,
)
from nacre.rounds.steps.generate import GenerateOptions, generate
from nacre.rounds.steps.inject import InjectOptions, inject
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, buckets_of
from nacre.rounds.tables.versions import CycleChanges, SegmentState, TableFile
from nacre.scope.seeds import SeedList
from tests.examples import examples
from tests.rounds.made import MadeCycle, found
from tests.rounds.steps.test_generate import keys, opened, seeded

URLS = [f"http://{host}.test/{path}" for host in ("a", "b", "国") for path in ("", "x", "y")]
ENGINE = LocalEngine(1)


def state(key, status, time):
    return {"key": key, "status": status, "fetch_time": time, "interval": 60, "retries": 0}


def compacted(made, **more):
    return compact(made.cycle, ENGINE, made.place, made.clock, keep=3, **more)


STEP = st.one_of(
    st.tuples(
        st.just("add"),
        st.lists(
            st.tuples(st.sampled_from(URLS), st.integers(-5, 2**60), st.integers(0, 5)),
            min_size=1,
            max_size=4,
            unique_by=lambda one: one[0],
        ),
    ),
    st.tuples(
        st.just("set"),
        st.lists(
            st.tuples(st.sampled_from(URLS), st.integers(1, 6), st.integers(0, 99)),
            min_size=1,
            max_size=4,
            unique_by=lambda one: one[0],
        ),
    ),
    st.tuples(
        st.just("lease"), st.lists(st.sampled_from(URLS), min_size=1, max_size=2, unique=True)
    ),
    st.tuples(st.just("compact"), st.sampled_from([0, 1, 2, 8, 16])),
)


def work(made, kind, what):
    if kind == "add":
        made.add(*(found(key, score=score, first_seen=seen) for key, score, seen in what))
    elif kind == "set":
        made.set("state", *(state(*one) for one in what))
    elif kind == "lease":
        made.set("lease", *({"key": key, "leased": "s", "leased_until": 9} for key in what))


@examples(6)
@given(st.lists(STEP, min_size=1, max_size=8))
@pytest.mark.slow
def test_no_schedule_of_compactions_changes_a_row(steps):
    with tempfile.TemporaryDirectory() as folder:
        one, two = MadeCycle(Path(folder, "1")), MadeCycle(Path(folder, "2"))
        for made in (one, two):
            made.folder.mkdir()
        for kind, what in steps:
            work(one, kind, what)
            work(two, kind, what)
            if kind == "compact":
                compacted(two, buckets=what)
        assert two.rows() == one.rows()
        compacted(two)
        assert two.rows() == one.rows()
        for bucket in buckets_of(two.cycle, two.newest, CRAWLDB):
            assert not bucket.deltas
            buckets = two.newest.tables[CRAWLDB].buckets
            for file in bucket.base:
                assert bucket_of(file.first, buckets) == bucket.bucket
                assert file.first.encode() <= file.last.encode()


@pytest.fixture
def made(tmp_path):
    return MadeCycle(tmp_path)


def test_when_a_bucket_is_merged():
    base = TableFile(path="b", rows=100)
    assert not needs_merge(BucketFiles(0, (base,)))
    assert not needs_merge(BucketFiles(0, (base,), (TableFile(path="s", rows=25),)))
    assert needs_merge(BucketFiles(0, (base,), (TableFile(path="s", rows=26),)))
    assert needs_merge(BucketFiles(0, (), (), (TableFile(path="a", rows=1),)))
    few = tuple(TableFile(path=str(n), rows=1) for n in range(9))
    assert not needs_merge(BucketFiles(0, (base,), few[:8]))
    assert needs_merge(BucketFiles(0, (base,), few))


def test_compact_says_what_it_did(made):
    made.add(*(found(url) for url in URLS))
    made.set("state", state(URLS[0], 2, 9))
    done = compacted(made)
    buckets = {bucket_of(url, made.buckets) for url in URLS}
    assert done.version.step == "compact"
    assert done.merged == {CRAWLDB: len(buckets)}
    assert (done.files_before, done.files_after) == (len(buckets) + 1, len(buckets))
    assert done.version.tables[CRAWLDB].rows == len(URLS)
    assert done.removed == 0
    again = compacted(made)
    assert again.version == done.version
    assert again.merged == {}


def test_a_large_bucket_has_files_by_ranges_of_keys(made, monkeypatch):
    monkeypatch.setattr(compaction, "FILE_ROWS", 40)
    urls = [f"http://a.test/{n:04d}" for n in range(150)]
    made.add(*(found(url) for url in urls))
    (bucket,) = buckets_of(made.cycle, made.newest, CRAWLDB)
    with made.place.open() as opened:
        merged = merge_bucket(opened, CRAWLDB, bucket, 2)
    assert [file.rows for file in merged.added] == [38, 38, 38, 36]
    assert merged.rows == 150
    assert [file.first for file in merged.added] == [urls[n] for n in (0, 38, 76, 114)]
    assert merged.dropped == {file.path for file in bucket.all}
    changes = CycleChanges(
        step="compact",
        clock=1,
        added={CRAWLDB: list(merged.added)},
        dropped={CRAWLDB: set(merged.dropped)},
    )
    before = made.rows()
    made.cycle.commit(made.newest, changes)
    assert made.rows() == before
    # From then on each range is merged by a task of its own, if it has differences.
    made.add(*(found(f"{url}/国") for url in (*urls[:3], *urls[40:50])))
    made.set("state", state(urls[0], 2, 9))
    before = made.rows()
    done = compacted(made)
    assert done.merged == {CRAWLDB: 1}
    files = made.cycle.files(made.newest, CRAWLDB)
    assert [file.path for file in files[:2]] == [file.path for file in merged.added[2:]]
    assert [(file.first, file.rows) for file in files[2:]] == [
        (urls[0], 21), (urls[18], 20), (urls[38], 24), (urls[52], 24),
    ]  # fmt: skip
    assert made.rows() == before


def test_buckets_wait_for_segments(made):
    made.add(found(URLS[0]))
    segments: dict[str, SegmentState | None] = {"s1": SegmentState(state="fetched")}
    made.cycle.commit(made.newest, CycleChanges(step="fetch", clock=1, segments=segments))
    with pytest.raises(JobError, match="segment s1 has lists or facts"):
        compacted(made, buckets=16)
    with pytest.raises(JobError, match="power of two"):
        compacted(made, buckets=12)


def age(made, days):
    for path in made.folder.rglob("*"):
        if path.is_file():
            os.utime(path, (0, made.clock / 1000 - days * 86_400))


def test_what_steps_that_ended_too_soon_left_goes_but_no_record(made, monkeypatch):
    made.add(found(URLS[0]))
    waits, fetched = SegmentState(state="generated"), SegmentState(state="updated")
    segments: dict[str, SegmentState | None] = {"waits": waits, "done": fetched}
    seeds = ["seeds/0000000002-1.txt"]
    changes = CycleChanges(step="fetch", clock=1, segments=segments, seeds=seeds)
    made.cycle.commit(made.newest, changes)
    left = [
        "exchange/update-3/adds.arrow", "probes/host-1", "seeds/0000000003-2.txt",
        "segments/lost/lists/u0001.parquet", "segments/lost/parts/u0001/1-001/a.warc.gz",
        "segments/done/parts/u0001/1-002/b.cdxj", "segments/done/parts/u0001/1-001/c.warc.gz",
    ]  # fmt: skip
    kept = [
        *seeds, "segments/waits/parts/u0001/1-001/d.warc.gz", "segments/done/lists/u0001.parquet",
        "archive/c.warc.gz",
    ]  # fmt: skip
    for name in (*left, *kept):
        made.storage.put(name, b"x")
    age(made, 0.5)
    assert remove_dropped(made.cycle, made.clock, keep=3) == []
    age(made, 2)
    for name in ("killed/empty", "killed", "now"):
        (made.folder / "cycle/exchange" / name).mkdir(parents=True, exist_ok=True)
    for name in ("killed/empty", "killed"):
        os.utime(made.folder / "cycle/exchange" / name, (0, 0))
    os.utime(made.folder / "cycle/exchange/now", (made.clock / 1000, made.clock / 1000))
    listed: list[str] = []
    of_storage = made.storage.list

    def counted(folder: str) -> Sequence[str]:
        listed.append(folder)
        return list(of_storage(folder))

    monkeypatch.setattr(made.storage, "list", counted)
    removed = remove_dropped(made.cycle, made.clock, keep=3)
    assert listed.count("archive") == 1, "an archive may have a million files"
    assert sorted(file.name for file in removed) == sorted(left)
    assert [path.name for path in (made.folder / "cycle/exchange").iterdir()] == ["now"]
    assert all(made.storage.read(name) == b"x" for name in kept)
    assert made.storage.list("orphans") == ["orphans/a.warc.gz", "orphans/b.cdxj"]


def test_files_stay_for_a_day_and_as_long_as_a_kept_version_names_them(made):
    made.add(found(URLS[0]))
    (first,) = made.cycle.files(made.newest, CRAWLDB)
    compacted(made)
    for _ in range(4):
        made.set("state", state(URLS[0], 2, 9))
    assert made.cycle.numbers() == [1, 2, 3, 4, 5, 6]
    assert remove_dropped(made.cycle, made.clock, keep=3) == []
    made.clock += KEPT_FOR + 1
    age(made, 0.5)
    assert remove_dropped(made.cycle, made.clock, keep=3) == []
    assert made.cycle.numbers() == [4, 5, 6]
    age(made, 2)
    made.storage.put("tables/crawldb/b00001/.new-12", b"unfinished")
    os.utime(made.folder / "cycle/tables/crawldb/b00001/.new-12", (0, 0))
    rows = made.rows()
    removed = remove_dropped(made.cycle, made.clock, keep=3)
    names = [file.name for file in removed]
    assert first.path in names
    assert "tables/crawldb/b00001/.new-12" in names
    assert len([name for name in names if name.startswith("manifests/")]) == 3
    assert made.rows() == rows
    for number in (4, 5, 6):
        assert made.rows(made.cycle.version(number))


def test_a_task_travels(made):
    made.add(*(found(url) for url in URLS))
    specs = list(
        compaction._specs(made.cycle, made.newest, made.place, CRAWLDB, workers=2, buckets=8)
    )
    assert {spec.split for spec in specs} == {8}
    result = [one for spec in specs for one in compact_task(spec)]
    assert sum(one.rows for one in result) == len(URLS)


@pytest.mark.slow
def test_lists_are_the_same_whatever_key_ranges_the_files_of_a_bucket_have(tmp_path, monkeypatch):
    """One domain has 40 % of all URLs, a cap holds over all its files, and another file came."""
    large = [f"http://{host}.large.example/{n}" for host in ("a", "b") for n in range(10)]
    small = [f"http://{n}.example/国" for n in range(30)]
    base = tmp_path / "base"
    seeded(base, *(f"{url}\tnutch.score={n % 7}" for n, url in enumerate([*large, *small])))
    found = {}
    for rows in (100, 9):
        root = tmp_path / str(rows)
        shutil.copytree(base, root)
        monkeypatch.setattr(compaction, "FILE_ROWS", rows)
        with opened(root, cycle={"generate.count": "domain", "generate.max_count": 6}) as context:
            compact(context.cycle, ENGINE, context.place, context.clock, keep=3, buckets=2)
            files = context.cycle.files(context.cycle.newest(), CRAWLDB)
            assert max(file.rows for file in files) <= rows
            seeds = [SeedList("", [f"{large[3]}\tnutch.score=9", "http://c.large.example/"])]
            inject(context, seeds, InjectOptions(overwrite=True))
            made = generate(context, GenerateOptions(top=30, units=2))
        found[rows] = keys(root, made)
        assert len([key for unit in found[rows] for key in unit if "large" in key]) == 6
    assert found[9] == found[100]
