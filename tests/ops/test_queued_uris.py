import pytest

from nacre.core.crawluri import Directive
from nacre.errors import ConfigError
from nacre.frontier.frontier import Attempt
from nacre.frontier.policy import Retry
from nacre.ops.queued_uris import (
    SAMPLES,
    PreviewCount,
    PreviewWish,
    QueueNames,
    WaitingTotals,
    count_in_queue,
    count_queued,
    count_waiting,
    list_queued,
    preview_change,
    queued_rows,
)
from nacre.store.store import Store
from tests.frontier.making import NOW, candidate, frontier
from tests.store.memory import MemoryEngine


@pytest.fixture
def store() -> Store:
    """Two queues of three URIs; one of them waits for its retry, one is the first of its queue."""
    store = Store(MemoryEngine())
    front = frontier(store)
    front.schedule([candidate(host, str(n)) for host in "ab" for n in range(3)], NOW)
    front.schedule([candidate("b", "first", directive=Directive.HIGH)], NOW)
    failed = front.next(NOW, 0)
    assert failed is not None
    front.retry(failed, Attempt(-2), Retry(NOW + 60), NOW, 0)
    front.save()
    return store


def test_queued_uris_are_counted_and_listed(store: Store):
    assert count_waiting(store) == WaitingTotals(uris=7, queues=2)
    assert [count_in_queue(store, key) for key in ("a,", "b,", "c,")] == [3, 4, None]
    assert count_queued(store, urls="/0$", queues="^a") == 1
    assert [(item.uri.url, item.is_planned) for item in list_queued(store, queues="^a")] == [
        ("http://a/1", False), ("http://a/2", False), ("http://a/0", True),
    ]  # fmt: skip


def test_rows_are_read_from_each_place_on(store: Store):
    names, rows = QueueNames(store), list(queued_rows(store))
    assert len(rows) == 7
    for number, row in enumerate(rows, 1):
        assert list(queued_rows(store, place=(row.family, row.key))) == rows[number:]
    read = [names.uri(row) for row in queued_rows(store, "b,")]
    assert [uri.url for uri, due in read if due is None] == [
        "http://b/first", "http://b/0", "http://b/1", "http://b/2",
    ]  # fmt: skip
    assert [(uri.url, due) for uri, due in read if due is not None] == [("http://a/0", NOW + 60)]


@pytest.mark.parametrize(
    ("request_", "number", "queues"),
    [
        (PreviewWish("delete"), 7, 2),
        (PreviewWish("first", urls="/0"), 2, 2),
        (PreviewWish("exclude", queues="^a"), 3, 1),
        (PreviewWish("forget"), 0, 0),
        (PreviewWish("retire"), 2, 2),
        (PreviewWish("retire", queues="^b"), 1, 1),
        (PreviewWish("unretire"), 0, 0),
        (PreviewWish("reconsider"), 2, 2),
    ],
)
def test_a_preview_counts_the_uris_or_queues_of_its_change(
    store: Store, request_: PreviewWish, number: int, queues: int
):
    told: list[tuple[int, int]] = []
    preview = preview_change(store, request_, "now", lambda *numbers: told.append(numbers))
    assert (preview.count, preview.queues, preview.as_of) == (number, queues, "now")
    assert sum(host.number for host in preview.hosts) == len(preview.samples) == number
    assert set(told) <= {(0, 7), (0, 0)}


@pytest.mark.parametrize("request_", [PreviewWish(urls="("), PreviewWish(queues="(")])
def test_a_preview_refuses_an_expression_that_cannot_be_read(store: Store, request_: PreviewWish):
    with pytest.raises(ConfigError, match="is not a regular expression"):
        preview_change(store, request_, "now", lambda *_: None)


def test_samples_are_of_as_many_queues_as_possible():
    counted = PreviewCount()
    for number in range(1_000):
        counted.add(f"http://a/{number}", "a,")
    counted.add("http://b/", "b,")
    preview = counted.preview("now")
    assert (preview.count, preview.queues, len(preview.samples)) == (1_001, 2, SAMPLES)
    assert preview.samples[:3] == ("http://a/0", "http://b/", "http://a/1")
    assert [(host.queue, host.number) for host in preview.hosts] == [("a,", 1_000), ("b,", 1)]
