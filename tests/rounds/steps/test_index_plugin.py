"""A filter and a writer of another package, those of docs/plugins.md, make an index."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nacre.search.filters import FILTERS
from nacre.search.settings import IndexSettings
from nacre.search.writer_kinds import WRITERS
from tests.cli.site import ServedPage, nacre, site
from tests.config.plugin_package import plugged_in

IMPORTS = """
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from nacre.plugin import (
    DocumentFilter,
    DocumentWriter,
    SearchDocument,
    StorageError,
    WriterSettings,
    setting,
)
"""
DOCS = Path(__file__).parents[3] / "docs" / "plugins.md"
SAID = (
    "--set",
    "cycle.index.filters=[{filter: long-pages, least: 3}]",
    "--set",
    "cycle.index.writers=[titles, {writer: jsonl, remove: [content]}]",
)


@pytest.fixture
def _installed(tmp_path: Path) -> Iterator[None]:
    text = DOCS.read_text("utf-8")
    sections = text[text.index("## A filter of documents") : text.index("## A report")]
    module = IMPORTS + "\n\n".join(re.findall(r"```python\n(.*?)```", sections, re.DOTALL))
    parts = {"long-pages": "LongPages", "titles": "Titles"}
    folder = tmp_path / "site-packages"
    with plugged_in(folder, "title_pages", module, parts, FILTERS, WRITERS):
        yield


def pages() -> dict[str, ServedPage]:
    return {
        "/": "<title>Start</title><p>these are five words here</p><a href=/s></a><a href=/g></a>",
        "/s": "<title>Short</title><p>two words</p>",
        "/g": "<title>Going</title><p>this page goes away</p>",
    }


def told(*words: object) -> list[dict[str, Any]]:
    done = nacre(*words, "--json")
    assert done.code == 0, done.err
    results: list[dict[str, Any]] = json.loads(done.out)
    return results


def titles(root: Path) -> list[str]:
    return sorted(json.loads((root / "index" / "titles" / "titles.json").read_bytes()).values())


@pytest.mark.crawl
@pytest.mark.usefixtures("_installed")
def test_batch_rounds_are_indexed_by_both(tmp_path: Path):
    root = tmp_path / "rounds"
    with site(pages()) as home:
        done = nacre("cycle", root, "-s", home, "--rounds", "2", "--delay", "0", *SAID)
        assert done.code == 0, done.err
    results = told("cycle", root, "index")
    assert [one["skipped"] for one in results] == [{"filter": 1}] * 2
    assert titles(root) == ["Going", "Start"]
    (file,) = (root / "index" / "jsonl").glob("documents-*.jsonl")
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert sorted((one["title"], one["words"]) for one in lines) == [
        ("Going", ["4"]),
        ("Start", ["5"]),
    ]


@pytest.mark.crawl
@pytest.mark.usefixtures("_installed")
def test_pages_of_a_continuous_crawl_come_and_go(tmp_path: Path):
    root = tmp_path / "job"
    served = pages()
    with site(served) as home:
        done = nacre("crawl", home, "--out", root, "--delay", "0", *SAID)
        assert done.code == 0, done.err
        told("index", root)
        assert titles(root) == ["Going", "Start"]
        del served["/g"]
        assert nacre("recrawl", root, "--full").code == 0
    told("index", root)
    assert titles(root) == ["Start"]
    told("index", root, "--rebuild")
    assert titles(root) == ["Start"]


@pytest.mark.usefixtures("_installed")
def test_settings_of_both_are_checked():
    said = {"filters": [{"filter": "long-pages", "least": -1}], "writers": [{"writer": "title"}]}
    with pytest.raises(ValueError, match=r"(?s)did you mean `titles`.*least") as caught:
        IndexSettings.model_validate(said)
    assert "greater than or equal to 0" in str(caught.value)


def test_without_the_package_their_names_are_unknown():
    with pytest.raises(ValueError, match=r"there is no filter 'long-pages'"):
        IndexSettings.model_validate({"filters": ["long-pages"]})
    with pytest.raises(ValueError, match=r"there is no writer 'titles'"):
        IndexSettings.model_validate({"writers": ["titles"]})
