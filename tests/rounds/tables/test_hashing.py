"""Hashes of tables: equal for equal rows, whatever the files; different for different rows."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.crawldb.rank import LEVELS, rank_table
from nacre.errors import ConfigError
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.segments.compaction import compact
from nacre.rounds.tables.hashing import table_hash
from nacre.rounds.tables.readers import TableView
from nacre.rounds.tables.tables import KINDS
from nacre.uri.surt import implied_prefix
from tests.rounds.made import INTERVAL, NOW, MadeCycle, fill, found

URLS = [f"http://{host}.test/{n}" for host in ("a", "b", "国", "d") for n in range(3)]


def view(made, workers=1):
    return TableView(made.cycle, made.newest, LocalEngine(workers), made.place, INTERVAL)


def hashed(made, **more):
    return table_hash(view(made), **more)


@settings(max_examples=4, deadline=None)
@given(st.sampled_from([1, 4, 16]), st.sampled_from([1, 8]), st.permutations(URLS))
@pytest.mark.slow
def test_buckets_order_and_compaction_leave_it_as_it_is(one, two, order):
    assert len(set(hashes(one, two, order))) == 1


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.sampled_from([1, 64, 256]), st.sampled_from([16, 128]), st.permutations(URLS))
def test_many_buckets_leave_it_as_it_is(one, two, order):
    assert len(set(hashes(one, two, order))) == 1


def hashes(one, two, order):
    """The hashes of equal rows in two numbers of buckets, before and after a compaction."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = MadeCycle(Path(folder, "1"), one), MadeCycle(Path(folder, "2"), two)
        for made in (first, second):
            made.folder.mkdir()
        first.add(*(found(url, score=len(url)) for url in URLS))
        for part in (order[:5], order[5:]):
            second.add(*(found(url, score=len(url)) for url in part))
        divided = hashed(second)
        compact(second.cycle, LocalEngine(1), second.place, NOW, keep=3)
        return hashed(first), divided, hashed(second)


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


def host(name, **more):
    return {"host": name, "fetched": len(name), "latencies": [0, 1], **more}


def link(dst, src, last, **more):
    return {"dst": dst, "src": src, "anchor": f"国 {last}", "first": last, "last": last, **more}


def made_tables(folder, buckets):
    """Every table, each row in several files."""
    made = MadeCycle(folder, buckets)
    folder.mkdir()
    made.add(*(found(url, score=len(url)) for url in URLS))
    made.set("state", {"key": URLS[0], "status": 2, "fetch_time": 9})
    names = [f"{n}.example" for n in ("a", "b", "国", "d", "e")]
    fill(made, "hosts", [host(name, fetched=0) for name in names])
    fill(made, "hosts", [host(name, latency=7.0) for name in names[1:]])
    marks = [bytes([n]) * 16 for n in range(9)]
    rows = [{"signature": mark, "key": url, "live": True} for mark in marks for url in URLS[:3]]
    fill(made, "signatures", rows)
    fill(made, "signatures", [{**rows[0], "live": False}])
    fill(made, "links", [link(dst, src, 5) for dst in URLS for src in URLS[:4]], "add")
    fill(made, "links", [link(URLS[1], src, 9, rel="国") for src in URLS[:4]], "add")
    given = [{"key": url, "writer": "local", "digest": "a", "reason": ""} for url in URLS]
    fill(made, "indexed", given)
    fill(made, "indexed", [{**given[0], "digest": None, "reason": "gone"}])
    seeds = [{"key": implied_prefix(url), "text": url, "page": url, "since": 1} for url in URLS]
    seeds.append({"key": f"={URLS[0]}", "text": URLS[0], "depth": 2})
    seeds.append({"key": "+http://(a", "text": "+http://(a"})
    fill(made, "seeds", seeds, "add")
    fill(made, "seeds", [{**seeds[0], "since": 2}], "add")
    for number, level in enumerate(LEVELS):
        fill(made, rank_table(level), [{"node": name} for name in names[number:]])
    return made


@pytest.mark.parametrize("compactions", [(4,), pytest.param((0, 16, 4), marks=pytest.mark.slow)])
@pytest.mark.slow
def test_all_tables_hash_the_same_in_2_and_8_buckets_and_after_compaction(tmp_path, compactions):
    one, two = made_tables(tmp_path / "1", 2), made_tables(tmp_path / "2", 8)
    hashes = {table: hashed(one, table=table) for table in KINDS}
    assert len(set(hashes.values())) == len(KINDS)
    engine = LocalEngine(1)

    def same():
        assert {table: hashed(two, table=table) for table in KINDS} == hashes

    same()
    for buckets in compactions:
        done = compact(two.cycle, engine, two.place, NOW, keep=3, buckets=buckets)
        assert set(done.merged) == set(KINDS)
        assert {state.buckets for state in done.version.tables.values()} == {buckets or 8}
        same()


def test_facts_of_links_and_hosts_are_without_times(tmp_path):
    one, two = MadeCycle(tmp_path / "1"), MadeCycle(tmp_path / "2")
    for made, time in ((one, 5), (two, 6)):
        made.folder.mkdir()
        fill(made, "links", [link(URLS[0], URLS[1], time, anchor="国")], "add")
        fill(made, "hosts", [host("a.example", latency=time, time=time)])
    for table in ("links", "hosts"):
        assert hashed(one, table=table) != hashed(two, table=table)
        assert hashed(one, table=table, facts=True) == hashed(two, table=table, facts=True)


def test_a_table_that_is_not_there(tmp_path):
    made = MadeCycle(tmp_path)
    assert hashed(made) == hashed(made, facts=True)
    with pytest.raises(ConfigError, match="no table 'nothing'"):
        hashed(made, table="nothing")
