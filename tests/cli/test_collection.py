"""`nacre collection …`."""

import json
from pathlib import Path

import pytest

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
