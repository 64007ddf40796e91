"""The readers as commands: `nacre cycle DIR readdb|sql|explain|versions|hash|compact`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.cycle.opening import (
    CommonOptions,
    opened,
    setup_command,
    step_command,
    warn,
)
from nacre.cli.options import AsJson, job_of
from nacre.core.clock import duration
from nacre.rounds.opening import (
    NO_SETUP,
    StepSetup,
    engine_of,
    open_versions,
    require_executors,
    warn_of_buckets,
)

if TYPE_CHECKING:
    from nacre.cli.cycle.program import CycleProgram
    from nacre.machine.layout import Layout
    from nacre.rounds.tables.readers import RowFilter, TableStats, TableView
    from nacre.rounds.tables.versions import Cycle

RowsText = Callable[[Sequence[str], Sequence[Mapping[str, Any]]], str]
"""Returns the text of the columns and rows of a result."""

_WIDTH = 60
_NAMED = 10
"""Versions that a message lists."""


@contextmanager
def looking(
    ctx: typer.Context,
    setup: StepSetup = NO_SETUP,
    version: int = 0,
    *,
    by_arrow: bool = True,
) -> "Iterator[tuple[Layout, TableView]]":
    """Open the tables of the directory of a command.

    Args:
        ctx: The context of the command.
        setup: The setup of the step.
        version: The version; 0: the newest.
        by_arrow: Load Arrow, for rows in its format.

    Raises:
        ConfigError: A setting or an option is wrong; settings of no use to readers are not read.
        JobError: The directory is no job, or is running, or has no such version.
    """
    from nacre.rounds.tables.readers import TableView
    from nacre.rounds.tables.tables import TaskPlace, kernel_manifest

    layout, loaded, cycle = open_versions(job_of(ctx))
    cycle = cycle if by_arrow else cycle.with_reader(kernel_manifest)
    rounds, revisits = loaded.settings.cycle, loaded.settings.recrawl.schedule.nutch
    engine = engine_of(setup, rounds.tasks, warn)
    try:
        require_executors(engine, cycle.storage.place)
        warn_of_buckets(cycle, loaded, warn)
        chosen = cycle.version(version) if version else cycle.newest()
        place = TaskPlace(cycle.storage.place, rounds.memory)
        yield layout, TableView(cycle, chosen, engine, place, round(revisits.interval))
    finally:
        engine.close()


AtVersion = Annotated[
    int,
    typer.Option("--version", metavar="N", min=0, help="Read this version; 0: the newest."),
]


@setup_command("engine", "master", "tasks")
def readdb(
    ctx: typer.Context,
    *,
    stats: Annotated[bool, typer.Option("--stats", help="Print totals.")] = False,
    sort: Annotated[bool, typer.Option("--sort", help="With --stats: by host, too.")] = False,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Print the row of a URL.")
    ] = "",
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=0, help="Print the URLs of the best scores.")
    ] = 0,
    least: Annotated[
        float, typer.Option("--min", metavar="S", help="With --top: the least score.")
    ] = 0.0,
    dump: Annotated[
        Path | None,
        typer.Option(
            "--dump", metavar="FILE", show_default=False,
            help="Write rows to FILE, by its suffix .jsonl, .csv or .parquet.",
        ),
    ] = None,
    status: Annotated[
        str,
        typer.Option("--status", metavar="NAME", help="With --dump: such as db_gone, or 3."),
    ] = "",
    regex: Annotated[
        str, typer.Option("--regex", metavar="REGEX", help="With --dump: what the URL matches.")
    ] = "",
    where: Annotated[
        str, typer.Option("--where", metavar="SQL", help="With --dump: a condition.")
    ] = "",
    retry: Annotated[
        int | None,
        typer.Option("--retry", metavar="N", help="With --dump: failures in a row."),
    ] = None,
    sample: Annotated[
        float, typer.Option("--sample", metavar="F", min=0, max=1, help="With --dump: a share.")
    ] = 1.0,
    version: AtVersion = 0,
    setup: StepSetup,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Read the table of URLs, as Nutch's command of this name does."""
    from nacre.rounds.tables.readers import RowFilter, table_stats, top_rows

    row_filter = RowFilter(status, regex, where, sample, retry)
    _require_one(dump is not None, stats, bool(url), bool(top), chosen=row_filter != RowFilter())
    arrow = bool(url) or dump is not None
    with looking(ctx, setup, version, by_arrow=arrow) as (layout, view):
        if stats:
            _print_stats(table_stats(view, by_host=sort), as_json=as_json)
        elif url:
            _print_row(layout, view, url, as_json=as_json)
        elif top:
            _print_top(top_rows(view, top, least), as_json=as_json)
        elif dump is not None:
            _dump(view, row_filter, dump)


