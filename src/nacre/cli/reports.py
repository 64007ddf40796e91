"""`report`: the reports of a run, and the studies of what its visits have shown."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from nacre.cli import output
from nacre.cli.look import opened
from nacre.cli.options import AsJson, Html, JobDir, Language, Verbose
from nacre.errors import JobError

if TYPE_CHECKING:
    from nacre.job.configuration.settings import JobSettings
    from nacre.job.handout.page import Addressee
    from nacre.job.layout import Layout
    from nacre.job.studies.table import Asked
    from nacre.report.document import Document


_Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", show_default=False, help="Its name; without one, all are listed."
    ),
]
_Page = Annotated[
    str,
    typer.Argument(
        metavar="URL", show_default=False, help="For timeline, diff and decisions: the page."
    ),
]
_Old = Annotated[
    str,
    typer.Option(
        "--old",
        metavar="DATE",
        show_default=False,
        help="For diff: beginning of the date of the older version, 2026-11-20T10.",
    ),
]
_New = Annotated[
    str,
    typer.Option(
        "--new",
        metavar="DATE",
        show_default=False,
        help="For diff: the same of the newer version.",
    ),
]
_Run = Annotated[
    str,
    typer.Option(
        "--run",
        metavar="RUN",
        show_default=False,
        help="For run: name or number of an earlier run, 1 for the first; else the last.",
    ),
]
_Lang = Annotated[Language, typer.Option("--lang", help="For run: English or Chinese.")]
_Zone = Annotated[
    str,
    typer.Option("--time-zone", metavar="NAME", help="For run, such as Asia/Shanghai."),
]
_AsHeritrix = Annotated[
    bool, typer.Option("--heritrix", help="The text of its file, in Heritrix's columns.")
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
    """A report of a run, or of what all visits have shown; without a name, a list of them.

    For curators: run, change-frequency, timeline URL, diff URL, deletions, savings, coverage. For
    operators: crawl-summary, seeds, hosts, budget and others. Each is text, --json or --html.
    """
    from nacre.job.studies.table import STUDIES, Asked
    from nacre.report.reports import REPORTS, RUN

    layout, settings = opened(directory)
    if name != RUN:
        _refuse_options_of_run(run, language, zone)
    form = _Form(html, as_json=as_json, verbose=verbose)
    if name == "list":
        _list(as_json)
    elif not name:
        _overview(layout, settings, form)
    elif name == RUN:
        _refuse_url(name, url)
        _handout(layout, settings, form, run, _addressee(language, zone))
    elif name in REPORTS:
        _refuse_url(name, url)
        _of_run(layout, settings, name, form, heritrix=heritrix)
    elif name in STUDIES:
        _study(layout, settings, name, Asked(url, old, new), form)
    else:
        names = ", ".join((RUN, *REPORTS, *STUDIES))
        raise JobError(f"there is no report {name!r}; there are: {names}")


class _Form(NamedTuple):
    """How a report is wanted."""

    html: Path | None
    as_json: bool
    verbose: bool

    def show(self, document: "Document", data: object, *, most: int | None = None) -> None:
        """Print or write it."""
        from nacre.report.plain import MOST_ROWS, plain_text

        if self.html is not None:
            write_html(self.html, document)
        if self.as_json:
            output.say_json(data)
        elif self.html is None:
            output.say(plain_text(document, most or MOST_ROWS).rstrip("\n"))


def _refuse_options_of_run(run: str, language: str, zone: str) -> None:
    given = {"--run": run, "--lang": language != "en", "--time-zone": zone != "UTC"}
    named = next((option for option, value in given.items() if value), None)
    if named:
        raise JobError(f"{named} is for the report `run` alone: nacre report JOB run {named} ...")


def _refuse_url(name: str, url: str) -> None:
    if url:
        raise JobError(f"{name} is of the whole job and takes no URL")


# ---- which there are


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
    from nacre.job.studies.table import STUDIES, Subject
    from nacre.report.readers import PURPOSES, Audience
    from nacre.report.reports import READERS, REPORTS, RUN, SUMMARIES

    about = {"": "", Subject.PAGE: " (of a URL)", Subject.EITHER: " (also of a URL)"}
    found: dict[Audience, dict[str, str]] = {reader: {} for reader in Audience}
    found[Audience.CURATOR][RUN] = "one page on a run, to be handed on (--html FILE, --lang zh)"
    for name in REPORTS:
        found[READERS[name]][name] = SUMMARIES[name]
    for study in STUDIES.values():
        found[study.reader][study.name] = study.summary + about.get(study.subject, "")
    return [(f"For {reader}: {PURPOSES[reader]}", names) for reader, names in found.items()]


def _overview(layout: "Layout", settings: "JobSettings", form: _Form) -> None:
    """Without a name: the summary of the last run, and which reports there are."""
    _of_run(layout, settings, "crawl-summary", form, heritrix=False)
    if form.as_json or form.html:
        return
    output.say()
    _list(as_json=False)
    job = output.typed(layout.root)
    output.say(f"One of them: {output.program()} report {job} NAME [URL] [--html FILE] [--json]")


# ---- one of a run


def _of_run(
    layout: "Layout", settings: "JobSettings", name: str, form: _Form, *, heritrix: bool
) -> None:
    from nacre.job.offline import reading
    from nacre.job.operator.control import GoneError, ask
    from nacre.job.reports.reporting import make_report, report_named
    from nacre.report.tabled import TABLED

    try:
        data = ask(layout.socket, "report", name=name)["report"]
    except GoneError:
        with reading(layout, settings) as view:
            data = make_report(name, view.store, layout, settings, None)
    if heritrix and not form.as_json:
        output.say(report_named(name).text(data).rstrip("\n"))
        return
    document = TABLED[name](data, verbose=form.verbose)
    if form.html is not None or not document.about:
        document = document._replace(about=_about(layout, settings))
    form.show(document, data)


def _about(layout: "Layout", settings: "JobSettings") -> "tuple[tuple[str, str], ...]":
    from nacre.job.handout.particulars import particulars
    from nacre.job.offline import reading

    with reading(layout, settings) as view:
        return particulars(view)


def _addressee(language: "Language", zone: str) -> "Addressee":
    from datetime import UTC
    from zoneinfo import ZoneInfo

    from nacre.errors import ConfigError
    from nacre.job.handout.page import Addressee
    from nacre.job.handout.words import Words

    try:
        return Addressee(Words(language), UTC if zone == "UTC" else ZoneInfo(zone), zone)
    except (KeyError, ValueError, OSError):
        raise ConfigError(
            f"--time-zone: {zone!r} is no time zone; for example Asia/Shanghai"
        ) from None


def _handout(
    layout: "Layout", settings: "JobSettings", form: _Form, run: str, reader: "Addressee"
) -> None:
    import msgspec

    from nacre.job.handout.facts import run_report
    from nacre.job.handout.failures import MOST
    from nacre.job.handout.page import run_document
    from nacre.job.offline import reading
    from nacre.job.operator.control import running

    with reading(layout, settings) as view:
        found = run_report(view, run, running=running(layout.socket))
        now = view.clock.now()
    form.show(run_document(found, reader, now), msgspec.to_builtins(found), most=MOST)


def _study(
    layout: "Layout", settings: "JobSettings", name: str, asked: "Asked", form: _Form
) -> None:
    """Studies read the last committed state beside a running job: they can take a while."""
    import msgspec

    from nacre.job.handout.particulars import particulars
    from nacre.job.offline import reading
    from nacre.job.studies.stored import StoredKnown
    from nacre.job.studies.table import STUDIES, examine

    with reading(layout, settings) as view:
        known = StoredKnown(layout.root, view.store, settings, view.clock.now())
        found = examine(known, name, asked)
        about = particulars(view)
    document = STUDIES[name].document(found)._replace(about=about)
    form.show(document, msgspec.to_builtins(found))


def write_html(path: Path, document: "Document") -> None:
    """Write a document as one page of HTML.

    Raises:
        JobError: The file cannot be written.
    """
    from nacre.report.html import html_page

    try:
        path.write_text(html_page(document), "utf-8")
    except OSError as error:
        raise JobError(f"{path} cannot be written: {error.strerror}; name another --html") from None
    output.tell(f"Written to {output.shown(path)}")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Look")(report)
