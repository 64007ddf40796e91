"""The outcome of each seed; of a failed one: the reason, the tries, the next try."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain, islice
from typing import NamedTuple

import msgspec

from nacre.annotations import withheld_preference
from nacre.config.effective import fixed
from nacre.core.crawluri import DEAD, CrawlURI
from nacre.core.states import RunCounts, SeedsEnd
from nacre.core.status import CountedAs, FetchStatus, cause, counted
from nacre.engine.candidates.identity import Identity, canonicalizer
from nacre.engine.counters import SEEDS_SKIPPED
from nacre.engine.outcomes import Outcome, Outcomes
from nacre.engine.seeding.seedbook import (
    DEAD_AFTER,
    SeedRow,
    SeedTarget,
    UnreachableSeed,
    listed_rows,
    put_unreachable,
    redirect_targets,
    seed_rows,
    unreachable_runs,
    unreachable_seeds,
)
from nacre.frontier.pending import PendingUri, pending, scan_planned
from nacre.frontier.queue_cache import read_queue
from nacre.frontier.queues import QueueState
from nacre.frontier.rows import queue_id, time_of
from nacre.messages import message
from nacre.report.statistics import CrawlTotals
from nacre.runs.runs import INCREMENTAL, RunRow
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from nacre.uri.parse import host, origin

_MOST_WAITING = 200_000
"""Pending URIs that are looked at for seeds that wait."""
_MOST_REDIRECTS = 10
_NOT_GOT = 1000
"""Seeds that were not got and are named with the reason."""
_NOT_MODIFIED = 304
_HTTPS, _HTTP = "https://", "http://"


class SeedState(StrEnum):
    """The outcome of a seed; one that redirects is judged by its target."""

    GOT = "got"
    ERROR = "error"
    NO_REPLY = message("report.no-reply", "no reply")
    WITHHELD = "withheld"
    REFUSED = "refused"
    WAITS = "waits"
    NOT_DUE = message("report.not-due", "not due")


class SeedOutcome(msgspec.Struct, frozen=True):
    """One seed of the list.

    Attributes:
        url: The seed.
        state: Its outcome.
        status: Fetch status of the last try; 0 when it was not tried.
        cause: Why it was not got, in words; "" when it was.
        tries: Tries so far, of it or of what had to come first.
        next_try: When it is tried again, seconds since the epoch; None when nothing says so.
        target: Where it redirected to, when that decided; "" otherwise.
        failed_runs: Runs in a row in which it could not be connected to, up to the last; 0 for
            none. From two on it has two tries a run.
    """

    url: str
    state: SeedState
    status: int = 0
    cause: str = ""
    tries: int = 0
    next_try: float | None = None
    target: str = ""
    failed_runs: int = 0

    @property
    def dead_text(self) -> str:
        """The reason why it has fewer tries than others; "" for a seed that has as many."""
        if self.failed_runs < DEAD_AFTER:
            return ""
        return message(
            "report.no-connection-in-runs",
            "no connection in {failed_runs} runs, so only two tries",
            failed_runs=self.failed_runs,
        )


class SeedTally(msgspec.Struct):
    """All seeds of a run in numbers.

    Attributes:
        total: Seeds of the list.
        got: Those that were got, or unchanged.
        errors: Those that were answered with an error.
        no_reply: Those without a reply.
        withheld: Those whose reply was not written to WARC for a preference (`rights.enforce`).
        refused: Those that were not asked for: by robots.txt, or by a setting.
        waiting: Those that were not finished.
        not_due: Those that a later run did not choose.
        skipped: Lines of the list that are not seeds.
        not_got: The first of those that were not got: tried ones, then those that wait untried.
    """

    total: int = 0
    got: int = 0
    errors: int = 0
    no_reply: int = 0
    withheld: int = 0
    refused: int = 0
    waiting: int = 0
    not_due: int = 0
    skipped: int = 0
    not_got: list[SeedOutcome] = []

    @property
    def end(self) -> SeedsEnd:
        """All seeds together, for the exit code. A withheld seed has its reply, as it was set."""
        if self.got or self.withheld or not (self.errors or self.no_reply or self.refused):
            return SeedsEnd.GOT
        return SeedsEnd.ERRONEOUS if self.errors else SeedsEnd.NO_REPLY


def tally_seeds(ends: Iterable[SeedOutcome], most: int, skipped: int = 0) -> SeedTally:
    """Count seeds, and keep so many of those that were not got.

    Args:
        ends: All seeds.
        most: How many are kept.
        skipped: Lines of the list that are not seeds.
    """
    states: Counter[SeedState] = Counter()
    tried: list[SeedOutcome] = []
    untried: list[SeedOutcome] = []
    for end in ends:
        states[end.state] += 1
        if end.cause:
            listed = tried if end.tries else untried
            if len(listed) < most:
                listed.append(end)
    return SeedTally(
        total=states.total(),
        got=states[SeedState.GOT],
        errors=states[SeedState.ERROR],
        no_reply=states[SeedState.NO_REPLY],
        withheld=states[SeedState.WITHHELD],
        refused=states[SeedState.REFUSED],
        waiting=states[SeedState.WAITS],
        not_due=states[SeedState.NOT_DUE],
        skipped=skipped,
        not_got=tried + untried[: most - len(tried)],
    )


def _replied(url: str, outcome: Outcome) -> SeedOutcome:
    """Return the outcome of a seed with a reply that is no error; it may be withheld."""
    preference = withheld_preference(outcome.annotations)
    if not preference:
        return SeedOutcome(url, SeedState.GOT, outcome.status, tries=outcome.attempts)
    text = message(
        "report.seed-withheld", "withheld by rights.enforce: {preference}", preference=preference
    )
    return SeedOutcome(url, SeedState.WITHHELD, outcome.status, text, outcome.attempts)


class _Waiting(NamedTuple):
    """A URI that waits, and when its time comes; None for when it is its turn."""

    uri: CrawlURI
    due: float | None


class SeedOutcomes:
    """Looks the seeds of a run up.

    Args:
        store: The job's store.
        identity: How the job names URLs.
        most_waiting: Pending URIs that are looked at for seeds that wait, those that wait for
            their time first; of a seed behind them the tries are not known.
    """

    def __init__(self, store: Store, identity: Identity, most_waiting: int = _MOST_WAITING) -> None:
        self._most_waiting = most_waiting
        self._store = store
        self._identity = identity
        self._outcomes = Outcomes(store)
        self._waiting: dict[str, _Waiting] | None = None

    def all(self) -> Iterator[SeedOutcome]:
        """All seeds of the list, in its order."""
        targets = redirect_targets(self._store)
        stood_in: set[str] = set()
        for row in seed_rows(self._store):
            if row.is_listed and row.url not in stood_in:
                yield self._end(row, targets, stood_in)

    def of(self, row: SeedRow, targets: Mapping[str, SeedTarget]) -> SeedOutcome:
        """The outcome of one seed of the list.

        Args:
            row: The seed.
            targets: Where seeds redirect to, by their URLs.
        """
        return self._end(row, targets, set())

    def outcome_of(self, url: str, outcome: Outcome | None) -> SeedOutcome:
        """The outcome of one URL; its redirects are not followed."""
        end = self._own_outcome(url, outcome)
        if not is_unreachable(end):
            return end
        return msgspec.structs.replace(end, failed_runs=unreachable_runs(self._store, url))

    def _own_outcome(self, url: str, outcome: Outcome | None) -> SeedOutcome:
        if outcome is None:
            return self._unfinished(url)
        status = outcome.status
        if 0 < status < 400:
            return _replied(url, outcome)
        if status >= 400:
            return SeedOutcome(url, SeedState.ERROR, status, cause(status), outcome.attempts)
        first = self._in_the_way(url, outcome)
        if first is not None:
            text = self._cause_text(first.url, cause(first.status, first.error))
            return SeedOutcome(url, SeedState.NO_REPLY, status, text, first.attempts)
        refused = counted(status) is CountedAs.DISREGARDED
        state = SeedState.REFUSED if refused else SeedState.NO_REPLY
        return SeedOutcome(url, state, status, cause(status, outcome.error), outcome.attempts)

    def _end(
        self, row: SeedRow, targets: Mapping[str, SeedTarget], stood_in: set[str]
    ) -> SeedOutcome:
        end = self.outcome_of(row.url, self._outcome(row.url))
        if end.state is SeedState.NO_REPLY and "://" not in row.text:
            http_url = _HTTP + row.url.removeprefix(_HTTPS)
            if http_url != row.url and self._is_known(http_url):
                stood_in.add(http_url)
                end = self.outcome_of(http_url, self._outcome(http_url))
        for _ in range(_MOST_REDIRECTS):
            target = targets.get(end.target or end.url)
            if not (300 <= end.status < 400 and end.status != _NOT_MODIFIED) or target is None:
                break
            url = target.url
            if not target.is_seed and not self._is_known(url):
                break  # the scope refused it
            end = msgspec.structs.replace(self.outcome_of(url, self._outcome(url)), target=url)
        runs = unreachable_runs(self._store, row.url) if is_unreachable(end) else 0
        return msgspec.structs.replace(end, url=row.url, failed_runs=runs)

    def _outcome(self, url: str) -> Outcome | None:
        return self._outcomes.get(self._identity.key(url))

    def _is_known(self, url: str) -> bool:
        return self._store.get("seen", self._identity.key(url)) is not None

    def _in_the_way(self, url: str, outcome: Outcome) -> Outcome | None:
        """What had to come first and was not had: its host's address, or its robots.txt."""
        if outcome.status not in _BEHIND or not url.startswith((_HTTP, _HTTPS)):
            return None
        first = self._outcome(_BEHIND[outcome.status].format(host=host(url), origin=origin(url)))
        return first if first is not None and first.status != 1 else None

    @staticmethod
    def _cause_text(url: str, text: str) -> str:
        """The outcome of robots.txt is shown as such when a server answered."""
        if "answered" in text and url.endswith(_ROBOTS):
            return message("report.robots-txt", "its robots.txt: {text}", text=text)
        return text

    def _unfinished(self, url: str) -> SeedOutcome:
        """A seed without a result: it waits, or its prerequisite does, or no run chose it."""
        if not self._is_known(url):
            return SeedOutcome(url, SeedState.NOT_DUE)
        waiting = self._waiting_ones()
        own = waiting.get(url)
        needs = (f"dns:{host(url)}", origin(url) + _ROBOTS) if "://" in url else ()
        for result in (own, *(waiting.get(need) for need in needs)):
            if result is not None and result.uri.attempts:
                uri = result.uri
                text = self._cause_text(uri.url, cause(uri.last_status, uri.last_error))
                state = SeedState.WAITS
                # A dead one is tried again when nothing else is left.
                due = None if DEAD in uri.heritable else result.due
                return SeedOutcome(url, state, uri.last_status, text, uri.attempts, due)
        due = own.due if own else None
        return SeedOutcome(
            url, SeedState.WAITS, 0, message("report.not-tried-yet", "not tried yet"), 0, due
        )

    def _pending(self) -> Iterator[PendingUri]:
        return chain(scan_planned(self._store), pending(self._store))

    def _wake(self, queue: str) -> float | None:
        """When a queue that rests goes on; None for one that does not."""
        row = read_queue(self._store, queue_id(queue))
        return row.wake if row is not None and row.state is QueueState.SNOOZED else None

    def _waiting_ones(self) -> dict[str, _Waiting]:
        """Seeds that wait, and prerequisites that were tried, by their URLs."""
        if self._waiting is None:
            self._waiting = {}
            for entry in islice(self._pending(), self._most_waiting):
                uri = entry.uri
                if uri.is_seed or (uri.is_prerequisite and uri.attempts):
                    due = time_of(entry.key) if entry.family == "future" else self._wake(uri.queue)
                    self._waiting[uri.url] = _Waiting(uri, due)
        return self._waiting


