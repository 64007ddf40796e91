"""The next run of a job that does not run: it is planned, or the last run is closed."""

from nacre.inspect.stored_job import require_store
from nacre.machine.layout import Layout
from nacre.runs.runs import INCREMENTAL, RunRow, close_run, is_over, plan_run, read_run
from nacre.settings.settings import JobSettings
from nacre.store.store import Store


def plan_next(
    layout: Layout, settings: JobSettings, now: float, *, mode: str, budget: str, keep: str
) -> RunRow:
    """Make the next run of a job that does not run; an incremental run that waits is resumed.

    Args:
        layout: Its directories.
        settings: Its settings.
        now: Seconds since the epoch.
        mode: See `plan_run`.
        budget: See `plan_run`.
        keep: See `plan_run`.

    Raises:
        JobError: It never ran, or its run is not over.
        ConfigError: The budget is none.
    """
    require_store(layout)
    with Store.open(str(layout.store), memory=settings.store.memory) as store:
        last = read_run(store)
        if last is not None and last.mode == mode == INCREMENTAL and not is_over(last):
            return last
        return plan_run(store, layout, now, mode=mode, budget=budget, keep=keep)


def end_run(layout: Layout, settings: JobSettings, now: float) -> tuple[RunRow, bool]:
    """End the run of a job that does not run for good; True if it was not over before.

    Args:
        layout: Its directories.
        settings: Its settings.
        now: Seconds since the epoch.

    Raises:
        JobError: It never ran, or its next run has not begun.
        StorageError: The job runs, or its store cannot be written.
    """
    require_store(layout)
    with Store.open(str(layout.store), memory=settings.store.memory) as store:
        last = read_run(store)
        return close_run(store, layout, now), last is None or not is_over(last)
