"""`nacre search`: the words that it takes, and what it prints."""

import json
import shutil
from pathlib import Path

import pytest

from nacre.machine.layout import Layout
from nacre.search.document import SearchDocument, place_document
from nacre.search.local_index import LocalWriter
from tests.cli.site import nacre

DAY = 86_400_000


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("job")
    writer = LocalWriter(Layout(root).search)
    writer.open()
    texts = ["the very same text", "a text of the library", "国家图书馆 text"]
    documents = [
        SearchDocument(id=url, url=url, content=text, type="text/html", tstamp=number * DAY)
        for number, text in enumerate(texts, 1)
        for url in [f"http://a.test/{number}"]
    ]
    writer.write([place_document(one) for one in documents])
    writer.commit()
    writer.close()
    return root


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["text"], "123"),
        (["text", "-same"], "23"),
        (["-same", "text", "-国家"], "2"),
        (["-very same", "text"], "23"),
        (["text", "-same", "-n", "1"], "23"),
        (["text", "-n1", "-same"], "23"),
        (["-n5", "--", "text", "-library"], "13"),
        (["text", "-history"], "123"),
        (["text", "-next"], "123"),
    ],
)
def test_words_that_must_not_be_there_are_no_options(root: Path, words: list[str], found: str):
    done = nacre("search", root, "--json", *words)
    assert done.code == 0, done.err
    hits = [hit["url"][-1] for hit in json.loads(done.out)["hits"]]
    assert set(hits) <= set(found)
    assert len(hits) == (1 if {"-n", "-n1"} & set(words) else len(found))


def test_a_mistyped_option_is_told(root: Path):
    done = nacre("search", root, "text", "--newst")
    assert done.code == 2
    assert "No such option" in done.err


@pytest.mark.parametrize(
    "words", [["site:a.test"], ["text", "--newest"], ["site:a.test", "--explain"]]
)
def test_what_comes_by_time_has_no_score(root: Path, words: list[str]):
    done = nacre("search", root, *words)
    assert done.code == 0, done.err
    assert "score" not in done.out
    assert done.out.index("a.test/3") < done.out.index("a.test/2")
    assert "1970-01-04, html" in done.out


def test_an_index_of_an_older_analysis_is_searched_and_told(root: Path, tmp_path: Path):
    shutil.copytree(root, tmp_path / "old")
    (Layout(tmp_path / "old").search / "analysis").unlink()
    done = nacre("search", tmp_path / "old", "text", "--json")
    assert json.loads(done.out)["total"] == 3
    assert "index --rebuild" in done.err
    assert "rebuild" not in nacre("search", root, "text").err


def test_the_jobs_of_a_collection_are_searched_together(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NACRE_COLLECTIONS", str(tmp_path / "collections"))
    other, empty = tmp_path / "other", tmp_path / "empty"
    shutil.copytree(root, other)
    for job in (root, other, empty):
        job.mkdir(exist_ok=True)
        (job / "crawl.yaml").write_text("seeds: [http://a.test/]\n")
    assert nacre("collection", "图书馆", "add", root, other, empty).code == 0
    done = nacre("search", "图书馆", "--json", "--facet", "site", "library")
    answer = json.loads(done.out)
    assert (answer["total"], len(answer["hits"])) == (2, 2)
    assert answer["facets"] == {"site": {"a.test": 2}}
    paged = json.loads(nacre("search", "图书馆", "--json", "text", "-n", "2", "--offset", "5").out)
    assert (paged["total"], len(paged["hits"])) == (6, 1)
    assert nacre("collection", "leer", "add", empty).code == 0
    failed = nacre("search", "leer", "text")
    assert failed.code == 2
    assert f"`nacre index`: {empty}" in failed.err.replace("\n", "")
