"""Changes of the frontier by the operator: delete and import URIs, retire or wake queues.

`readmitted_files` has the URLs that an exclusion took out of a job, and that come back once it is
undone.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, NamedTuple, Protocol

from nacre.assembly.records import RunRecords
from nacre.core.clock import Clock
from nacre.core.processor import Visit
from nacre.core.states import ExitStatus
from nacre.core.status import FetchStatus, counted, describe
from nacre.engine.candidates.identity import Identity
from nacre.engine.candidates.rejected_uris import RejectedUris
from nacre.engine.candidates.scoping import RecentURLs
from nacre.engine.engine import Engine
from nacre.engine.logs import JobLogs
from nacre.engine.outcomes import Outcomes, scan_outcomes
from nacre.errors import ConfigError
from nacre.frontier.frontier import Frontier
from nacre.frontier.pending import ENDS, JournalTag
from nacre.frontier.queue_store import RemovedUri
from nacre.history.dedup import History
from nacre.job.imports import (
    ImportMode,
    ImportOptions,
    ImportParts,
    ImportTally,
    InputLine,
    LineImporter,
    RejectedLine,
)
from nacre.job.receiving import MovedUrl, ReceivedUrls, UrlReceiver
from nacre.job.seeds import SeedLoader, SeedScheduler
from nacre.messages import message
from nacre.recrawl.pagestore import PageStore
from nacre.report.statistics import Statistics, Stored
from nacre.runs.runs import read_run
from nacre.scope.patterns.matching import Matcher, PatternList, any_text, matcher
from nacre.scope.seeds import Entry
from nacre.store.commit import GroupCommit
from nacre.store.store import Store
from nacre.uri.parse import origin

PORTION = 256
"""URIs that are added or removed in one step."""
_LAST_TRIES_OF_NOTHING = 60.0
"""Time for the last tries of a crawl that has fetched nothing at all, seconds."""
_BAD_KEPT = 20
_STEP = 256
QUEUE_ACTIONS = ("retire", "unretire", "wake", "forget", "reconsider", "first")


class RemovalRecorder:
    """Records URIs that left the frontier without a fetch: outcome, statistics, crawl.log.

    Args:
        frontier: Its journal names them.
        statistics: Counts them.
        outcomes: Keeps how they ended.
        identity: Gives the key of a URL.
        logs: Logs them.
        commit: Makes all that durable.
        clock: The time.
    """

    def __init__(  # noqa: PLR0913 - all that records the end of a URI
        self,
        *,
        frontier: Frontier,
        statistics: Statistics,
        outcomes: Outcomes,
        identity: Identity,
        logs: JobLogs,
        commit: GroupCommit,
        clock: Clock,
    ) -> None:
        self._frontier = frontier
        self._journal = frontier.journal
        self._statistics = statistics
        self._outcomes = outcomes
        self._identity = identity
        self._logs = logs
        self._commit = commit
        self._clock = clock

    def record(self, removed: RemovedUri) -> None:
        """Record one."""
        uri = removed.uri
        self._journal.note(ENDS[counted(removed.status)], uri.url, uri.path, uri.via)
        visit = Visit(
            uri,
            status=removed.status,
            annotations=list(uri.annotations),
            error=self._find_cause(removed),
        )
        now = self._clock.now()
        self._statistics.count(visit, Stored.NOTHING, now)
        self._outcomes.put(visit, attempts=uri.attempts)
        self._logs.finished(visit, now)
        self._commit.visit_done()

    def abandon_last_tries(self) -> None:
        """Record what waited for a last try whose time is over, when nothing else is left.

        If nothing was fetched yet, that time is short: a mistyped seed need not take long.
        """
        nothing = not self._statistics.totals.urls
        self._frontier.shorten_last_tries(_LAST_TRIES_OF_NOTHING if nothing else None)
        for removed in self._frontier.last_tries.abandon():
            self.record(removed)

    def _find_cause(self, removed: RemovedUri) -> str:
        """Why a URI was given up: its last error, or why robots.txt failed; "" if unknown."""
        uri = removed.uri
        if uri.attempts and removed.status == uri.last_status:
            return uri.last_error
        if removed.status != FetchStatus.PREREQUISITE_ROBOTS_FAILED:
            return ""
        site = origin(uri.url)
        outcome = self._outcomes.get(self._identity.key(f"{site}/robots.txt"))
        reason = outcome and (outcome.error or describe(outcome.status).rstrip("."))
        cause_text = f" ({outcome.status}: {reason})" if outcome else ""
        return f"robots.txt of {site} could not be fetched{cause_text}"


async def yield_to_loop(commit: GroupCommit, clock: Clock) -> None:
    """Yield to the event loop, longer while the commit group is behind."""
    await asyncio.sleep(0)
    while commit.saturated:
        await clock.sleep(0.01)


class Imported(NamedTuple):
    """The result of an import.

    Attributes:
        tally: Counts of the lines.
        rejected: Those that were rejected; the first twenty.
    """

    tally: ImportTally
    rejected: Sequence[RejectedLine] = ()


class FrontierEditor:
    """Changes the frontier of an open job; the crawl continues between two steps.

    Args:
        frontier: The frontier.
        recorder: Records URIs that are deleted.
        imports: Receives imported lines.
        recent: URLs that need not be judged again.
        identity: Gives the queue of a URL.
        engine: Woken when URIs came in.
        store: The results of finished URIs.
        commit: Makes the changes durable.
        logs: Logs the changes.
        clock: The time.
    """

    def __init__(  # noqa: PLR0913 - what a change of the frontier touches
        self,
        *,
        frontier: Frontier,
        recorder: RemovalRecorder,
        imports: ImportParts,
        recent: RecentURLs,
        identity: Identity,
        engine: Engine,
        store: Store,
        commit: GroupCommit,
        logs: JobLogs,
        clock: Clock,
    ) -> None:
        self._operator = frontier.operator
        self._recorder = recorder
        self._imports = imports
        self._recent = recent
        self._identity = identity
        self._engine = engine
        self._store, self._commit = store, commit
        self._logs = logs
        self._clock = clock

    def importer(self, options: ImportOptions, tally: ImportTally | None = None) -> LineImporter:
        """An importer of lines.

        Args:
            options: How they are read.
            tally: Counts that an earlier process began; None for none.
        """
        return LineImporter(self._imports, options, tally)

    async def delete(self, urls: Matcher, queues: Matcher) -> int:
        """Delete the pending URIs that match both; returns how many there were.

        What is in process stays.
        """
        deleted = 0
        for number, removed in enumerate(self._operator.delete_steps(urls, queues), 1):
            if removed is not None:
                self._recorder.record(removed)
                deleted += 1
            if number % PORTION == 0:
                await self.pause()
        self._engine.wake()
        return deleted

    async def import_lines(
        self, lines: Iterable[str], options: ImportOptions, first: int = 1
    ) -> Imported:
        """Import lines.

        Args:
            lines: The lines.
            options: How they are read.
            first: Number of the first line, for those that are rejected.
        """
        importer = self.importer(options)
        rejected: list[RejectedLine] = []
        numbered = (InputLine(number, text) for number, text in enumerate(lines, first))
        while portion := list(islice(numbered, PORTION)):
            bad_lines = importer.take(portion)
            rejected += bad_lines[: _BAD_KEPT - len(rejected)]
            await self.pause()
        self._engine.wake()
        return Imported(importer.tally, rejected)

    async def receive(self, moved: Iterable[MovedUrl]) -> ReceivedUrls:
        """Import URLs of another crawl: its visited URLs count as visited, the others are queued.

        Args:
            moved: The URLs.
        """
        receiver = UrlReceiver(self._imports, History(self._store), PageStore(self._store))
        source = iter(moved)
        while portion := list(islice(source, PORTION)):
            receiver.take(portion)
            self._commit.visit_done()
            await self.pause()
        self._engine.wake()
        return receiver.counts

    def note(self, action: str, queue: str, url: str, number: int, by: str = "") -> None:
        """Note in job.log what an operator did to the frontier.

        Args:
            action: What was done.
            queue: Expression for queue keys; "" for all.
            url: Expression for URLs; "" for all.
            number: How many queues or URIs changed.
            by: Name of the user; "" for the user of the job.
        """
        chosen = " ".join(filter(None, (queue and f"queues {queue}", url and f"URLs {url}")))
        author = f", by {by}" if by else ""
        self._logs.job(f"frontier {action} {chosen or 'all'}: {number}{author}")

    async def apply(
        self, action: str, queue: str = "", url: str = "", limit: int = 0, by: str = ""
    ) -> int:
        """Apply an action to all queues that match; returns how many queues changed.

        For `forget` and `first` it returns the number of URIs that were forgotten, or moved.

        Args:
            action: One of `QUEUE_ACTIONS`.
            queue: Found in the queue key; "" for all.
            url: Found in the URL, for `forget` and `first`; "" for all.
            limit: Most URIs, for `first`; 0: all.
            by: Name of the user, for job.log; "" for the user of the job.

        Raises:
            ConfigError: No such action, not a regular expression, or a negative limit.
        """
        queues, urls = matcher(queue), matcher(url)
        operator, mono = self._operator, self._clock.monotonic()
        quick: dict[str, Callable[[], int]] = {
            "retire": lambda: operator.retire(queues),
            "unretire": lambda: operator.unretire(queues),
            "wake": lambda: operator.wake(queues, mono),
        }
        if action in quick:
            number = quick[action]()
        elif action == "forget":
            number = await self._forget(queues, urls)
        elif action == "reconsider":
            number = await self._reconsider(queues)
        elif action == "first":
            number = await self._first(queues, urls, limit)
        else:
            action_names = ", ".join(QUEUE_ACTIONS)
            raise ConfigError(
                message(
                    "job.unknown-action",
                    "unknown action {action!r}; the actions are {names}",
                    action=action,
                    names=action_names,
                )
            )
        self.note(action, queue, url, number, by)
        self._engine.wake()
        return number

    async def _reconsider(self, queues: Matcher) -> int:
        changed = 0
        for number, moved in enumerate(self._operator.reconsider(queues), 1):
            changed += moved
            if number % _STEP == 0:
                await self.pause()
        return changed

    async def _first(self, queues: Matcher, urls: Matcher, limit: int) -> int:
        """Move waiting URIs to the front of their queues."""
        if limit < 0:
            raise ConfigError(
                message(
                    "job.limit-number",
                    "`limit` is a number of URIs, 0 for all; it is {limit}",
                    limit=limit,
                )
            )
        moved = 0
        for number, has_moved in enumerate(self._operator.bring_forward(urls, queues), 1):
            moved += has_moved
            if moved == limit > 0:
                break
            if number % _STEP == 0:
                await self.pause()
        return moved

    async def _forget(self, queues: Matcher, urls: Matcher) -> int:
        """Forget finished URIs, so that they can enter again when they are found again."""
        forgotten, keys = 0, list[bytes]()
        for key, outcome in scan_outcomes(self._store):
            in_queue = queues is any_text or queues(self._identity.queue(outcome.url))
            if in_queue and urls(outcome.url):
                keys.append(key)
            if len(keys) >= _STEP:
                forgotten += self._operator.forget(keys)
                keys.clear()
                await self.pause()
        forgotten += self._operator.forget(keys)
        self._recent.forget()
        return forgotten

    async def pause(self) -> None:
        """Let other work run before the next step; see `yield_to_loop`."""
        await yield_to_loop(self._commit, self._clock)


class FrontierEdits(NamedTuple):
    """The parts that change the frontier of an open job beside the crawl.

    Attributes:
        seeds: Enters seeds.
        loader: Enters the seed list of the run.
        recorder: Records URIs that left the frontier without a fetch.
        editor: Changes the frontier by the operator's commands.
    """

    seeds: SeedScheduler
    loader: SeedLoader
    recorder: RemovalRecorder
    editor: FrontierEditor


def make_edits(
    records: RunRecords,
    engine: Engine,
    seed_list: Callable[[], Iterator[Entry]],
    rests: Callable[[str], bool] | None,
) -> FrontierEdits:
    """Build what changes the frontier.

    Args:
        records: The records of the run.
        engine: Its engine.
        seed_list: Opens the seed list.
        rests: Whether a URL is visited by a schedule, and so not entered now; None: none is.
    """
    rules, scheduling, storing = records.rules, records.scheduling, records.storing
    frontier, identity = records.queues.frontier, records.queues.identity
    logs, clock = records.reporting.logs, records.context.clock
    candidates, outcomes, commit = scheduling.candidates, storing.outcomes, storing.commit
    seeds = SeedScheduler(
        settings=rules.effective, sheets=rules.sheets, book=scheduling.seeds,
        logins=scheduling.logins, normalizing=scheduling.normalizing, identity=identity,
        frontier=frontier, logs=logs, clock=clock,
    )  # fmt: skip
    loader = SeedLoader(
        seeds, book=scheduling.seeds, store=storing.store, commit=commit, logs=logs,
        seeds=seed_list, rests=rests,
    )  # fmt: skip
    imports = ImportParts(
        settings=rules.effective, sheets=rules.sheets, scope=candidates.scope, identity=identity,
        frontier=frontier, outcomes=outcomes, book=scheduling.seeds, seeds=seeds,
        logins=scheduling.logins, logs=logs, clock=clock,
        statistics=records.reporting.statistics,
    )  # fmt: skip
    recorder = RemovalRecorder(
        frontier=frontier, statistics=records.reporting.statistics, outcomes=outcomes,
        identity=identity, logs=logs, commit=commit, clock=clock,
    )  # fmt: skip
    editor = FrontierEditor(
        frontier=frontier, recorder=recorder, imports=imports, recent=candidates.recent,
        identity=identity, engine=engine, store=storing.store, commit=commit, logs=logs,
        clock=clock,
    )  # fmt: skip
    return FrontierEdits(seeds, loader, recorder, editor)


READMITTED: Final = {
    "deleted": ImportOptions(ImportMode.IMPORT, force=True),
    "refused": ImportOptions(ImportMode.IMPORT, scoped=True),
}
"""The URLs that come back, and how their lines are imported. Deleted URLs are not checked against
the scope: they may be from a list. URLs that are still excluded stay deleted."""


def readmitted_lines(
    store: Store, kind: str, urls: Matcher, excluded: Sequence[str] = ()
) -> Iterator[str]:
    """URLs that come back once an exclusion is undone, of this run.

    They are lines of a recovery journal, without line feed: `F+ URL PATH VIA`. Pages that only they
    link to are not known. The number of known refused URLs is limited by `engine.outside_kept`.

    Args:
        store: The job's.
        kind: `deleted`: what the operator deleted; `refused`: what the scope refused.
        urls: Which URLs.
        excluded: Expressions that are excluded still, each found in the URLs.
    """
    if kind == "refused":
        for refusal in RejectedUris(store).matching(urls):
            yield _line(refusal.url, refusal.path, refusal.via)
        return
    stays = PatternList(excluded, search=True).matches if excluded else None
    for _, outcome in scan_outcomes(store):
        if outcome.status != FetchStatus.DELETED or not urls(outcome.url):
            continue
        if stays is None or not stays(outcome.url):
            yield _line(outcome.url, outcome.path, outcome.via)


class StoreView(Protocol):
    """A look at a job's store."""

    @property
    def store(self) -> Store:
        """The store."""


def readmitted_files(
    look: Callable[[], AbstractContextManager[StoreView]],
    urls: Matcher,
    excluded: Sequence[str] = (),
) -> Iterator[tuple[Path, ImportOptions]]:
    """Yield files of URLs that come back once an exclusion is undone; each exists until the next.

    There can be millions of lines, and the store must not be open for reading during an import.

    Args:
        look: Looks at the store for a while.
        urls: Which URLs.
        excluded: Expressions that are excluded still.
    """
    for kind, options in READMITTED.items():
        with NamedTemporaryFile("w", prefix="nacre-readmit-", suffix=".txt", encoding="utf-8",
                                errors="backslashreplace") as file:  # fmt: skip
            with look() as view:
                lines = readmitted_lines(view.store, kind, urls, excluded)
                file.writelines(f"{line}\n" for line in lines)
            file.flush()
            if file.tell():
                yield Path(file.name), options


def takes_back(store: Store) -> bool:
    """Whether URLs can come back: there is a run that can be resumed."""
    run = read_run(store)
    return run is not None and run.exit is not ExitStatus.FINISHED and not run.closed


def _line(url: str, path: str, via: str) -> str:
    return " ".join(part for part in (JournalTag.ADDED, url, path, via) if part)
