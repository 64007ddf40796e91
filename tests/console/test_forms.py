import pytest

from nacre.console.forms import offered_runs

RUNS = [f"20261124T{second:06}Z" for second in range(120, 0, -1)]


@pytest.mark.parametrize(
    ("chosen", "more"),
    [("", []), (RUNS[3], []), (RUNS[-1], [RUNS[-1]]), ("20200101T000000Z", []), ("<b>", [])],
)
def test_a_field_offers_the_newest_runs_and_the_chosen_one(chosen: str, more: list[str]):
    assert offered_runs(RUNS, chosen) == [*RUNS[:50], *more]
    assert offered_runs(RUNS[:2], chosen) == RUNS[:2]
