"""Operations on collections."""

from pathlib import Path
from threading import Thread

import pytest

from nacre.errors import ConfigError, JobError
from nacre.ops.collections import (
    CollectionItem,
    add_members,
    delete_collection,
    describe_collection,
    list_collections,
    remove_members,
    show_collection,
)
from tests.catalogue.foreign_files import packed_warc
from tests.catalogue.lines import index_line, job_with


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with two jobs, a file and a directory of files."""
    monkeypatch.setenv("NACRE_COLLECTIONS", str(tmp_path / "collections"))
    for name in ("a", "b"):
        job_with(tmp_path / name, {"x": [index_line("test,h)/", "20200101000000")]})
    (tmp_path / "files").mkdir()
    for number in range(2):
        (tmp_path / "files" / f"{number}.warc.gz").write_bytes(packed_warc())
    (tmp_path / "notes.txt").write_text("notes")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_members_are_added_once_and_removed(home: Path):
    details = add_members("集", ["a", str(home / "b"), "./files", "b/../a"])
    assert [(member.path, member.kind, member.warcs) for member in details.members] == [
        (str(home / "a"), "job", 1),
        (str(home / "b"), "job", 1),
        (str(home / "files" / "0.warc.gz"), "file", 1),
        (str(home / "files" / "1.warc.gz"), "file", 1),
    ]
    assert details.members[2].size == len(packed_warc())
    assert show_collection("集") == details
    details = remove_members("集", ["0.warc.gz", "b"])
    assert [Path(member.path).name for member in details.members] == ["a", "1.warc.gz"]
    (home / "a").rename(home / "c")
    assert [member.kind for member in show_collection("集").members] == ["missing", "file"]
    assert list_collections() == (CollectionItem("集", "集", 2, 1),)
    assert [Path(member.path).name for member in remove_members("集", ["a"]).members] == [
        "1.warc.gz"
    ]


@pytest.mark.parametrize("path", ["nothing", "notes.txt", "collections"])
def test_what_is_neither_a_job_nor_a_file_is_not_added(home: Path, path: str):
    with pytest.raises(JobError):
        add_members("c", ["a", path])
    assert list_collections() == ()


def test_fields_are_described_and_removed(home: Path):
    details = describe_collection("c", {"creator": " 我 ", "title": "T", "date": "2026"})
    assert list(details.fields.items()) == [("title", "T"), ("creator", "我"), ("date", "2026")]
    assert details.title == "T"
    assert describe_collection("c", {"title": ""}).title == "c"
    for fields in ({"colour": "red"}, {"title": "x" * 10_001}):
        with pytest.raises(ConfigError, match="creator"):
            describe_collection("c", fields)


def test_a_collection_that_is_not_there(home: Path):
    for action in (show_collection, delete_collection):
        with pytest.raises(JobError, match="collection list"):
            action("c")
    with pytest.raises(JobError):
        remove_members("c", ["a"])
    add_members("c", ["a"])
    with pytest.raises(JobError, match="not in the collection"):
        remove_members("c", ["b"])
    delete_collection("c")
    assert list_collections() == ()
    assert (home / "a").is_dir()


def test_a_damaged_collection_is_in_the_list(home: Path):
    add_members("c", ["a"])
    (home / "collections" / "c.json").write_text("{")
    (item,) = list_collections()
    assert "c.json" in item.damage


def test_changes_by_several_processes_are_all_there(home: Path):
    threads = [
        Thread(target=describe_collection, args=("c", {field: "x"}))
        for field in ("title", "creator", "subject", "rights", "source", "coverage")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(show_collection("c").fields) == 6


def test_another_folder(home: Path):
    add_members("c", ["a"], home / "others")
    assert list_collections() == ()
    assert [item.name for item in list_collections(home / "others")] == ["c"]
