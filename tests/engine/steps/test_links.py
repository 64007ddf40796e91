"""Processors that add links to those of a page, or drop some."""

import pytest
from pydantic import ValidationError

from nacre.core.crawluri import Hop
from nacre.engine.chain.entry import PROCESSORS
from nacre.engine.steps.links import add_links
from tests.engine.steps.test_content import page, urls, worked

IMPLIED = {"regex": "(.*)/index.html", "format": "$1/feed.xml"}
INDEX, OTHER, FEED = "http://b.test/x/index.html", "http://b.test/y", "http://b.test/x/feed.xml"


@pytest.mark.parametrize(
    ("links", "drops", "expected"),
    [
        ((INDEX, OTHER), False, [INDEX, OTHER, FEED]),
        ((INDEX, OTHER), True, [OTHER, FEED]),
        ((OTHER,), True, [OTHER]),
        ((INDEX, FEED), False, [INDEX, FEED]),
        ((), False, []),
    ],
)
def test_links_that_others_imply(links: tuple[str, ...], drops: bool, expected: list[str]):
    said = IMPLIED | {"remove_trigger_uris": drops}
    visit = worked("extract-implied-uri", page(links=links), **said)
    assert urls(visit) == expected
    added = [link for link in visit.outlinks if link.url == FEED and FEED not in links]
    assert [(link.hop, link.context) for link in added] == [
        (Hop.INFERRED, "=INFERRED_MISC") for _ in added
    ]


def test_without_a_format_nothing_is_implied_and_nothing_dropped():
    visit = worked("extract-implied-uri", page(links=(INDEX,)), remove_trigger_uris=True)
    assert urls(visit) == [INDEX]


def test_urls_within_links_are_guesses():
    link = "http://b.test/go?to=http%3A%2F%2Fc.test%2Fz"
    visit = worked("extract-uri", page(links=(link,)))
    assert urls(visit) == [link, "http://c.test/z"]
    assert (visit.outlinks[1].hop, visit.outlinks[1].rank) == (Hop.SPECULATIVE, 1)


@pytest.mark.parametrize(
    ("rules", "left"),
    [
        ("accept", [INDEX, OTHER]),
        ("reject", []),
        (["reject", {"rule": "matches-regex", "regex": ".*/y"}], [OTHER]),
        ([{"rule": "matches-regex", "regex": ".*/y"}], [OTHER]),
        (["accept", {"rule": "too-many-hops", "max_hops": 1}], []),
    ],
)
def test_links_that_the_rules_do_not_accept_are_dropped(rules: object, left: list[str]):
    visit = worked("supplementary-links", page(links=(INDEX, OTHER)), rules=rules)
    assert urls(visit) == left


def test_no_rules_at_all_are_refused():
    with pytest.raises(ValidationError, match="without a rule no link is accepted"):
        PROCESSORS.read({"processor": "supplementary-links", "rules": []})


def test_links_are_added_once_with_their_rank_and_only_of_the_web():
    visit = page(links=(OTHER,))
    texts = ["http://c.test", OTHER, "http://c.test/", "ftp://c.test/", "//", "mailto:x@c.test"]
    add_links(visit, texts, Hop.INFERRED, "x")
    assert [(link.url, link.rank) for link in visit.outlinks[1:]] == [("http://c.test/", 1)]
    before = visit.outlinks
    add_links(visit, [OTHER], Hop.INFERRED, "x")
    assert visit.outlinks is before
