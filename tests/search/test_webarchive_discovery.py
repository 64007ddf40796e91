"""Documents in the fields of webarchive-discovery's schema."""

import pytest

from nacre.search.document import SearchDocument, place_document
from nacre.search.webarchive_discovery import content_norm, discovery_fields, normal_url


def test_fields():
    found = discovery_fields(
        place_document(
            SearchDocument(
                id="https://www.foo.example.co.uk/a/%E4%B9%A6.HTML",
                url="https://www.foo.example.co.uk/a/%E4%B9%A6.HTML",
                title="书",
                content="文字",
                type="text/html",
                lang="zh-cn",
                tstamp=1_700_000_000_000,
                modified=1_600_000_000_000,
                digest="sha1:ABC",
                warc_filename="x.warc.gz",
                warc_offset=7,
            )
        ),
        "",
    )
    assert found["url_norm"] == "http://foo.example.co.uk/a/书.html"
    assert found["resourcename"] == "书.HTML"
    assert found["content_type_ext"] == "html"
    assert found["content_type_norm"] == "html"
    assert found["content_language"] == "zh"
    assert (found["domain"], found["public_suffix"]) == ("example.co.uk", "co.uk")
    assert found["host_surt"][:2] == ["(uk,", "(uk,co,"]
    assert (found["crawl_date"], found["crawl_year"]) == ("2023-11-14T22:13:20Z", 2023)
    assert found["last_modified_year"] == "2020"
    assert (found["source_file_path"], found["source_file_offset"]) == ("x.warc.gz", 7)
    assert found["hash"] == "sha1:ABC"


def test_the_folder_of_a_run_and_numbers_that_fit():
    one = SearchDocument(id="http://x.org/", segment="2026", warc_filename="x.warc", length=2**40)
    found = discovery_fields(one, "/job/runs/{segment}/archive/")
    assert found["source_file_path"] == "/job/runs/2026/archive/x.warc"
    assert found["content_length"] == 2**31 - 1
    empty = discovery_fields(SearchDocument(id="http://x.org/"), "")
    assert empty["content_length"] == empty["content_text_length"] == 0


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("https://Example.org", "http://example.org/"),
        ("http://www2.example.org:8080/", "http://example.org/"),
        ("http://www.org/a//", "http://www.org/a"),
        ("http://example.org/a?b=/#c", "http://example.org/a?b="),
        ("http://example.org/%ff%41", "http://example.org/%ff%41"),
        ("ftp://x/Y", "ftp://x/y"),
    ],
)
def test_normal_url(url, normal):
    assert normal_url(url) == normal


@pytest.mark.parametrize(
    ("media_type", "norm"),
    [
        ("application/xhtml+xml", "html"),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "excel"),
        ("application/vnd.oasis.opendocument.text", "word"),
        ("text/csv", "text"),
        ("application/epub+zip", "other"),
    ],
)
def test_content_norm(media_type, norm):
    assert content_norm(media_type) == norm
