import pytest

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.links import LinkCollector, is_never_fetched
from nacre.extract.settings import ExtractSettings

BASE = "http://a.test/dir/page.html"


def collector(**settings: int) -> LinkCollector:
    return LinkCollector(Document(url=BASE), ExtractSettings(**settings))  # type: ignore[arg-type]


def test_a_link_is_resolved_ranked_and_loses_its_fragment():
    links = collector()
    links.add("x.html#part", Hop.LINK, "a/@href", rel="next", text="Next")
    links.add("/y", Hop.EMBED, "img/@src")
    first, second = links.outlinks
    assert (first.url, first.rel, first.text, first.rank) == (
        "http://a.test/dir/x.html",
        "next",
        "Next",
        0,
    )
    assert (second.url, second.hop, second.rank) == ("http://a.test/y", Hop.EMBED, 1)


def test_the_same_url_counts_once_per_hop_and_context():
    links = collector()
    for href, context in [("x", "a/@href"), ("./x", "a/@href"), ("x#y", "a/@href"), ("x", "q")]:
        links.add(href, Hop.LINK, context)
    assert [link.context for link in links.outlinks] == ["a/@href", "q"]


@pytest.mark.parametrize("href", ["", "#", "#top", " ", "\n\t"])
def test_an_empty_reference_is_the_page(href: str):
    links = collector()
    links.add(href, Hop.LINK, "a/@href")
    assert [link.url for link in links.outlinks] == [BASE]


@pytest.mark.parametrize(
    "href",
    ["data:,x", "DATA:,x", " javascript:void(0)", "mailto:a@b.test", "tel:+1", "blob:http://a/b"],
)
def test_what_no_crawl_fetches_is_dropped_silently(href: str):
    links = collector()
    links.add(href, Hop.LINK, "a/@href")
    assert is_never_fetched(href)
    assert (links.outlinks, links.errors, links.dropped) == ([], [], 0)


def test_a_colon_in_a_path_is_no_scheme():
    links = collector()
    links.add("page;a=b:c?d=e:f", Hop.LINK, "a/@href")
    assert links.outlinks[0].url == "http://a.test/dir/page;a=b:c?d=e:f"


def test_links_beyond_the_limit_are_counted_once_each():
    links = collector(max_outlinks=2)
    for href in ["a", "b", "c", "d", "c", "c#x"]:
        links.add(href, Hop.LINK, "a/@href")
    assert [link.url[-1] for link in links.outlinks] == ["a", "b"]
    assert links.dropped == 2


def test_what_makes_no_uri_is_an_error_of_which_a_hundred_are_kept():
    links = collector()
    for number in range(150):
        links.add(f"http://[{number}", Hop.LINK, "a/@href")
    assert links.outlinks == []
    assert len(links.errors) == 100
    assert links.errors[0][0] == "http://[0"


def test_a_long_reference_is_an_error_and_is_cut():
    links = collector()
    links.add("x" * 100_000, Hop.LINK, "a/@href")
    assert len(links.errors[0][0]) == 2083


def test_another_base_counts_for_what_follows():
    links = collector()
    links.add("x", Hop.LINK, "a/@href")
    links.rebase("http://b.test/sub/")
    links.add("x", Hop.LINK, "a/@href")
    assert [link.url for link in links.outlinks] == ["http://a.test/dir/x", "http://b.test/sub/x"]


def test_a_base_that_is_none_changes_nothing():
    links = collector()
    links.rebase("::")
    assert links.base == BASE
    assert links.errors


def test_queries_are_written_in_the_encoding_of_the_page():
    document = Document(url=BASE)
    links = LinkCollector(document, ExtractSettings(), "cp1252")
    links.add("?q=é", Hop.LINK, "a/@href")
    assert links.outlinks[0].url == BASE + "?q=%E9"
