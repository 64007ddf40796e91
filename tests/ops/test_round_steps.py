from nacre.crawldb.settings import CycleSettings
from nacre.ops.round_requests import RoundsRequest, UnitsRequest
from nacre.ops.round_steps import seconds_of, units_of


def test_limits_that_a_request_leaves_out_are_those_of_the_settings():
    settings = CycleSettings.model_validate({"generate": {"units": 3}, "fetch": {"time_limit": 60}})
    blank, full = RoundsRequest(), RoundsRequest(units=5, time_limit="0")
    assert (units_of(blank, settings, 9), seconds_of(blank, settings)) == (3, 60.0)
    assert (units_of(full, settings, 9), seconds_of(full, settings)) == (5, 0.0)
    assert units_of(UnitsRequest(), CycleSettings(), 9) == 9
