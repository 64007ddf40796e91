"""The writer of Solr with a real Solr 9, which Maven brings: a web in GBK and UTF-8 is indexed."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.site import nacre, site
from tests.search.writers.real_servers import (
    KINDS,
    READ_FIELDS,
    changing_pages,
    found,
    real_solr,
    two_rounds,
)
from tools import maven

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(maven.missing()), reason=f"no Solr without {maven.missing()}"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_solr(tmp_path_factory.mktemp("solr")) as url:
        yield url


def settings(home: str, warcs: Path) -> str:
    return json.dumps(
        [
            "local",
            {"writer": "solr", "url": f"{home}/pages", "batch": 2},
            {
                "writer": "solr",
                "name": "wayback",
                "url": f"{home}/archive",
                "mapping": "webarchive-discovery",
                "warc_folder": str(warcs),
            },
        ]
    )


def told(root: Path, *words: str) -> dict[str, Any]:
    done = nacre("cycle", root, "index", "--json", *words)
    assert done.code == 0, done.err
    numbers: dict[str, Any] = json.loads(done.out)
    return numbers


def names(core: str, query: str, **more: str) -> list[str]:
    return sorted(one["url"].rpartition("/")[2] for one in found(core, query, **more))


def record_url(document: dict[str, Any]) -> str:
    """The URL of the record at the place that a document names, as SolrWayback reads it."""
    with Path(document["source_file_path"]).open("rb") as file:
        file.seek(document["source_file_offset"])
        head, _, _ = gzip.GzipFile(fileobj=file).read(4_000).partition(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode().splitlines()[1:])
    return fields["WARC-Target-URI"]


def test_pages_come_change_and_go_in_solr(tmp_path, home):
    root = tmp_path / "库"
    pages = changing_pages()
    core, archive = f"{home}/pages", f"{home}/archive"
    warcs = root / "cycle" / "archive"
    with site(pages) as url:
        two_rounds(root, url, settings(home, warcs))
        told(root)
        assert names(core, "国家图书馆") == ["g"], "the other page has the characters, apart"
        assert names(core, "图书") == ["g", "u"]
        assert names(core, '"brown fox"') == names(core, "FOX") == [""]
        assert names(core, "*:*") == ["", "c", "g", "m", "u", "v"]
        assert names(archive, '"国家图书馆"') == ["g"]
        (page,) = found(archive, "title:国家图书馆")
        assert [one for one in READ_FIELDS if one not in page] == []
        assert set(page) <= {name for kind in KINDS.values() for name in kind}
        assert page["url_norm"] == "http://127.0.0.1/g"
        stored = found(archive, "*:*")
        assert [record_url(one) for one in stored] == [one["url"] for one in stored]
        pages["/c"] = "<p>a text that is another now</p>"
        del pages["/v"]
        pages["/m"] = (301, "/g")
        later = ["--rounds", "1", "--at", "2030-01-01T00:00:00Z"]
        assert nacre("cycle", root, *later).code == 0
    told(root)
    for one in (core, archive):
        assert names(one, "*:*") == ["", "c", "g", "u"]
    assert names(core, "another") == ["c"]
    assert names(core, "old") == []
    told(root, "--rebuild", "--writer", "solr")
    assert names(core, "*:*") == ["", "c", "g", "u"]


def test_a_field_that_the_schema_has_not_is_named(tmp_path, home):
    root = tmp_path / "job"
    writer = json.dumps([{"writer": "solr", "url": f"{home}/pages", "rename": {"title": "t"}}])
    with site({"/": "<title>T</title>"}) as url:
        done = nacre("cycle", root, "-s", url, "--rounds", "1", "--delay", "0",
                     "--set", f"cycle.index.writers={writer}")  # fmt: skip
        assert done.code == 0, done.err
    refused = nacre("cycle", root, "index")
    assert refused.code != 0
    assert "unknown field 't'" in refused.err
