import pytest
from msgspec import structs

from nacre.core.crawluri import PROBE, CrawlURI, Hop, hop_count, split_path
from nacre.core.processor import Visit


def uri(url: str = "http://a.test/x", path: str = "L", **facts: object) -> CrawlURI:
    made = CrawlURI(url, b"k" * 8, "test,a,", path=path)
    return structs.replace(made, **facts)


def test_attempts_without_a_usable_reply_are_counted_apart():
    tried = uri(attempts=7, throttled=1, truncated=2, starved=3)
    assert tried.unreachable == 1


@pytest.mark.parametrize(
    ("url", "path", "heritable", "guess"),
    [
        ("http://a.test/favicon.ico", "I", {}, True),
        ("http://a.test/x", "I", {PROBE: "1"}, True),
        ("http://a.test/x", "L", {PROBE: "1"}, False),
        ("http://a.test/x", "I", {}, False),
    ],
)
def test_what_nobody_linked_to_is_a_guess_of_the_crawler(
    url: str, path: str, heritable: dict[str, str], guess: bool
):
    assert uri(url, path, heritable=heritable, via="http://a.test/").is_own_guess is guess


@pytest.mark.parametrize(
    ("path", "is_one"), [("LP", True), ("P", True), ("PL", False), ("", False)]
)
def test_the_last_hop_says_whether_it_is_a_prerequisite(path: str, is_one: bool):
    assert uri(path=path).is_prerequisite is is_one


@pytest.mark.parametrize(
    ("path", "hops", "letters"), [("", 0, ""), ("LLE", 3, "LLE"), ("12+LE", 14, "LE")]
)
def test_a_long_path_is_cut_and_its_hops_are_counted(path: str, hops: int, letters: str):
    assert (hop_count(path), split_path(path)[1]) == (hops, letters)


def test_an_annotation_is_written_once_and_in_order():
    visit = Visit(uri())
    for text in ("b", "a", "b"):
        visit.annotate(text)
    assert visit.annotations == ["b", "a"]
    assert str(Hop.EMBED) == "E"
