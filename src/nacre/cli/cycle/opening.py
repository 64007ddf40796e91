"""Options that all commands of `nacre cycle DIR` have, and the way a directory is opened."""

import inspect
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, Assignments, Quiet, seconds_at
from nacre.config.component import parse_duration
from nacre.errors import ConfigError, JobError, Problem, StorageError

if TYPE_CHECKING:
    from nacre.config.check import Loaded
    from nacre.crawldb.settings import CycleSettings
    from nacre.cycle.engine import TaskEngine
    from nacre.cycle.rounds import StopWish
    from nacre.cycle.steps.context import StepContext, Told
    from nacre.cycle.versions import Cycle
    from nacre.settings.sections import TableSettings
    from nacre.settings.settings import JobSettings
    from nacre.store.layout import Layout

__all__ = ["AsJson", "Assignments", "Quiet"]

_HOW = "How"

EngineName = Annotated[
    Literal["local", "spark"],
    typer.Option(
        "--engine", metavar="local|spark", rich_help_panel=_HOW,
        help="What runs the tasks: processes of this machine, or a cluster of Apache Spark.",
    ),
]  # fmt: skip
Master = Annotated[
    str,
    typer.Option(
        "--master", metavar="URL", rich_help_panel=_HOW, show_default=False,
        help="Master of Spark, such as spark://host:7077; default: what spark-defaults.conf says.",
    ),
]  # fmt: skip
Tasks = Annotated[
    int,
    typer.Option(
        "--tasks", metavar="N", min=0, rich_help_panel=_HOW,
        help="Tasks that run at the same time on this machine; 0: as cycle.tasks says, else one "
        "for each core.",
    ),
]  # fmt: skip
At = Annotated[
    str,
    typer.Option(
        "--at", "--now", metavar="TIME", rich_help_panel=_HOW, show_default=False,
        help="The clock of the step, such as 2026-11-23T02:00:00Z or 20261123020000; default: "
        "the present.",
    ),
]  # fmt: skip
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", rich_help_panel=_HOW, help="Say what would be done, and change nothing."
    ),
]


_LISTS = "Lists"
Top = Annotated[
    int | None,
    typer.Option(
        "--top", metavar="N", min=0, rich_help_panel=_LISTS, show_default=False,
        help="URLs of a round, the best first; 0: all that are due. "
        "Default: cycle.generate.top, 50000.",
    ),
]  # fmt: skip
Units = Annotated[
    int,
    typer.Option(
        "--units", metavar="N", min=0, rich_help_panel=_LISTS,
        help="Lists that are fetched at the same time; 0: one for each core.",
    ),
]  # fmt: skip
TimeLimit = Annotated[
    str,
    typer.Option(
        "--time-limit", metavar="TIME", rich_help_panel=_LISTS, show_default=False,
        help="Longest fetch of a round; what needs longer stays due. 0: no limit. "
        "Default: cycle.fetch.time_limit, 180m.",
    ),
]  # fmt: skip


class ListLimits(NamedTuple):
    """The limits of lists that were given on the command line; the others are settings.

    Attributes:
        top: URLs of a segment at most; 0: no limit. None: `cycle.generate.top`.
        units: Units of a segment; 0: `cycle.generate.units`, else one for each core.
        time_limit: Longest fetch, s; 0: no limit. None: `cycle.fetch.time_limit`.
        segments: Segments at most; 0: `cycle.generate.segments`.
    """

    top: int | None = None
    units: int = 0
    time_limit: float | None = None
    segments: int = 0

    def top_of(self, settings: "CycleSettings") -> int:
        """URLs of a segment at most; 0: no limit."""
        return settings.generate.top if self.top is None else self.top

    def units_of(self, settings: "CycleSettings", workers: int) -> int:
        """Units of a segment."""
        return self.units or settings.generate.units or workers

    def seconds_of(self, settings: "CycleSettings") -> float:
        """Longest fetch, s; 0: no limit."""
        return settings.fetch.time_limit if self.time_limit is None else self.time_limit

    def segments_of(self, settings: "CycleSettings") -> int:
        """Segments that one generate makes at most."""
        return self.segments or settings.generate.segments


def list_limits(
    top: int | None = None, units: int = 0, time_limit: str = "", segments: int = 0
) -> ListLimits:
    """The limits as they were typed.

    Raises:
        ConfigError: The time limit is no duration.
    """
    limit = seconds_of("--time-limit", time_limit) if time_limit else None
    return ListLimits(top, units, limit, segments)


