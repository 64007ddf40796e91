"""Rows of visits, failures of hosts, and verdicts on links."""

from collections.abc import Sequence

import pytest

from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Visit
from nacre.job.unit_visits import (
    AcceptedLinks,
    HostFailures,
    NotAttempted,
    VisitFact,
    VisitFacts,
    given_up_hosts,
)
from nacre.store.store import Store
from tests.store.memory import MemoryEngine


def fact(number: int) -> VisitFact:
    return VisitFact(
        f"http://a.test/{number}", 200, "", "", "", 1, 2, 3, 4, "sha1:X", "text/html", "", b"",
        "127.0.0.1", None, (), "", False, "", 1, "novel", "x.warc.gz", 5, 1, "", (), b"", b"",
        [("http://a.test/中文?q=%C4%E3", "L", "", "a/@href", "中文", 0)],
    )  # fmt: skip


@pytest.fixture
def store() -> Store:
    return Store(MemoryEngine())


def test_rows_come_in_order_and_are_forgotten_up_to_a_number(store: Store):
    facts = VisitFacts(store)
    for number in range(300):
        facts.add(fact(number))
    facts.seal()
    assert [row.url for row in facts.rows(257)] == [fact(number).url for number in range(257)]
    facts.forget(257)
    again = VisitFacts(store)
    assert again.next == 300
    assert [row.url for row in again.rows(again.next)] == [fact(n).url for n in range(257, 300)]
    assert next(again.rows(300)).links == fact(0).links


def test_numbers_are_not_given_again_when_all_rows_are_gone(store: Store):
    facts = VisitFacts(store)
    facts.add(fact(0))
    facts.forget(1)
    facts.seal()
    assert VisitFacts(store).next == 1


@pytest.mark.parametrize(
    ("statuses", "why"),
    [
        ([503] * 5, NotAttempted.BLOCKED),
        ([403, 403, 429, 503, 403], NotAttempted.BLOCKED),
        ([-2] * 5, NotAttempted.FAILURES),
        ([500] * 5, NotAttempted.FAILURES),
        ([-2, -2, -2, -2, 404, -2], None),
        ([404] * 9, None),
        ([-9998] * 9, None),
        ([200, 301, 304], None),
    ],
)
def test_a_host_is_given_up_after_failures_in_a_row(
    store: Store, statuses: Sequence[int], why: NotAttempted | None
):
    failures = HostFailures(store, 5)
    said = [failures.note("例子.test", status) for status in statuses]
    assert said[-1] == why
    assert not any(said[:-1])
    assert given_up_hosts(store) == ({"例子.test": why} if why else {})
    # It is told once.
    assert failures.note("例子.test", -2) is None


def test_no_host_is_given_up_where_there_is_no_limit(store: Store):
    failures = HostFailures(store, 0)
    assert not any(failures.note("a.test", -2) for _ in range(50))


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
    return Visit(uri, 200, outlinks=[Outlink(url, hop, "a/@href") for url in urls])


def test_a_link_is_judged_once_on_each_way():
    judging = Judging()
    links = AcceptedLinks(judging)  # type: ignore[arg-type]  # the one method of Candidates
    for _ in range(3):
        found, redirects = links.of(visited("http://b.test/", "http://no.test/"))
        assert ([link[0] for link in found], redirects) == (["http://b.test/#"], [])
    assert judging.asked == ["http://b.test/", "http://no.test/"]
    links.of(visited("http://b.test/", path="LL"))
    assert judging.asked[2:] == ["http://b.test/"]


def test_redirects_are_judged_each_time_and_given_to_the_frontier():
    judging = Judging()
    links = AcceptedLinks(judging)  # type: ignore[arg-type]  # as above
    for _ in range(2):
        found, redirects = links.of(visited("http://b.test/", hop=Hop.REDIRECT))
        assert [link[1] for link in found] == ["R"]
        assert len(redirects) == 1
    assert len(judging.asked) == 2
