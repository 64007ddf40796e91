"""Versions: commits, two drivers, power losses, holes, newer layouts."""

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import DamageError, JobError, StorageError
from nacre.rounds.storage.local import LocalStorage
from nacre.rounds.tables.versions import (
    ARCHIVE,
    CommittedByAnotherError,
    Cycle,
    CycleChanges,
    SegmentState,
    TableFile,
    read_manifest,
    sort_fold_order,
    version_name,
    write_manifest,
)
from tests.store.simulated import World

ROOT = Path("/cycle")
CRASHES = [("drop", 0), ("keep", 0), ("subset", 1), ("subset", 2), ("torn", 3), ("torn", 4)]


def put(cycle, path, content=b"rows", **more):
    cycle.storage.put(path, content)
    return TableFile(path=path, size=len(content), rows=1, first="a", last="b", **more)


def change(step="inject", **more):
    return CycleChanges(step=step, clock=1_000, **more)


def test_a_new_cycle_has_the_version_0(tmp_path):
    found = Cycle.open(tmp_path).newest()
    assert (found.number, found.tables, found.segments) == (0, {}, {})


def test_a_commit_names_tables_segments_and_archive(tmp_path):
    cycle = Cycle.open(tmp_path)
    file = put(cycle, "tables/crawldb/b00001/x", bucket=1, kind="add")
    warc = put(cycle, "archive/1.warc.gz", kind="warc", group="s1")
    first = cycle.commit(
        cycle.newest(),
        change(
            added={"crawldb": [file]},
            buckets={"crawldb": 64},
            archive=[warc],
            segments={"s1": SegmentState(state="generated", units=2)},
            seeds=["seeds/1.txt"],
            counters={"new": 1},
        ),
    )
    again = Cycle.open(tmp_path).newest()
    assert again == first
    assert (first.number, first.parent, first.step, first.counters) == (1, 0, "inject", {"new": 1})
    assert [one.seq for one in cycle.files(again, "crawldb")] == [1]
    assert [one.path for one in cycle.files(again, ARCHIVE)] == ["archive/1.warc.gz"]
    assert again.tables["crawldb"].buckets == 64
    second = cycle.commit(
        first,
        change("update", dropped={"crawldb": {file.path}}, segments={"s1": None}),
    )
    assert second.tables["crawldb"].files == 0
    assert second.tables["crawldb"].buckets == 64
    assert second.segments == {}
    assert second.archive == first.archive
    assert second.seeds == ["seeds/1.txt"]
    assert [one.path for one in cycle.files(first, "crawldb")] == [file.path]
    assert cycle.files(second, "links") == []


def test_of_two_drivers_one_is_told_to_begin_again(tmp_path):
    one = Cycle(LocalStorage(tmp_path), host="a")
    two = Cycle(LocalStorage(tmp_path), host="b")
    parent = one.newest()
    won = two.commit(parent, change("dedup"))
    with pytest.raises(CommittedByAnotherError) as told:
        one.commit(parent, change("update"))
    assert str(told.value) == "version 1 was committed by dedup on host b; begin again"
    assert (told.value.version, told.value.step, told.value.host) == (1, "dedup", "b")
    assert one.newest() == won


class Repeats(LocalStorage):
    """A network that loses the first answer, so that the request is repeated."""

    def create(self, name, data):
        super().create(name, data)
        super().create(name, data)


def test_a_repeated_request_of_our_own_is_our_commit(tmp_path):
    cycle = Cycle(Repeats(tmp_path))
    assert cycle.commit(cycle.newest(), change()).number == 1


def test_wherever_the_power_fails_a_commit_is_whole_or_not_there():
    world = World()
    cycle = Cycle(LocalStorage(ROOT, world.disk), host="a")
    parent = cycle.commit(
        cycle.newest(),
        change(added={"crawldb": [put(cycle, "tables/one", kind="base")]}, buckets={"crawldb": 1}),
    )
    seen = set()

    def lose_power(_):
        for mode, seed in CRASHES:
            disk = world.crash(random.Random(seed * 1000 + len(world.log)), mode).disk
            after = Cycle(LocalStorage(ROOT, disk))
            newest = after.newest()
            seen.add((mode, newest.number))
            paths = [file.path for file in after.files(newest, "crawldb")]
            assert paths == (["tables/one"] if newest.number == 1 else ["tables/two", "tables/s"])
            for path in paths:
                assert after.storage.read(path) == b"rows"
            # A driver goes on from there.
            assert after.commit(newest, change("links")).number == newest.number + 1

    world.after = lose_power
    files = [put(cycle, "tables/two"), put(cycle, "tables/s", kind="set", group="state")]
    cycle.commit(
        parent, change("update", added={"crawldb": files}, dropped={"crawldb": {"tables/one"}})
    )
    world.after = None
    assert {("drop", 1), ("keep", 1), ("keep", 2), ("torn", 1)} <= seen
    kept = Cycle(LocalStorage(ROOT, world.crash(random.Random(0), "drop").disk))
    assert kept.newest().number == 2
    assert {"create", "pwrite", "fdatasync", "link", "rename", "fsync_dir", "unlink"} <= set(
        world.log
    )


