"""Rows of the table of files, as they are stored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import DamageError
from nacre.store.files import (
    ROWS,
    FileKind,
    FileRow,
    FileState,
    decode_row,
    encode_row,
    row_key,
    row_number,
)

ROW = st.builds(
    FileRow,
    kind=st.sampled_from(FileKind),
    path=st.text(),
    final=st.text(),
    state=st.sampled_from(FileState),
    size=st.integers(0, 1 << 62),
    epoch=st.integers(0, 1 << 31),
    tail=st.integers(0, 1 << 62),
)


@given(row=ROW)
def test_a_row_comes_back_as_it_was_put(row):
    assert decode_row(1, encode_row(row)) == row


@given(one=st.integers(0, 1 << 60), two=st.integers(0, 1 << 60))
def test_keys_sort_as_their_numbers_and_stay_in_their_range(one, two):
    assert row_number(row_key(one)) == one
    assert (row_key(one) < row_key(two)) == (one < two)
    assert ROWS[0] <= row_key(one) < ROWS[1]


@pytest.mark.parametrize("value", [b"", b"\xc1", encode_row(FileRow(FileKind.LOG, "a", "b"))[:-2]])
def test_a_damaged_row_is_told_with_its_number(value):
    with pytest.raises(DamageError, match="Row 7 of the table of files"):
        decode_row(7, value)
