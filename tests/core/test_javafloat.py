"""Single precision and rounding as in Java."""

import pytest

from nacre.core.javafloat import java_round, single


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, 1), (1.5, 2), (2.5, 3), (-0.5, 0), (-1.5, -1), (-2.5, -2), (2.4, 2), (0.0, 0)],
)
def test_halves_go_up(value: float, expected: int) -> None:
    """Python's `round` would go to the even number."""
    assert java_round(value) == expected


def test_single_keeps_24_bits() -> None:
    """A tenth is another number in single precision, and an odd number above 2**24 is gone."""
    assert single(0.1) == 0.10000000149011612
    assert single(float(2**24 + 1)) == float(2**24)
    assert single(0.25) == 0.25
