import pytest

from nacre.report.document import Form
from nacre.report.forms import moment, share, size, span, to_the_second, written


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


@pytest.mark.parametrize(("bytes_", "text"), [(5, "5 B"), (1500, "1.5 KB"), (2e8, "200 MB")])
def test_sizes(bytes_: float, text: str):
    assert size(bytes_) == text


def test_moments():
    assert moment(0) == "-"
    assert moment(1763632800.0) == "2025-11-20 10:00"
    assert moment(1e18) == "never"


@pytest.mark.parametrize("form", Form)
def test_no_value_is_a_dash(form: Form):
    assert written(None, form) == written("", form) == written(float("nan"), form) == "-"


def test_a_time_that_no_calendar_has_is_never():
    assert to_the_second(1_763_632_805.9) == "2025-11-20 10:00:05"
    assert to_the_second(1e12) == to_the_second(1e300) == moment(1e12) == "never"
