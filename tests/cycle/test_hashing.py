"""Hashes of tables: equal for equal rows, whatever the files; different for different rows."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.cycle.compaction import compact
from nacre.cycle.engine.local import LocalEngine
from nacre.cycle.hashing import table_hash
from nacre.cycle.readers import TableView
from nacre.errors import ConfigError
from tests.cycle.made import INTERVAL, NOW, MadeCycle, found

URLS = [f"http://{host}.test/{n}" for host in ("a", "b", "国", "d") for n in range(3)]


def view(made, workers=1):
    return TableView(made.cycle, made.newest, LocalEngine(workers), made.place, INTERVAL)


def hashed(made, **more):
    return table_hash(view(made), **more)


@settings(max_examples=6, deadline=None)
@given(st.sampled_from([1, 4, 64, 256]), st.sampled_from([1, 16, 128]), st.permutations(URLS))
def test_buckets_order_and_compaction_leave_it_as_it_is(one, two, order):
    with tempfile.TemporaryDirectory() as folder:
        first, second = MadeCycle(Path(folder, "1"), one), MadeCycle(Path(folder, "2"), two)
        for made in (first, second):
            made.folder.mkdir()
        first.add(*(found(url, score=len(url)) for url in URLS))
        for part in (order[:5], order[5:]):
            second.add(*(found(url, score=len(url)) for url in part))
        assert hashed(first) == hashed(second)
        compact(second.cycle, LocalEngine(1), second.place, NOW, keep=3)
        assert hashed(first) == hashed(second)


def test_each_column_counts(tmp_path):
    made = MadeCycle(tmp_path)
    made.add(*(found(url) for url in URLS))
    before, facts = hashed(made), hashed(made, facts=True)
    made.set("lease", {"key": URLS[0], "leased": "s1", "leased_until": 5})
    leased = hashed(made)
    assert leased != before
    assert hashed(made, facts=True) == facts
    made.add(found(URLS[1], score=0, inlinks=1))
    assert hashed(made) != leased
    assert hashed(made, facts=True) != facts


def test_several_processes_hash_the_same(tmp_path):
    made = MadeCycle(tmp_path, 64)
    made.add(*(found(url) for url in URLS))
    two = view(made, workers=2)
    try:
        assert table_hash(two) == hashed(made)
    finally:
        two.engine.close()


def test_a_table_that_is_not_there(tmp_path):
    made = MadeCycle(tmp_path)
    assert hashed(made) == hashed(made, facts=True)
    with pytest.raises(ConfigError, match="no table 'nothing'"):
        hashed(made, table="nothing")
