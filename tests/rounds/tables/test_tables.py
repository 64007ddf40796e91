"""Files of a table: making, describing, finding and grouping them."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.crawldb.fold import KeyRange
from nacre.errors import DamageError
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.storage.local import LocalStorage
from nacre.rounds.tables.tables import (
    BucketFiles,
    FilePlan,
    TaskPlace,
    added_files,
    buckets_of,
    copy_statement,
    describe,
    in_range_tasks,
    in_tasks,
    kernel_manifest,
    key_ranges,
    local_bucket,
    publish,
    write_arrow,
)
from nacre.rounds.tables.versions import (
    Cycle,
    CycleChanges,
    TableFile,
    read_manifest,
    write_manifest,
)


def written(path, keys, times=None):
    columns = {"key": pa.array(keys, pa.string())}
    if times is not None:
        columns["fetch_time"] = pa.array(times, pa.int64())
    write_arrow(pa.table(columns), path)
    return path


def test_a_file_is_described_and_sent(tmp_path):
    storage = LocalStorage(tmp_path / "c")
    path = written(tmp_path / "x", ["http://a.test/", "http://国.test/"], [7, 5])
    file = publish(storage, path, FilePlan("crawldb", 3, "set", 12, "state"))
    assert file is not None
    assert file.path.startswith("tables/crawldb/b00003/0000000012-state-")
    assert (file.rows, file.first, file.last) == (2, "http://a.test/", "http://国.test/")
    assert (file.kind, file.group, file.bucket, file.min_fetch_time) == ("set", "state", 3, 5)
    assert file.size == path.stat().st_size
    assert len(storage.read(file.path)) == file.size


def test_two_attempts_never_share_a_name():
    plan = FilePlan("crawldb", 0, "base", 1)
    assert plan.name() != plan.name()


def test_a_file_without_rows_is_not_sent(tmp_path):
    storage = LocalStorage(tmp_path / "c")
    assert publish(storage, written(tmp_path / "x", []), FilePlan("c", 0, "add", 1)) is None
    assert storage.walk("tables") == []


def test_rows_of_a_query_are_sent_where_there_are_any(tmp_path):
    storage = LocalStorage(tmp_path / "storage")
    with TaskPlace(storage.place).open() as work:
        assert work.send("select 1 as n limit 0", "segments/s/none.parquet") == 0
        assert work.send("select * from range(3)", "segments/s/three.parquet") == 3
    assert storage.list("segments/s") == ["segments/s/three.parquet"]


def test_tasks_of_a_process_share_a_database_where_they_have_a_folder(tmp_path, monkeypatch):
    opened = []
    connect = duckdb.connect

    def counted(*arguments, **more):
        opened.append(arguments)
        return connect(*arguments, **more)

    monkeypatch.setattr(duckdb, "connect", counted)
    place = TaskPlace(LocalStorage(tmp_path / "c").place, scratch=LocalEngine(1).scratch)
    for _ in range(3):
        with place.open() as work:
            assert work.scratch.parent == Path(place.scratch)
            work.kernel.execute("create temp table rows as select 1")
        assert not work.scratch.exists()
    assert len(opened) == 1
    for number in (2, 3):
        with place._replace(scratch="").open() as work:
            assert not work.scratch.is_relative_to(place.scratch)
        assert not work.scratch.exists()
        assert len(opened) == number


def test_what_duckdb_writes_is_described_likewise(tmp_path):
    path = tmp_path / "it's.parquet"
    query = "select 'k' || range as key, range + 100 as fetch_time from range(70000) order by key"
    duckdb.connect().execute(copy_statement(query, path))
    file = describe(path, FilePlan("crawldb", 0, "base", 1))
    assert file is not None
    assert (file.rows, file.first, file.last, file.min_fetch_time) == (70000, "k0", "k9999", 100)
    assert pq.ParquetFile(path).metadata.num_row_groups > 1


def test_buckets_have_their_files_in_fold_order(tmp_path):
    cycle = Cycle(LocalStorage(tmp_path / "c"))
    scratch = tmp_path / "x"

    def file(bucket, kind, group=""):
        made = publish(
            cycle.storage, written(scratch, ["k"]), FilePlan("crawldb", bucket, kind, 1, group)
        )
        scratch.unlink()
        assert made is not None
        return made

    first = [file(5, "set", "state"), file(5, "base"), file(2, "add")]
    changes = CycleChanges(step="x", clock=1, added={"crawldb": first}, buckets={"crawldb": 8})
    version = cycle.commit(cycle.newest(), changes)
    version = cycle.commit(
        version, CycleChanges(step="y", clock=2, added={"crawldb": [file(5, "set", "lease")]})
    )
    two, five = buckets_of(cycle, version, "crawldb")
    assert (two.bucket, len(two.adds), two.base, two.sets) == (2, 1, (), ())
    assert [one.group for one in five.sets] == ["state", "lease"]
    assert len(five.all) == 3
    local = local_bucket(cycle.storage, five, tmp_path)
    assert [group for _, group in local.sets] == ["state", "lease"]
    assert pq.read_table(local.base[0]).to_pylist() == [{"key": "k"}]


def test_a_file_that_is_cut_off_or_missing_is_named(tmp_path):
    storage = LocalStorage(tmp_path / "c")
    file = publish(storage, written(tmp_path / "x", ["k"]), FilePlan("t", 0, "base", 1))
    assert file is not None
    path = storage.local_path(file.path)
    assert path is not None
    path.write_bytes(b"short")
    with pytest.raises(DamageError, match=r"has 5 bytes instead of \d+"):
        local_bucket(storage, BucketFiles(0, (file,)), tmp_path)
    path.unlink()
    with pytest.raises(DamageError, match="it is missing"):
        local_bucket(storage, BucketFiles(0, (file,)), tmp_path)


@given(st.lists(st.integers(0, 300_000), max_size=70), st.integers(1, 8))
def test_every_bucket_is_in_one_task(sizes, tasks):
    buckets = [BucketFiles(n, (TableFile(path=str(n), rows=size),)) for n, size in enumerate(sizes)]
    groups = in_tasks(buckets, tasks=tasks)
    assert [bucket for group in groups for bucket in group] == buckets
    total = sum(sizes)
    assert len(groups) <= 1 + total // 20_000
    if total <= 20_000:
        assert len(groups) <= 1


def keyed(path: str, first: str, last: str, kind: str = "base") -> TableFile:
    return TableFile(path=path, kind=kind, rows=2, first=first, last=last)


def test_a_bucket_of_several_base_files_has_ranges_of_keys():
    base = (keyed("2", "f", "国"), keyed("1", "b", "d"))
    adds = (keyed("3", "a", "e"), keyed("4", "国", "龙"), keyed("5", "a", "龙"))
    bucket = BucketFiles(7, base, (keyed("6", "e", "e"),), adds)
    low, high = key_ranges(bucket)
    assert (low.within, high.within) == (KeyRange("", "f"), KeyRange("f", ""))
    assert [file.path for file in low.all] == ["1", "6", "3", "5"]
    assert [file.path for file in high.all] == ["2", "4", "5"]
    assert (bucket.is_first, low.is_first, high.is_first) == (True, True, False)
    assert key_ranges(bucket, 1) == (bucket,)
    assert in_range_tasks([BucketFiles(1), bucket]) == [(low,), (high,), (BucketFiles(1),)]
    # Files that have keys in common are no ranges.
    assert len(key_ranges(BucketFiles(7, (*base, keyed("7", "d", "e"))))) == 1


@pytest.mark.parametrize(
    ("most", "sizes"), [(0, [1] * 5), (2, [3, 2]), (4, [2, 2, 1]), (9, [1] * 5)]
)
def test_ranges_may_have_several_base_files(most: int, sizes: list[int]):
    bucket = BucketFiles(0, tuple(keyed(key, key, key) for key in "abcde"))
    assert [len(one.base) for one in key_ranges(bucket, most)] == sizes


def test_files_of_all_tasks_are_joined_in_their_order():
    one, two = TableFile(path="1"), TableFile(path="2")
    assert added_files([{"a": [one]}, {}, {"a": [two], "b": [one]}]) == {
        "a": [one, two],
        "b": [one],
    }


@pytest.mark.parametrize("number", [0, 1, 300])
def test_a_kernel_reads_a_manifest_as_arrow_does(number):
    files = [
        TableFile(
            path=f"tables/crawldb/b{at % 7}/{at}.parquet",
            bucket=at % 7,
            kind="set" if at % 2 else "base",
            group="state" if at % 2 else "",
            seq=at // 3,
            rows=2**40 + at,
            size=at,
            first="http://a.test/'",
            last="http://国.test/",
            min_fetch_time=-(2**60) if at % 5 else None,
            sha256="ab" * 32,
        )
        for at in range(number)
    ]
    data = write_manifest(files)
    assert kernel_manifest(data) == read_manifest(data) == files


def test_a_kernel_says_that_bytes_are_no_manifest():
    with pytest.raises(DamageError, match="a manifest cannot be read"):
        kernel_manifest(b"PAR1")
