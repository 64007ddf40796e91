"""Real servers on the loopback: an OpenSearch, and a Solr with two cores, `pages` and `archive`.

`pages` has Nutch's fields, by the schema of docs/solr. `archive` has the names and kinds of fields
of webarchive-discovery's schema for Solr 9, which SolrWayback 5.4 reads (`SolrUtils`).
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from tests.cli.site import ServedPage, nacre
from tools import maven

DOCS = Path(__file__).parents[3] / "docs" / "solr"

READ_FIELDS = (
    "id", "title", "url", "url_norm", "source_file_path", "source_file", "source_file_offset",
    "domain", "resourcename", "content_type", "content_type_full", "content_type_norm", "hash",
    "type", "crawl_date", "status_code", "content_length", "wayback_date", "content_type_served",
)  # fmt: skip
"""The fields that SolrWayback reads of a page that was answered with 200."""

GBK = (
    "<meta charset=gbk><title>国家图书馆</title><article><p>国家图书馆是国家总书库，"
    "履行国内外图书文献收藏和保护的职责。</p></article>"
)
UTF8 = "<meta charset=utf-8><title>图书</title><p>馆藏的图书在国家的库里。</p>"


def changing_pages(*more: str) -> dict[str, ServedPage]:
    """A web in GBK and UTF-8, of which a test changes `/c`, removes `/v`, and moves `/m`.

    Args:
        more: Names of further pages that the first one links to.
    """
    names = ("g", "u", "c", "v", "m", "n", *more)
    links = "".join(f"<a href=/{one}>x</a>" for one in names)
    return {
        "/": f"<title>Home</title><p>The quick brown fox</p>{links}",
        "/g": GBK.encode("gbk"),
        "/u": UTF8.encode(),
        "/c": "<p>an old text that changes</p>",
        "/v": "<p>this one vanishes</p>",
        "/m": "<p>this one moves</p>",
        "/n": "<meta name=robots content=noindex><p>nobody may find this</p>",
    }


def two_rounds(root: Path, url: str, writers: str) -> None:
    """Crawl a web in two rounds, each page again after a second."""
    done = nacre(
        "cycle", root, "-s", url, "--rounds", "2", "--delay", "0",
        "--set", "recrawl.schedule.nutch.interval=1s",
        "--set", f"cycle.index.writers={writers}",
    )  # fmt: skip
    assert done.code == 0, done.err


LISTS = ("host_surt",)
KINDS = {
    "string": (
        "id", "content_language", "content_type", "content_type_ext", "content_type_full",
        "content_type_norm", "content_type_served", "domain", "hash", "host", "host_surt",
        "last_modified_year", "public_suffix", "record_type", "source_file", "source_file_path",
        "type", "url", "url_norm", "url_path", "url_type",
    ),
    "int": ("content_length", "content_text_length", "crawl_year", "status_code"),
    "long": ("_version_", "source_file_offset", "wayback_date"),
    "date": ("crawl_date", "last_modified"),
    "text": ("content", "resourcename", "text", "title"),
}  # fmt: skip
"""The fields of the schema that are sent, by kind."""

_CLASSES = {
    "string": "StrField", "int": "IntPointField", "long": "LongPointField",
    "date": "DatePointField",
}  # fmt: skip


def archive_schema() -> str:
    """The schema of the core `archive`."""
    kinds = "".join(
        f'<fieldType name="{kind}" class="solr.{name}" docValues="true"/>'
        for kind, name in _CLASSES.items()
    )
    kinds += (
        '<fieldType name="text" class="solr.TextField"><analyzer><tokenizer name="standard"/>'
        '<filter name="lowercase"/></analyzer></fieldType>'
    )
    fields = "".join(
        f'<field name="{name}" type="{kind}" multiValued="{str(name in LISTS).lower()}"/>'
        for kind, names in KINDS.items()
        for name in names
        if name != "text"
    )
    fields += '<field name="text" type="text" stored="false" multiValued="true"/>'
    copies = "".join(f'<copyField source="{one}" dest="text"/>' for one in ("title", "content"))
    return (
        f'<schema name="archive" version="1.6">{kinds}{fields}{copies}'
        "<uniqueKey>id</uniqueKey></schema>"
    )


def _home(folder: Path) -> Path:
    (folder / "solr.xml").write_text("<solr/>")
    for name in ("pages", "archive"):
        place = folder / name / "conf"
        place.mkdir(parents=True)
        (folder / name / "core.properties").write_text(f"name={name}\n")
        for file in ("schema.xml", "solrconfig.xml"):
            shutil.copy(DOCS / file, place)
    place = folder / "archive" / "conf"
    (place / "schema.xml").write_text(archive_schema())
    config = (place / "solrconfig.xml").read_text()
    (place / "solrconfig.xml").write_text(config.replace("title^3 anchor^2 content", "text"))
    return folder


@contextmanager
def real_solr(folder: Path) -> Iterator[str]:
    """The URL of Solr's home on the loopback, above its cores.

    Args:
        folder: An empty folder for its cores.
    """
    with _running("SolrServer.java", maven.SOLR, _home(folder)) as port:
        yield f"http://127.0.0.1:{port}/solr"


@contextmanager
def real_opensearch(folder: Path) -> Iterator[str]:
    """The URL of an OpenSearch of one node, without users.

    Args:
        folder: An empty folder for its data.
    """
    (folder / "config").mkdir()
    with _running("OpenSearchServer.java", maven.OPENSEARCH, folder) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _running(program: str, artifacts: tuple[str, ...], home: Path) -> Iterator[str]:
    """The port of a server that says `ready PORT` when it answers."""
    words = [
        "java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
        f"-Dsolr.solr.home={home}", f"-Dsolr.log.dir={home}", "-cp", f"{maven.jars(*artifacts)}/*",
        str(Path(__file__).with_name(program)), str(home),
    ]  # fmt: skip
    with (home / "log").open("w") as log, subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
    ) as process:  # fmt: skip
        assert process.stdout
        try:
            lines = iter(process.stdout.readline, "")
            port = next((line.split()[1] for line in lines if line.startswith("ready ")), "")
            assert port, (home / "log").read_text()[-3000:]
            yield port
        finally:
            process.kill()


def found(core: str, query: str, **more: str) -> list[dict[str, Any]]:
    """The documents of a core that a query finds, at most a hundred."""
    words = urlencode({"q": query, "rows": "100", "wt": "json", "fl": "*"} | more)
    with urlopen(f"{core}/select?{words}", timeout=60) as answer:
        documents: list[dict[str, Any]] = json.load(answer)["response"]["docs"]
    return documents
