from datetime import UTC, datetime

from nacre.config.effective import Effective, fixed
from nacre.fetch.throttle import Throttle
from nacre.frontier.bandwidth import BandwidthSettings
from nacre.job.visit.pacer import Pacer

MONDAY = datetime(2026, 11, 16, tzinfo=UTC).timestamp()


def settings(**values: object) -> BandwidthSettings:
    return BandwidthSettings.model_validate(values)


def test_nothing_is_said_where_nothing_is_limited() -> None:
    pacer = Pacer(fixed(BandwidthSettings()), Throttle())
    assert pacer.mind(MONDAY) == ""
    assert pacer.delay(10**9, 0.0, 0) == 0.0
    assert pacer.host_rate(0) == 0


def test_windows_open_and_close_in_their_time_zone() -> None:
    peak = {"days": "mon-fri", "hours": "9-17", "total": "1 MB", "parallel": 5, "min_delay": 10}
    throttle, told = Throttle(), list[int | None]()
    pacer = Pacer(fixed(settings(time_zone="Asia/Shanghai", windows=[peak])), throttle)
    pacer.on_parallel = told.append
    assert pacer.mind(MONDAY) == ""
    said = pacer.mind(MONDAY + 3600)
    assert said.startswith("window mon-fri 9-17: total 1,000,000 B/s, hosts not limited, 5 fetch")
    assert (throttle.total, pacer.delay(0, 0.0, 0)) == (10**6, 10.0)
    assert pacer.mind(MONDAY + 3601) == ""
    assert pacer.mind(MONDAY + 9 * 3600) == (
        "outside of all windows: total not limited, hosts not limited"
    )
    assert (throttle.total, told) == (0, [5, None])


def test_a_sheet_can_slow_a_host_down() -> None:
    pacer = Pacer(Effective((settings(per_host=1000), settings(per_host=10))), Throttle())
    assert pacer.mind(MONDAY) != ""
    assert (pacer.host_rate(0), pacer.host_rate(1)) == (1000, 10)
    assert pacer.delay(1000, 0.0, 1) == 100.0


def test_changed_settings_hold_at_once() -> None:
    effective = fixed(settings(total=5))
    pacer = Pacer(effective, Throttle())
    pacer.mind(MONDAY)
    effective.replace([settings(total=7)])
    assert "total 7 B/s" in pacer.mind(MONDAY)
    assert pacer.throttle.total == 7
