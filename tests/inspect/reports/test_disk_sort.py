import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.inspect.reports.disk_sort import sort_rows
from nacre.inspect.reports.source import SeedFacts


@given(st.lists(st.tuples(st.text(max_size=3), st.integers(0, 9)), max_size=30), st.integers(1, 7))
def test_any_number_of_rows_is_sorted(rows: list[tuple[str, int]], in_memory: int):
    found = sort_rows(rows, tuple[str, int], lambda row: row, in_memory=in_memory)
    assert list(found) == sorted(rows)


def test_equal_keys_keep_their_order():
    rows = [(str(number), 0) for number in range(20)]
    found = sort_rows(rows, tuple[str, int], lambda row: row[1], in_memory=3)
    assert list(found) == rows


def test_rows_come_back_as_what_they_were():
    rows = [SeedFacts(f"http://{number}/", number, "") for number in range(10)]
    found = sort_rows(rows, SeedFacts, lambda seed: -seed.status, in_memory=4)
    assert list(found) == rows[::-1]


def test_files_are_only_made_for_many_rows(tmp_path):
    missing = tmp_path / "missing"
    assert list(sort_rows([2, 1], int, lambda n: n, missing, in_memory=3)) == [1, 2]
    with pytest.raises(FileNotFoundError):
        list(sort_rows([2, 1, 3, 0], int, lambda n: n, missing, in_memory=3))


def test_a_reader_that_stops_early_leaves_no_file(tmp_path):
    found = sort_rows(iter(range(100, 0, -1)), int, lambda n: n, tmp_path, in_memory=10)
    assert next(found) == 1
    found.close()  # type: ignore[attr-defined]  # an iterator that is a generator
    assert list(tmp_path.iterdir()) == []
