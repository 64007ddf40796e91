"""A job seen from a command: its store, whether the job runs in this process or does not run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from nacre.core.clock import Clock
from nacre.errors import JobError, OldLayoutError, StorageError
from nacre.job.clock import SystemClock
from nacre.job.configuration.settings import JobSettings
from nacre.job.layout import Layout
from nacre.job.runrow import RunRow
from nacre.job.runs.manifest import OriginOf, unknown_origin
from nacre.job.runs.newrun import INCREMENTAL, is_over, plan_run
from nacre.job.runs.runs import read_run
from nacre.report.stats import totals
from nacre.store.store import Store

if TYPE_CHECKING:
    from nacre.job.session import Session

_MEMORY = 32_000_000
_TRIES = 3


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
    with _read_only(str(layout.store)) as store:
        yield View(layout, settings, store, SystemClock(), None, origin)


def require_store(layout: Layout) -> None:
    """Raise JobError when the job never ran."""
    layout.require()
    if not layout.has_store:
        raise JobError(f"{layout.root} has not run yet; start it by `nacre run {layout.root}`")


def _read_only(path: str) -> Store:
    """Open beside a running job; files that it removes at that moment make another try needed."""
    for left in range(_TRIES - 1, -1, -1):
        try:
            return Store.open(path, memory=_MEMORY, read_only=True)
        except OldLayoutError:
            raise
        except StorageError:
            if not left:
                raise
    raise AssertionError("unreachable")


def _up_to_date(path: str) -> Store:
    """Open for reading; opening it for work updates a store of an older Nacre first."""
    try:
        return _read_only(path)
    except OldLayoutError:
        Store.open(path, memory=_MEMORY).close()
        return _read_only(path)


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


def is_finished(layout: Layout, *, update: bool = False) -> bool:
    """Whether the job's run is over, so that there is nothing to go on with.

    A run that could fetch nothing is not: its seeds may be tried again. One that had nothing to
    fetch, because nothing was due, is.

    Args:
        layout: The job's directories.
        update: Bring a store of an older Nacre up to date first; else it is refused.
    """
    if not layout.has_store:
        return False
    path = str(layout.store)
    with _up_to_date(path) if update else _read_only(path) as store:
        run = read_run(store)
        count = totals(store)
    if run is None or run.exit != "FINISHED":
        return False
    return count.urls > 0 or (run.mode == INCREMENTAL and not count.failed_pages)
