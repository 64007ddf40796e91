"""What reports are made of: the statistics in the store, and what the job tells of its parts."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from nacre.store.store import Store

Data = dict[str, Any]
"""A report, or one row of it; JSON types only."""


class RunFacts(NamedTuple):
    """A run, in numbers.

    Attributes:
        job: Name of the job.
        run: Name of the run.
        status: How it ended, or `RUNNING`; `CRASHED` where it was cut off without an end.
        started: Seconds since the epoch.
        elapsed: Seconds that it ran, pauses left out.
        seeds_crawled: Seeds with a reply.
        seeds_uncrawled: The others.
        discovered: Different URIs seen.
        queued: URIs that wait.
        finished: URIs with a final result.
        succeeded: Of these, with a reply.
        failed: Of these, without.
        disregarded: Of these, denied by robots.txt and the like.
        untried: Guesses let go before they were tried, in none of these numbers.
        now: When this was told, seconds since the epoch.
    """

    job: str
    run: str
    status: str
    started: float
    elapsed: float
    seeds_crawled: int
    seeds_uncrawled: int
    discovered: int
    queued: int
    finished: int
    succeeded: int
    failed: int
    disregarded: int
    untried: int = 0
    now: float = 0.0


class SeedFacts(NamedTuple):
    """What became of a seed.

    Attributes:
        url: Its URL.
        status: Fetch status of its last result; 0 before.
        redirect: The URL that it redirected to and that became a seed too; "" for none.
        cause: Why it was not got, in words, and how often it was tried; "" when it was.
        next_try: When it is tried again, ISO 8601; "" when nothing says so.
    """

    url: str
    status: int
    redirect: str
    cause: str = ""
    next_try: str = ""


class QueueFacts(NamedTuple):
    """A queue. Source of the columns: Heritrix 3, `WorkQueue`.

    Attributes:
        queue: Queue key.
        state: Name of its state, lower case.
        precedence: Lower ones are activated first.
        current_size: URIs in it, those that wait for another try included.
        total_enqueues: URIs ever put in.
        session_balance: What it may spend before another queue takes its turn.
        last_cost: The last charge.
        average_cost: The average charge.
        last_dequeue_time: Time of the last hand-out, ISO 8601; None for never.
        wake_time: It waits until then, ISO 8601; None when it does not.
        total_spend: What it spent.
        total_budget: What it may spend; negative for no limit.
        error_count: Final failures.
        last_peek_uri: URL handed out last; "" for none.
        last_queued_uri: URL put in last; "" for none.
    """

    queue: str
    state: str
    precedence: int
    current_size: int
    total_enqueues: int
    session_balance: int
    last_cost: int
    average_cost: float
    last_dequeue_time: str | None
    wake_time: str | None
    total_spend: int
    total_budget: int
    error_count: int
    last_peek_uri: str
    last_queued_uri: str


class ToeFacts(NamedTuple):
    """A worker and its visit.

    Attributes:
        toe: Its number.
        uri: The URL.
        path: Hop path.
        via: Where it was found.
        attempts: Attempts made before.
        step: Where in its chain the visit is.
        seconds: Since it was handed out.
    """

    toe: int
    uri: str
    path: str
    via: str
    attempts: int
    step: str
    seconds: float


class Material(Protocol):
    """Asked only for what a report needs. Everything is as last committed, but for the workers."""

    @property
    def store(self) -> Store:
        """Where the statistics are."""
        ...

    @property
    def scratch(self) -> Path | None:
        """Directory for temporary files; None for the system's."""
        ...

    def facts(self) -> RunFacts:
        """The run; looks every seed up."""
        ...

    def seeds(self) -> Iterable[SeedFacts]:
        """All seeds."""
        ...

    def remaining(self) -> Iterable[tuple[str, int]]:
        """Host and number of URIs that wait, in no order; a host may come several times."""
        ...

    def queue_states(self) -> dict[str, int]:
        """Number of queues by name of their state."""
        ...

    def queues(self) -> Iterable[QueueFacts]:
        """All queues, in no order that means anything."""
        ...

    def parallel(self) -> int:
        """Workers; 0 when the job does not run."""
        ...

    def toes(self) -> Sequence[ToeFacts]:
        """The workers that are busy, by number."""
        ...
