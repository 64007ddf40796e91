"""`nacre collection …`."""

import json
from pathlib import Path

import pytest

from tests.catalogue.foreign_files import packed_warc
from tests.catalogue.lines import index_line, job_with
from tests.cli.site import nacre


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NACRE_COLLECTIONS", str(tmp_path / "collections"))
    return job_with(tmp_path / "图书馆", {"a": [index_line("test,h)/", "20200101000000")]})


def test_a_collection_is_filled_described_and_deleted(job: Path):
    assert nacre("collection", "list").out == "no collections\n"
    added = nacre("collection", "集", "add", job)
    assert added.code == 0, added.err
    assert "图书馆" in added.out
    described = nacre("collection", "集", "describe", "--title", "我的集", "--type", "Collection")
    assert described.code == 0, described.err
    assert "我的集" in described.out
    details = json.loads(nacre("collection", "集", "show", "--json").out)
    assert details["fields"] == {"title": "我的集", "type": "Collection"}
    assert [member["path"] for member in details["members"]] == [str(job)]
    assert json.loads(nacre("collection", "集", "--json").out) == details
    assert "我的集" in nacre("collection", "list").out
    assert json.loads(nacre("collection", "list", "--json").out)[0]["members"] == 1
    job.rename(job.with_name("moved"))
    shown = nacre("collection", "集")
    assert "missing" in shown.out
    assert "1 member not at the path" in shown.err
    assert nacre("collection", "集", "remove", job.name).code == 0
    assert nacre("collection", "集", "delete").code == 0
    assert nacre("collection", "集", "show").code == 2


def test_another_folder(job: Path, tmp_path: Path):
    folder = tmp_path / "others"
    added = nacre("collection", "--collections", folder, "c", "add", job)
    assert added.code == 0, added.err
    assert [path.name for path in folder.glob("*.json")] == ["c.json"]
    assert nacre("collection", "list").out == "no collections\n"


@pytest.mark.parametrize(
    "words", [("a/b", "show"), ("list", "add", "."), ("c", "add", "/nothing"), ("c", "delete")]
)
def test_mistakes_have_a_remedy(job: Path, words: tuple[str, ...]):
    result = nacre("collection", *words)
    assert result.code == 2
    assert result.err.startswith("nacre: ")


def test_a_gap_and_damage_are_warnings(job: Path, tmp_path: Path):
    (tmp_path / "cut.warc.gz").write_bytes(packed_warc() + b"junk" * 99)
    moved = job_with(tmp_path / "moved", {})
    assert nacre("collection", "c", "add", job, moved, tmp_path / "cut.warc.gz").code == 0
    moved.rename(tmp_path / "elsewhere")
    result = nacre("captures", "c", "--format", "json")
    assert result.code == 0, result.err
    assert len(result.out.splitlines()) > 4
    lines = [line for line in result.err.splitlines() if line.startswith("nacre: warning: ")]
    assert [name in line for line, name in zip(lines, ("moved", "cut"), strict=True)] == [True] * 2
