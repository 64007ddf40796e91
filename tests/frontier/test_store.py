"""The frontier over the real store."""

from hashlib import blake2b
from pathlib import Path
from time import thread_time
from typing import Any

import pytest

from nacre.engine.outcomes import Outcome, Outcomes, scan_outcomes
from nacre.frontier.frontier import Attempt
from nacre.frontier.pending import count, pending
from nacre.frontier.policy import Retry
from nacre.frontier.queue_cache import scan_queues
from nacre.frontier.queues import read_totals
from nacre.frontier.seen import SeenSet
from nacre.store.store import Store
from tests.frontier.making import NOW, candidate, drain, frontier


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state")


def _cached(store: Any) -> int:
    """Bytes of blocks in the cache of a store."""
    return int(store.engine._db.property_int_value("rocksdb.block-cache-usage"))


def test_goes_on_where_it_was_committed(path: str) -> None:
    with Store.open(path) as store:
        front = frontier(store)
        front.schedule([candidate(host, str(n)) for host in "abc" for n in range(50)], NOW)
        for _ in range(40):
            uri = front.next(NOW, 0)
            assert uri is not None
            front.finished(uri, Attempt(200), 0)
        out = [front.next(NOW, 0) for _ in range(3)]
        assert None not in out
        front.save()
        store.commit()
        lost = out[0]
        assert lost is not None
        front.finished(lost, Attempt(200), 0)
        front.schedule([candidate("d", "0")], NOW)
    with Store.open(path, read_only=True) as store:
        assert count(store) == sum(1 for _ in pending(store)) == 110
        assert read_totals(store).queued == 110
    with Store.open(path) as store:
        front = frontier(store)
        assert front.totals.succeeded == 40
        urls = drain(front)
        assert len(urls) == len(set(urls)) == 110
        assert lost.url in urls
        assert front.is_empty
        assert not list(store.scan("wake", b""))


def test_popping_does_not_slow_down_over_what_was_deleted(path: str) -> None:
    """From 20 µs to 3 ms without a cursor, at 20,000."""
    spent = []
    with Store.open(path) as store:
        front = frontier(store)
        front.schedule([candidate("a", str(n)) for n in range(6000)], NOW)
        for n in range(6000):
            began = thread_time()
            uri = front.next(NOW, 0)
            assert uri is not None
            front.finished(uri, Attempt(200), 0)
            spent.append(thread_time() - began)
            if n % 256 == 0:
                front.save()
                store.commit()
    early, late = sorted(spent[:2000])[1000], sorted(spent[-2000:])[1000]
    assert late < 4 * early


def test_a_start_scans_nothing(path: str) -> None:
    with Store.open(path) as store:
        front = frontier(store)
        front.schedule([candidate(f"h{n}", "0") for n in range(3000)], NOW)
        uri = front.next(NOW, 0)
        assert uri is not None
        front.retry(uri, Attempt(-2), Retry(NOW + 60), NOW, 0)
        front.save()
        store.commit()
    with Store.open(path) as store:
        read = [0]
        inner = store.engine.rows

        def counted(family, start, stop, *, once=False):
            for row in inner(family, start, stop, once=once):
                read[0] += 1
                yield row

        store.engine.rows = counted  # type: ignore[method-assign]  # counts what is read
        front = frontier(store)
        assert front.next(NOW, 0) is not None
        assert read[0] < 200


@pytest.mark.parametrize(
    ("read", "most"), [(pending, 600_000), (scan_queues, 40_000), (scan_outcomes, 40_000)]
)
def test_lists_of_everything_leave_the_cache_to_others(path: str, read: Any, most: int) -> None:
    """`pending` looks up the row of each queue, which stays; else it had three times as much."""
    with Store.open(path) as store:
        front = frontier(store)
        for host in range(3000):
            front.schedule([candidate(f"h{host}.test", str(n)) for n in range(5)], NOW)
        outcomes = Outcomes(store)
        for n in range(15_000):
            outcomes.keep(b"%016d" % n, Outcome(f"http://h.test/{n}", status=200))
        front.save()
        store.commit()
        store.engine.flush(["queue", "hosts", "urls"])
        before = _cached(store)
        assert sum(1 for _ in read(store)) >= 3000
        assert _cached(store) - before < most


def test_making_the_filter_leaves_the_cache_to_others(path: str) -> None:
    """Each known key is read once for it; what stays are filters and indexes."""
    keys = [blake2b(b"%d" % n, digest_size=16).digest() for n in range(57_000)]
    with Store.open(path) as store:
        for key in keys[:50_000]:
            store.put("seen", key, b"")
        store.commit()
        store.engine.flush(["seen"])
        seen = SeenSet(store, 1_000_000, 50_000)
        before = _cached(store)
        for key in keys[50_000:]:
            assert seen.enter([key]) == [True]
        assert seen._filter is not None
        assert _cached(store) - before < 500_000
