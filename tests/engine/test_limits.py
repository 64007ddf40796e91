from datetime import UTC, datetime

import pytest

from nacre.config.effective import Effective, fixed
from nacre.core.states import ExitStatus
from nacre.engine.limits import Pacer, Stopwatch, limit_reached
from nacre.engine.settings import LimitSettings
from nacre.fetch.exchange import Throttle
from nacre.frontier.bandwidth import BandwidthSettings
from nacre.report.statistics import Tally


class Clock:
    def __init__(self) -> None:
        self.mono = 100.0

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return self.mono

    async def sleep(self, seconds: float) -> None:
        self.mono += seconds


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        ({}, None),
        ({"documents": 11}, None),
        ({"documents": 10}, ExitStatus.DOCUMENT_LIMIT),
        ({"bytes": 999}, ExitStatus.DATA_LIMIT),
        ({"novel_bytes": 500}, ExitStatus.DATA_LIMIT),
        ({"novel_bytes": 501}, None),
        ({"novel_documents": 7}, ExitStatus.DOCUMENT_LIMIT),
        ({"novel_documents": 8}, None),
        ({"time": 60}, ExitStatus.TIME_LIMIT),
        ({"warc_bytes": 300}, ExitStatus.WRITE_LIMIT),
        ({"warc_bytes": 301, "time": 61}, None),
    ],
)
def test_limits(limits: dict[str, int], status: ExitStatus | None):
    totals = Tally(urls=10, size=1000, novel_urls=7, novel_bytes=500)
    assert limit_reached(LimitSettings.model_validate(limits), totals, 60.0, 300) is status


def test_pauses_do_not_count():
    clock = Clock()
    watch = Stopwatch(clock, earlier=5.0)
    watch.start()
    clock.mono += 10
    watch.stop()
    clock.mono += 1000
    watch.start()
    watch.start()
    clock.mono += 2
    assert watch.elapsed == 17.0


MONDAY = datetime(2026, 11, 16, tzinfo=UTC).timestamp()


def settings(**values: object) -> BandwidthSettings:
    return BandwidthSettings.model_validate(values)


def test_nothing_is_said_where_nothing_is_limited() -> None:
    pacer = Pacer(fixed(BandwidthSettings()), Throttle())
    assert not pacer.apply(MONDAY).text
    assert pacer.delay(10**9, 0.0, 0) == 0.0
    assert pacer.host_rate(0) == 0


def test_windows_open_and_close_in_their_time_zone() -> None:
    peak = {"days": "mon-fri", "hours": "9-17", "total": "1 MB", "parallel": 5, "min_delay": 10}
    throttle = Throttle()
    pacer = Pacer(fixed(settings(time_zone="Asia/Shanghai", windows=[peak])), throttle)
    assert not pacer.apply(MONDAY).text
    said = pacer.apply(MONDAY + 3600)
    assert (said.parallel, pacer.pace.parallel) == (True, 5)
    assert said.text.startswith(
        "window mon-fri 9-17: total 1,000,000 B/s, hosts not limited, 5 fetch"
    )
    assert (throttle.total, pacer.delay(0, 0.0, 0)) == (10**6, 10.0)
    assert pacer.apply(MONDAY + 3601) == ("", False)
    assert pacer.apply(MONDAY + 9 * 3600) == (
        "outside of all windows: total not limited, hosts not limited",
        True,
    )
    assert (throttle.total, pacer.pace.parallel) == (0, None)


def test_a_sheet_can_slow_a_host_down() -> None:
    pacer = Pacer(Effective((settings(per_host=1000), settings(per_host=10))), Throttle())
    assert pacer.apply(MONDAY).text
    assert (pacer.host_rate(0), pacer.host_rate(1)) == (1000, 10)
    assert pacer.delay(1000, 0.0, 1) == 100.0


def test_changed_settings_hold_at_once() -> None:
    effective = fixed(settings(total=5))
    pacer = Pacer(effective, Throttle())
    pacer.apply(MONDAY)
    effective.replace([settings(total=7)])
    assert "total 7 B/s" in pacer.apply(MONDAY).text
    assert pacer.throttle.total == 7