def _require_one(dumps: bool, *choices: bool, chosen: bool) -> None:
    """Raise ConfigError unless exactly one option is given; filters are only for a dump."""
    from nacre.errors import ConfigError

    if sum((dumps, *choices)) != 1:
        raise ConfigError("say one of --stats, --url, --top and --dump")
    if chosen and not dumps:
        raise ConfigError(
            "--status, --regex, --where, --retry and --sample choose rows of --dump; counts of "
            'chosen rows are a query, such as sql "select status, count(*) from crawldb group by 1"'
        )


def _dump(view: "TableView", row_filter: "RowFilter", path: Path) -> None:
    from nacre.rounds.tables.readers import dump_rows
    from nacre.rounds.tables.row_files import write_batches

    number = write_batches(dump_rows(view, row_filter), path)
    output.say(f"{output.count(number, 'row')} in {output.shown(path)}")


def _print_top(rows: "Sequence[tuple[float, str]]", *, as_json: bool) -> None:
    if as_json:
        output.say_json([{"score": score, "url": key} for score, key in rows])
    elif rows:
        lines = [("score", "url"), *((f"{score:.6g}", key) for score, key in rows)]
        output.say(output.table(lines, indent=""))


def _print_stats(stats: "TableStats", *, as_json: bool) -> None:
    from nacre.cli.cycle.texts import time_text

    if as_json:
        output.say_json({name: _plain_keys(value) for name, value in stats._asdict().items()})
        return
    output.say(f"{output.count(stats.total, 'URL')}")
    if not stats.total:
        return
    rows: list[tuple[object, object]] = sorted(stats.statuses.items())
    rows += [(f"retry {number}", urls) for number, urls in sorted(stats.retries.items())]
    output.say(output.table(rows))
    spans = {
        "fetch time": [time_text(round(time)) for time in stats.fetch_times],
        "interval": [duration(interval) for interval in stats.intervals],
        "score": [f"{score:.6g}" for score in stats.scores],
    }
    output.say(
        output.table([("", "least", "mean", "greatest"), *((a, *b) for a, b in spans.items())])
    )
    quantiles = ", ".join(f"{share:g}: {value:.4g}" for share, value in stats.quantiles.items())
    output.say(f"  quantiles of the score: {quantiles}")
    for host, counts in sorted(stats.hosts.items()):
        text = ", ".join(f"{number:,} {name}" for name, number in sorted(counts.items()))
        output.say(f"  {host}: {text}")


