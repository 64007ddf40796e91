"""A job seen from a command: its store, whether the job runs in this process or does not run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from nacre.core.clock import Clock
from nacre.errors import OldLayoutError
from nacre.frontier.totals import read_totals
from nacre.job.clock import SystemClock
from nacre.job.configuration.settings import JobSettings
from nacre.job.layout import Layout
from nacre.job.runrow import RunRow
from nacre.job.runs.manifest import OriginOf, unknown_origin
from nacre.job.runs.newrun import INCREMENTAL, plan_run
from nacre.job.runs.runs import is_over, read_run
from nacre.job.stored import MEMORY, read_only, require_store
from nacre.report.stats import totals
from nacre.store.store import Store

if TYPE_CHECKING:
    from nacre.job.session import Session


class View(NamedTuple):
    """What a command looks at.

    Attributes:
        layout: The job's directories.
        settings: Its settings.
        store: Its store.
        clock: The time.
        session: Its session; None when the job does not run here.
        origin: Says where a setting comes from.
    """

    layout: Layout
    settings: JobSettings
    store: Store
    clock: Clock
    session: "Session | None" = None
    origin: OriginOf = unknown_origin


@contextmanager
def reading(
    layout: Layout, settings: JobSettings, origin: OriginOf = unknown_origin
) -> Iterator[View]:
    """Look at the last committed state of a job, running or not.

    Raises:
        JobError: It never ran.
        StorageError: The store cannot be read.
    """
    require_store(layout)
    with read_only(str(layout.store)) as store:
        yield View(layout, settings, store, SystemClock(), None, origin)


def _up_to_date(path: str) -> Store:
    """Open for reading; opening it for work updates a store of an older Nacre first."""
    try:
        return read_only(path)
    except OldLayoutError:
        Store.open(path, memory=MEMORY).close()
        return read_only(path)


def plan_next(
    layout: Layout, settings: JobSettings, *, mode: str, budget: str, keep: str
) -> RunRow:
    """Make the next run of a job that does not run; an incremental one that waits goes on.

    Raises:
        JobError: It never ran, or its run is not over.
        ConfigError: The budget is none.
    """
    require_store(layout)
    with Store.open(str(layout.store), memory=settings.store.memory) as store:
        last = read_run(store)
        if last is not None and last.mode == mode == INCREMENTAL and not is_over(last):
            return last
        return plan_run(store, layout, SystemClock().now(), mode=mode, budget=budget, keep=keep)


def is_finished(layout: Layout, *, update: bool = False, traps: bool = False) -> bool:
    """Whether the job's run is over, so that there is nothing to go on with.

    A run that could fetch nothing is not: its seeds may be tried again. One that had nothing to
    fetch, because nothing was due, is.

    Args:
        layout: The job's directories.
        update: Bring a store of an older Nacre up to date first; else it is refused.
        traps: URIs of endless places are something to go on with.
    """
    if not layout.has_store:
        return False
    path = str(layout.store)
    with _up_to_date(path) if update else read_only(path) as store:
        run = read_run(store)
        count = totals(store)
        endless = read_totals(store).endless if traps else 0
    if run is None or run.exit != "FINISHED" or endless:
        return False
    return count.urls > 0 or (run.mode == INCREMENTAL and not count.failed_pages)
