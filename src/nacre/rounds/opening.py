"""Open the directory of a batch crawl for a step: settings, versions, and an engine."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nacre.core.clock import parse_time
from nacre.errors import ConfigError, JobError, Problem, StorageError
from nacre.machine.layout import Layout
from nacre.rounds.units.libraries import set_up_libraries

if TYPE_CHECKING:
    from nacre.config.check import Loaded
    from nacre.rounds.engine import TaskEngine
    from nacre.rounds.steps.context import StepContext, Told
    from nacre.rounds.tables.versions import Cycle
    from nacre.settings.sections import TableSettings
    from nacre.settings.settings import JobSettings

# Readers of tables need few of the modules that a step needs, which are imported late.

Warn = Callable[[str], None]
"""Receives a line for the user: a warning, or a note."""


def ignore_warning(_text: str) -> None:
    """Ignore a warning."""


class StepSetup(NamedTuple):
    """The setup of a step: engine, clock, settings.

    Attributes:
        engine: `local` or `spark`, which runs the tasks.
        master: Master of Spark; "" for that of spark-defaults.conf.
        tasks: Parallel tasks on this machine; 0 as `cycle.tasks` says, else one for each core.
        clock: The clock of the step, ms since the epoch; 0 for now.
        assignments: Settings, `path=value`.
        dry: Report what would be done, and change nothing.
    """

    engine: str = "local"
    master: str = ""
    tasks: int = 0
    clock: int = 0
    assignments: Sequence[str] = ()
    dry: bool = False


NO_SETUP = StepSetup()


def clock_of(text: str) -> int:
    """Return a time as milliseconds since the epoch; now for "".

    Raises:
        ConfigError: It is not a time.
    """
    from nacre.machine.clock import SystemClock

    try:
        seconds = parse_time(text) if text else SystemClock().now()
    except ValueError as error:
        hint = "an ISO 8601 time, UTC without a zone, or 14 digits"
        raise ConfigError([Problem("", f"--at {error}", hint, "2026-11-23T02:00:00Z")]) from None
    return round(seconds * 1000)


def engine_of(setup: StepSetup, tasks: int = 0, warn: Warn = ignore_warning) -> "TaskEngine":
    """Return the engine that runs the tasks.

    Args:
        setup: How the step is set up.
        tasks: The setting `cycle.tasks`; 0 for one task for each core.
        warn: Receives warnings of Spark.

    Raises:
        ConfigError: There is a master without Spark, or Spark does not start.
    """
    set_up_libraries()
    if setup.engine == "spark":
        from nacre.rounds.engine.spark import SparkEngine

        engine = SparkEngine(setup.master, tell=warn)
        for note in engine.notes:
            warn(note)
        return engine
    if setup.master:
        raise ConfigError("--master is for --engine spark")
    from nacre.rounds.engine.local import LocalEngine

    return LocalEngine(setup.tasks or tasks)


def begin_units(engine: "TaskEngine") -> None:
    """Prepare this machine for units, beside other work, if it will fetch them."""
    from nacre.rounds.engine.local import LocalEngine

    if isinstance(engine, LocalEngine):
        engine.begin()


def require_executors(engine: "TaskEngine", place: str) -> None:
    """Raise ConfigError if an executor of a cluster cannot work with a storage."""
    if engine.name == "spark":
        from nacre.rounds.engine.spark import SparkEngine

        if isinstance(engine, SparkEngine):
            engine.require_executors(place)


def require_at_rest(layout: Layout) -> None:
    """Refuse the directory of a continuous crawl, running or not.

    Raises:
        JobError: It is a continuous crawl.
    """
    from nacre.job.control import is_running

    root = layout.root
    if is_running(layout.socket):
        raise JobError(
            f"{root} is running as a continuous crawl: end it with `nacre stop "
            f"{root}`, or name another directory"
        )
    if layout.store.is_dir() and not layout.in_rounds:
        raise JobError(
            f"{root} is a continuous crawl: `nacre cycle OTHER_DIR import "
            f"{root}` imports its data into rounds, in a separate directory; "
            f"`nacre index {root}` makes an index of its words"
        )


def warn_of_buckets(
    cycle: "Cycle", loaded: "Loaded[JobSettings] | Loaded[TableSettings]", warn: Warn
) -> None:
    """Warn if the tables have another number of buckets than the configuration sets."""
    if not loaded.is_given("cycle.buckets"):
        return
    try:
        table = cycle.newest().tables.get("crawldb")
    except StorageError:
        return  # the reader of the version reports the error
    buckets = loaded.settings.cycle.buckets
    if table is not None and table.buckets != buckets:
        warn(
            f"warning: cycle.buckets is {buckets}, and the tables have {table.buckets} "
            f"buckets, which stay: `nacre cycle DIR compact --buckets {buckets}` changes that"
        )


def check_browser_use(layout: Layout, settings: "JobSettings", warn: Warn = ignore_warning) -> None:
    """Refuse settings that have all pages run in a browser, and warn of `auto`, which is ignored.

    Raises:
        ConfigError: `browser.use` is `always`, in the job or in a sheet.
    """
    from nacre.settings.sheets import examine_sheets, values_of_path

    if settings.browser.use == "never" and not settings.sheets:
        return
    path = "browser.use"
    uses = values_of_path(settings, examine_sheets(settings, layout.root)[0].sheets, path)
    always = next((place for place, use in uses.items() if use == "always"), "")
    if always:
        text = "batch rounds fetch without a browser; crawl these pages with `nacre crawl URL`"
        raise ConfigError([Problem(always, text, "never")])
    if "auto" in uses.values():
        warn("browser.use is auto, and batch rounds fetch without a browser: it is ignored")


def leave_browser_out(layout: Layout) -> None:
    """Write `browser.use: never` to the settings of a directory that were copied from a crawl.

    Args:
        layout: The directory.

    Raises:
        ConfigError, JobError: The settings cannot be read, or not be changed in place.
    """
    from nacre.config.document import read_yaml
    from nacre.settings.amend import Edit, amended

    text = layout.config.read_text("utf-8")
    browser = read_yaml(text, layout.config.name).tree.get("browser")
    if isinstance(browser, dict) and browser.get("use", "never") != "never":
        edit = Edit(("browser", "use"), "never")
        layout.config.write_text(amended(text, [edit], layout.config.name), "utf-8")


def open_versions(directory: Path) -> "tuple[Layout, Loaded[TableSettings], Cycle]":
    """Open a batch crawl to read its tables: the layout, the settings of tables, the versions.

    Raises:
        ConfigError: One of these settings is wrong.
        JobError: The directory is no job, or is running.
    """
    from nacre.rounds.tables.versions import Cycle
    from nacre.settings.sections import load_tables

    layout = Layout(directory)
    loaded = load_tables(layout)
    require_at_rest(layout)
    return layout, loaded, Cycle.open(layout.root, loaded.settings.cycle.storage)


@contextmanager
def open_step(
    directory: Path,
    setup: StepSetup = NO_SETUP,
    on_progress: "Told | None" = None,
    *,
    engine: "TaskEngine | None" = None,
    writes: bool = True,
    warn: Warn = ignore_warning,
) -> "Iterator[StepContext]":
    """Open a directory for a step.

    Args:
        directory: The directory.
        setup: How the step is set up.
        on_progress: Receives the progress of the step; None to ignore it.
        engine: Runs the tasks; None: a new engine, which is closed at the end.
        writes: The step commits a version, unless it is dry.
        warn: Receives warnings.

    Raises:
        ConfigError: A setting, an option or a library is missing or wrong.
        JobError: The directory is no job, or is running.
        StorageError: Nothing can be written into the storage.
    """
    from nacre.rounds.segments.frozen_settings import settings_hash
    from nacre.rounds.steps.context import StepContext, ignore_progress
    from nacre.rounds.storage import require_writable
    from nacre.rounds.tables.versions import Cycle
    from nacre.settings.load import load_job

    layout = Layout(directory)
    loaded = load_job(layout, setup.assignments)
    require_at_rest(layout)
    commits = writes and not setup.dry
    check_browser_use(layout, loaded.settings, warn if commits else ignore_warning)
    hashed = settings_hash(loaded.settings) if commits else ""
    cycle = Cycle.open(layout.root, loaded.settings.cycle.storage, hashed)
    used = engine or engine_of(setup, loaded.settings.cycle.tasks, warn)
    was_there = (layout.root / "cycle").exists()
    try:
        if commits:
            require_writable(cycle.storage)
        require_executors(used, cycle.storage.place)
        if engine is None:
            warn_of_buckets(cycle, loaded, warn)
        context = StepContext(
            layout=layout, loaded=loaded, cycle=cycle, engine=used,
            clock=setup.clock or clock_of(""), dry=setup.dry, tell=on_progress or ignore_progress,
        )  # fmt: skip
        if setup.dry:
            _warn_of_seeds(context, warn)
        yield context
    finally:
        if engine is None:
            used.close()
        if setup.dry and not was_there:
            _remove_empty(layout.root / "cycle")


def _warn_of_seeds(context: "StepContext", warn: Warn) -> None:
    """Warn in a dry run that the step would first make rows of seed lines."""
    from nacre.rounds.steps.seed_rows import is_synced

    version = context.cycle.newest()
    with suppress(ConfigError):  # the step reports a list that cannot be read
        if version.number and not is_synced(context, version):
            warn(
                "without --dry-run the seed lines of this cycle first become rows of the table "
                "`seeds`, in a separate version"
            )


def _remove_empty(folder: Path) -> None:
    """Remove a folder and its empty folders, if no file is in it."""
    for path, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(path).rmdir()
