"""`nacre history DIR stats|url|due|top|dump|export|import|rebuild`: the history of pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nacre.cli import output
from nacre.cli.installing import Yes, with_parquet
from nacre.cli.options import AsJson, Html, JobDir, Verbose, job_of, layout_and_settings
from nacre.cli.program import Program

if TYPE_CHECKING:
    from nacre.inspect.explain.next_visits import NextVisit
    from nacre.inspect.view import View
    from nacre.machine.layout import Layout
    from nacre.ops.recrawl import HistoryTable
    from nacre.report.document import ReportDocument

_NOTHING = "no page is known yet: the first `nacre recrawl JOB` reads what the first crawl fetched"
_ALL = 1_000_000
"""Rows of a table that are printed: all requested rows."""

history = Program()


@history.callback()
def _job(ctx: typer.Context, directory: JobDir) -> None:
    """What is known of the pages of a job, over all its runs."""
    from nacre.machine.layout import Layout

    reader = "readdb --url URL" if ctx.invoked_subcommand == "url" else "readdb --stats"
    Layout(directory).require_runs(reader)


def _layout(ctx: typer.Context) -> "Layout":
    from nacre.machine.layout import Layout

    return Layout(job_of(ctx))


@contextmanager
def _looking(directory: Path) -> "Iterator[View]":
    from nacre.inspect.view import reading

    with reading(*layout_and_settings(directory)) as view:
        yield view


@history.command("stats")
def stats(
    ctx: typer.Context,
    hosts: Annotated[
        bool, typer.Option("--hosts", help="Also print the pages of each host.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print totals: pages by kind and state, visits by run and verdict."""
    from nacre.inspect.analysis.page_history import by_host, statistics

    with _looking(job_of(ctx)) as view:
        totals = statistics(view.store)
        if hosts:
            totals["hosts"] = by_host(view.store)
    if as_json:
        output.say_json(totals)
        return
    if not totals["pages"]:
        output.say(output.to_copy(_NOTHING, job_of(ctx)))
        return
    from nacre.inspect.summary.history_documents import statistics_document

    _print(statistics_document(totals))


def _print(document: "ReportDocument") -> None:
    from nacre.report.plain import plain_text

    output.say(plain_text(document, _ALL).rstrip("\n"))


