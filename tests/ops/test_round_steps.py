from nacre.crawldb.settings import CycleSettings
from nacre.ops.round_requests import RoundsRequest
from nacre.ops.round_steps import ListLimits, list_limits


def limits(given: ListLimits) -> tuple[int, int, float, int]:
    settings = CycleSettings.model_validate(
        {"generate": {"top": 7, "units": 3, "segments": 2}, "fetch": {"time_limit": 60}}
    )
    return (
        given.top_of(settings), given.units_of(settings, 9), given.seconds_of(settings),
        given.segments_of(settings),
    )  # fmt: skip


def test_limits_that_are_not_given_are_those_of_the_settings():
    assert limits(list_limits(RoundsRequest())) == (7, 3, 60.0, 2)
    assert limits(list_limits(RoundsRequest(top=0, units=5, time_limit="0"), 4)) == (0, 5, 0.0, 4)
    assert ListLimits().units_of(CycleSettings(), 9) == 9
