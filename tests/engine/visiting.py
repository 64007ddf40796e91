"""An open job whose visits a test makes by hand: no chain runs, nothing is fetched."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import structs

from nacre.archive.reader import WarcReader
from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI, Directive
from nacre.core.history import HistoryRecord
from nacre.core.processor import Visit
from nacre.core.status import FetchStatus
from nacre.engine.chain.plan import DispositionPlan
from nacre.engine.disposition import AddedProcessors
from nacre.engine.steps.archive import ArchiveStep, Prepared
from nacre.frontier.frontier import Attempt
from nacre.frontier.policy import Final, Retry
from nacre.history.dedup import History
from nacre.job.session import Session
from nacre.machine.clock import SystemClock
from nacre.settings.settings import JobSettings
from tests.archive.captures import make_capture
from tests.job.opened import log_of, opened

NOW = 1_795_168_800.0  # 2026-11-20T10:00:00Z
BEGAN = 1_795_168_800_000_000
SEED = "http://a.test/"
HOUR = 3600.0
_STARTS = count(1_000_000.0, 1_000_000.0)


class ManualClock(SystemClock):
    """A clock that stands still until it is moved.

    Jobs of one process share the delays of hosts: each clock begins when those before it are over.
    """

    __slots__ = ("_start", "passed")

    def __init__(self) -> None:
        self.passed = 0.0
        self._start = next(_STARTS)

    def now(self) -> float:
        return NOW + self.passed

    def monotonic(self) -> float:
        return self._start + self.passed


class OpenJob:
    """The parts of an open job, and the way that the engine takes a visit through them.

    Its seed widens the scope, but waits for nothing: the frontier is empty at first.
    """

    def __init__(self, session: Session, clock: ManualClock) -> None:
        self.session = session
        self.clock = clock
        self.disposition = session.engine.visits.disposition
        seed = self.take()
        assert seed is not None
        self.session.frontier.finished(seed, Attempt(FetchStatus.DELETED), clock.monotonic())

    @property
    def archive(self) -> ArchiveStep:
        return self.session.storing.archive

    def change(self, plan: DispositionPlan | None = None, **parts: Any) -> None:
        """Put other parts, or another chain, into the disposition."""
        if plan is not None:
            parts["chain"] = AddedProcessors(Effective([plan]), self.session.reporting.logs)
        self.disposition = replace(self.disposition, **parts)

    def take(self) -> CrawlURI | None:
        """What the frontier hands out next."""
        return self.session.frontier.next(self.clock.now(), self.clock.monotonic())

    def enter(self, url: str, **changes: Any) -> CrawlURI:
        """Put a URI into the frontier before all others, and take it out again."""
        uri = structs.replace(
            self.session.queues.identity.seed(url), **{"is_seed": False} | changes
        )
        self.session.frontier.schedule(
            [structs.replace(uri, directive=Directive.HIGHEST, force_fetch=True)], self.clock.now()
        )
        self.clock.passed += HOUR
        taken = self.take()
        assert taken is not None
        assert taken.url == url
        return taken

    def visit(self, url: str = SEED, status: int = 0, **facts: Any) -> Visit:
        """A visit of a URI that the frontier handed out, before its fetch."""
        uri = facts.pop("uri", {})
        return Visit(self.enter(url, **uri), status, started=self.clock.monotonic() - 2.0, **facts)

    def reply(
        self,
        status: int = 200,
        url: str = SEED,
        body: bytes = b"hello world",
        capture: dict[str, Any] | None = None,
        **facts: Any,
    ) -> Visit:
        """A visit that got a reply; what was known of its URL is looked up."""
        visit = self.visit(url, status, **facts)
        visit.capture = make_capture(
            body=body, url=url, status=status, **{"began": BEGAN} | (capture or {})
        )
        if visit.history is None:
            visit.history = self.known(url)
        return visit

    def known(self, url: str = SEED) -> HistoryRecord | None:
        """The history of a URL, as a later run would find it."""
        return History(self.session.storing.store).get(url)

    def prepare(self, visit: Visit) -> Prepared | None:
        """What the engine does with a final visit before the synchronous step."""
        if not self.disposition.pass_to_archive(visit):
            return None
        return self.archive.prepare(visit, self.disposition.observer.judge(visit))

    def end(self, visit: Visit) -> Retry | Final | None:
        """Decide on a visit, and do what was decided."""
        decision = self.disposition.decide(visit)
        prepared = self.prepare(visit) if isinstance(decision, Final) else None
        final = self.disposition.dispose(visit, decision, prepared)
        assert final is isinstance(decision, Final)
        return decision


Act = Callable[[OpenJob], Any]


class ClosedJob:
    """What a job left."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def log(self, name: str = "crawl.log") -> str:
        """The text of a log; "" when there is none."""
        path = self._session.directory / "logs" / name
        return log_of(self._session, name) if path.exists() else ""

    @property
    def records(self) -> list[tuple[dict[str, str], bytes]]:
        """Fields and blocks of all records but warcinfo, in the order of the files' names."""
        found = []
        for path in sorted(self._session.directory.rglob("*.warc.gz*")):
            with path.open("rb") as file:
                for entry in WarcReader(file):
                    fields = dict(entry.fields)
                    block = b"".join(iter(entry.read, b""))
                    if fields["WARC-Type"] != "warcinfo":
                        found.append((fields, block))
        return found

    @property
    def types(self) -> list[str]:
        """Types of all records but warcinfo."""
        return [fields["WARC-Type"] for fields, _ in self.records]


def visiting(root: Path, act: Act, settings: dict[str, Any] | None = None) -> ClosedJob:
    """Open a job, act on it, and close it with all durable.

    Args:
        root: Directory of the job.
        act: Makes visits; a coroutine that it returns is awaited.
        settings: Of the job, as in `crawl.yaml`.
    """

    async def run() -> Session:
        clock = ManualClock()
        said = JobSettings.model_validate(settings or {})
        async with opened(root, said, (SEED,), clock=clock) as session:
            result = act(OpenJob(session, clock))
            if asyncio.iscoroutine(result):
                await result
        return session

    return ClosedJob(asyncio.run(run()))
