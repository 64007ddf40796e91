"""Recrawl a finished job: plan a pass, repeat passes, and the history of pages that they read."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from nacre.errors import ConfigError
from nacre.messages import message
from nacre.runs.passes import NextPass, PassSchedule, RegularPasses
from nacre.runs.runs import INCREMENTAL

if TYPE_CHECKING:
    from nacre.config.check import Loaded
    from nacre.core.clock import Clock
    from nacre.errors import Problem
    from nacre.job.continuous import PassesWhenDue
    from nacre.machine.layout import Layout
    from nacre.settings.settings import JobSettings
    from nacre.store.store import Store


class PassRequest(NamedTuple):
    """The options of a pass.

    Attributes:
        mode: `incremental` or `full`.
        budget: What it may spend: 500 (requests), 2GB or 3h; "" for no limit.
        keep: What is stored in full: `strict`, `lean` or `delta`.
        assignments: Other settings, `path=value`.
    """

    mode: str
    budget: str = ""
    keep: Literal["strict", "lean", "delta"] = "strict"
    assignments: Sequence[str] = ()


class PlannedPass(NamedTuple):
    """A pass that may begin.

    Attributes:
        loaded: The settings of the job.
        warnings: Findings that keep nothing from starting.
    """

    loaded: "Loaded[JobSettings]"
    warnings: "Sequence[Problem]"


def plan_pass(layout: "Layout", request: PassRequest, clock: "Clock") -> PlannedPass:
    """Check a job, and plan its next run unless it runs.

    Raises:
        ConfigError: With every problem of the settings.
        JobError: The previous run is not over.
    """
    from nacre.job.control import is_running
    from nacre.job.next_run import plan_next
    from nacre.ops.starts import examine, require_later

    loaded, findings = examine(layout, request.assignments)
    findings.require()
    if loaded is None:
        raise ConfigError(
            message(
                "ops.settings-unreadable",
                "{config}: its settings cannot be read",
                config=layout.config,
            )
        )
    if not is_running(layout.socket):
        require_later(layout, clock)
        plan_next(
            layout, loaded.settings, clock.now(), mode=request.mode, budget=request.budget,
            keep=request.keep,
        )  # fmt: skip
    return PlannedPass(loaded, findings.idle)


class RepeatedRecrawl:
    """Repeats passes, the first as requested, incremental ones after it; see `Recurrence`.

    Args:
        layout: The job's directories.
        request: The options of the first pass.
        rhythm: When passes begin; None: as pages become due.
        clock: The time.
        run: Makes a pass, and returns its exit code.
    """

    def __init__(
        self, layout: "Layout", request: PassRequest, rhythm: RegularPasses | None, clock: "Clock",
        run: Callable[[PassRequest], int],
    ) -> None:  # fmt: skip
        self._layout = layout
        self._request = request
        self._rhythm = rhythm
        self._clock = clock
        self._run = run

    def make(self) -> int:
        """See `Recurrence`."""
        request = self._request
        self._request = request._replace(mode=INCREMENTAL)
        return self._run(request)

    def first(self) -> NextPass | None:
        """See `Recurrence`: now, unless passes begin as pages become due."""
        now = self._clock.now()
        if self._rhythm is None and self._request.mode == INCREMENTAL:
            return self._when_due().begins(now)
        return NextPass(now)

    def expected(self, began: float) -> NextPass | None:
        """See `Recurrence`."""
        return self._rhythm and self._rhythm.following(began, began)

    def following(self, began: float) -> NextPass | None:
        """See `Recurrence`."""
        passes: PassSchedule = self._rhythm or self._when_due()
        return passes.following(began, self._clock.now())

    def _when_due(self) -> "PassesWhenDue":
        """Return the passes by the present settings."""
        from nacre.inspect.stored_job import require_store
        from nacre.job.continuous import PassesWhenDue
        from nacre.settings.load import load_job

        require_store(self._layout)
        settings = load_job(self._layout, self._request.assignments).settings
        return PassesWhenDue(self._layout, settings, self._request.budget)


class HistoryTable(NamedTuple):
    """A file with a table of the history of pages, and the number of its rows."""

    path: Path
    rows: int


def export_history(
    layout: "Layout", folder: Path, *, parquet: bool = False
) -> Iterator[HistoryTable]:
    """Write the history of the pages of a job to a folder, and yield each table that is complete.

    Args:
        layout: The job.
        folder: The folder.
        parquet: Write Parquet; else JSON Lines.

    Raises:
        JobError: The job never ran, or a file cannot be written.
    """
    from nacre.inspect.stored_job import reading_store
    from nacre.recrawl.tables import export_tables

    with reading_store(layout) as store:
        for path, rows in export_tables(store, folder, parquet=parquet):
            yield HistoryTable(path, rows)


def import_history(layout: "Layout", folder: Path) -> Iterator[HistoryTable]:
    """Read an exported folder into a job at rest, and yield each table that was read.

    Raises:
        JobError: The job never ran, or a file cannot be read.
        StorageError: The store is in use.
    """
    from nacre.recrawl.tables import import_tables

    with _open_history(layout) as store:
        for path, rows in import_tables(store, folder):
            yield HistoryTable(path, rows)


def forget_history(layout: "Layout") -> None:
    """Delete the data of the planner; the next recrawl learns it from the WARCs of all runs.

    Raises:
        JobError: The job never ran.
        StorageError: The store is in use.
    """
    from nacre.inspect.analysis.page_history import forget

    with _open_history(layout) as store:
        forget(store)


@contextmanager
def _open_history(layout: "Layout") -> "Iterator[Store]":
    """Open the store of a job at rest, to change it."""
    from nacre.inspect.stored_job import require_store
    from nacre.settings.load import load_job
    from nacre.store.store import Store

    settings = load_job(layout).settings
    require_store(layout)
    with Store.open(str(layout.store), memory=settings.store.memory) as store:
        yield store
