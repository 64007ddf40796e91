"""The seen set is a set, whatever its structures in memory forget or do not know yet."""

from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.frontier import keyfilter
from nacre.frontier.seen import Seen
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
    slice_of, keyfilter._SLICE = keyfilter._SLICE, rows_a_step
    try:
        seen = Seen(rows, recent, before)
        for step, numbers in steps:
            _apply(seen, model, step, [key(number) for number in numbers])
    finally:
        keyfilter._SLICE = slice_of


def _apply(seen: Seen, model: set[bytes], step: str, keys: list[bytes]) -> None:
    if step == "known":
        assert seen.known(keys) == [one in model for one in keys]
    elif step == "forget":
        for one in keys:
            seen.forget(one)
        model -= set(keys)
    else:
        for one, new in zip(keys, seen.enter(keys), strict=True):
            assert new == (one not in model)
            model.add(one)


def test_a_crawl_from_its_start_asks_the_store_next_to_nothing() -> None:
    rows = MemoryRows()
    seen = Seen(rows, 1_000_000)
    for first in range(0, 20_000, 16):
        new = [key(number) for number in range(first, first + 16)]
        assert seen.enter(new) == [True] * 16
        assert seen.known(new) == [True] * 16
    assert rows.gets < 20


def test_keys_that_are_not_among_the_latest_are_remembered_in_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nacre.frontier.seen._LATEST", 1000)
    rows, count = MemoryRows(), 5000
    seen = Seen(rows, 1_000_000)
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
    seen = Seen(rows, 1_000_000, 5000)
    for number in range(700):
        assert seen.enter([key(10_000 + number)]) == [True]
    rows.gets = 0
    assert seen.enter(before[:500]) == [False] * 500
    assert seen.enter([key(20_000 + number) for number in range(500)]) == [True] * 500
    assert rows.gets <= 2


def test_the_filter_is_made_anew_when_it_is_full() -> None:
    rows = MemoryRows()
    seen = Seen(rows, 10_000_000)
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
    seen = Seen(rows, 1000, 1_000_000)
    for number in range(50):
        assert seen.enter([key(number)]) == [True]
    assert rows.gets == 50
