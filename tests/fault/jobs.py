"""Small jobs for the tests of faults: their settings, and a clock that does not wait."""

import asyncio
import time
from pathlib import Path

from nacre.archive.settings import WarcSettings
from nacre.core.states import ExitStatus
from nacre.engine.settings import EngineSettings
from nacre.fetch.settings import FetchSettings
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.job.job import Job
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.settings import JobSettings, StoreSettings
from nacre.store.store import Store
from tests.fault.facts import Facts, facts
from tests.fault.site import Site


def settings(seed: str, **more: object) -> JobSettings:
    """A crawl of one host without delays, with small files.

    No fetch ends by time, however busy the machine is.
    """
    sections: dict[str, object] = {
        "name": "faults",
        "seeds": (seed,),
        "scope": rules_for(ScopeKind.HOST),
        "politeness": PolitenessSettings(delay=0.0, in_flight=3),
        "engine": EngineSettings(parallel=3),
        "frontier": FrontierSettings(max_retries=2, retry_delay=0.01, last_tries=1),
        "fetch": FetchSettings(silence_timeout=100, timeout=200, connect_timeout=100),
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


def prepare(root: Path) -> None:
    """What makes a directory a job."""
    if not root.exists():
        root.mkdir()
        (root / "crawl.yaml").write_text("{}\n")


async def crawl(
    root: Path, site: Site, requests: int = 0, *, accept_loss: bool = False
) -> ExitStatus:
    """Run a job on the real disk, or go on with it.

    Args:
        root: Its directory.
        site: The running site.
        requests: Stop it as Ctrl-C does when so many more were asked; 0: at the end.
        accept_loss: Continue although archived data is missing.
    """
    prepare(root)
    job = Job(root, settings(site.url()), clock=QuickClock())
    before = site.asked.total()

    def stop(_path: str) -> None:
        if requests and job.session and site.asked.total() - before >= requests:
            job.session.stop(ExitStatus.INTERRUPTED)

    site.on_request = stop
    return await job.run(accept_loss=accept_loss)


def facts_of(root: Path) -> Facts:
    """What a stopped job holds."""
    with Store.open(str(root / "state" / "store"), memory=16_000_000, read_only=True) as store:
        return facts(store, root)
