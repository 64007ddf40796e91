"""Material for the tests of the reports: what a job would tell."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import structs

from nacre.config.effective import fixed
from nacre.core.states import ExitStatus
from nacre.engine.candidates.identity import Identity, canonicalizer
from nacre.engine.outcomes import Outcomes
from nacre.engine.seeding.seedbook import SeedBook
from nacre.frontier.frontier import Attempt
from nacre.inspect.reports.source import QueueFacts, RunFacts, SeedFacts
from nacre.inspect.view import ToeFacts
from nacre.report.statistics import Statistics, Stored
from nacre.runs.runs import RunRow, write_run
from nacre.scope.seeds import Seed
from nacre.scope.state import ScopeState
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.frontier.making import frontier
from tests.report.visits import NOW, make_visit
from tests.store.memory import MemoryEngine

STATES = ("ready", "in_process", "snoozed", "inactive", "ineligible", "retired", "exhausted")


class Given:
    """`Material` of given parts."""

    scratch: Path | None = None

    def __init__(self) -> None:
        self.store = Store(MemoryEngine())
        self.given_seeds: list[SeedFacts] = []
        self.given_remaining: list[tuple[str, int]] = []
        self.given_queues: list[QueueFacts] = []
        self.given_toes: list[ToeFacts] = []
        self.untried = 0
        self.threads = 25

    def visited(
        self,
        *urls: str,
        status: int = 200,
        source: str = "",
        mime: str = "a/b",
        stored: Stored = Stored.NOVEL,
        codes: bool = False,
        words: Sequence[str] = (),
    ) -> None:
        statistics = Statistics(self.store, source_codes=codes)
        stored = stored if status > 0 else Stored.NOTHING
        for url in urls:
            visit = make_visit(
                url, status, uri={"source": source}, mime=mime, annotations=list(words)
            )
            statistics.count(visit, stored, NOW)
        statistics.seal()

    def facts(self) -> RunFacts:
        return RunFacts(
            job="books", run="20261120T100000Z", status="FINISHED", started=NOW, elapsed=3723.004,
            seeds_crawled=2, seeds_uncrawled=1, discovered=20, queued=3, finished=17, succeeded=12,
            failed=4, disregarded=1, untried=self.untried, now=NOW,
        )  # fmt: skip

    def seeds(self) -> Iterable[SeedFacts]:
        return iter(self.given_seeds)

    def remaining(self) -> Iterable[tuple[str, int]]:
        return iter(self.given_remaining)

    def queue_states(self) -> dict[str, int]:
        found = dict.fromkeys(STATES, 0)
        for queue in self.given_queues:
            found[queue.state] += 1
        return found

    def queues(self) -> Iterable[QueueFacts]:
        return iter(self.given_queues)

    def parallel(self) -> int:
        return self.threads

    def toes(self) -> Sequence[ToeFacts]:
        return self.given_toes


def queue(name: str, size: int = 1, state: str = "ready", wake: str | None = None) -> QueueFacts:
    return QueueFacts(
        queue=name, state=state, precedence=3, current_size=size, total_enqueues=9,
        session_balance=2999, last_cost=1, average_cost=1.25,
        last_dequeue_time="2026-11-20T10:00:00.000Z", wake_time=wake, total_spend=5,
        total_budget=-1, error_count=2, last_peek_uri="http://a/1", last_queued_uri="",
    )  # fmt: skip


SETTINGS = JobSettings(name="books")
RUN = RunRow("20261120T100000Z", 1, NOW, exit=ExitStatus.FINISHED, elapsed=10.0)


def identity() -> Identity:
    return Identity(canonicalizer(SETTINGS.uri), fixed(SETTINGS.frontier))


def fill(store: Store) -> None:
    """Three seeds and a redirect target: one answered, one redirected, one not tried."""
    book, outcomes, names = SeedBook(store, ScopeState()), Outcomes(store), identity()
    for url in ("http://ok.test/", "http://moved.test/", "http://later.test:8080/"):
        book.add(Seed(url, url))
    target = names.seed("http://www.moved.test/")
    book.redirected(structs.replace(target, via="http://moved.test/"))
    front = frontier(store, now=NOW)
    urls = ["http://ok.test/", "http://moved.test/", "http://later.test:8080/"]
    front.schedule([names.seed(url) for url in urls], NOW)
    for _ in range(2):
        uri = front.next(NOW, 0)
        assert uri is not None
        status = 200 if uri.url == "http://ok.test/" else 301
        front.finished(uri, Attempt(status), 0)
        outcomes.put(structs.replace(make_visit(uri.url, status), uri=uri))
    front.save()
    write_run(store, RUN)
