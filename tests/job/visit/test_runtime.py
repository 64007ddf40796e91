import asyncio

import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Result, Visit
from nacre.job.configuration.settings import RuntimeSettings
from nacre.job.visit.runtime import LimitRuntime


def visit() -> Visit:
    return Visit(CrawlURI("http://a/", b"k" * 16, "a,"))


@pytest.mark.parametrize(
    ("after", "elapsed", "accepts"),
    [(0, 1e9, False), (60, 59.9, False), (60, 60.0, True)],
)
def test_when(after: float, elapsed: float, accepts: bool) -> None:
    limit = LimitRuntime(fixed(RuntimeSettings(after=after)))
    limit.elapsed = lambda: elapsed
    assert limit.accepts(visit()) is accepts


@pytest.mark.parametrize(
    ("action", "result", "status", "asked"),
    [
        ("pause", Result.PROCEED, 0, ["pause"]),
        ("terminate", Result.PROCEED, 0, ["terminate"]),
        ("block", Result.FINISH, -5004, []),
    ],
)
def test_what_is_done(action: str, result: Result, status: int, asked: list[str]) -> None:
    settings = RuntimeSettings.model_validate({"after": "1m", "action": action})
    limit, told = LimitRuntime(fixed(settings)), list[str]()
    limit.pause = lambda: told.append("pause")
    limit.terminate = lambda: told.append("terminate")
    late = visit()
    assert asyncio.run(limit.process(late)) is result
    assert (late.status, told) == (status, asked)
    assert late.annotations == (["Runtime exceeded 60000ms"] if status else [])
