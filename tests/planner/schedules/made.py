"""Schedules by their names, for the tests of this folder."""

from nacre.planner.schedules.nutch import NutchRates
from nacre.planner.schedules.schedules import Timing
from nacre.planner.schedules.timetable import ScheduleSettings, timing_of

URL = "http://a.test/1"
START = 1_760_000_000.0
RATES = {"application/pdf": NutchRates(0.1, 0.4)}


def made(kind: str, **said: object) -> Timing:
    """The schedule of a name, with its settings."""
    timing = timing_of(ScheduleSettings.model_validate({"kind": kind, **said}), RATES)
    assert timing is not None
    return timing