def test_a_version_that_is_missing_between_others_stops(tmp_path):
    cycle = Cycle(LocalStorage(tmp_path))
    for _ in range(4):
        cycle.commit(cycle.newest(), change())
    cycle.storage.delete(version_name(1))
    assert cycle.numbers() == [2, 3, 4]
    cycle.storage.delete(version_name(3))
    with pytest.raises(DamageError, match=r"versions/0000000003\.json is missing"):
        cycle.newest()


def test_a_newer_layout_and_a_broken_version_are_refused(tmp_path):
    cycle = Cycle(LocalStorage(tmp_path))
    known = json.loads(b'{"number": 1, "schema": 3, "nacre": "9.1", "tables": [1]}')
    cycle.storage.put(version_name(1), json.dumps(known).encode())
    with pytest.raises(StorageError, match=r"version 3, made by Nacre 9\.1; this one knows 2"):
        cycle.newest()
    cycle.storage.put(version_name(1), b'{"number": ')
    with pytest.raises(DamageError, match=r"0000000001\.json: it is no version"):
        cycle.newest()
    with pytest.raises(JobError, match="has no version 7"):
        cycle.version(7)


def test_a_changed_manifest_is_found(tmp_path):
    cycle = Cycle(LocalStorage(tmp_path))
    file = put(cycle, "tables/x")
    made = cycle.commit(cycle.newest(), change(added={"crawldb": [file]}, buckets={"crawldb": 2}))
    cycle.storage.put(made.tables["crawldb"].manifest, write_manifest([]))
    with pytest.raises(DamageError, match="its sha256 is"):
        Cycle(LocalStorage(tmp_path)).files(made, "crawldb")
    with pytest.raises(DamageError, match="manifest cannot be read"):
        read_manifest(b"PAR1")


def test_restoring_is_a_new_version(tmp_path):
    cycle = Cycle(LocalStorage(tmp_path))
    first = cycle.commit(
        cycle.newest(),
        change(added={"crawldb": [put(cycle, "tables/x")]}, buckets={"crawldb": 1}),
    )
    cycle.commit(first, change(dropped={"crawldb": {"tables/x"}}))
    restored = cycle.restore(1, 5_000)
    assert (restored.number, restored.parent, restored.step) == (3, 2, "restore")
    assert restored.tables == first.tables
    assert cycle.newest() == restored


def test_the_number_of_buckets_is_a_power_of_two(tmp_path):
    cycle = Cycle(LocalStorage(tmp_path))
    with pytest.raises(StorageError, match="48 buckets"):
        cycle.commit(
            cycle.newest(),
            change(added={"crawldb": [put(cycle, "tables/x")]}, buckets={"crawldb": 48}),
        )


FILES = st.lists(
    st.builds(
        TableFile,
        path=st.text(max_size=9),
        bucket=st.integers(0, 3),
        kind=st.sampled_from(["base", "set", "add"]),
        group=st.sampled_from(["", "state"]),
        seq=st.integers(0, 9),
        rows=st.integers(0, 2**40),
        first=st.text(max_size=5),
        min_fetch_time=st.none() | st.integers(-(2**60), 2**60),
    ),
    max_size=12,
)


@given(FILES)
def test_a_manifest_keeps_its_rows(files):
    assert read_manifest(write_manifest(files)) == files


@given(FILES)
def test_the_order_of_a_fold(files):
    ordered = sort_fold_order(files)
    assert sorted(ordered, key=id) == sorted(files, key=id)
    for before, after in pairwise(ordered):
        assert before.bucket <= after.bucket
        if before.bucket == after.bucket:
            assert before.kind == "base" or after.kind != "base"
            assert before.kind == "base" or before.seq <= after.seq


def test_what_reads_manifests_may_be_given(tmp_path):
    cycle = Cycle.open(tmp_path)
    added = {"crawldb": [put(cycle, "a.parquet")]}
    made = cycle.commit(cycle.newest(), change(added=added, buckets={"crawldb": 4}))
    asked = []

    def read(data):
        asked.append(data)
        return read_manifest(data)

    given = cycle.with_reader(read)
    assert given.files(made, "crawldb") == cycle.files(made, "crawldb")
    assert given.files(made, "crawldb")[0].path == "a.parquet"
    assert len(asked) == 1
