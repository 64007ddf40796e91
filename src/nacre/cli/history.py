"""`nacre history DIR stats|url|due|top|dump|export|import|rebuild`: what is known of the pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, Html, JobDir, Verbose
from nacre.cli.program import Program

if TYPE_CHECKING:
    from nacre.job.explaining.upcoming import NextVisit
    from nacre.job.offline import View
    from nacre.report.document import Document
    from nacre.store.store import Store

_NOTHING = (
    "no page is known yet: `nacre recrawl` reads what the first crawl got, and goes on from there"
)
_ALL = 1_000_000
"""Rows of a table that are printed: what was asked for."""

history = Program()


@history.callback()
def _job(ctx: typer.Context, directory: JobDir) -> None:
    """What is known of the pages of a job, over all its runs."""
    ctx.obj = directory


@contextmanager
def _looking(directory: Path) -> "Iterator[View]":
    from nacre.cli.look import opened
    from nacre.job.offline import reading

    with reading(*opened(directory)) as view:
        yield view


@contextmanager
def _reading(directory: Path) -> "Iterator[Store]":
    with _looking(directory) as view:
        yield view.store


@contextmanager
def _writing(directory: Path) -> "Iterator[Store]":
    from nacre.cli.look import opened
    from nacre.job.stored import require_store
    from nacre.store.store import Store

    layout, settings = opened(directory)
    require_store(layout)
    with Store.open(str(layout.store), memory=settings.store.memory) as store:
        yield store


@history.command("stats")
def stats(
    ctx: typer.Context,
    hosts: Annotated[bool, typer.Option("--hosts", help="The pages of each host too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Totals: pages by kind and by what became of them, visits by run and verdict."""
    from nacre.job.studies.lookback import statistics
    from nacre.job.studies.pagelist import by_host

    with _reading(ctx.obj) as store:
        found = statistics(store)
        if hosts:
            found["hosts"] = by_host(store)
    if as_json:
        output.say_json(found)
        return
    if not found["pages"]:
        output.say(_NOTHING)
        return
    from nacre.job.handout.history_pages import statistics_document

    _print(statistics_document(found))


def _print(document: "Document") -> None:
    from nacre.report.plain import plain_text

    output.say(plain_text(document, _ALL).rstrip("\n"))


@history.command("runs")
def all_runs(ctx: typer.Context, as_json: AsJson = False) -> None:
    """The runs of the job: when and how each ran, how it ended, and what it found."""
    from nacre.job.operator.control import running
    from nacre.job.studies.lookback import run_list

    with _looking(ctx.obj) as view:
        found = run_list(view.store, is_running=running(view.layout.socket))
    if as_json:
        output.say_json(found)
        return
    from nacre.job.handout.history_pages import runs_document

    _print(runs_document(found))


