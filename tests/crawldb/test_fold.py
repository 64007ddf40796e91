"""The fold: what later files make of a row, and that no compaction changes any."""

import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.crawldb import row
from nacre.crawldb.fold import (
    KeyRange,
    fold_query,
    label_sql,
    leased_query,
    merge_query,
)
from nacre.crawldb.row import COLUMNS, GROUP_NAMES, FoldRule, Status, group_columns
from tests.crawldb.made import Files, kernel_at, names, read
from tests.examples import examples

URL = "http://h.test/国"
FOUND = {"key": URL, "score": Decimal(5), "cash": Decimal(1), "inlinks": 1, "first_seen": 100}


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


@pytest.fixture
def kernel(tmp_path):
    with kernel_at(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One kernel for all examples, and the folder that it may use."""
    folder = tmp_path_factory.mktemp("examples")
    with kernel_at(folder) as made:
        yield made, folder


def folded(kernel, files, **options):
    query = fold_query(files.base, files.sets, files.adds, interval=60, **options)
    return read(kernel, query)


def test_a_row_that_only_links_know_is_unfetched_and_due(kernel, files):
    files.add({**FOUND, "via": "http://a.test/", "depth": 3, "last_inlink": 100, "judged": 7})
    files.add({**FOUND, "via": "http://b.test/", "depth": 2, "last_inlink": 300, "first_seen": 99})
    (one,) = folded(kernel, files)
    assert one == {
        "key": URL,
        "status": Status.UNFETCHED,
        "fetch_time": 99,
        "interval": 60,
        "retries": 0,
        "modified": 0,
        "rules": 7,
        "judged": 7,
        "via": "http://b.test/",
        "score": 10,
        "cash": 2,
        "inlinks": 2,
        "depth": 2,
        "first_seen": 99,
        "last_inlink": 300,
    }


def test_of_each_group_the_last_row_counts_as_a_whole(kernel, files):
    files.add(FOUND)
    files.set("state", {"key": URL, "status": 2, "fetch_time": 5, "retries": 2, "interval": 9})
    files.set("lease", {"key": URL, "leased": "s1", "leased_until": 9})
    files.set("state", {"key": URL, "status": 3, "fetch_time": 7})
    (one,) = folded(kernel, files)
    assert (one["status"], one["fetch_time"], one["retries"], one["interval"]) == (3, 7, 0, 60)
    assert (one["leased"], one["leased_until"]) == ("s1", 9)


def test_a_group_is_cleared_by_a_row_of_nulls(kernel, files):
    files.set("lease", {"key": URL, "leased": "s1", "leased_until": 9})
    files.base = [files.put(read(kernel, merge_query([], files.sets)), row.SCHEMA)]
    files.sets = []
    assert folded(kernel, files)[0]["leased"] == "s1"
    files.set("lease", {"key": URL})
    assert "leased" not in folded(kernel, files)[0]


def test_a_duplicate_is_shown_as_one_until_it_is_none(kernel, files):
    files.set("state", {"key": URL, "status": 6})
    files.set("duplicate", {"key": URL, "dup_of": "http://h.test/"})
    assert folded(kernel, files)[0]["status"] == Status.DUPLICATE
    files.set("duplicate", {"key": URL})
    assert folded(kernel, files)[0]["status"] == Status.NOT_MODIFIED


def test_a_page_that_was_purged_comes_back_by_a_later_link(kernel, files):
    files.add({**FOUND, "last_inlink": 100})
    files.set("purge", {"key": URL, "purged": 200})
    assert folded(kernel, files) == []
    files.add({**FOUND, "first_seen": 250, "last_inlink": 250})
    assert names(folded(kernel, files)) == [URL]


def test_metadata_of_a_seed_lies_over_that_of_links(kernel, files):
    files.add({**FOUND, "md": [("a", "1"), ("b", "2")]})
    files.set("seed", {"key": URL, "seed_md": [("b", "3")]})
    assert dict(folded(kernel, files)[0]["md"]) == {"a": "1", "b": "3"}


def test_rows_are_sorted_by_bytes_and_columns_are_chosen(kernel, files):
    keys = ["http://h.test/z", "http://h.test/é", "http://h.test/Z", "http://h.test/国"]
    files.add(*({**FOUND, "key": key} for key in keys))
    found = folded(kernel, files, columns=["score"])
    assert names(found) == sorted(keys, key=str.encode)
    assert set(found[0]) == {"key", "score"}
    with pytest.raises(ValueError, match="no column 'colour'"):
        fold_query(files.base, interval=1, columns=["colour"])


def test_rows_of_some_keys_are_those_of_all(kernel, files):
    keys = [f"http://h.test/{number}" for number in range(9)]
    files.add(*({**FOUND, "key": key} for key in keys))
    files.base = [files.put(read(kernel, merge_query([], [], files.adds)), row.SCHEMA)]
    files.adds = []
    files.add(*({**FOUND, "key": key} for key in keys[::2]))
    files.set("state", *({"key": key, "status": 2} for key in keys[::3]))
    files.set("lease", {"key": keys[4], "leased": "s1"})
    kernel.execute(
        "create temp table wanted as select 'http://h.test/' || i as key from range(3, 7) t(i)"
    )
    few = [one for one in folded(kernel, files) if keys[3] <= one["key"] <= keys[6]]
    assert folded(kernel, files, keys="wanted") == few
    assert len(few) == 4
    some = folded(kernel, files, keys="wanted", columns=["status"])
    assert [one["status"] for one in some] == [one["status"] for one in few]
    alone = merge_query(files.base, keys="wanted")
    assert names(read(kernel, alone)) == keys[3:7]


def test_rows_of_a_range_are_those_of_all(kernel, files):
    urls = [f"http://h.test/{name}" for name in ("a", "b'", "c", "国")]
    files.add(*({**FOUND, "key": url} for url in urls))
    files.set("lease", *({"key": url, "leased": "s", "leased_until": 9} for url in urls[1:]))
    files.set("state", {"key": urls[3], "status": 2, "fetch_time": 5})
    rows = folded(kernel, files)
    for low, high in ((0, 1), (1, 3), (2, 4), (0, 4)):
        within = KeyRange(urls[low] if low else "", urls[high] if high < 4 else "")
        assert folded(kernel, files, within=within) == rows[low:high]
        assert [within.has(url) for url in urls] == [low <= n < high for n in range(4)]


def test_keys_that_are_leased(kernel, files):
    urls = [f"http://h.test/{name}" for name in ("a", "b", "c")]
    assert names(read(kernel, leased_query([], [], 5))) == []
    leases = [{"key": url, "leased": "s", "leased_until": 9} for url in urls]
    files.base = [files.put([{**FOUND, **one} for one in leases], row.SCHEMA)]
    assert names(read(kernel, f"{leased_query(files.base, [], 5)} order by 1")) == urls
    files.set("lease", {"key": urls[0], "leased": None, "leased_until": None})
    files.set("lease", {"key": urls[1], "leased": "t", "leased_until": 5})
    files.set("state", {"key": urls[2], "status": 2})
    assert names(read(kernel, leased_query(files.base, files.sets, 5))) == [urls[2]]
    assert sorted(names(read(kernel, leased_query(files.base, files.sets, 4)))) == urls[1:]
    assert names(read(kernel, leased_query(files.base, files.sets, 9))) == []


def test_a_fold_needs_files_of_known_groups(files):
    with pytest.raises(ValueError, match="needs a file"):
        merge_query([])
    with pytest.raises(ValueError, match="no group 'colour'"):
        merge_query([], [("x.parquet", "colour")])


def test_merged_rows_have_the_label_of_their_status(kernel, files):
    files.add(FOUND)
    files.set("state", {"key": URL, "status": 2})
    kernel.execute(f"create temp table merged as {merge_query([], files.sets, files.adds)}")
    (label,) = kernel.rows(f"select {label_sql()} from merged")
    assert label == ("db_fetched",)


# ---- any schedule of compactions

_KEYS = st.sampled_from(["http://a.test/", "http://b.test/", "http://b.test/国"])
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "VARCHAR": st.sampled_from(["", "x", "y"]),
    "BLOB": st.binary(max_size=2),
    "UTINYINT": st.integers(0, 255),
    "USMALLINT": st.integers(0, 9),
    "SMALLINT": st.integers(-9998, 999),
    "INTEGER": st.integers(0, 9),
    "BIGINT": st.integers(0, 5),
    "DOUBLE": st.floats(0, 9, width=16),
    "DECIMAL(38,0)": st.integers(-(10**30), 10**30).map(Decimal),
    "MAP(VARCHAR, VARCHAR)": st.dictionaries(
        st.sampled_from("ab"), st.sampled_from("cd"), max_size=2
    ).map(lambda said: sorted(said.items())),
}


def _row(columns, *, sure=()):
    parts = {
        one.name: _VALUES[one.type] if one.name in sure else st.none() | _VALUES[one.type]
        for one in columns
    }
    return st.fixed_dictionaries({"key": _KEYS, **parts})


_ADDED = [one for one in COLUMNS if one.rule not in {FoldRule.SET, FoldRule.KEY}]
_ADDS = _row(_ADDED, sure={"score", "cash", "inlinks", "first_seen"})
_FILE = st.one_of(
    _ADDS.map(lambda one: ("", one)),
    *(
        _row(group_columns(group)).map(lambda one, group=group: (group, one))
        for group in GROUP_NAMES
    ),
)


def _put(files, group, said):
    if group:
        files.set(group, said)
    else:
        files.add(said)


@examples(40)
@given(st.lists(st.tuples(_FILE, st.booleans()), min_size=1, max_size=8))
def test_any_compaction_leaves_the_same_rows(shared, schedule):
    kernel, parent = shared
    with tempfile.TemporaryDirectory(dir=parent) as name:
        folder = Path(name)
        (folder / "a").mkdir()
        (folder / "b").mkdir()
        whole, parts = Files(folder / "a"), Files(folder / "b")
        for (group, said), compact in schedule:
            _put(whole, group, said)
            _put(parts, group, said)
            if compact:
                merged = merge_query(parts.base, parts.sets, parts.adds)
                path = str(folder / "b" / f"base{len(parts.base)}{id(said)}{group}.parquet")
                kernel.write(merged, path)
                parts.base, parts.sets, parts.adds = [path], [], []
        expected = read(kernel, merge_query(whole.base, whole.sets, whole.adds))
        assert read(kernel, merge_query(parts.base, parts.sets, parts.adds)) == expected


@examples(25)
@given(st.lists(_ADDS, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_adds_have_no_order(shared, rows, random):
    kernel, parent = shared
    with tempfile.TemporaryDirectory(dir=parent) as name:
        files = Files(Path(name))
        for one in rows:
            files.add(one)
        expected = read(kernel, merge_query([], [], files.adds))
        random.shuffle(files.adds)
        assert read(kernel, merge_query([], [], files.adds)) == expected