def _plain_keys(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _plain_keys(inner) for name, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _print_row(layout: "Layout", view: "TableView", url: str, *, as_json: bool) -> None:
    from nacre.errors import JobError
    from nacre.rounds.tables.readers import find_row
    from nacre.rounds.typed_keys import key_of
    from nacre.settings.load import load_job

    plain, key = key_of(load_job(layout).settings, url, layout.root)
    row = find_row(view, plain, key)
    if row is None:
        raise JobError(f"{plain} is not known; `nacre cycle DIR inject URL` would add it")
    if as_json:
        output.say_json(row)
        return
    output.say(output.pairs({name: value for name, value in row.items() if value is not None}))


def sql(
    ctx: typer.Context,
    query: Annotated[
        str,
        typer.Argument(metavar="QUERY", help="One query that reads.", show_default=False),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", show_default=False,
            help="Write the rows to FILE, by its suffix .jsonl, .csv or .parquet.",
        ),
    ] = None,
    version: AtVersion = 0,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Ask all tables in SQL: `select status, count(*) from crawldb group by 1`."""
    ask(ctx, query, out=out, version=version, as_json=as_json)


def ask(
    ctx: typer.Context,
    query: str,
    *,
    out: Path | None = None,
    version: int = 0,
    recount: str | None = None,
    none: str = "",
    shown: RowsText | None = None,
    as_json: bool = False,
) -> None:
    """Print the rows of a query, or write them to a file.

    Args:
        ctx: The context of the command.
        query: One query that reads.
        out: The file; None to print.
        version: The version to read; 0: the newest.
        recount: See `readers.sql`.
        none: The text without rows; "": the columns.
        shown: Returns the text of columns and rows; None: a table.
        as_json: Print JSON.

    Raises:
        UserSqlError: The query is invalid.
    """
    from nacre.rounds.tables.readers import sql as run
    from nacre.rounds.tables.row_files import plain_row, write_batches

    with (
        looking(ctx, version=version) as (_, view),
        run(view, query, recount=recount) as (names, batches),
    ):
        if out is not None:
            number = write_batches(batches, out)
            output.say(f"{output.count(number, 'row')} in {output.shown(out)}")
            return
        raw_rows = [row for batch in batches for row in batch.to_pylist()]
        rows = [plain_row(row, finite=as_json) for row in raw_rows]
    if as_json:
        output.say_json(rows)
        return
    if none and not rows:
        output.say(none)
        return
    output.say((shown or _rows_text)(names, rows))


def _rows_text(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [tuple(names), *(tuple(_cell(row.get(name)) for name in names) for row in rows)]
    return output.table(lines, indent="")


def _cell(value: object) -> object:
    if isinstance(value, int | float):
        return value
    text = "" if value is None else str(value)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def explain(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", show_default=False)],
    *,
    as_json: AsJson = False,
) -> None:
    """Explain a URL: each version that touched it, and why it is not in the last list."""
    import msgspec

    from nacre.cli.cycle.explain_text import explain_lines
    from nacre.rounds.explain import explain_url
    from nacre.rounds.typed_keys import key_of

    with opened(job_of(ctx), writes=False) as context:
        plain, key = key_of(context.settings, url, context.layout.root)
        explanation = explain_url(context, plain, key)
    if as_json:
        output.say_json(msgspec.to_builtins(explanation, enc_hook=str))
        return
    for line in explain_lines(explanation):
        output.say(line)


@setup_command("at", "dry_run")
def versions(
    ctx: typer.Context,
    action: Annotated[
        str, typer.Argument(metavar="[restore]", help="`restore N` goes back to version N.")
    ] = "",
    number: Annotated[int, typer.Argument(metavar="[N]", min=0, show_default=False)] = 0,
    *,
    files: Annotated[
        str,
        typer.Option(
            "--files", metavar="TABLE", help="Print the files of a table of the newest version."
        ),
    ] = "",
    setup: StepSetup,
    as_json: AsJson = False,
) -> None:
    """List the versions, or go back to one."""
    from nacre.cli.cycle.texts import time_text
    from nacre.errors import ConfigError

    if action and action != "restore":
        raise ConfigError(f"{action!r}: `versions`, or `versions restore N`")
    if action and number:
        _restore(ctx, number, setup, as_json=as_json)
        return
    _, loaded, cycle = open_versions(job_of(ctx))
    if action:
        raise ConfigError(f"`versions restore N` needs the number of a version: {_earlier(cycle)}")
    warn_of_buckets(cycle, loaded, warn)
    if files:
        _say_files(cycle, files)
        return
    items = [cycle.version(v) for v in cycle.numbers()]
    if as_json:
        output.say_json([
            {"version": v.number, "step": v.step, "host": v.host, "clock": v.clock,
             "settings": v.settings, "counters": v.counters}
            for v in items
        ])  # fmt: skip
        return
    output.say(
        output.table([(v.number, v.step, time_text(v.clock), v.host) for v in items])
        if items else "no version yet"
    )  # fmt: skip


def _earlier(cycle: "Cycle") -> str:
    """Return the versions that can be restored, the newest first."""
    from nacre.cli.cycle.texts import time_text

    newest = cycle.newest().number
    numbers = sorted((number for number in cycle.numbers() if number < newest), reverse=True)
    items = [cycle.version(number) for number in numbers[:_NAMED]]
    texts = [f"{v.number} ({v.step} of {time_text(v.clock)})" for v in items]
    more = [f"{len(numbers) - _NAMED:,} more (`versions`)"] if len(numbers) > _NAMED else []
    return ", ".join([*texts, *more]) or "there is none to go back to"


def _restore(ctx: typer.Context, number: int, setup: StepSetup, *, as_json: bool) -> None:
    from nacre.rounds.check import require_whole, restore_whole

    new_version = None
    with opened(job_of(ctx), setup) as context:
        arguments = (context.cycle, context.engine, context.place, number)
        if setup.dry:
            require_whole(*arguments)
        else:
            new_version = restore_whole(*arguments, context.clock)
    if as_json:
        output.say_json(
            {"restored": number, "version": new_version.number if new_version else None}
        )
    elif new_version is None:
        output.say(f"version {number} can be restored: its files are whole")
    else:
        output.say(f"version {new_version.number} says what version {number} says")


def _say_files(cycle: "Cycle", table: str) -> None:
    """Print the files of a table of the newest version."""
    from nacre.errors import ConfigError
    from nacre.rounds.tables.versions import OUTSIDE

    version = cycle.newest()
    names = [*version.tables, *(["archive"] if version.archive else [])]
    if table not in names:
        raise ConfigError(f"--files {table}: there is {', '.join(names) or 'no table yet'}")
    for file in cycle.files(version, table):
        path = file.path if file.kind == OUTSIDE else cycle.storage.local_path(file.path)
        output.say(str(path or f"{cycle.storage.place}/{file.path}"))


@setup_command("engine", "master", "tasks")
def hash_table(
    ctx: typer.Context,
    table: Annotated[str, typer.Argument(metavar="[TABLE]")] = "crawldb",
    *,
    facts: Annotated[
        bool, typer.Option("--facts", help="Leave out times, durations and places in WARCs.")
    ] = False,
    setup: StepSetup,
    as_json: AsJson = False,
) -> None:
    """Print a hash of a table: equal for the same rows, whatever files they are in."""
    from nacre.rounds.tables.hashing import table_hash

    with looking(ctx, setup) as (_, view):
        digest = table_hash(view, table, facts=facts)
    if as_json:
        output.say_json({"table": table, "facts": facts, "sha256": digest})
    else:
        output.say(digest)


@step_command
def compact(
    ctx: typer.Context,
    *,
    buckets: Annotated[
        int, typer.Option("--buckets", metavar="N", min=0, help="Divide the tables into so many.")
    ] = 0,
    common: CommonOptions,
) -> None:
    """Merge the files of all tables, and remove what no kept version needs."""
    from nacre.report.formatting import size
    from nacre.rounds.segments.compaction import compact as run
    from nacre.rounds.segments.compaction import mergeable

    with opened(job_of(ctx), common.setup) as context:
        if common.dry:
            planned = mergeable(context.cycle, buckets)
            if common.as_json:
                output.say_json({"merged": planned})
            else:
                output.say(f"buckets to merge: {_merged_text(planned)}")
            return
        keep = context.settings.cycle.keep_versions
        result = run(
            context.cycle, context.engine, context.place, context.clock, keep=keep, buckets=buckets
        )
    if common.as_json:
        numbers: dict[str, Any] = {**result._asdict(), "version": result.version.number}
        numbers["merged"] = dict(result.merged)
        output.say_json(numbers)
        return
    output.say(
        f"merged buckets: {_merged_text(result.merged)}; {result.files_before} files "
        f"({size(result.size_before)}) are {result.files_after} ({size(result.size_after)}); "
        f"{output.count(result.removed, 'file')} removed ({size(result.freed)})"
    )


def _merged_text(merged: "Mapping[str, int]") -> str:
    return ", ".join(f"{number} of {name}" for name, number in sorted(merged.items())) or "none"


@setup_command("engine", "master", "tasks", "at", "dry_run")
def storage(
    ctx: typer.Context,
    action: Annotated[str, typer.Argument(metavar="check", help="Compare every file.")],
    *,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Make damaged facts and indexes again of the WARCs, and damaged buckets of tables "
            "of facts; for a damaged version go back to the newest one whose tables are whole.",
        ),
    ] = False,
    setup: StepSetup,
    as_json: AsJson = False,
) -> None:
    """Compare every file of the newest version with its digest, and the cash with the seeds."""
    from nacre.cli.cycle.check_text import check_data, say_advice, say_check, say_repair
    from nacre.core.states import ExitCode
    from nacre.errors import ConfigError
    from nacre.rounds.check import check_storage
    from nacre.rounds.steps.update import revisit_plan

    if action != "check":
        raise ConfigError(f"{action!r}: `storage check`")
    with opened(job_of(ctx), setup, writes=repair) as context:
        result = check_storage(
            context.cycle, context.engine, context.place, context.clock, repair=repair,
            dry=setup.dry, plan=revisit_plan(context) if repair else None,
        )  # fmt: skip
    if as_json:
        output.say_json(check_data(result))
    else:
        say_check(result)
        if repair:
            say_repair(result, dry=setup.dry)
        say_advice(result, str(job_of(ctx)), repair=repair)
    raise typer.Exit(ExitCode.DAMAGED if result.left or result.cash else ExitCode.FINISHED)


def register(program: "CycleProgram") -> None:
    """Add the commands."""
    look, tables = "Look", "Tables"
    program.command("readdb", rich_help_panel=look)(readdb)
    program.command("sql", rich_help_panel=look)(sql)
    program.command("explain", rich_help_panel=look)(explain)
    program.command("versions", rich_help_panel=tables)(versions)
    program.command("hash", rich_help_panel=tables)(hash_table)
    program.command("compact", rich_help_panel=tables)(compact)
    program.command("storage", rich_help_panel=tables)(storage)
