"""A storage in a directory: writing, exclusive creation, and what a power loss leaves."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nacre.errors import ConfigError, StorageError
from nacre.rounds.storage import (
    AlreadyThereError,
    MissingFileError,
    StoredFile,
    file_sha256,
    localize,
    open_storage,
    remove_folder,
)
from nacre.rounds.storage.local import TEMPORARY, LocalStorage
from nacre.store.disk import RealDisk
from nacre.store.seam import OperationError
from tests.store.simulated import World

ROOT = Path("/cycle")
CRASHES = [("drop", 0), ("keep", 0), ("subset", 1), ("torn", 2), ("torn", 3)]


def test_a_removed_folder_leaves_nothing(tmp_path):
    storage = open_storage(str(tmp_path / "c"))
    for name in ("exchange/a/one", "exchange/a/b/two", "exchange/书/three"):
        storage.put(name, b"x")
    remove_folder(storage, "exchange/a")
    remove_folder(storage, "exchange/nothing")
    assert [path.name for path in (tmp_path / "c/exchange").iterdir()] == ["书"]


def test_what_is_put_is_read(tmp_path):
    storage = open_storage(str(tmp_path / "c"))
    storage.put("tables/b0001/a.parquet", b"one")
    storage.put("tables/b0001/a.parquet", "国".encode("gbk"))
    assert storage.read("tables/b0001/a.parquet") == "国".encode("gbk")
    assert storage.list("tables/b0001") == ["tables/b0001/a.parquet"]
    assert storage.list("tables") == []
    assert storage.list("nothing") == []
    storage.delete("tables/b0001/a.parquet")
    storage.delete("tables/b0001/a.parquet")
    with pytest.raises(MissingFileError, match=r"a\.parquet"):
        storage.read("tables/b0001/a.parquet")
    with pytest.raises(MissingFileError, match=r"a\.parquet"):
        storage.fetch("tables/b0001/a.parquet", tmp_path / "x")


def test_files_at_any_depth_with_unfinished_ones(tmp_path):
    storage = LocalStorage(tmp_path)
    storage.put("a/b/one", b"12")
    (tmp_path / "a" / f"{TEMPORARY}x").write_bytes(b"")
    found = storage.walk("a")
    assert [(one.name, one.size) for one in found] == [(f"a/{TEMPORARY}x", 0), ("a/b/one", 2)]
    assert isinstance(found[0], StoredFile)
    assert found[0].modified > 1_600_000_000_000
    assert storage.list("a") == []


def test_an_upload_is_a_second_name_on_one_file_system(tmp_path):
    storage = LocalStorage(tmp_path / "c")
    source = tmp_path / "scratch"
    source.write_bytes(b"rows")
    storage.upload(source, "tables/x")
    stored = storage.local_path("tables/x")
    assert stored is not None
    assert stored.stat().st_ino == source.stat().st_ino
    assert localize(storage, "tables/x", tmp_path / "s") == stored
    storage.fetch("tables/x", tmp_path / "copy")
    assert file_sha256(tmp_path / "copy") == file_sha256(source)


class TwoFileSystems(RealDisk):
    def link(self, old, new):
        raise OperationError("link", old, 18, "cross-device", "")


def test_an_upload_from_another_file_system_is_a_copy(tmp_path):
    storage = LocalStorage(tmp_path / "c", TwoFileSystems())
    (tmp_path / "scratch").write_bytes(b"rows" * 2_000_000)
    storage.upload(tmp_path / "scratch", "tables/x")
    assert storage.read("tables/x") == b"rows" * 2_000_000


def test_of_many_callers_one_creates(tmp_path):
    storage = LocalStorage(tmp_path)

    def create(number):
        try:
            storage.create("versions/1.json", b"%d" % number)
        except AlreadyThereError:
            return None
        return number

    with ThreadPoolExecutor(8) as pool:
        won = [one for one in pool.map(create, range(8)) if one is not None]
    assert len(won) == 1
    assert storage.read("versions/1.json") == b"%d" % won[0]
    assert [path.name for path in (tmp_path / "versions").iterdir()] == ["1.json"]


@pytest.mark.parametrize("name", ["/etc/x", "a/../../x", "", "a\0b"])
def test_a_name_does_not_lead_out_of_the_storage(tmp_path, name):
    with pytest.raises(StorageError, match="relative path"):
        LocalStorage(tmp_path).put(name, b"")


def test_a_place_that_no_storage_has():
    with pytest.raises(ConfigError, match=r"no storage has URLs of hdfs://.*s3://"):
        open_storage("hdfs://host/x")


@pytest.mark.parametrize("operation", ["put", "create"])
def test_a_power_loss_leaves_a_file_whole_or_not_at_all(operation):
    data, seen = b"whole" * 100, set()
    world = World()

    def lose_power(_):
        for mode, seed in CRASHES:
            after = world.crash(random.Random(seed + len(world.log)), mode)
            found = LocalStorage(ROOT, after.disk).list("v")
            seen.add(len(found))
            for name in found:
                assert LocalStorage(ROOT, after.disk).read(name) == data

    world.after = lose_power
    getattr(LocalStorage(ROOT, world.disk), operation)("v/1", data)
    assert seen == {0, 1}
    world.after = None
    kept = LocalStorage(ROOT, world.crash(random.Random(0), "drop").disk)
    assert kept.read("v/1") == data


def test_a_full_disk_leaves_nothing_behind_its_message():
    world = World()
    world.fault = lambda name, path: 28 if name == "fdatasync" else 0
    storage = LocalStorage(ROOT, world.disk)
    with pytest.raises(StorageError, match="fdatasync"):
        storage.create("v/1", b"x")
    assert storage.list("v") == []


def test_a_copy_is_whole_and_may_be_repeated(tmp_path):
    storage = LocalStorage(tmp_path)
    storage.put("parts/a", b"warc")
    storage.copy("parts/a", "archive/a")
    storage.copy("parts/a", "archive/a")
    storage.delete("parts/a")
    assert storage.read("archive/a") == b"warc"
    assert [one.name for one in storage.walk("archive")] == ["archive/a"]
    with pytest.raises(MissingFileError, match="parts/a"):
        storage.copy("parts/a", "archive/b")
