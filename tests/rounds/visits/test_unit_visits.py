"""Rows of visits, and failures of hosts."""

from collections.abc import Sequence

import pytest

from nacre.rounds.visits.page_links import numbered
from nacre.rounds.visits.unit_visits import (
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
        numbered([(("http://a.test/中文?q=%C4%E3", "L", "", "a/@href", "中文"), 0)]),
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


def test_rows_from_a_cut_on_need_none_before(store: Store):
    facts = VisitFacts(store)
    heard: list[int] = []
    facts.when_cut(lambda: heard.append(facts.next))
    facts.add(fact(0))
    assert (facts.cut(), heard) == (1, [1])
