"""A storage in a bucket, against moto's server."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from nacre.errors import ConfigError, StorageError
from nacre.rounds.segments.named_files import OtherArchives
from nacre.rounds.segments.outside import outside_warcs
from nacre.rounds.storage import AlreadyThereError, MissingFileError, localize, open_storage
from nacre.rounds.tables.tables import local_warc
from nacre.rounds.tables.versions import OUTSIDE, TableFile
from tests.rounds.objects import bucket, object_server  # noqa: F401 - fixtures


def test_what_is_put_is_read(bucket, tmp_path):  # noqa: F811
    storage = open_storage(bucket)
    storage.put("tables/b0001/a.parquet", b"one")
    storage.put("tables/b0001/a.parquet", "国".encode("gbk"))
    assert storage.read("tables/b0001/a.parquet") == "国".encode("gbk")
    assert storage.list("tables/b0001") == ["tables/b0001/a.parquet"]
    assert storage.list("tables") == []
    assert [(one.name, one.size) for one in storage.walk("tables")] == [
        ("tables/b0001/a.parquet", 2)
    ]
    assert storage.local_path("tables/b0001/a.parquet") is None
    copy = localize(storage, "tables/b0001/a.parquet", tmp_path)
    assert copy.read_bytes() == "国".encode("gbk")
    storage.delete("tables/b0001/a.parquet")
    storage.delete("tables/b0001/a.parquet")
    with pytest.raises(MissingFileError, match=r"s3://.*a\.parquet"):
        storage.read("tables/b0001/a.parquet")


def test_a_large_file_goes_up_in_parts(bucket, tmp_path):  # noqa: F811
    storage = open_storage(bucket)
    (tmp_path / "large").write_bytes(b"0123456789" * 1_200_000)
    storage.upload(tmp_path / "large", "archive/a.warc.gz")
    storage.fetch("archive/a.warc.gz", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "large").read_bytes()


def test_the_store_copies(bucket):  # noqa: F811
    storage = open_storage(bucket)
    storage.put("parts/a", b"warc")
    storage.copy("parts/a", "archive/a")
    assert storage.read("archive/a") == b"warc"
    with pytest.raises(MissingFileError, match="parts/b"):
        storage.copy("parts/b", "archive/b")


def test_of_many_callers_one_creates(bucket):  # noqa: F811
    storage = open_storage(bucket)

    def create(number):
        try:
            storage.create("versions/1.json", b"%d" % number)
        except AlreadyThereError:
            return None
        return number

    with ThreadPoolExecutor(4) as pool:
        won = [one for one in pool.map(create, range(4)) if one is not None]
    assert len(won) == 1
    assert storage.read("versions/1.json") == b"%d" % won[0]


def test_it_travels_to_a_task_without_credentials(bucket):  # noqa: F811
    storage = open_storage(bucket)
    storage.put("a", b"1")
    data = pickle.dumps(storage)
    assert os.environ["AWS_SECRET_ACCESS_KEY"].encode() not in data
    assert pickle.loads(data).read("a") == b"1"


def test_a_bucket_that_is_not_there_is_named(bucket):  # noqa: F811
    storage = open_storage("s3://nowhere/x")
    with pytest.raises(StorageError, match="s3://nowhere/x/a"):
        storage.put("a", b"1")


def test_without_the_library_the_command_is_told(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"extra `objects` \(obstore\): .*requirements-objects"):
        open_storage("s3://bucket/x")


def test_a_warc_of_another_crawl_is_brought_from_its_store(bucket, tmp_path):  # noqa: F811
    theirs, mine = open_storage(bucket), open_storage(str(tmp_path / "mine"))
    theirs.put("archive/x.warc.gz", b"warc")
    files = {"x.warc.gz": TableFile(path="archive/x.warc.gz", kind="warc", size=4)}
    named = outside_warcs(mine, {}, files, theirs.place)["x.warc.gz"]
    assert (named.path, named.kind) == (f"{bucket}/archive/x.warc.gz", OUTSIDE)
    assert local_warc(mine, named, tmp_path).read_bytes() == b"warc"
    assert OtherArchives(mine).has(named)
    theirs.delete("archive/x.warc.gz")
    assert not OtherArchives(mine).has(named)