@history.command("runs")
def all_runs(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the runs of the job: time, kind, end and results of each."""
    from nacre.inspect.analysis.page_history import run_list
    from nacre.job.control import is_running

    with _looking(job_of(ctx)) as view:
        runs = run_list(view.store, is_running=is_running(view.layout.socket))
    if as_json:
        output.say_json(runs)
        return
    from nacre.inspect.summary.history_documents import runs_document

    _print(runs_document(runs))


@history.command("url")
def one_url(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", show_default=False)],
    html: Html = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Show a page's history: its state, its changes, and the result and record of each visit."""
    from nacre.errors import JobError
    from nacre.inspect.analysis.page_history import page
    from nacre.inspect.explain.next_visits import NextVisits
    from nacre.inspect.typed_urls import typed_spellings
    from nacre.inspect.view import title_facts

    with _looking(job_of(ctx)) as view:
        names = list(typed_spellings(view.store, url))
        url = names[0]
        pages = (page(view.store, name) for name in names)
        facts = next((entry for entry in pages if entry is not None), None)
        if facts is None:
            raise JobError(
                f"nothing is known of {url}; `nacre explain {output.typed(job_of(ctx))} "
                f"{output.typed(url)}` says why it was not crawled"
            )
        due = NextVisits(view, view.clock.now()).of(facts["url"])
        about = title_facts(view)
    if due is not None:
        facts["due"] = {"time": _due_time(due), "why": due.reason}
    from nacre.inspect.summary.history_documents import page_history

    next_visit = (f"{_due_time(due)} UTC", due.reason) if due is not None else None
    document = page_history(facts, next_visit, verbose=verbose)
    if html is not None:
        from nacre.cli.reports import write_html

        write_html(html, document._replace(about=about))
    if as_json:
        output.say_json(facts)
    elif html is None:
        _print(document)


_USUAL = 20
Number = Annotated[int, typer.Argument(metavar="N", min=1, help="Number of pages to print.")]


@history.command("due")
def due_next(ctx: typer.Context, number: Number = _USUAL, as_json: AsJson = False) -> None:
    """List the pages that are due next, by their schedules or by the value of a visit."""
    from nacre.inspect.explain.next_visits import NextVisits

    with _looking(job_of(ctx)) as view:
        visits = NextVisits(view, view.clock.now()).first(number)
    if as_json:
        output.say_json(
            [{"time": _due_time(visit), "url": visit.url, "why": visit.reason} for visit in visits]
        )
        return
    if not visits:
        output.tell(output.to_copy(_NOTHING, job_of(ctx)))
        return
    from nacre.inspect.summary.history_documents import due_document

    _print(due_document([(visit.time, visit.url, visit.reason) for visit in visits]))


@history.command("top")
def top(
    ctx: typer.Context,
    number: Number = _USUAL,
    least: Annotated[
        float,
        typer.Option("--least", metavar="RATE", min=0, help="Minimum of expected changes per day."),
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """List the pages that change most, with their expected changes per day."""
    from nacre.inspect.analysis import page_history
    from nacre.inspect.analysis.rate_model import data_basis
    from nacre.inspect.analysis.recrawl_data import StoredRecrawlData
    from nacre.inspect.summary.history_documents import top_document

    with _looking(job_of(ctx)) as view:
        rates = page_history.top(view.store, number, least)
        data = StoredRecrawlData(view.layout.root, view.store, view.settings, view.clock.now())
        rows = (data.row(url) for _, url in rates)
        young = {row.url for row in rows if row is not None and row.visits < 2}
        doubt = data_basis(data).doubt
    if as_json:
        output.say_json([{"rate": rate, "url": url} for rate, url in rates])
        return
    if not rates:
        output.tell(output.to_copy(_NOTHING, job_of(ctx)))
        return
    _print(top_document(rates, young, doubt))


LifeName = Literal["live", "suspect", "gone", "moved"]


@history.command("dump")
def dump_pages(
    ctx: typer.Context,
    *,
    regex: Annotated[
        str,
        typer.Option(
            "--regex",
            metavar="REGEX",
            help="Regular expression to find in the URL.",
            show_default=False,
        ),
    ] = "",
    life: Annotated[
        LifeName | None,
        typer.Option(
            "--life",
            metavar="LIFE",
            help="State of the page: live, suspect, gone or moved.",
            show_default=False,
        ),
    ] = None,
    status: Annotated[
        int | None, typer.Option("--status", help="Status of the last visit.", show_default=False)
    ] = None,
    sample: Annotated[
        float, typer.Option("--sample", min=0, max=1, help="Share of the pages to draw at random.")
    ] = 1.0,
    as_csv: Annotated[
        bool,
        typer.Option("--csv", help="Print a CSV table of the main columns, with a header line."),
    ] = False,
) -> None:
    """Print every visited page, one JSON object per line; options select pages."""
    import csv
    import sys

    from nacre.inspect.analysis.page_history import COLUMNS, PageFilter, pages

    with _looking(job_of(ctx)) as view:
        rows = pages(view.store, PageFilter(regex, life or "", status, sample))
        if as_csv:
            table = csv.writer(sys.stdout, lineterminator="\n")
            table.writerow(COLUMNS)
            table.writerows([row[name] for name in COLUMNS] for row in rows)
            return
        for row in rows:
            output.say(output.json_text(row))


Folder = Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False)]


@history.command("export")
def export(
    ctx: typer.Context,
    folder: Folder,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Write Parquet (needs pyarrow); default: JSON Lines.")
    ] = False,
    _yes: Yes = False,
) -> None:
    """Write all data of the pages to a directory of tables."""
    from nacre.ops.recrawl import export_history

    layout = _layout(ctx)
    with_parquet(
        ctx, parquet, lambda: _print_tables(export_history(layout, folder, parquet=parquet))
    )


@history.command("import")
def import_(ctx: typer.Context, folder: Folder, *, _yes: Yes = False) -> None:
    """Import an exported directory into a job at rest; rows with the same keys are replaced."""
    from nacre.ops.recrawl import import_history

    layout, has_parquet = _layout(ctx), any(folder.glob("*.parquet"))
    with_parquet(ctx, has_parquet, lambda: _print_tables(import_history(layout, folder)))


def _print_tables(tables: "Iterator[HistoryTable]") -> None:
    for table in tables:
        output.say(f"{output.format_path(table.path)}: {output.count(table.rows, 'row')}")


@history.command("rebuild")
def rebuild(ctx: typer.Context) -> None:
    """Delete the planner's data; the next `recrawl` learns it from the WARCs of all runs."""
    from nacre.ops.recrawl import forget_history

    forget_history(_layout(ctx))
    output.say("forgotten; the next recrawl reads the WARCs of all runs first")


def _due_time(visit: "NextVisit") -> str:
    return "never" if visit.time == float("inf") else _time(visit.time)


def _time(seconds: float) -> str:
    from nacre.report.formatting import to_the_second

    return to_the_second(seconds) if seconds else "never"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(history, name="history", rich_help_panel="Look")
