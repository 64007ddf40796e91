"""Small jobs for the tests of faults: their settings, and a clock that does not wait."""

import asyncio
import time
from pathlib import Path

from nacre.archive.settings import WarcSettings
from nacre.fetch.settings import FetchSettings
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.job.settings import EngineSettings, JobSettings, StoreSettings
from nacre.scope.options import ScopeKind, rules_for


def settings(seed: str, **more: object) -> JobSettings:
    """A crawl of one host without delays, with small files."""
    sections: dict[str, object] = {
        "name": "faults",
        "seeds": (seed,),
        "scope": rules_for(ScopeKind.HOST),
        "politeness": PolitenessSettings(delay=0.0, in_flight=3),
        "engine": EngineSettings(parallel=3),
        "frontier": FrontierSettings(max_retries=2, retry_delay=0.01, last_tries=1),
        "fetch": FetchSettings(silence_timeout=1, timeout=3, connect_timeout=1),
        "archive": WarcSettings(max_file_size=20_000, large_record=50_000),
        "store": StoreSettings(memory=16_000_000),
    }
    return JobSettings.model_validate(sections | more)


class QuickClock:
    """The real time, but nobody waits long."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.02))


def run_directory(root: Path) -> Path:
    """Directory of the only run."""
    (run,) = (root / "runs").iterdir()
    return run