class SeedOutcomeView:
    """The seeds of the list of a job, with their outcomes.

    Args:
        store: The store of the job, as of one moment.
        settings: The settings of the job.
        most_waiting: See `SeedOutcomes`.

    Attributes:
        total: Number of the seeds.
    """

    def __init__(self, store: Store, settings: JobSettings, most_waiting: int) -> None:
        identity = Identity(canonicalizer(settings.uri), fixed(settings.frontier))
        self._store = store
        self._outcomes = SeedOutcomes(store, identity, most_waiting)
        self._targets = redirect_targets(store)
        self.total = sum(1 for _ in listed_rows(store))

    def rows(self, first: int) -> Iterator[SeedRow]:
        """Return the seeds in the order of the list, from one on (0: the first)."""
        return islice(listed_rows(self._store), first, None)

    def outcome(self, row: SeedRow) -> SeedOutcome:
        """Return the outcome of a seed."""
        return self._outcomes.of(row, self._targets)


_ROBOTS = "/robots.txt"
_BEHIND = {-6: "dns:{host}", -61: "{origin}" + _ROBOTS}
"""What a seed with such a status had to wait for."""


def run_counts(run: RunRow, seeds: SeedTally, got: CrawlTotals) -> RunCounts:
    """The counts that the exit code of a run depends on.

    Args:
        run: The run.
        seeds: Its seeds in numbers.
        got: Its totals; those in the store lack the last uncommitted changes when a run ends.
    """
    archived = got.novel_urls + got.duplicate_urls + got.not_modified_urls + got.delta_urls
    end = seeds.end if seeds.total or got.urls else SeedsEnd.NO_REPLY
    return RunCounts(end, got.urls, None if run.mode == INCREMENTAL else archived, got.faults)


