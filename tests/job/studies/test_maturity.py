import pytest

from nacre.job.studies.maturity import maturity
from tests.job.studies.given import Given


def watched(*days: float) -> Given:
    given = Given()
    for number, day in enumerate(days, 1):
        given.run(number, day)
    return given


@pytest.mark.parametrize(
    ("days", "doubt"),
    [
        ((), "no run after the first one"),
        ((0.0,), "no run after the first one"),
        ((0.0, 7.0), "one run after the first one"),
        ((0.0, 7.0, 14.0), ""),
    ],
)
def test_a_job_needs_two_runs_after_the_first(days: tuple[float, ...], doubt: str):
    found = maturity(watched(*days))
    assert doubt in found.doubt
    assert bool(found.doubt) == bool(doubt)
    assert found.doubt_of(0.1) == found.doubt


@pytest.mark.parametrize(("interval", "sure"), [(3.0, True), (14.0, True), (14.1, False)])
def test_no_interval_is_sure_that_was_not_watched(interval: float, sure: bool):
    told = maturity(watched(0.0, 7.0, 14.0)).doubt_of(interval)
    assert (told == "") is sure
    assert sure or "longer than 14 d" in told
