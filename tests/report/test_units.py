import pytest

from nacre.report.units import share, short, size, span


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (0.0, "0 s"),
        (0.0001, "8.64 s"),
        (1 / 24 / 2, "30 min"),
        (0.5, "12 h"),
        (1.0, "1 d"),
        (30.5, "30.5 d"),
        (730.0, "2 y"),
        (float("inf"), "never"),
    ],
)
def test_spans(days: float, text: str):
    assert span(days) == text


@pytest.mark.parametrize(
    ("part", "text"),
    [(0, "0.0 %"), (0.004, "0.40 %"), (0.5, "50.0 %"), (0.9952, "99.52 %"), (1.0, "100.0 %")],
)
def test_shares(part: float, text: str):
    assert share(part) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"), (5, "5 B"), (999, "999 B"), (1000, "1.0 KB"), (1500, "1.5 KB"),
        (123_456, "123 KB"), (1_500_000, "1.5 MB"), (2e8, "200 MB"),
        (2e15, "2.0 PB"), (2e18, "2000 PB"),
    ],
)  # fmt: skip
def test_sizes(number: float, text: str):
    assert size(number) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.12345, "0.123"), (12.34, "12.3"), (3.0, "3"), (1234.5, "1,234")]
)
def test_numbers_are_short(value: float, text: str):
    assert short(value) == text