def is_unreachable(end: SeedOutcome) -> bool:
    """Whether a seed could not be connected to; an answer for its robots.txt is a connection."""
    return (
        end.state is SeedState.NO_REPLY
        and end.status != FetchStatus.RUNTIME_EXCEPTION
        and "answered" not in end.cause
    )


def note_unreachable(store: Store, ends: Iterable[SeedOutcome], run: int) -> Iterator[SeedOutcome]:
    """The seeds of a run that ends, with the runs in which they could not be connected to.

    These are noted when all were taken. A seed that the run did not try keeps its number.

    Args:
        store: The job's.
        ends: All seeds.
        run: Number of the run.
    """
    earlier = unreachable_seeds(store)
    changed: dict[str, UnreachableSeed | None] = {}
    for end in ends:
        row = earlier.get(end.url, UnreachableSeed())
        if is_unreachable(end):
            if row.run != run:
                row = changed[end.url] = UnreachableSeed(row.runs + 1, run)
            yield msgspec.structs.replace(end, failed_runs=row.runs)
            continue
        if row.runs and end.state in {SeedState.GOT, SeedState.ERROR, SeedState.WITHHELD}:
            changed[end.url] = None
        yield end
    for url, changed_row in changed.items():
        put_unreachable(store, url, changed_row)


def all_seeds(store: Store, identity: Identity, run: int = 0) -> SeedTally:
    """The seeds of a run in numbers; with the first of those that were not got.

    Args:
        store: The job's.
        identity: How the job names URLs.
        run: Number of the run if it ends now: what could not be connected to is noted; else 0.
    """
    result = SeedOutcomes(store, identity).all()
    result = note_unreachable(store, result, run) if run else result
    return tally_seeds(result, _NOT_GOT, skipped=store.counter(SEEDS_SKIPPED))
