"""`report`: reports of a run, and on what all visits have shown."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, Html, JobDir, Language, Verbose, layout_and_settings
from nacre.errors import JobError

if TYPE_CHECKING:
    from nacre.inspect.reports.base import Report, ReportRequest
    from nacre.machine.layout import Layout
    from nacre.report.document import ReportDocument
    from nacre.settings.settings import JobSettings


_Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        show_default=False,
        help="Name of the report; without a name, list all reports.",
    ),
]
_Page = Annotated[
    str,
    typer.Argument(
        metavar="URL",
        show_default=False,
        help="For timeline, diff and decisions: the page; for sections: a directory, /news/.",
    ),
]
_Old = Annotated[
    str,
    typer.Option(
        "--old",
        metavar="DATE|RUN",
        show_default=False,
        help="For diff: beginning of the date of the older version, such as 2026-11-20T10; for "
        "compare: name or number of the older run.",
    ),
]
_New = Annotated[
    str,
    typer.Option(
        "--new",
        metavar="DATE|RUN",
        show_default=False,
        help="For diff and compare: the same for the newer version or run.",
    ),
]
_Run = Annotated[
    str,
    typer.Option(
        "--run",
        metavar="RUN",
        show_default=False,
        help="For run: name or number of an earlier run, 1 for the first; default: the last run.",
    ),
]
_Lang = Annotated[Language, typer.Option("--lang", help="For run: English or Chinese.")]
_Zone = Annotated[
    str,
    typer.Option("--time-zone", metavar="NAME", help="For run, such as Asia/Shanghai."),
]
_AsHeritrix = Annotated[
    bool, typer.Option("--heritrix", help="Print the text of its file, in Heritrix's columns.")
]


def report(
    directory: JobDir,
    name: _Name = "",
    url: _Page = "",
    *,
    html: Html = None,
    old: _Old = "",
    new: _New = "",
    run: _Run = "",
    language: _Lang = "en",
    zone: _Zone = "UTC",
    heritrix: _AsHeritrix = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Print a report of a run or of all visits; without a name, list the reports.

    For curators: run, sections, change-frequency, timeline URL, diff URL, compare, deletions,
    savings, coverage. For operators: crawl-summary, seeds, hosts, budget and others. Formats: text,
    --json or --html.
    """
    from nacre.inspect.registry import report_named
    from nacre.inspect.reports.base import ReportRequest, RunReport, refuse_options_of_run
    from nacre.machine.clock import SystemClock

    layout, settings = layout_and_settings(directory)
    request = ReportRequest(url, old, new, run, language, zone, verbose, SystemClock().now())
    form = _Form(html, as_json=as_json)
    if name in {"", "list"}:
        refuse_options_of_run(request)
        if name:
            _list(as_json)
        else:
            _overview(layout, settings, request, form)
        return
    chosen = report_named(name)
    chosen.check(request)
    if heritrix and not as_json and isinstance(chosen, RunReport):
        data, _ = _data_and_facts(layout, settings, chosen, request)
        output.say(chosen.text(data).rstrip("\n"))
        return
    _show(layout, settings, chosen, request, form)


class _Form(NamedTuple):
    """How a report is wanted."""

    html: Path | None
    as_json: bool


# ---- the list of reports


def _list(as_json: bool) -> None:
    groups = _groups()
    if as_json:
        output.say_json([name for _, names in groups for name in names])
        return
    width = max(len(name) for _, names in groups for name in names)
    for title, names in groups:
        output.say(f"{title}:")
        for name, summary in names.items():
            output.say(f"  {name:<{width}}  {summary}")


def _groups() -> "list[tuple[str, dict[str, str]]]":
    """The reports, by who reads them: a title, and names with what each is about."""
    from nacre.inspect.registry import all_reports
    from nacre.inspect.reports.base import PURPOSES, Audience, ReportSubject

    about = {ReportSubject.PAGE: " (of a URL)", ReportSubject.EITHER: " (also of a URL)"}
    names_of: dict[Audience, dict[str, str]] = {audience: {} for audience in Audience}
    for report in all_reports():
        names_of[report.audience][report.name] = report.summary + about.get(report.subject, "")
    return [(f"For {name}: {PURPOSES[name]}", names) for name, names in names_of.items()]


def _overview(
    layout: "Layout", settings: "JobSettings", request: "ReportRequest", form: _Form
) -> None:
    """Without a name: the summary of the last run, and which reports there are."""
    from nacre.inspect.reports.crawl_summary import CrawlSummaryReport

    _show(layout, settings, CrawlSummaryReport(), request, form)
    if form.as_json or form.html:
        return
    output.say()
    _list(as_json=False)
    job = output.typed(layout.root)
    output.say(f"One of them: {output.program()} report {job} NAME [URL] [--html FILE] [--json]")


# ---- one report


def _show(
    layout: "Layout",
    settings: "JobSettings",
    chosen: "Report",
    request: "ReportRequest",
    form: _Form,
) -> None:
    """Print a report, or write it."""
    from nacre.core.message_data import to_plain
    from nacre.languages import CHINESE, translator
    from nacre.report.localize import localize
    from nacre.report.plain import plain_text

    data, about = _data_and_facts(layout, settings, chosen, request)
    document = chosen.document(data, request)
    if not document.about or (chosen.live and form.html is not None):
        document = document._replace(about=about or _title_facts(layout, settings))
    if request.language == "zh":
        document = localize(document, translator(CHINESE), "zh-CN")
    if form.html is not None:
        write_html(form.html, document)
    if form.as_json:
        output.say_json(to_plain(data))
    elif form.html is None:
        output.say(plain_text(document, chosen.printed_rows).rstrip("\n"))


_Facts = tuple[tuple[str, str], ...]


def _data_and_facts(
    layout: "Layout", settings: "JobSettings", chosen: "Report", request: "ReportRequest"
) -> tuple[Any, _Facts]:
    """Return the data of a report, and the facts under its title; () if they were not read.

    A live report comes from the process that runs the job. Other reports can take a while: this
    process makes them from the last committed state.
    """
    from nacre.inspect.view import reading, title_facts
    from nacre.job.control import NotRunningError, is_running, send_command

    if chosen.live:
        try:
            return send_command(layout.socket, "report", name=chosen.name)["report"], ()
        except NotRunningError:
            pass
    with reading(layout, settings, running=is_running(layout.socket)) as view:
        return chosen.data(view, request), title_facts(view)


def _title_facts(layout: "Layout", settings: "JobSettings") -> _Facts:
    from nacre.inspect.view import reading, title_facts

    with reading(layout, settings) as view:
        return title_facts(view)


def write_html(path: Path, document: "ReportDocument") -> None:
    """Write a document as one page of HTML.

    Raises:
        JobError: The file cannot be written.
    """
    from nacre.report.html import html_page

    try:
        path.write_text(html_page(document), "utf-8")
    except OSError as error:
        raise JobError(f"{path} cannot be written: {error.strerror}; name another --html") from None
    output.tell(f"Written to {output.format_path(path)}")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Look")(report)
