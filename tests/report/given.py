"""Material for the tests of the reports: what a job would tell."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nacre.report.material import QueueFacts, RunFacts, SeedFacts, ToeFacts
from nacre.report.stats import Statistics, Stored
from nacre.store.store import Store
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
    ) -> None:
        statistics = Statistics(self.store)
        stored = stored if status > 0 else Stored.NOTHING
        for url in urls:
            visit = make_visit(url, status, uri={"source": source}, mime=mime)
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
