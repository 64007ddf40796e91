"""The check of a storage: what is damaged, what is repaired, whether cash vanished."""

import json

import pytest

from nacre.crawldb.row import ONE
from nacre.errors import DamageError, JobError, StorageError
from nacre.rounds.check import check_storage, restore_whole
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.segments.named_files import MISSING
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.tables import CRAWLDB
from nacre.rounds.tables.versions import (
    ARCHIVE,
    OUTSIDE,
    CycleChanges,
    SegmentState,
    TableFile,
    version_name,
)
from tests.rounds.made import NOW, MadeCycle, found

ENGINE = LocalEngine(1)
HOME = "http://a.test/"


def checked(made, **more):
    return check_storage(made.cycle, ENGINE, made.place, NOW, **more)


@pytest.fixture
def made(tmp_path):
    made = MadeCycle(tmp_path, 4)
    made.add(found(HOME, cash=ONE), found("http://国.test/", cash=5))
    made.add(found(HOME, cash=-ONE), found("http://b.test/", cash=ONE))
    return made


def named(made, version=None):
    return [file.path for file in made.cycle.files(version or made.newest, CRAWLDB)]


def spoil(made, name, data=b"spoilt"):
    (made.folder / "cycle" / name).write_bytes(data)


def test_a_whole_storage(made):
    result = checked(made)
    assert result.whole
    assert (result.version, result.files, result.damaged) == (2, len(named(made)), ())
    assert result.size == sum(file.size for file in made.cycle.files(made.newest, CRAWLDB))


def test_nothing_was_committed(tmp_path):
    with pytest.raises(JobError, match="no version yet"):
        checked(MadeCycle(tmp_path, 4))


def test_damaged_and_missing_files_are_named_with_their_digests(made):
    first, second = named(made)[:2]
    spoil(made, first)
    made.storage.delete(second)
    result = checked(made)
    by_name = {one.name: one for one in result.damaged}
    committed = {file.path: file.sha256 for file in made.cycle.files(made.newest, CRAWLDB)}
    assert by_name[first].expected == committed[first]
    assert len(by_name[first].found) == 64
    assert by_name[first].found != committed[first]
    assert by_name[second].found == MISSING
    assert not result.whole
    assert made.newest.number == 2


def test_repair_goes_back_to_a_version_whose_files_are_whole(made):
    before = set(named(made, made.cycle.version(1)))
    late = next(name for name in named(made) if name not in before)
    spoil(made, late)
    result = checked(made, repair=True)
    assert (result.version, result.restored, result.now) == (2, 1, 3)
    assert set(named(made)) == before
    assert checked(made).whole
    assert checked(made, repair=True).restored == 0


def test_a_version_is_restored_only_when_its_files_are_whole(made):
    at = (made.cycle, ENGINE, made.place)
    assert restore_whole(*at, 1, NOW).number == 3
    name = named(made, made.cycle.version(1))[0]
    spoil(made, name)
    with pytest.raises(DamageError, match=f"version 1 cannot be restored: {name}.*--repair"):
        restore_whole(*at, 1, NOW)
    assert made.newest.number == 3


def test_a_broken_version_and_manifest_are_repaired(made):
    spoil(made, version_name(2))
    (damage,) = checked(made).damaged
    assert damage.name == version_name(2)
    assert "it is no version of a cycle" in damage.found
    assert checked(made, repair=True).now == 3
    made.add(found("http://c.test/"))
    spoil(made, made.newest.tables[CRAWLDB].manifest)
    made.cycle._manifests.clear()
    state = made.newest.tables[CRAWLDB]
    (damage,) = checked(made).damaged
    assert (damage.name, damage.expected) == (state.manifest, state.sha256)
    assert (len(damage.found), damage.found != damage.expected) == (64, True)
    made.storage.delete(made.newest.tables[CRAWLDB].manifest)
    assert checked(made).damaged[0].found == MISSING
    assert checked(made, repair=True).restored == 3


def test_no_version_is_whole(made):
    for name in named(made):
        spoil(made, name)
    with pytest.raises(JobError, match=r"none of the versions 1 to 2 is whole.*tables/crawldb"):
        checked(made, repair=True)


def test_a_damaged_warc_gives_up_no_table(made):
    made.storage.put("archive/a.warc.gz", b"WARC/1.1")
    file = TableFile(path="archive/a.warc.gz", kind="warc", size=8, sha256="2" * 64)
    made.cycle.commit(made.newest, CycleChanges(step="fetch", clock=NOW, archive=[file]))
    result = checked(made, repair=True)
    assert [one.name for one in result.records] == ["archive/a.warc.gz"]
    assert (result.tables, result.restored, made.newest.number) == ((), 0, 3)
    before = set(named(made, made.cycle.version(1)))
    spoil(made, next(name for name in named(made) if name not in before))
    result = checked(made, repair=True)
    assert (len(result.tables), result.restored, result.now) == (1, 1, 4)


