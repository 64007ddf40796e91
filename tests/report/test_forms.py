import pytest

from nacre.report.document import Form
from nacre.report.forms import moment, to_the_second, written


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
