"""Writers of files: parts by commit, deletes, rebuilt folders."""

import csv
import json

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from nacre.errors import ConfigError
from nacre.search.document import FIELD_TYPES, SearchDocument
from nacre.search.writer_kinds import WRITERS, chosen_writers
from nacre.search.writers.files import FilesWriter


def document(key, **more):
    return SearchDocument(id=key, title=f"title of {key}", content="text, 文字", **more)


def made(tmp_path, **said) -> FilesWriter:
    writer = WRITERS.read(said).make(tmp_path)
    assert isinstance(writer, FilesWriter)
    return writer


def test_each_commit_makes_a_file_and_the_last_document_of_an_id_counts(tmp_path):
    writer = made(tmp_path, writer="jsonl", rename={"title": "t"}, copy_fields={"id": ["key"]})
    assert writer.open()
    writer.write([document("a"), document("b")])
    writer.write([document("a", lang="zh")])
    assert list((tmp_path / "jsonl").iterdir()) == []
    writer.commit()
    lines = (tmp_path / "jsonl" / "documents-000001.jsonl").read_text("utf-8").splitlines()
    one, two = map(json.loads, lines)
    assert (one["id"], one["key"], one["lang"], one["t"]) == ("a", "a", "zh", "title of a")
    assert two["content"] == "text, 文字"
    writer.close()
    assert not writer.open()
    writer.delete(["a", "b"])
    writer.commit()
    writer.commit()
    names = sorted(one.name for one in (tmp_path / "jsonl").iterdir())
    assert names == ["deleted-000002.txt", "documents-000001.jsonl"]
    assert (tmp_path / "jsonl" / "deleted-000002.txt").read_text() == "a\nb\n"


def test_a_rebuilt_folder_takes_the_place_of_the_old_one(tmp_path):
    writer = made(tmp_path, writer="jsonl", name="out")
    for rebuild in (False, True):
        assert writer.open(rebuild=rebuild)
        writer.write([document("new" if rebuild else "old")])
        writer.commit()
        writer.close()
    (only,) = (tmp_path / "out").iterdir()
    assert "new" in only.read_text("utf-8")


def test_csv_has_the_columns_that_are_asked_for_and_no_formulas(tmp_path):
    writer = made(tmp_path, writer="csv", fields=["id", "title", "anchor"], separator=";")
    writer.open()
    writer.write([document("a", anchor=["x", "y"]), SearchDocument(id="b", title="=1+1")])
    writer.commit()
    with (tmp_path / "csv" / "documents-000001.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter=";"))
    assert rows == [["id", "title", "anchor"], ["a", "title of a", "x|y"], ["b", "'=1+1", ""]]


def test_parquet(tmp_path):
    writer = made(tmp_path, writer="parquet", remove=["content"])
    writer.open()
    writer.write([document("a", warc_offset=7), document("b")])
    writer.commit()
    table = pq.read_table(tmp_path / "parquet" / "documents-000001.parquet")
    assert table.column("warc_offset").to_pylist() == [7, None]
    assert "content" not in table.column_names


def test_all_files_of_parquet_have_the_same_columns_whatever_their_documents_have(tmp_path):
    writer = made(
        tmp_path,
        writer="parquet",
        rename={"host": "url_host_name"},
        copy_fields={"id": ["key"]},
        remove=["content"],
    )
    writer.open()
    for batch in (
        [SearchDocument(id="a")],
        [document("b", anchor=["x", "书"], boost=2, tstamp=5, host="www.example.org")],
        [document("c", more={"collection": ["docs", "二"], "more": ["m"]}, lang="\ud800")],
    ):
        writer.write(batch)
        writer.commit()
    files = sorted((tmp_path / "parquet").iterdir())
    one, *others = [pq.read_schema(file) for file in files]
    assert all(one.equals(other, check_metadata=True) for other in others)
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    expected = {
        {"host": "url_host_name"}.get(name, name): kinds.get(kind, pa.list_(pa.string()))
        for name, kind in FIELD_TYPES.items()
        if name != "content"
    }
    text_lists = pa.map_(pa.string(), pa.list_(pa.string()))
    assert {**expected, "key": pa.string(), "more": text_lists} == {f.name: f.type for f in one}
    assert all(column.nullable for column in one)
    a, b, c = ds.dataset(tmp_path / "parquet", format="parquet").to_table().to_pylist()
    assert (a["id"], a["key"], a["tstamp"], a["anchor"], a["more"]) == ("a", "a", None, None, None)
    assert (b["anchor"], b["boost"], b["tstamp"]) == (["x", "书"], 2.0, 5)
    assert (b["url_host_name"], b["site"]) == (
        "www.example.org",
        ["www.example.org", "example.org"],
    )
    assert (dict(c["more"]), c["lang"]) == ({"collection": ["docs", "二"], "more": ["m"]}, "?")


def test_a_value_that_no_column_of_parquet_can_have_is_refused(tmp_path):
    writer = made(tmp_path, writer="parquet", name="table")
    writer.open()
    writer.write([document("a", more={"title": ["one", "two"]})])
    with pytest.raises(ConfigError, match=r"`table`: the column `title` is of the type string"):
        writer.commit()
    with pytest.raises(ConfigError, match=r"`table`: a field is called `more`"):
        made(tmp_path, writer="parquet", name="table", rename={"title": "more"})


def test_the_writer_that_is_meant():
    writers = [WRITERS.read("local"), WRITERS.read({"writer": "csv", "name": "sheet"})]
    assert chosen_writers(writers, "") == writers
    assert chosen_writers(writers, "sheet") == writers[1:]
    with pytest.raises(ConfigError, match="no such writer, but local, sheet"):
        chosen_writers(writers, "csv")