def test_going_back_may_change_the_sum_of_cash(made):
    made.add(found("http://seed.test/", cash=ONE))
    assert restore_whole(made.cycle, ENGINE, made.place, 2, NOW).number == 4
    assert checked(made).whole


def test_a_hole_stops(made):
    made.add(found("http://c.test/"))
    made.storage.delete(version_name(2))
    with pytest.raises(DamageError, match="missing"):
        checked(made)


def test_archive_facts_lists_and_seeds_are_compared_too(made):
    warc = b"WARC/1.1"
    made.storage.put("archive/a.warc.gz", warc)
    made.storage.put("segments/s1/lists/u0001.parquet", b"list")
    made.storage.put("segments/s0/parts/u0001/1-001/visits.parquet", b"facts")
    file = {"name": "segments/s0/parts/u0001/1-001/visits.parquet", "size": 5, "sha256": "0" * 64}
    moved = {"name": "segments/s0/parts/u0001/1-001/a.warc.gz", "size": 8, "sha256": "1" * 64}
    part = "segments/s0/parts/u0001/1-001"
    said = {"unit": "u0001", "attempt": 1, "number": 1, "files": [file, moved]}
    made.storage.put(f"{part}.json", json.dumps(said).encode())
    made.cycle.commit(
        made.newest,
        CycleChanges(
            step="fetch",
            clock=NOW,
            archive=[TableFile(path="archive/a.warc.gz", kind="warc", size=8, sha256="2" * 64)],
            segments={
                "s0": SegmentState(state="fetched", parts={"u0001": [part]}),
                "s1": SegmentState(state="generated", units=1),
            },
            seeds=["seeds/1.txt"],
        ),
    )
    names = {one.name: one.found for one in checked(made).damaged}
    assert set(names) == {"archive/a.warc.gz", file["name"], "seeds/1.txt"}
    assert names["seeds/1.txt"] == MISSING
    assert [one.path for one in made.cycle.files(made.newest, ARCHIVE)] == ["archive/a.warc.gz"]
    spoil(made, f"{part}.json", b"{")
    damaged = {one.name: one for one in checked(made).damaged}
    assert set(damaged) == {"archive/a.warc.gz", f"{part}.json", "seeds/1.txt"}
    assert damaged[f"{part}.json"].expected == "a manifest of a part"
    made.storage.delete("segments/s1/lists/u0001.parquet")
    (lists,) = [one for one in checked(made).damaged if one.name == "segments/s1/lists"]
    assert lists[1:] == ("lists: 1", "lists: 0")


def test_cash_that_vanishes_is_told(made):
    lost = made.cycle.files(made.newest, CRAWLDB)[-1]
    made.cycle.commit(
        made.newest, CycleChanges(step="compact", clock=NOW, dropped={CRAWLDB: {lost.path}})
    )
    result = checked(made)
    assert result.damaged == ()
    (change,) = result.cash
    assert (change.version, change.step, change.before) == (3, "compact", 5 + ONE)
    assert not result.whole


def test_the_store_of_another_crawl_is_listed_once_and_its_failure_is_told(
    made, tmp_path, monkeypatch
):
    places = []
    (tmp_path / "theirs").mkdir()
    theirs = open_storage(str(tmp_path / "theirs"))
    theirs.put("archive/0.warc.gz", b"warc")

    def opened(place):
        places.append(place)
        if place != "s3://theirs":
            raise StorageError(f"{place}: no answer")
        return theirs

    monkeypatch.setattr("nacre.rounds.segments.named_files.open_storage", opened)
    files = [
        TableFile(path=f"s3://{place}/archive/{number}.warc.gz", kind=OUTSIDE)
        for place in ("theirs", "silent")
        for number in (0, 1)
    ]
    made.cycle.commit(made.newest, CycleChanges(step="merge", clock=NOW, archive=files))
    found = checked(made)
    assert sorted(places) == ["s3://silent", "s3://theirs"]
    silent = "cannot be read: s3://silent: no answer"
    assert {one.name: one.found for one in found.records} == {
        "s3://theirs/archive/1.warc.gz": MISSING,
        "s3://silent/archive/0.warc.gz": silent,
        "s3://silent/archive/1.warc.gz": silent,
    }
    assert found.tables == ()
    assert checked(made, repair=True).restored == 0
