import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.crawluri import CrawlURI
from nacre.frontier.rows import (
    RowWindow,
    future_key,
    pack,
    pack_future,
    queue_id,
    queue_key,
    time_of,
    unpack,
    unpack_future,
)
from tests.frontier.memory_rows import MemoryRows

uris = st.builds(
    CrawlURI,
    url=st.text(),
    key=st.binary(min_size=16, max_size=16),
    queue=st.text(st.characters(codec="utf-8")),
    directive=st.integers(0, 3),
    precedence=st.integers(0, 127),
    cost=st.integers(0, 9),
    ordinal=st.integers(0, 2**48 - 1),
    attempts=st.integers(1, 40),
    throttled=st.integers(0, 5),
    truncated=st.integers(0, 2),
    starved=st.integers(0, 9),
    last_status=st.integers(-9998, 599),
    not_before=st.floats(0, 1e11),
    is_seed=st.booleans(),
    method=st.sampled_from(["GET", "POST"]),
    body=st.none() | st.binary(),
    headers=st.lists(st.tuples(st.text(), st.text())).map(tuple),
    heritable=st.dictionaries(st.text(), st.text()),
    annotations=st.lists(st.text()).map(tuple),
    via=st.text(),
    path=st.text("LEXR"),
)  # fmt: skip


@given(uris)
def test_a_row_gives_the_uri_back(uri: CrawlURI) -> None:
    identity = queue_id(uri.queue)
    assert unpack(queue_key(identity, uri, uri.ordinal), pack(uri), uri.queue) == uri
    key = future_key(12.5, identity, uri.ordinal)
    assert time_of(key) == 12.5
    assert unpack_future(key, pack_future(uri, last_try=True)) == (uri, True)


def test_tries_of_rows_from_before_kinds_were_counted_are_unreachable() -> None:
    value = msgspec.msgpack.encode({"u": "http://a/", "k": b"k" * 16, "a": 3, "l": -2})
    uri = unpack(queue_key(b"i" * 8, CrawlURI("http://a/", b"", ""), 1), value, "a,")
    assert (uri.attempts, uri.unreachable, uri.throttled) == (3, 3, 0)


def test_a_row_is_small() -> None:
    uri = CrawlURI("http://www.example.org/a", b"k" * 16, "org,example,www,", path="L", via="v")
    assert len(pack(uri)) < len(uri.url) + 16 + 20


@given(uris, uris)
def test_keys_sort_as_uris_do(one: CrawlURI, other: CrawlURI) -> None:
    keys = [queue_key(b"i" * 8, uri, uri.ordinal) for uri in (one, other)]
    places = [(uri.directive, uri.precedence, uri.ordinal) for uri in (one, other)]
    assert (keys[0] < keys[1]) == (places[0] < places[1])


numbers = st.lists(st.integers(0, 99), max_size=12)


def value_of(number: int) -> bytes:
    """A value of a length of its own: some are longer than a batch of usual ones."""
    return b"v" * (number * 379 % 2_500)


@given(numbers, st.lists(st.one_of(st.none(), numbers)), st.integers(1, 3))
def test_hands_out_the_first_rows_whatever_comes_in_between(
    at_first: list[int], steps: list[list[int] | None], batch: int
) -> None:
    rows = MemoryRows()
    model = {bytes([n]) for n in at_first}
    for key in model:
        rows.put("queue", key, value_of(key[0]))
    window = RowWindow(rows, "queue", b"", b"\xff", batch)
    taken: set[bytes] = set()
    for step in steps:
        if step is None:
            entry = window.pop(taken)
            assert (entry[0] if entry else None) == min(model, default=None)
            if entry:
                assert entry[1] == value_of(entry[0][0])
                model.remove(entry[0])
                taken.add(entry[0])
        else:
            for key in {bytes([n]) for n in step} - model - taken:
                rows.put("queue", key, value_of(key[0]))
                window.offer(key, value_of(key[0]))
                model.add(key)
        assert all(window.low() <= key for key in model)
        assert window._size == sum(len(value) for _, value in window._heap)
    window.restart(b"")
    rest = []
    while entry := window.pop(taken):
        rest.append(entry[0])
    assert rest == sorted(model)


def test_is_never_read_again_and_stays_small() -> None:
    rows = MemoryRows()
    window = RowWindow(rows, "queue", b"", b"\xff", 2)
    assert window.pop() is None
    for n in range(200):
        rows.put("queue", bytes([n]), b"v")
        window.offer(bytes([n]), b"v")
        assert len(window._heap) <= 4


@pytest.mark.parametrize("length", [100, 1_000, 5_000])
def test_long_rows_take_no_more_memory_than_others(length: int) -> None:
    rows = MemoryRows()
    window = RowWindow(rows, "queue", b"", b"\xff", 32)
    value = b"v" * length
    assert window.pop() is None
    for n in range(250):
        rows.put("queue", bytes([n]), value)
        window.offer(bytes([n]), value)
        assert window._size <= 2 * 32 * 600 + length
    window.restart(b"")
    keys = []
    while entry := window.pop():
        keys.append(entry[0])
        assert window._size <= 32 * 600 + length
    assert keys == [bytes([n]) for n in range(250)]
