"""`nacre check` and `nacre run`: a job's directory, checked and run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli.options import AsJson, Assignments, By, JobDir, Now, Quiet, Strict, clock_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nacre.config.check import Loaded
    from nacre.job.checks import Findings
    from nacre.job.start_survey import StartSurvey
    from nacre.machine.layout import Layout
    from nacre.settings.settings import JobSettings


_CheckedDir = Annotated[
    Path | None,
    typer.Argument(
        metavar="DIR", help="Directory of the job; not needed for --browser.", show_default=False
    ),
]
_DryRunUrls = Annotated[
    list[str] | None,
    typer.Argument(metavar="URL", help="URLs for --dry-run.", show_default=False),
]
_Explained = Annotated[
    str | None,
    typer.Option(
        "--explain", metavar="PATH", show_default=False,
        help="Explain a setting (politeness.delay), a section (politeness) or a rule "
        "(scope.too-many-hops): value, origin, meaning.",
    ),
]  # fmt: skip
_DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Show the decisions for these URLs: scope, sheets, queue, politeness."
    ),
]
_Survey = Annotated[
    bool,
    typer.Option(
        "--survey",
        help="Resolve the hosts of the seeds, evaluate the scope for each seed, and measure the "
        "disk space that a start needs.",
    ),
]
_Browser = Annotated[
    bool,
    typer.Option(
        "--browser",
        help="Start the browser that runs pages, load a page in it, and report what is missing, "
        "with the command that installs it.",
    ),
]


def check(
    directory: _CheckedDir = None,
    urls: _DryRunUrls = None,
    *,
    path: _Explained = None,
    dry_run: _DryRun = False,
    survey: _Survey = False,
    browser: _Browser = False,
    strict: Strict = False,
    assignments: Assignments = None,
    as_json: AsJson = False,
) -> None:
    """Check a job, and report all errors at once."""
    if browser:
        _check_browser(directory, assignments or (), as_json=as_json)
        return
    if directory is None:
        raise typer.BadParameter("name the directory of the job", param_hint="DIR")
    from nacre.machine.layout import Layout
    from nacre.ops.starts import examine

    layout = Layout(directory)
    loaded, findings = examine(layout, assignments or (), strict=strict)
    if path is not None:
        _explain_setting(loaded, path, as_json=as_json)
        return
    if dry_run or urls:
        findings.require()
        _dry_run(layout, loaded, urls if dry_run else None, as_json=as_json)
        return
    surveyed = _surveyed(layout, loaded) if survey and not findings.problems else None
    _report(layout, findings, surveyed, as_json=as_json)


def _report(
    layout: "Layout", findings: "Findings", surveyed: "StartSurvey | None", *, as_json: bool
) -> None:
    """Print the findings about a job and the survey of its start; exit code 2 for problems."""
    from nacre.cli import output
    from nacre.cli.check_text import survey_lines
    from nacre.core.message_data import to_plain

    if as_json:
        more = {"survey": to_plain(surveyed)} if surveyed else {}
        output.say_json(_findings_as_json(findings) | more)
        raise typer.Exit(2 if findings.problems else 0)
    output.warn(findings.warnings)
    findings.require()
    for line in survey_lines(surveyed) if surveyed is not None else ():
        output.say(line)
    output.say(f"{output.format_path(layout.root)}: nothing wrong")


def _check_browser(directory: Path | None, assignments: "Sequence[str]", *, as_json: bool) -> None:
    """Report the facts about the browser; exit code 2 if no page can be run."""
    from nacre.cli import output
    from nacre.cli.check_text import browser_lines
    from nacre.core.message_data import to_plain
    from nacre.ops.browser_check import examine_browser

    facts = examine_browser(directory, assignments)
    if as_json:
        output.say_json({"facts": to_plain(facts)})
    else:
        for line in browser_lines(facts):
            output.say(line)
    raise typer.Exit(2 if any(fact.state == "missing" for fact in facts) else 0)


def _findings_as_json(findings: "Findings") -> dict[str, Any]:
    return {
        "problems": [problem._asdict() for problem in findings.problems],
        "warnings": [warning._asdict() for warning in findings.warnings],
    }


def _surveyed(layout: "Layout", loaded: "Loaded[JobSettings] | None") -> "StartSurvey | None":
    """The survey of a job before its start; None where its settings could not be read."""
    import asyncio

    from nacre.job.start_survey import survey_start

    return asyncio.run(survey_start(layout, loaded)) if loaded is not None else None


def _dry_run(
    layout: "Layout",
    loaded: "Loaded[JobSettings] | None",
    urls: list[str] | None,
    *,
    as_json: bool,
) -> None:
    from contextlib import ExitStack

    from nacre.cli import output
    from nacre.cli.check_text import outlook_lines
    from nacre.core.message_data import to_plain
    from nacre.errors import ConfigError
    from nacre.inspect.explain.dry_run import DryRun
    from nacre.inspect.view import reading

    if not urls or loaded is None:
        raise ConfigError("URLs and --dry-run go together: `nacre check DIR --dry-run URL`")
    dry = DryRun(layout, loaded)
    with ExitStack() as stack:
        if layout.has_store:
            dry.know(stack.enter_context(reading(layout, loaded.settings)).store)
        outlooks = [dry.outlook(url) for url in urls]
    if as_json:
        output.say_json(to_plain(outlooks))
        return
    for outlook in outlooks:
        for line in outlook_lines(outlook):
            output.say(line)


def _explain_setting(loaded: "Loaded[JobSettings] | None", path: str, *, as_json: bool) -> None:
    from nacre.cli import output
    from nacre.cli.check_text import shown_as_list
    from nacre.ops.setting_explanation import explain_settings

    facts = explain_settings(loaded, path)
    if as_json:
        keyed = [{name.replace(" ", "_"): value for name, value in fact.items()} for fact in facts]
        output.say_json(keyed[0] if len(keyed) == 1 else keyed)
    elif len(facts) == 1:
        output.say(output.pairs(facts[0], indent=""))
    else:
        output.say(output.table(shown_as_list(facts), indent=""))


def schema(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", show_default=False,
            help="Write the schema to FILE; the crawl.yaml of a job refers to "
                 "`DIR/.crawl.schema.json`.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Print the JSON Schema of crawl.yaml, for editors."""
    import json

    from nacre.cli import output
    from nacre.errors import JobError
    from nacre.ops.settings import settings_schema

    text = json.dumps(settings_schema(), indent=1)
    if out is None:
        output.say(text)
        return
    try:
        out.write_text(text + "\n", "utf-8")
    except OSError as error:
        raise JobError(f"{out} cannot be written: {error.strerror}") from error


