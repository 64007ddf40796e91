"""`report`: the reports of a run, and the studies of what its visits have shown."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import output
from nacre.cli.look import opened
from nacre.cli.options import AsJson, JobDir
from nacre.errors import JobError

if TYPE_CHECKING:
    from nacre.job.configuration.settings import JobSettings
    from nacre.job.layout import Layout
    from nacre.job.studies.table import Asked


def report(
    directory: JobDir,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its name; `list` names them all.")
    ] = "crawl-summary",
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL", show_default=False, help="For timeline, diff and decisions: the page."
        ),
    ] = "",
    *,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", show_default=False,
            help="Write it as one page of HTML, with plots.",
        ),
    ] = None,
    old: Annotated[
        str,
        typer.Option(
            "--old", metavar="DATE", show_default=False,
            help="For diff: beginning of the date of the older version, 2026-11-20T10.",
        ),
    ] = "",
    new: Annotated[
        str,
        typer.Option(
            "--new", metavar="DATE", show_default=False,
            help="For diff: the same of the newer version.",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """A report of the run, or of what all visits have shown.

    Of incremental crawling: change-frequency, timeline URL, diff URL, savings, budget, deletions,
    hints, templates, coverage, decisions [URL]; these can be written as HTML too.
    """
    from nacre.report.reports import REPORTS

    layout, settings = opened(directory)
    if name == "list":
        _list(as_json)
        return
    if name in REPORTS:
        if url or html:
            why = "takes no URL and has no HTML; it has text and --json"
            raise JobError(f"the report {name!r} {why}")
        _of_run(layout, settings, name, as_json)
        return
    from nacre.job.studies.table import STUDIES, Asked

    if name not in STUDIES:
        names = ", ".join((*REPORTS, *STUDIES))
        raise JobError(f"there is no report {name!r}; there are: {names}")
    _study(layout, settings, name, Asked(url, old, new), html, as_json)


def _list(as_json: bool) -> None:
    from nacre.job.studies.table import STUDIES
    from nacre.report.reports import REPORTS, SUMMARIES

    names = [*REPORTS, *STUDIES]
    if as_json:
        output.say_json(names)
        return
    studies = {study.name: study.summary for study in STUDIES.values()}
    output.say(output.pairs({name: SUMMARIES[name] for name in REPORTS} | studies, ""))


def _of_run(layout: "Layout", settings: "JobSettings", name: str, as_json: bool) -> None:
    from nacre.job.offline import reading
    from nacre.job.operator.control import GoneError, ask
    from nacre.job.reports.reporting import make_report, report_named

    chosen = report_named(name)
    try:
        data = ask(layout.socket, "report", name=name)["report"]
    except GoneError:
        with reading(layout, settings) as view:
            data = make_report(name, view.store, layout, settings, None)
    if as_json:
        output.say_json(data)
    else:
        output.say(chosen.text(data).rstrip("\n"))


def _study(
    layout: "Layout",
    settings: "JobSettings",
    name: str,
    asked: "Asked",
    html: Path | None,
    as_json: bool,
) -> None:
    """Studies read the last committed state beside a running job: they can take a while."""
    import msgspec

    from nacre.job.offline import reading
    from nacre.job.studies.stored import StoredKnown
    from nacre.job.studies.table import STUDIES, examine
    from nacre.report.html import html_page
    from nacre.report.plain import plain_text

    with reading(layout, settings) as view:
        known = StoredKnown(layout.root, view.store, settings, view.clock.now())
        found = examine(known, name, asked)
    document = STUDIES[name].document(found)
    if html is not None:
        _write(html, html_page(document))
        output.tell(f"Written to {output.shown(html)}")
    if as_json:
        output.say_json(msgspec.to_builtins(found))
    elif html is None:
        output.say(plain_text(document).rstrip("\n"))


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, "utf-8")
    except OSError as error:
        raise JobError(f"{path} cannot be written: {error.strerror}; name another --html") from None


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Look")(report)
