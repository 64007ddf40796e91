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