def run(
    directory: JobDir,
    *,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint", metavar="NAME", show_default=False,
            help="Restore a checkpoint first; `latest` is the newest one.",
        ),
    ] = None,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Continue although archived data is missing.")
    ] = False,
    traps: Annotated[
        bool,
        typer.Option(
            "--traps",
            help="Also crawl the URLs of crawler traps (traps.budget=-1), until Ctrl-C.",
        ),
    ] = False,
    strict: Strict = False,
    assignments: Assignments = None,
    now: Now = None,
    by: By = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Run a job, or resume it."""
    from nacre.cli.output import format_path, tell, warn
    from nacre.cli.running import run_and_summarize
    from nacre.machine.layout import Layout
    from nacre.ops.starts import examine, restore

    clock, layout = clock_at(now), Layout(directory)
    layout.require_continuous()
    if traps:
        assignments = [*(assignments or ()), "traps.budget=-1"]
    _refuse_late_seeds(layout, assignments or ())
    loaded, findings = examine(layout, assignments or (), strict=strict)
    findings.require()
    if not layout.has_store:
        warn(findings.skipped)
    warn(findings.idle)
    if loaded is None:
        raise typer.Exit(2)
    if checkpoint is not None:
        name, former = restore(layout, loaded.settings, checkpoint)
        tell(
            f"went back to checkpoint {name}; the store until now is in {format_path(Path(former))}"
        )
    code = run_and_summarize(
        layout, loaded.settings, clock, quiet=quiet, as_json=as_json,
        accept_loss=accept_loss, traps=traps, origin=loaded.origin, by=by,
    )  # fmt: skip
    raise typer.Exit(code)


def _refuse_late_seeds(layout: "Layout", assignments: list[str] | tuple[str, ...]) -> None:
    """Refuse seeds after the begin of a run, which would be ignored.

    Raises:
        ConfigError: The run has begun, and `--set seeds=` is given.
    """
    from nacre.errors import ConfigError, Problem

    if layout.has_store and any(
        assignment.partition("=")[0].strip() == "seeds" for assignment in assignments
    ):
        remedy = f"`nacre frontier {layout.root} import FILE`, which brings URLs in"
        message = "the seeds were entered when the run began, and --set changes them no more"
        raise ConfigError([Problem("seeds", message, remedy)])


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel="Crawl")(check)
    app.command(rich_help_panel="Crawl")(run)


def register_schema(app: typer.Typer) -> None:
    """Add `schema`, beside what else is about configurations."""
    app.command(rich_help_panel="Rules and settings")(schema)
