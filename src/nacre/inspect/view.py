"""A job as a command looks at it, whether it runs in this process, in another one or not at all."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nacre.core.clock import Clock
from nacre.engine.seeding.seedbook import listed_rows
from nacre.errors import OldLayoutError
from nacre.frontier.queues import read_totals
from nacre.inspect.stored_job import MEMORY, read_only, require_store
from nacre.machine.clock import MovedClock, SystemClock
from nacre.machine.layout import Layout
from nacre.messages import message, plural
from nacre.report.formatting import moment
from nacre.report.statistics import totals
from nacre.runs.manifest import OriginOf, unknown_origin
from nacre.runs.runs import (
    INCREMENTAL,
    all_runs,
    end_of,
    read_run,
)
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from nacre.wire.urltext import readable_url

if TYPE_CHECKING:  # commands that only read do without all that a running job has
    from nacre.config.effective import Effective
    from nacre.core.processor import Visit
    from nacre.engine.candidates.identity import Identity
    from nacre.engine.candidates.scope_state import RuleFiles
    from nacre.engine.seeding.seedbook import SeedBook
    from nacre.frontier.queues import QueueRow
    from nacre.scope.scope import Scope
    from nacre.settings.sheets import Sheets


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


class LiveFigures(NamedTuple):
    """Figures that only a running job knows, at one moment.

    Attributes:
        parallel: Number of workers.
        toes: Those at work.
        offset: What the clock is ahead of frontier time, seconds.
    """

    parallel: int
    toes: Sequence[ToeFacts]
    offset: float


class RunningJob(Protocol):
    """A job that runs in this process: its data that are not in the store."""

    @property
    def identity(self) -> "Identity":
        """It gives URLs their keys and queues."""
        ...

    @property
    def scope(self) -> "Effective[Scope]":
        """The scope under each combination of sheets."""
        ...

    @property
    def seeds(self) -> "SeedBook":
        """The seeds."""
        ...

    @property
    def sheets(self) -> "Sheets":
        """The sheets."""
        ...

    @property
    def rule_files(self) -> "RuleFiles":
        """The files that settings name."""
        ...

    def in_process(self) -> "list[Visit]":
        """The visits in process."""
        ...

    def queue(self, name: str) -> "tuple[QueueRow, float] | None":
        """A queue in memory, and the seconds until it may hand out a URI; None for another."""
        ...

    def figures(self) -> LiveFigures:
        """The figures of the workers at this moment."""
        ...


class View(NamedTuple):
    """A job as a command sees it, running or at rest.

    Attributes:
        layout: The job's directories.
        settings: Its settings.
        store: Its store.
        clock: The time of the job.
        live: The running job; None when it does not run in this process.
        origin: Says where a setting comes from.
        running: A process works on the job.
    """

    layout: Layout
    settings: JobSettings
    store: Store
    clock: Clock
    live: RunningJob | None = None
    origin: OriginOf = unknown_origin
    running: bool = False


@contextmanager
def reading(
    layout: Layout,
    settings: JobSettings,
    origin: OriginOf = unknown_origin,
    *,
    running: bool = False,
) -> Iterator[View]:
    """Look at the last committed state of a job, running or not.

    Args:
        layout: The job's directories.
        settings: Its settings.
        origin: Says where a setting comes from.
        running: A process works on the job.

    Raises:
        JobError: It never ran.
        StorageError: The store cannot be read.
    """
    require_store(layout)
    with read_only(str(layout.store)) as store:
        yield View(layout, settings, store, stored_clock(store), None, origin, running)


def stored_clock(store: Store) -> Clock:
    """Return the clock of a job that is read: the machine's, but never before its last run.

    `--now` may have moved the clock of a run. If that is in the past, the machine's clock is right:
    the reports show what a run would do that starts now. If it is in the future, the reports begin
    at the end of the run.
    """
    clock, latest = SystemClock(), _latest_time(store)
    return MovedClock(latest) if latest > clock.now() else clock


def _latest_time(store: Store) -> float:
    return max((end_of(run) for run in all_runs(store) if not run.fresh), default=0.0)


def _up_to_date(path: str) -> Store:
    """Open for reading; opening it for work updates a store of an older Nacre first."""
    try:
        return read_only(path)
    except OldLayoutError:
        Store.open(path, memory=MEMORY).close()
        return read_only(path)


def is_finished(layout: Layout, *, update: bool = False, traps: bool = False) -> bool:
    """Whether the job's run is over, so that there is nothing to resume.

    A run that could fetch nothing is not: its seeds may be tried again. One that had nothing to
    fetch, because nothing was due, is.

    Args:
        layout: The job's directories.
        update: Bring a store of an older Nacre up to date first; else it is refused.
        traps: URIs of endless places count as work to resume.
    """
    if not layout.has_store:
        return False
    path = str(layout.store)
    with _up_to_date(path) if update else read_only(path) as store:
        run = read_run(store)
        count = totals(store)
        endless = read_totals(store).endless if traps else 0
    if run is not None and run.closed:
        return True
    if run is None or run.exit != "FINISHED" or endless:
        return False
    return count.urls > 0 or (run.mode == INCREMENTAL and not count.failed_pages)


def latest_time(layout: Layout) -> float:
    """The end of what a job that does not run has done, seconds since the epoch; 0 for nothing."""
    if not layout.has_store:
        return 0.0
    with _up_to_date(str(layout.store)) as store:
        return _latest_time(store)


_SITES = 3


def title_facts(view: View) -> tuple[tuple[str, str], ...]:
    """The facts under the title of a report: job, sites, and the period of all runs, UTC."""
    root = view.layout.root
    rows = [row for row in all_runs(view.store) if not row.fresh]
    first = [readable_url(seed.url) for seed in islice(listed_rows(view.store), _SITES)]
    number = sum(1 for _ in listed_rows(view.store))
    sites: str = ", ".join(first) or "none"
    if number > len(first):
        sites = message(
            "report.more-sites", "{sites} and {number:,} more",
            sites=sites, number=number - len(first),
        )  # fmt: skip
    about = [
        ("Job", view.settings.name or root.name),
        ("Site" if number == 1 else "Sites", sites),
    ]
    if rows:
        ended = (
            moment(rows[-1].ended)
            if rows[-1].ended
            else message("inspect.running-now", "now, not over yet")
        )
        runs = plural("report.runs", "one run", "{number} runs", number=len(rows))
        period = message(
            "report.period", "{start} to {end} UTC ({runs})",
            start=moment(rows[0].started), end=ended, runs=runs,
        )  # fmt: skip
        about.append(("Period", period))
    return tuple(about)
