"""The seen set is a set, whatever its structures in memory forget or do not know yet."""

from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.frontier import seen as seen_module
from nacre.frontier.seen import KeyCache, SeenSet
from tests.frontier.memory_rows import MemoryRows


def key(number: int) -> bytes:
    return blake2b(b"%d" % number, digest_size=16).digest()


STEPS = st.tuples(
    st.sampled_from(["known", "enter", "enter", "forget"]),
    st.lists(st.integers(0, 60), max_size=12),
)


@given(st.lists(STEPS), st.sampled_from([0, 8, 100_000]), st.integers(0, 40), st.integers(1, 9))
def test_is_a_set(
    steps: list[tuple[str, list[int]]], recent: int, before: int, rows_a_step: int
) -> None:
    rows, model = MemoryRows(), {key(number) for number in range(before)}
    for one in model:
        rows.put("seen", one, b"")
    slice_of, seen_module._SLICE = seen_module._SLICE, rows_a_step
    try:
        seen = SeenSet(rows, recent, before)
        for step, numbers in steps:
            answers, expected = _apply(seen, model, step, [key(number) for number in numbers])
            assert answers == expected
    finally:
        seen_module._SLICE = slice_of


def _apply(
    seen: SeenSet, model: set[bytes], step: str, keys: list[bytes]
) -> tuple[list[bool], list[bool]]:
    """Do a step with both; return the answers of the set and those of its model."""
    if step == "known":
        return seen.contains(keys), [one in model for one in keys]
    if step == "forget":
        for one in keys:
            seen.forget(one)
        model -= set(keys)
        return [], []
    expected = []
    for one in keys:
        expected.append(one not in model)
        model.add(one)
    return seen.enter(keys), expected


def test_a_crawl_from_its_start_asks_the_store_next_to_nothing() -> None:
    rows = MemoryRows()
    seen = SeenSet(rows, 1_000_000)
    for first in range(0, 20_000, 16):
        new = [key(number) for number in range(first, first + 16)]
        assert seen.enter(new) == [True] * 16
        assert seen.contains(new) == [True] * 16
    assert rows.gets < 20


def test_keys_that_are_not_among_the_latest_are_remembered_in_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nacre.frontier.seen._LATEST", 1000)
    rows, count = MemoryRows(), 5000
    seen = SeenSet(rows, 1_000_000)
    keys = [key(number) for number in range(count)]
    for first in range(0, count, 50):
        seen.enter(keys[first : first + 50])
    rows.gets = 0
    assert [seen.enter([one]) for one in keys] == [[False]] * count
    assert rows.gets < 200


def test_what_the_store_knew_before_need_not_be_asked_once_it_was_read() -> None:
    rows = MemoryRows()
    before = [key(number) for number in range(5000)]
    for one in before:
        rows.put("seen", one, b"")
    seen = SeenSet(rows, 1_000_000, 5000)
    for number in range(700):
        assert seen.enter([key(10_000 + number)]) == [True]
    rows.gets = 0
    assert seen.enter(before[:500]) == [False] * 500
    assert seen.enter([key(20_000 + number) for number in range(500)]) == [True] * 500
    assert rows.gets <= 2


def test_the_filter_is_made_anew_when_it_is_full() -> None:
    rows = MemoryRows()
    seen = SeenSet(rows, 10_000_000)
    count = 60_000
    for first in range(0, count, 100):
        seen.enter([key(number) for number in range(first, first + 100)])
    rows.gets = 0
    fresh = [key(count + number) for number in range(2000)]
    for one in fresh:
        assert seen.enter([one]) == [True]
    assert rows.gets < 60


def test_many_more_keys_than_a_filter_is_good_for_get_none() -> None:
    rows = MemoryRows()
    seen = SeenSet(rows, 1000, 1_000_000)
    for number in range(50):
        assert seen.enter([key(number)]) == [True]
    assert rows.gets == 50


