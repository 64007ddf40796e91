"""Collections: their names and files, and the holdings of their members."""

import pytest

from nacre.catalogue.collections import Collection, CollectionFolder, check_name, is_name
from nacre.catalogue.holdings import label_of, open_holding
from nacre.catalogue.lookup import open_index
from nacre.errors import JobError, StorageError
from tests.catalogue.foreign_files import packed_warc
from tests.catalogue.lines import index_line, job_with


@pytest.mark.parametrize(
    ("name", "is_valid"),
    [
        ("a", True),
        ("中文集", True),
        ("Été-2026_b.1", True),
        ("9", True),
        ("字" * 60, True),
        ("字" * 61, False),
        ("", False),
        (".a", False),
        ("-a", False),
        ("_a", False),
        ("a/b", False),
        ("a b", False),
        ("a\n", False),
        ("a\0", False),
        ("..", False),
        ("a:b", False),
        ("list", False),
        ("\U0001d51e" * 60, False),
    ],
)
def test_names(name, is_valid):
    assert is_name(name) is is_valid
    if not is_valid:
        with pytest.raises(JobError):
            check_name(name)


def test_a_name_has_one_form(tmp_path):
    folder = CollectionFolder(tmp_path / "c")
    with folder.changing():
        folder.write(Collection(check_name("e\u0301te\u0301")))
    assert folder.names() == ["\u00e9t\u00e9"]
    assert folder.read("e\u0301te\u0301") == Collection("\u00e9t\u00e9")


def test_the_usual_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert CollectionFolder().path == tmp_path / "nacre" / "collections"
    monkeypatch.setenv("NACRE_COLLECTIONS", str(tmp_path / "other"))
    assert CollectionFolder().path == tmp_path / "other"
    assert CollectionFolder().names() == []
    assert CollectionFolder().read("a") is None


@pytest.mark.parametrize("data", [b"", b"{}", b'{"name": 1}', b"\xff", b"[" * 100_000])
def test_a_damaged_file(tmp_path, data):
    (tmp_path / "a.json").write_bytes(data)
    with pytest.raises(JobError, match=r"a\.json"):
        CollectionFolder(tmp_path).read("a")


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError), CollectionFolder(tmp_path / "file" / "c").changing():
        pass
    (tmp_path / "a.json").mkdir()
    with pytest.raises(StorageError):
        CollectionFolder(tmp_path).read("a")


def test_the_holding_of_a_collection_has_gaps(tmp_path):
    job = job_with(tmp_path / "j", {"a": [index_line("test,h)/", "20200101000000")]})
    (tmp_path / "one.warc.gz").write_bytes(packed_warc())
    (tmp_path / "bad.warc.gz").write_bytes(b"no WARC")
    paths = ("one.warc.gz", "bad.warc.gz", "j", "moved")
    folder = CollectionFolder(tmp_path / "c")
    with folder.changing():
        folder.write(
            Collection("集", tuple(str(tmp_path / path) for path in paths), {"title": "A title"})
        )
    holding = open_holding(["集"], collections=folder)
    assert (holding.name, holding.title, holding.kind) == ("集", "A title", "collection")
    assert holding.label == label_of("collection:集")
    assert [member.kind for member in holding.members] == ["warc", "missing", "job", "missing"]
    assert [member.is_missing for member in holding.members] == [False, True, False, True]
    assert [member.warcs() for member in holding.members if member.is_missing] == [[], []]
    assert len(holding.warnings) == 2
    assert "moved" in holding.warnings[1]
    captures = open_index(holding).exact("test,h)/")
    assert [(capture.timestamp[:4], capture.member) for capture in captures] == [
        ("2020", 2), ("2026", 0),
    ]  # fmt: skip
    job.rename(tmp_path / "elsewhere")
    assert open_holding(["集"], collections=folder).members[2].is_missing


def test_a_path_comes_before_a_collection(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = CollectionFolder(tmp_path / "c")
    with folder.changing():
        folder.write(Collection("j"))
    assert open_holding(["j"], collections=folder).kind == "collection"
    job_with(tmp_path / "j", {})
    assert open_holding(["j"], collections=folder).kind == "job"
    assert open_holding(["./j", "j"], collections=folder).kind == "several"