@history.command("url")
def one_url(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", show_default=False)],
    html: Html = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """A page's history: where it stands, when it changed, and what each visit found and kept."""
    from nacre.errors import JobError
    from nacre.job.explaining.upcoming import Upcoming
    from nacre.job.handout.particulars import particulars
    from nacre.job.studies.lookback import page
    from nacre.uri.login import without_login
    from nacre.wire.urltext import possible_urls

    with _looking(ctx.obj) as view:
        url = without_login(url)
        pages = (page(view.store, name) for name in possible_urls(url))
        found = next((one for one in pages if one is not None), None)
        if found is None:
            raise JobError(
                f"nothing is known of {url}; `nacre explain` says why it was not crawled"
            )
        due = Upcoming(view, view.clock.now()).of(found["url"])
        about = particulars(view)
    if due is not None:
        found["due"] = {"time": _due_time(due), "why": due.why}
    from nacre.job.handout.history_pages import page_history

    next_visit = (f"{_due_time(due)} UTC", due.why) if due is not None else None
    document = page_history(found, next_visit, verbose=verbose)
    if html is not None:
        from nacre.cli.reports import write_html

        write_html(html, document._replace(about=about))
    if as_json:
        output.say_json(found)
    elif html is None:
        _print(document)


_USUAL = 20
Number = Annotated[int, typer.Argument(metavar="N", min=1, help="How many.")]


@history.command("due")
def due_next(
    ctx: typer.Context,
    number: Number = _USUAL,
    as_json: AsJson = False,
) -> None:
    """The pages that are due next, by their schedules or by what a visit is worth, and why."""
    from nacre.job.explaining.upcoming import Upcoming

    with _looking(ctx.obj) as view:
        found = Upcoming(view, view.clock.now()).first(number)
    if as_json:
        output.say_json([{"time": _due_time(one), "url": one.url, "why": one.why} for one in found])
        return
    if not found:
        output.tell(_NOTHING)
        return
    from nacre.job.handout.history_pages import due_document

    _print(due_document([(one.time, one.url, one.why) for one in found]))


@history.command("top")
def top(
    ctx: typer.Context,
    number: Number = _USUAL,
    least: Annotated[
        float, typer.Option("--least", metavar="RATE", min=0, help="Changes a day at least.")
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """The pages that change most, with the changes a day that are expected of them."""
    from nacre.job.handout.history_pages import top_document
    from nacre.job.studies import pagelist
    from nacre.job.studies.maturity import maturity
    from nacre.job.studies.stored import StoredKnown

    with _looking(ctx.obj) as view:
        found = pagelist.top(view.store, number, least)
        known = StoredKnown(view.layout.root, view.store, view.settings, view.clock.now())
        rows = (known.row(url) for _, url in found)
        young = {row.url for row in rows if row is not None and row.visits < 2}
        doubt = maturity(known).doubt
    if as_json:
        output.say_json([{"rate": rate, "url": url} for rate, url in found])
        return
    if not found:
        output.tell(_NOTHING)
        return
    _print(top_document(found, young, doubt))


LifeName = Literal["live", "suspect", "gone", "moved"]


@history.command("dump")
def dump_pages(
    ctx: typer.Context,
    *,
    regex: Annotated[
        str, typer.Option("--regex", metavar="REGEX", help="Found in the URL.", show_default=False)
    ] = "",
    life: Annotated[
        LifeName | None,
        typer.Option(
            "--life", metavar="LIFE", help="live, suspect, gone, moved.", show_default=False
        ),
    ] = None,
    status: Annotated[
        int | None, typer.Option("--status", help="Of the last visit.", show_default=False)
    ] = None,
    sample: Annotated[
        float, typer.Option("--sample", min=0, max=1, help="Share of them, drawn by lot.")
    ] = 1.0,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="A table of the main columns, with a line of names.")
    ] = False,
) -> None:
    """Every page that was visited, one JSON object a line; options pick some of them."""
    import csv
    import sys

    from nacre.job.studies.pagelist import COLUMNS, Wanted, pages

    with _reading(ctx.obj) as store:
        found = pages(store, Wanted(regex, life or "", status, sample))
        if as_csv:
            table = csv.writer(sys.stdout, lineterminator="\n")
            table.writerow(COLUMNS)
            table.writerows([row[name] for name in COLUMNS] for row in found)
            return
        for row in found:
            output.say(output.json_text(row))


Folder = Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False)]


@history.command("export")
def export(
    ctx: typer.Context,
    folder: Folder,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="As Parquet, which needs pyarrow; else JSON Lines.")
    ] = False,
) -> None:
    """Write all that is known into a folder of tables."""
    from nacre.job.incremental.carrying import export_tables

    with _reading(ctx.obj) as store:
        for path, count in export_tables(store, folder, parquet=parquet):
            output.say(f"{output.shown(path)}: {output.count(count, 'row')}")


@history.command("import")
def import_(ctx: typer.Context, folder: Folder) -> None:
    """Take in such a folder, into a job that does not run; rows that are there are replaced."""
    from nacre.job.incremental.carrying import import_tables

    with _writing(ctx.obj) as store:
        for path, count in import_tables(store, folder):
            output.say(f"{output.shown(path)}: {output.count(count, 'row')}")


@history.command("rebuild")
def rebuild(ctx: typer.Context) -> None:
    """Forget what the planner knows; the next `recrawl` reads it from the WARCs of all runs."""
    from nacre.job.studies.lookback import forget

    with _writing(ctx.obj) as store:
        forget(store)
    output.say("forgotten; the next recrawl reads the WARCs of all runs first")


def _due_time(one: "NextVisit") -> str:
    return "never" if one.time == float("inf") else _time(one.time)


def _time(seconds: float) -> str:
    from nacre.report.forms import to_the_second

    return to_the_second(seconds) if seconds else "never"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(history, name="history", rich_help_panel="Look")