def seconds_of(option: str, text: str) -> float:
    """A duration that was typed, in seconds.

    Raises:
        ConfigError: It is none.
    """
    try:
        return float(str(parse_duration(text)))
    except ValueError as error:
        raise ConfigError([Problem("", f"{option} {text!r}: {error}", "", "90m")]) from None


class CommonOptions(NamedTuple):
    """The common options, as they were given.

    Attributes:
        engine, master, tasks: What runs the tasks.
        at: The clock, as it was typed; "" for now.
        assignments: Of `--set`.
        dry: Change nothing.
        quiet: Say nothing but results and errors.
        as_json: Say it as JSON.
    """

    engine: str = "local"
    master: str = ""
    tasks: int = 0
    at: str = ""
    assignments: Sequence[str] = ()
    dry: bool = False
    quiet: bool = False
    as_json: bool = False


def _common(
    *,
    engine: EngineName = "local",
    master: Master = "",
    tasks: Tasks = 0,
    at: At = "",
    dry: DryRun = False,
    assignments: Assignments = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> CommonOptions:
    """The common options of what was typed."""
    return CommonOptions(engine, master, tasks, at, tuple(assignments or ()), dry, quiet, as_json)


def step_command(function: Callable[..., None]) -> Callable[..., None]:
    """A command with the options that all steps have, made of a function that takes them.

    Args:
        function: Its parameter `common` is given the options as `CommonOptions`.
    """
    shared = inspect.signature(_common).parameters

    @wraps(function)
    def command(*arguments: Any, **options: Any) -> None:  # noqa: ANN401 - those of the function
        said = {name: options.pop(name) for name in shared if name in options}
        function(*arguments, common=_common(**said), **options)

    own = inspect.signature(function).parameters.values()
    parameters = [*(one for one in own if one.name != "common"), *shared.values()]
    vars(command)["__signature__"] = inspect.Signature(parameters)
    return command


def clock_of(text: str) -> int:
    """A time as milliseconds since the epoch; now for "".

    Raises:
        ConfigError: It is no time.
    """
    from nacre.engine.clock import SystemClock

    return round((seconds_at("--at", text) if text else SystemClock().now()) * 1000)


def engine_of(options: CommonOptions, tasks: int = 0) -> "TaskEngine":
    """The engine that runs the tasks.

    Args:
        options: The options of a command.
        tasks: The setting `cycle.tasks`; 0: one task for each core.

    Raises:
        ConfigError: `--master` without Spark, or Spark does not start.
    """
    from nacre.cycle.libraries import set_up_libraries

    set_up_libraries()
    if options.engine == "spark":
        from nacre.cycle.engine.spark import SparkEngine

        def warn(note: str) -> None:
            output.tell(f"nacre: warning: {note}")

        engine = SparkEngine(options.master, tell=warn)
        for note in engine.notes:
            warn(note)
        return engine
    if options.master:
        raise ConfigError("--master is for --engine spark")
    from nacre.cycle.engine.local import LocalEngine

    return LocalEngine(options.tasks or tasks)


def begin_units(engine: "TaskEngine") -> None:
    """Let this machine get ready for units beside other work, where it is to fetch them."""
    if engine.name == "local":
        from nacre.cycle.engine.local import LocalEngine

        if isinstance(engine, LocalEngine):
            engine.begin()


def require_executors(engine: "TaskEngine", place: str) -> None:
    """Raise ConfigError when an executor of a cluster cannot work with a storage."""
    if engine.name == "spark":
        from nacre.cycle.engine.spark import SparkEngine

        if isinstance(engine, SparkEngine):
            engine.require_executors(place)


def require_at_rest(layout: "Layout") -> None:
    """Raise JobError when the directory is a continuous crawl's: it stays one, running or not."""
    from nacre.job.control import is_running

    if is_running(layout.socket):
        raise JobError(
            f"{layout.root} is running as a continuous crawl: end it with `nacre stop "
            f"{layout.root}`, or name another directory"
        )
    if layout.store.is_dir() and not layout.in_rounds:
        raise JobError(
            f"{layout.root} is a continuous crawl: `nacre cycle OTHER_DIR import "
            f"{output.shown(layout.root)}` brings what it knows into rounds, in a directory of "
            f"their own; `nacre index {output.shown(layout.root)}` makes an index of its words"
        )


def tell_buckets(cycle: "Cycle", loaded: "Loaded[JobSettings] | Loaded[TableSettings]") -> None:
    """Warn when the tables have another number of buckets than the configuration says."""
    if not loaded.is_given("cycle.buckets"):
        return
    try:
        table = cycle.newest().tables.get("crawldb")
    except StorageError:
        return  # whoever reads the version tells what it has
    wanted = loaded.settings.cycle.buckets
    if table is not None and table.buckets != wanted:
        output.tell(
            f"nacre: warning: cycle.buckets is {wanted}, and the tables have {table.buckets} "
            f"buckets, which stay: `nacre cycle DIR compact --buckets {wanted}` divides them anew"
        )


def versions_of(directory: Path) -> "tuple[Layout, Loaded[TableSettings], Cycle]":
    """The layout of a directory, the settings that who reads tables needs, and the versions.

    Args:
        directory: The directory.

    Raises:
        ConfigError: One of these settings is wrong.
        JobError: The directory is no job, or is running.
    """
    from nacre.cycle.versions import Cycle
    from nacre.settings.sections import load_tables
    from nacre.store.layout import Layout

    layout = Layout(directory)
    loaded = load_tables(layout)
    require_at_rest(layout)
    return layout, loaded, Cycle.open(layout.root, loaded.settings.cycle.storage)


@contextmanager
def opened(
    directory: Path,
    options: CommonOptions,
    told: "Told | None" = None,
    *,
    engine: "TaskEngine | None" = None,
    clock: int = 0,
    writes: bool = True,
) -> "Iterator[StepContext]":
    """A directory, ready for a step.

    Args:
        directory: The directory.
        options: What the step has in common with others.
        told: Hears how far it is.
        engine: Runs the tasks; None: one is made, and closed in the end.
        clock: The clock of the step, ms; 0: as the options say.
        writes: It commits something, unless it is dry.

    Raises:
        ConfigError: A setting, an option or a library is missing or wrong.
        JobError: The directory is no job, or is running.
        StorageError: Nothing can be written into the storage.
    """
    from nacre.cycle.frozen_settings import settings_hash
    from nacre.cycle.steps.context import StepContext, nobody
    from nacre.cycle.storage import require_writable
    from nacre.cycle.versions import Cycle
    from nacre.settings.load import load_job
    from nacre.store.layout import Layout

    layout = Layout(directory)
    loaded = load_job(layout, options.assignments)
    require_at_rest(layout)
    hashed = settings_hash(loaded.settings) if writes and not options.dry else ""
    cycle = Cycle.open(layout.root, loaded.settings.cycle.storage, hashed)
    used = engine or engine_of(options, loaded.settings.cycle.tasks)
    was_there = (layout.root / "cycle").exists()
    try:
        if writes and not options.dry:
            require_writable(cycle.storage)
        require_executors(used, cycle.storage.place)
        if engine is None:
            tell_buckets(cycle, loaded)
        context = StepContext(
            layout=layout,
            loaded=loaded,
            cycle=cycle,
            engine=used,
            clock=clock or clock_of(options.at),
            dry=options.dry,
            told=told or nobody,
        )
        if options.dry:
            _tell_seeds(context)
        yield context
    finally:
        if engine is None:
            used.close()
        if options.dry and not was_there:
            _remove_empty(layout.root / "cycle")


def _tell_seeds(context: "StepContext") -> None:
    """Say in a dry run that the step would first make rows of seed lines."""
    from nacre.cycle.steps.seed_rows import is_synced

    version = context.cycle.newest()
    with suppress(ConfigError):  # a list that cannot be read is the business of the step
        if not version.number or is_synced(context, version):
            return
        output.tell(
            "nacre: without --dry-run the seed lines of this cycle first become rows of the table "
            "`seeds`, in a version of its own"
        )


def _remove_empty(folder: Path) -> None:
    """Remove a folder with the empty ones in it, where no file is there."""
    for path, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(path).rmdir()


@contextmanager
def signals_to(stop: "StopWish") -> "Iterator[StopWish]":
    """While the block runs, the first signal ends the rounds after the step; the second at once."""

    def signalled(_number: int, _frame: object) -> None:
        stop.signalled()
        if stop.signals > 1:
            raise KeyboardInterrupt
        output.tell("nacre: ends after this step; once more ends at once")

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signalled) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
