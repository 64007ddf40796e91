"""Words of pages, mixed with the filters of captures."""

from pathlib import Path

import msgspec
import pytest

from nacre.catalogue.build import update_catalogue
from nacre.catalogue.filters import CatalogueQuery
from nacre.catalogue.holdings import open_holding
from nacre.catalogue.words import search_by_words
from nacre.errors import ConfigError, JobError
from nacre.search.document import SearchDocument
from nacre.search.local_index import LocalWriter
from tests.catalogue.given_job import add_index, line


def job(root: Path, texts: dict[str, str]) -> None:
    """A job with pages in its index of words."""
    lines = []
    documents = []
    for number, (path, text) in enumerate(texts.items()):
        url = f"http://h.test/{path}"
        status = 404 if "gone" in path else 200
        lines.append(line(url, f"202611{20 + number}100000", number, status=status))
        documents.append(
            SearchDocument(
                id=url, url=url, title=path, content=text, tstamp=1000 * number,
                warc_filename="a.warc.gz", warc_offset=number,
            )
        )  # fmt: skip
    add_index(root, lines)
    writer = LocalWriter(root / "index" / "search")
    writer.open()
    writer.write(documents)
    writer.commit()
    writer.close()
    update_catalogue(open_holding([root]).members[0])


def paths(root: Path, **fields: object) -> list[str]:
    """The pages that are found, from all pages of the list."""
    query = msgspec.convert({"words": "library", **fields}, CatalogueQuery)
    holding, urls = open_holding([root]), []
    while True:
        page = search_by_words(holding, query)
        assert len(page.items) <= query.limit
        urls += [item.capture.url[14:] for item in page.items]
        if not page.next:
            return urls
        query = msgspec.structs.replace(query, cursor=page.next)


TEXTS = {
    "library": "the library of the library", "far": f"a library {'and words ' * 50}",
    "gone": "this library is closed", "none": "nothing", "中文": "国家图书馆",
}  # fmt: skip


def test_words_and_filters_are_combined(tmp_path):
    job(tmp_path, TEXTS)
    assert paths(tmp_path)[0] == "library"
    assert set(paths(tmp_path)) == {"library", "far", "gone"}
    assert paths(tmp_path, limit=1) == paths(tmp_path)
    assert paths(tmp_path, order="newest") == ["gone", "far", "library"]
    assert paths(tmp_path, status="404") == ["gone"]
    assert paths(tmp_path, prefix="h.test/l") == ["library"]
    assert paths(tmp_path, start="2026-11-21", end="2026-11-21") == ["far"]
    assert paths(tmp_path, words="图书馆") == ["中文"]
    assert paths(tmp_path, words="museum") == []


def test_a_job_without_an_index_of_words_is_an_error(tmp_path):
    add_index(tmp_path, [])
    with pytest.raises(JobError, match="nacre index"):
        paths(tmp_path)


def test_a_query_that_means_nothing_is_an_error(tmp_path):
    job(tmp_path, TEXTS)
    with pytest.raises(ConfigError):
        paths(tmp_path, words="-")
    with pytest.raises(ConfigError):
        paths(tmp_path, cursor="kwE")


def test_the_newest_of_several_jobs_come_first(tmp_path):
    job(tmp_path / "one", {"a": "library library", "b": "a library", "c": "library of books"})
    job(tmp_path / "two", {"d": "library", "e": "library library library", "f": "the library"})
    holding = open_holding([tmp_path / "one", tmp_path / "two"])
    query = CatalogueQuery(words="library", order="newest")
    times = [item.capture.timestamp for item in search_by_words(holding, query).items]
    assert len(times) == 6
    assert times == sorted(times, reverse=True)
