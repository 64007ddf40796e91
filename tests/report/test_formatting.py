import math

import pytest

from nacre.report.document import Format
from nacre.report.formatting import (
    binary_size,
    decimal,
    duration,
    moment,
    share,
    short,
    size,
    span,
    to_the_second,
    written,
)


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


def test_moments():
    assert moment(0) == "-"
    assert moment(1763632800.0) == "2025-11-20 10:00"
    assert moment(1e18) == "never"


@pytest.mark.parametrize("form", Format)
def test_no_value_is_a_dash(form: Format):
    assert written(None, form) == written("", form) == written(float("nan"), form) == "-"


def test_a_time_that_no_calendar_has_is_never():
    assert to_the_second(1_763_632_805.9) == "2025-11-20 10:00:05"
    assert to_the_second(1e12) == to_the_second(1e300) == moment(1e12) == "never"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0ms"), (0.0004, "0ms"), (1, "1s"), (61.5, "1m1s500ms"), (90_061, "1d1h1m1s")],
)
def test_a_duration(seconds: float, text: str):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1504, "1.5 KiB"),
        (2048, "2 KiB"),
        (21_995_068, "21 MiB"),
        (72_379_142, "69 MiB"),
        (5 * 2**60, "5120 PiB"),
    ],
)
def test_a_size_as_heritrix_writes_it(number: int, text: str):
    assert binary_size(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (74.04, "74.04"),
        (10.5, "10.5"),
        (100.0, "100"),
        (1 / 3, "0.33"),
        (math.nan, "NaN"),
        (math.inf, "∞"),
    ],
)
def test_a_number_as_java_writes_it(number: float, text: str):
    assert decimal(number) == text
