import pytest

from nacre.job.configuration.settings import LimitSettings
from nacre.job.running.limits import Stopwatch, reached
from nacre.job.states import ExitStatus
from nacre.report.stats import Tally


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
    assert reached(LimitSettings.model_validate(limits), totals, 60.0, 300) is status


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
