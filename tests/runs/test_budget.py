import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import ConfigError
from nacre.runs.budget import (
    DAY,
    UNLIMITED,
    Budget,
    BudgetUnit,
    EndedRun,
    Spent,
    affordable,
    parse_budget,
    spent_lately,
)

NOTHING = Spent(0, 0, 0.0)


@pytest.mark.parametrize(
    ("text", "unit", "amount"),
    [
        ("500", BudgetUnit.REQUESTS, 500),
        ("1_000 requests", BudgetUnit.REQUESTS, 1000),
        ("1 request", BudgetUnit.REQUESTS, 1),
        ("2GB", BudgetUnit.BYTES, 2e9),
        ("64 MiB", BudgetUnit.BYTES, 64 * 2**20),
        ("3h", BudgetUnit.TIME, 10_800),
        ("5m", BudgetUnit.TIME, 300),
        ("1.5", BudgetUnit.TIME, 1.5),
        ("", BudgetUnit.REQUESTS, UNLIMITED),
    ],
)
def test_a_budget_is_requests_bytes_or_time(text: str, unit: BudgetUnit, amount: float):
    assert parse_budget(text) == Budget(unit, amount)


@pytest.mark.parametrize("text", ["many", "-3", "3 days or so", "GB", "5/week", "/day", "5/"])
def test_what_is_no_budget_is_refused_with_examples(text: str):
    with pytest.raises(ConfigError, match=r"500.*2GB.*3h"):
        parse_budget(text)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_requests_are_counted_down_and_never_below_nothing(amount: int, spent: int):
    left = Budget(BudgetUnit.REQUESTS, amount).room(Spent(spent, 0, 0.0), 1.0, 1.0)
    assert left == max(0, amount - spent)


def test_bytes_and_time_go_by_the_mean_of_the_run_before_then_by_its_own():
    budget = Budget(BudgetUnit.BYTES, 1_000_000)
    assert budget.room(NOTHING, 10_000.0, 0.0) == 100
    assert budget.room(Spent(100, 500_000, 9.0), 10_000.0, 0.0) == 100
    assert budget.room(Spent(100, 2_000_000, 9.0), 10_000.0, 0.0) == 0
    assert Budget(BudgetUnit.TIME, 60.0).room(Spent(10, 0, 30.0), 0.0, 0.5) == 60


def test_what_is_known_by_means_alone_is_asked_for_in_portions():
    budget = Budget(BudgetUnit.BYTES, 1_000_000)
    assert budget.portion(NOTHING, 800) == 100
    assert budget.portion(Spent(50, 0, 0.0), 800) == 400
    assert budget.portion(NOTHING, 20) == 10
    assert Budget(BudgetUnit.REQUESTS, 800).portion(NOTHING, 800) == 800


def test_without_any_mean_a_few_requests_tell_one():
    assert Budget(BudgetUnit.TIME, 60.0).room(NOTHING, 0.0, 0.0) == 50
    assert Budget(BudgetUnit.TIME, 0.0).room(NOTHING, 0.0, 0.0) == 0
    assert Budget().room(NOTHING, 0.0, 0.0) == UNLIMITED


@pytest.mark.parametrize("text", ["5000/day", "5_000 requests / day", "5000/d", "5000/24h"])
def test_a_budget_of_a_day(text: str):
    assert parse_budget(text) == Budget(BudgetUnit.REQUESTS, 5000, daily=True)


def test_a_budget_of_a_day_is_there_again_when_runs_are_a_day_ago():
    budget = parse_budget("240/day")
    runs = [EndedRun(0.0, Spent(100, 0, 0.0)), EndedRun(5.0, Spent(140, 0, 0.0))]
    assert spent_lately(runs, 10.0) == Spent(240, 0, 0.0)
    assert affordable(budget, runs, 10.0) == DAY
    assert affordable(budget, [runs[1]], 10.0) == 10.0
    assert affordable(parse_budget("240"), runs, 10.0) == 10.0
    full = [runs[0], EndedRun(5.0, Spent(240, 0, 0.0))]
    assert affordable(budget, full, 10.0) == DAY + 5.0


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.integers(0, 400)), max_size=20),
    st.floats(0, 2e6),
)
def test_no_day_ever_takes_more_than_its_budget(passes: list[tuple[float, int]], until: float):
    """Passes as long as they like, each within its room: no 24 hours exceed the budget."""
    budget, runs, now = parse_budget("300/day"), list[EndedRun](), 0.0
    for pause, wish in passes:
        now = affordable(budget, runs, now + pause)
        room = budget.room(spent_lately(runs, now), 1.0, 1.0)
        runs.append(EndedRun(now, Spent(min(room, wish), 0, 0.0)))
    assert spent_lately(runs, until).requests <= 300 or until < now
    for run in runs:
        lately = [one for one in runs if run.time - DAY < one.time <= run.time]
        assert sum(one.spent.requests for one in lately) <= 300


def test_a_run_that_ended_before_the_clock_was_set_back_counts_no_more():
    budget, ahead = parse_budget("240/day"), EndedRun(400 * DAY, Spent(240, 0, 0.0))
    assert spent_lately([ahead], 10.0) == NOTHING
    assert affordable(budget, [ahead], 10.0) == 10.0
    assert affordable(budget, [EndedRun(20.0, Spent(240, 0, 0.0))], 10.0) == DAY + 20.0
