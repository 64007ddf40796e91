from hypothesis import given
from hypothesis import strategies as st

from nacre.core.recent_table import RecentTable


def test_an_entry_has_its_value():
    table: RecentTable[str, int] = RecentTable(10)
    table.put("a", 1, 1)
    assert "a" in table
    assert "b" not in table
    assert table.get("a") == 1
    assert table.get("b") is None
    table.put("a", 2, 1)
    assert table.get("a") == 2


@given(st.lists(st.integers(0, 300), min_size=1), st.integers(1, 20), st.integers(1, 1_000))
def test_both_bounds_hold_and_the_newest_entry_stays(sizes, most, letters):
    table: RecentTable[int, int] = RecentTable(most, letters)
    for number, size in enumerate(sizes):
        table.put(number, size, size)
        assert number in table
        for generation in (table.young, table.old):
            assert len(generation) <= most
            *before, _ = generation.values() or [0]
            assert sum(before) < letters


def test_entries_that_fit_are_all_there():
    table: RecentTable[int, int] = RecentTable(100, 1_000)
    for number in range(1_000):
        table.put(number, 1, 1)
    assert all(number in table for number in range(900, 1_000))


def test_cleared_it_is_empty():
    table: RecentTable[int, int] = RecentTable(2, 10)
    for number in range(9):
        table.put(number, number, 8)
    table.clear()
    assert not table.young
    assert not table.old
    table.put(1, 1, 9)
    table.put(2, 2, 9)
    assert list(table.young) == [1, 2]
