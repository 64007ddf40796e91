"""When passes of a continuous crawl begin."""

from itertools import islice

import pytest

from nacre.errors import ConfigError
from nacre.runs.passes import (
    NextPass,
    RecurringCrawl,
    RegularPasses,
    coming_passes,
    parse_rhythm,
)


def test_an_interval_counts_from_beginning_to_beginning() -> None:
    rhythm = parse_rhythm("6h", "")
    assert rhythm == RegularPasses(every=21_600.0)
    assert rhythm.following(1000.0, 5000.0) == NextPass(22_600.0)


def test_a_long_pass_is_followed_at_once_and_none_is_made_up_for() -> None:
    assert RegularPasses(every=10.0).following(0.0, 35.0) == NextPass(35.0)


def test_a_pass_that_began_before_the_clock_was_set_back_delays_no_longer_than_others() -> None:
    assert RegularPasses(every=10.0).following(9000.0, 35.0) == NextPass(45.0)


def test_a_calendar_has_its_own_times() -> None:
    rhythm = parse_rhythm("", "0 3 * * *", "Asia/Shanghai")
    assert rhythm is not None
    assert rhythm.following(0.0, 0.0) == NextPass(19 * 3600.0)


def test_without_either_there_is_one_pass() -> None:
    assert parse_rhythm("", "") is None


@pytest.mark.parametrize(
    ("every", "at"), [("1h", "@daily"), ("0", ""), ("x", ""), ("", "a b c d e"), ("", "@never")]
)
def test_what_is_no_rhythm(every: str, at: str) -> None:
    with pytest.raises(ConfigError):
        parse_rhythm(every, at)


@pytest.mark.parametrize(
    ("rhythm", "time", "now", "times"),
    [
        ("--every 6h", 1000.0, 0.0, [1000.0, 22_600.0, 44_200.0]),
        ("--every 6h", 1000.0, 22_600.0, [44_200.0, 65_800.0, 87_400.0]),
        ("--at '0 3 * * *' --time-zone Asia/Shanghai", 68_400.0, 0.0,
         [68_400.0, 154_800.0, 241_200.0]),
        ("--at @daily", 86_400.0, 90_000.0, [172_800.0, 259_200.0, 345_600.0]),
        ("--continuous", 1000.0, 0.0, [1000.0]),
        ("--continuous", 1000.0, 1000.0, []),
        ("--every 6h", 0.0, 0.0, []),
        ("--of-another version", 1000.0, 0.0, [1000.0]),
        ("--at 'of another version'", 1000.0, 0.0, [1000.0]),
    ],
)  # fmt: skip
def test_the_passes_to_come_of_a_repeated_crawl(
    rhythm: str, time: float, now: float, times: list[float]
) -> None:
    assert list(islice(coming_passes(RecurringCrawl(1, rhythm, time), now), 3)) == times
