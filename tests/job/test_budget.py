import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import ConfigError
from nacre.job.budget import UNLIMITED, Budget, Spent, Unit, parse_budget

NOTHING = Spent(0, 0, 0.0)


@pytest.mark.parametrize(
    ("text", "unit", "amount"),
    [
        ("500", Unit.REQUESTS, 500),
        ("1_000 requests", Unit.REQUESTS, 1000),
        ("1 request", Unit.REQUESTS, 1),
        ("2GB", Unit.BYTES, 2e9),
        ("64 MiB", Unit.BYTES, 64 * 2**20),
        ("3h", Unit.TIME, 10_800),
        ("5m", Unit.TIME, 300),
        ("1.5", Unit.TIME, 1.5),
        ("", Unit.REQUESTS, UNLIMITED),
    ],
)
def test_a_budget_is_requests_bytes_or_time(text: str, unit: Unit, amount: float):
    assert parse_budget(text) == Budget(unit, amount)


@pytest.mark.parametrize("text", ["many", "-3", "3 days or so", "GB"])
def test_what_is_no_budget_is_refused_with_examples(text: str):
    with pytest.raises(ConfigError, match=r"500.*2GB.*3h"):
        parse_budget(text)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_requests_are_counted_down_and_never_below_nothing(amount: int, spent: int):
    left = Budget(Unit.REQUESTS, amount).room(Spent(spent, 0, 0.0), 1.0, 1.0)
    assert left == max(0, amount - spent)


def test_bytes_and_time_go_by_the_mean_of_the_run_before_then_by_its_own():
    budget = Budget(Unit.BYTES, 1_000_000)
    assert budget.room(NOTHING, 10_000.0, 0.0) == 100
    assert budget.room(Spent(100, 500_000, 9.0), 10_000.0, 0.0) == 100
    assert budget.room(Spent(100, 2_000_000, 9.0), 10_000.0, 0.0) == 0
    assert Budget(Unit.TIME, 60.0).room(Spent(10, 0, 30.0), 0.0, 0.5) == 60


def test_without_any_mean_a_few_requests_tell_one():
    assert Budget(Unit.TIME, 60.0).room(NOTHING, 0.0, 0.0) == 50
    assert Budget(Unit.TIME, 0.0).room(NOTHING, 0.0, 0.0) == 0
    assert Budget().room(NOTHING, 0.0, 0.0) == UNLIMITED
