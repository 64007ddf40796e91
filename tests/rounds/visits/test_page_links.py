"""Links of pages by number, and verdicts on them."""

import tracemalloc
from collections.abc import Sequence

import pytest

from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Visit
from nacre.rounds.visits import page_links
from nacre.rounds.visits.page_links import (
    AcceptedLinks,
    LinkFact,
    LinksByNumber,
    PageLinks,
    numbered,
)


class Judging:
    """Candidates that accept what is not on `no.test`, in an upper case normal form."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def accepted(
        self, parent: CrawlURI, links: Sequence[Outlink]
    ) -> list[tuple[Outlink, CrawlURI]]:
        self.asked += [link.url for link in links]
        return [
            (Outlink(link.url + "#", link.hop, link.context), parent)
            for link in links
            if "no.test" not in link.url
        ]


def visited(*urls: str, path: str = "", hop: Hop = Hop.LINK) -> Visit:
    uri = CrawlURI("http://a.test/", b"k" * 16, "test,a,", path=path)
    links = [Outlink(url, hop, "a/@href", rank=rank) for rank, url in enumerate(urls)]
    return Visit(uri, 200, outlinks=links)


def test_a_link_is_judged_once_on_each_way():
    judging = Judging()
    links = AcceptedLinks(judging)  # type: ignore[arg-type]  # the one method of Candidates
    for _ in range(3):
        found, redirects = links.of(visited("http://b.test/", "http://no.test/"))
        assert (len(found), redirects) == (1, [])
    assert judging.asked == ["http://b.test/", "http://no.test/"]
    links.of(visited("http://b.test/", path="LL"))
    assert judging.asked[2:] == ["http://b.test/"]


def test_redirects_are_judged_each_time_and_given_to_the_frontier():
    judging = Judging()
    links = AcceptedLinks(judging)  # type: ignore[arg-type]  # as above
    for _ in range(2):
        found, redirects = links.of(visited("http://b.test/", hop=Hop.REDIRECT))
        assert [link[1] for link in found.new] == ["R"]
        assert len(redirects) == 1
    assert len(judging.asked) == 2


def read(pages: Sequence[PageLinks]) -> list[list[str]]:
    """The URLs of the links of rows in their order."""
    links: list[LinkFact] = []
    book = LinksByNumber(links.extend)
    return [[links[place][0] for place in book.places(page)] for page in pages]


def made(links: AcceptedLinks, *pages: Sequence[str]) -> list[PageLinks]:
    return [links.of(visited(*urls))[0] for urls in pages]


ONE, TWO, THREE = (f"http://b.test/{name}" for name in ("1", "书", "3"))
PAGES = [(ONE, TWO, ONE), (), ("http://no.test/", TWO, THREE), (THREE, ONE)]
READ = [[f"{url}#" for url in urls if "no.test" not in url] for urls in PAGES]


def test_a_link_is_written_out_in_the_first_row_that_has_it():
    rows = made(AcceptedLinks(Judging()), *PAGES)  # type: ignore[arg-type]  # as above
    assert [[link[0] for link in row.new] for row in rows] == [
        [f"{ONE}#", f"{TWO}#"], [], [f"{THREE}#"], [],
    ]  # fmt: skip
    assert read(rows) == READ
    assert rows[2].every_rank().tolist() == [1, 2]
    assert [len(row) for row in rows] == [3, 0, 2, 2]


def test_rows_behind_a_cut_can_be_read_alone():
    links = AcceptedLinks(Judging())  # type: ignore[arg-type]  # as above
    before = made(links, *PAGES)
    links.begin_anew()
    behind = made(links, *PAGES)
    assert read(behind) == READ
    assert read([*before, *behind]) == READ * 2
    assert read([*before, numbered([((ONE, "L", "", "", ""), 0)]), *behind])[4] == [ONE]


def test_a_link_that_was_forgotten_has_another_number(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(page_links, "_NUMBERED", 2)
    monkeypatch.setattr(page_links, "_KNOWN", 1)
    rows = made(AcceptedLinks(Judging()), *PAGES * 3)  # type: ignore[arg-type]  # as above
    assert read(rows) == READ * 3
    assert sum(len(row.new) for row in rows) > 3


@pytest.mark.slow
def test_long_links_take_no_more_memory_than_others():
    links = AcceptedLinks(Judging())  # type: ignore[arg-type]  # as above
    judging = links._candidates
    tracemalloc.start()
    try:
        for number in range(15_000):
            found, _ = links.of(visited(f"http://b.test/{number:02000}", path="L" * (number % 9)))
            assert len(found) == 1
            judging.asked.clear()  # type: ignore[attr-defined]  # as above
        assert tracemalloc.get_traced_memory()[0] < 60_000_000
    finally:
        tracemalloc.stop()


def test_embeds_are_asked_for_on_each_page_that_has_them():
    links = AcceptedLinks(Judging())  # type: ignore[arg-type]  # as above
    asked: list[str] = []

    def wanted(url: str) -> bool:
        asked.append(url)
        return url.endswith("1#")

    for _ in range(2):
        found, targets = links.of(visited(ONE, TWO, ONE, hop=Hop.EMBED), wanted)
        assert (len(found), len(targets)) == (3, 2)
    assert asked == [f"{url}#" for url in (ONE, TWO, ONE)] * 2


@pytest.mark.parametrize("number", [0, 1, 100, 101, 250])
def test_ranks_that_are_not_written_are_the_numbers_from_0(number: int):
    links = [((f"http://a.test/{at}", "L", "", "a/@href", ""), at) for at in range(number)]
    page = numbered(links)
    assert page.ranks == b""
    assert page.every_rank().tolist() == list(range(number))
    page.every_rank().append(7)  # it is the caller's own
    assert page.every_rank().tolist() == list(range(number))
