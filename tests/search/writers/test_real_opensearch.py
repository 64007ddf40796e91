"""The writer of OpenSearch with a real OpenSearch 2, which Maven brings."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.cli.site import nacre, site
from tests.search.writers.real_servers import changing_pages, real_opensearch, two_rounds
from tools import maven

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(maven.missing()), reason=f"no server without {maven.missing()}"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_opensearch(tmp_path_factory.mktemp("opensearch")) as url:
        yield url


def asked(url: str, query: dict[str, Any]) -> list[str]:
    """The last parts of the URLs of the documents that a query finds."""
    body = json.dumps({"query": query, "size": 100}).encode()
    request = Request(f"{url}/pages/_search", body, {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as answer:
        hits = json.load(answer)["hits"]["hits"]
    return sorted(hit["_source"]["url"].rpartition("/")[2] for hit in hits)


def phrase(url: str, words: str) -> list[str]:
    return asked(url, {"multi_match": {"query": words, "type": "phrase",
                                       "fields": ["title", "content", "anchor"]}})  # fmt: skip


def everything(url: str) -> list[str]:
    return asked(url, {"match_all": {}})


def indexed(root: Path, *words: str) -> None:
    done = nacre("cycle", root, "index", *words)
    assert done.code == 0, done.err


def test_pages_come_change_and_go_in_opensearch(tmp_path, home):
    root = tmp_path / "库"
    long = "z" * 600
    pages = changing_pages(long)
    pages[f"/{long}"] = "<p>a page with a long URL</p>"
    writer = {"writer": "opensearch", "urls": [home], "index": "pages", "batch": 2}
    with site(pages) as url:
        two_rounds(root, url, json.dumps([writer]))
        indexed(root)
        assert phrase(home, "国家图书馆") == ["g"], "the other page has the characters, apart"
        assert phrase(home, "图书") == ["g", "u"]
        assert phrase(home, "Brown fox") == [""]
        assert asked(home, {"term": {"host": "127.0.0.1"}}) == everything(home)
        assert everything(home) == ["", "c", "g", "m", "u", "v", long]
        pages["/c"] = "<p>a text that is another now</p>"
        del pages["/v"], pages[f"/{long}"]
        pages["/m"] = (301, "/g")
        later = ["--rounds", "1", "--at", "2030-01-01T00:00:00Z"]
        assert nacre("cycle", root, *later).code == 0
    indexed(root)
    assert everything(home) == ["", "c", "g", "u"]
    assert (phrase(home, "another now"), phrase(home, "old text")) == (["c"], [])
    indexed(root, "--rebuild")
    assert everything(home) == ["", "c", "g", "u"]


def test_a_field_of_another_kind_is_refused_by_name(tmp_path, home):
    root = tmp_path / "job"
    body = json.dumps({"mappings": {"properties": {"title": {"type": "long"}}}}).encode()
    fields = {"Content-Type": "application/json"}
    urlopen(Request(f"{home}/other", body, fields, method="PUT"), timeout=60).close()
    writer = {"writer": "opensearch", "urls": [home], "index": "other"}
    with site({"/": "<title>no number</title>"}) as url:
        done = nacre("cycle", root, "-s", url, "--rounds", "1", "--delay", "0",
                     "--set", f"cycle.index.writers={json.dumps([writer])}")  # fmt: skip
        assert done.code == 0, done.err
    refused = nacre("cycle", root, "index")
    assert refused.code != 0
    assert f"OpenSearch refuses {url}" in refused.err
    assert "failed to parse field [title] of type [long]" in refused.err