def keys(first: int, last: int) -> list[bytes]:
    return [blake2b(b"%d" % n, digest_size=16).digest() for n in range(first, last)]


def test_remembers_nearly_all_while_it_grows() -> None:
    cache, known = KeyCache(2_000_000), keys(0, 200_000)
    for first in range(0, len(known), 100):
        cache.add(known[first : first + 100])
    assert len(cache.unknown(known)) < 0.01 * len(known)
    assert 780_000 <= cache.room <= 800_000
    assert cache.unknown(keys(200_000, 230_000)) == keys(200_000, 230_000)


def test_takes_no_more_room_than_it_may_and_forgets_the_oldest() -> None:
    cache, known = KeyCache(20_000), keys(0, 100_000)
    for first in range(0, len(known), 100):
        cache.add(known[first : first + 100])
    assert cache.room == 20_000
    assert len(cache.unknown(known[-5_000:])) < 500
    assert len(cache.unknown(known[:50_000])) > 49_500


@given(st.integers(0, 3000), st.lists(st.integers(0, 200), max_size=60))
def test_has_only_what_was_added_and_not_forgotten(limit: int, numbers: list[int]) -> None:
    cache, known, model = KeyCache(limit), keys(0, 200), set[bytes]()
    for number in numbers:
        key = known[number % 200]
        if number % 3:
            cache.add(cache.unknown([key]))
            model.add(key)
            assert cache.unknown([key]) == []
        else:
            cache.forget(key)
            model.discard(key)
        assert not model.isdisjoint(known) or set(cache.unknown(known)) == set(known)
        assert set(cache.unknown(known)) >= set(known) - model


def test_a_key_is_found_where_slots_begin_only() -> None:
    cache = KeyCache(8)
    one, other = b"host" + b"u" * 6 + b"abcdef", b"host" + b"u" * 6 + b"ghijkl"
    cache.add([one, other])
    across = b"host" + b"u" * 6 + b"jklabc"
    assert cache.unknown([one, other, across]) == [across]
    cache.add([across])
    assert cache.unknown([one, other, across]) == []


def test_a_key_of_another_host_is_another_key_only_by_its_url() -> None:
    cache = KeyCache(1000)
    one = b"host" + b"u" * 12
    cache.add([one])
    assert cache.unknown([b"h0st" + b"u" * 12, b"host" + b"v" + b"u" * 11]) == [
        b"host" + b"v" + b"u" * 11
    ]


# ---- its growth


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen_module, "_START", 16)
    monkeypatch.setattr(seen_module, "_WINDOW", 500)
    monkeypatch.setattr(seen_module, "_LATEST", 50)


def visits(seen: SeenSet, first: int, last: int, again: int) -> None:
    """Enter new keys by tens, each time with some that were new long before."""
    for number in range(first, last, 10):
        back = [key(max(number - 400 - each, 0)) for each in range(again)]
        seen.enter([key(each) for each in range(number, number + 10)] + back)


@pytest.mark.usefixtures("small_windows")
@pytest.mark.parametrize(("again", "grows"), [(0, False), (1, False), (2, True), (20, True)])
def test_the_cache_grows_only_where_keys_are_met_again(again: int, grows: bool) -> None:
    seen = SeenSet(MemoryRows(), 1_000_000)
    visits(seen, 0, 20_000, again)
    assert (seen._cache.room > 2_000) is grows


@pytest.mark.usefixtures("small_windows")
def test_a_cache_that_grows_again_does_not_make_up_for_what_it_missed() -> None:
    seen = SeenSet(MemoryRows(), 1_000_000)
    visits(seen, 0, 20_000, 0)
    small = seen._cache.room
    visits(seen, 20_000, 21_000, 10)
    larger = seen._cache.room
    assert small < larger < small + 1_000 * 8
    visits(seen, 21_000, 40_000, 10)
    assert seen._cache.room > 2 * larger
    assert seen.contains([key(number) for number in range(40_000)]) == [True] * 40_000
