"""`nacre check` and `nacre run`: a job's directory, checked and run."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli.options import AsJson, Assignments, JobDir, Quiet, Strict

if TYPE_CHECKING:
    from nacre.config.check import Loaded
    from nacre.job.checks import Findings
    from nacre.job.configuration.settings import JobSettings
    from nacre.job.layout import Layout
    from nacre.job.runs.manifest import OriginOf


def check(
    directory: JobDir,
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL", help="For --dry-run.", show_default=False),
    ] = None,
    *,
    path: Annotated[
        str | None,
        typer.Option(
            "--explain", metavar="PATH", show_default=False,
            help="Say of a setting (politeness.delay), a section (politeness) or a rule "
            "(scope.too-many-hops) what it is and why.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Say what would be done with these URLs: scope, sheets, queue, politeness.",
        ),
    ] = False,
    strict: Strict = False,
    assignments: Assignments = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Find all problems of a job at once."""
    from nacre.cli import output
    from nacre.job.layout import Layout

    layout = Layout(directory)
    loaded, findings = examined(layout, assignments or (), strict=strict)
    if path is not None:
        _explain_setting(loaded, path, as_json=as_json)
        return
    if dry_run or urls:
        findings.require()
        _dry_run(layout, loaded, urls if dry_run else None, as_json=as_json)
        return
    if as_json:
        output.say_json(
            {
                "problems": [problem._asdict() for problem in findings.problems],
                "warnings": [warning._asdict() for warning in findings.warnings],
            }
        )
        raise typer.Exit(2 if findings.problems else 0)
    output.warn(findings.warnings)
    findings.require()
    output.say(f"{output.shown(layout.root)}: nothing wrong")


def examined(
    layout: "Layout", assignments: list[str] | tuple[str, ...], *, strict: bool = False
) -> "tuple[Loaded[JobSettings] | None, Findings]":
    """The settings of a job and all findings."""
    import asyncio

    from nacre.fetch.dns import DnsResolver
    from nacre.job import checks
    from nacre.job.clock import SystemClock
    from nacre.job.configuration.configure import examine_job
    from nacre.job.configuration.contact import resolver_lookup
    from nacre.job.configuration.settings import JobSettings

    loaded, problems = examine_job(layout, assignments)
    settings = loaded.settings if loaded else JobSettings()
    lookup = resolver_lookup(DnsResolver(settings.dns, SystemClock()))
    return loaded, asyncio.run(checks.check(layout, loaded, problems, lookup, strict=strict))


def _dry_run(
    layout: "Layout",
    loaded: "Loaded[JobSettings] | None",
    urls: list[str] | None,
    *,
    as_json: bool,
) -> None:
    from contextlib import ExitStack

    import msgspec

    from nacre.cli import output
    from nacre.cli.dryrun_text import outlook_lines
    from nacre.errors import ConfigError
    from nacre.job.explaining.dryrun import DryRun
    from nacre.job.offline import reading

    if not urls or loaded is None:
        raise ConfigError("URLs and --dry-run go together: `nacre check DIR --dry-run URL`")
    dry = DryRun(layout, loaded)
    with ExitStack() as stack:
        if layout.has_store:
            dry.know(stack.enter_context(reading(layout, loaded.settings)).store)
        outlooks = [dry.outlook(url) for url in urls]
    if as_json:
        output.say_json(msgspec.to_builtins(outlooks))
        return
    for outlook in outlooks:
        for line in outlook_lines(outlook):
            output.say(line)


def _explain_setting(loaded: "Loaded[JobSettings] | None", path: str, *, as_json: bool) -> None:
    from nacre.cli import output
    from nacre.cli.settings_text import explained, shown_as_list

    facts = explained(loaded, path)
    if as_json:
        keyed = [{name.replace(" ", "_"): said for name, said in one.items()} for one in facts]
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
            help="Write it there; `DIR/.crawl.schema.json` is where a job's file looks for it.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Print the JSON Schema of crawl.yaml, for editors."""
    import json

    from nacre.cli import output
    from nacre.errors import JobError
    from nacre.job.configuration.plugins import load_plugins
    from nacre.job.configuration.schema import schema as made

    load_plugins()
    text = json.dumps(made(), indent=1)
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
            help="Go back to a checkpoint first; `latest` for the last one.",
        ),
    ] = None,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Go on although archived data is missing.")
    ] = False,
    traps: Annotated[
        bool,
        typer.Option(
            "--traps",
            help="Go on with the URLs of endless places too (traps.budget=-1); Ctrl-C ends it.",
        ),
    ] = False,
    strict: Strict = False,
    assignments: Assignments = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Run a job, or go on with it."""
    from nacre.cli.output import warn
    from nacre.cli.restore import restore
    from nacre.job.layout import Layout

    layout = Layout(directory)
    if traps:
        assignments = [*(assignments or ()), "traps.budget=-1"]
    _refuse_late_seeds(layout, assignments or ())
    loaded, findings = examined(layout, assignments or (), strict=strict)
    findings.require()
    if not layout.has_store:
        warn(findings.skipped)
    warn(findings.idle)
    if loaded is None:
        raise typer.Exit(2)
    if checkpoint is not None:
        restore(layout, loaded.settings, checkpoint)
    code = run_and_tell(
        layout,
        loaded.settings,
        quiet=quiet,
        as_json=as_json,
        accept_loss=accept_loss,
        traps=traps,
        origin=loaded.origin,
    )
    raise typer.Exit(code)


def _refuse_late_seeds(layout: "Layout", assignments: list[str] | tuple[str, ...]) -> None:
    """Seeds enter when a run begins: those of later would be ignored.

    Raises:
        ConfigError: It has begun, and `--set seeds=` names others.
    """
    from nacre.errors import ConfigError, Problem

    if layout.has_store and any(each.partition("=")[0].strip() == "seeds" for each in assignments):
        remedy = f"`nacre frontier {layout.root} import FILE`, which brings URLs in"
        said = "the seeds were entered when the run began, and --set changes them no more"
        raise ConfigError([Problem("seeds", said, remedy)])


def run_and_tell(
    layout: "Layout",
    settings: "JobSettings",
    *,
    quiet: bool,
    as_json: bool,
    accept_loss: bool = False,
    traps: bool = False,
    origin: "OriginOf | None" = None,
) -> int:
    """Run a job and print what came of it; the exit code."""
    from nacre.cli.next_steps import say_finished
    from nacre.cli.plain_lines import display_for
    from nacre.cli.running import run_job
    from nacre.cli.summary import summarize
    from nacre.job.clock import SystemClock
    from nacre.job.configuration.configure import load_job
    from nacre.job.job import Job
    from nacre.job.offline import is_finished
    from nacre.job.operator.control import running
    from nacre.store.private import make_private
    from nacre.store.recovery import Start

    if running(layout.socket):
        from nacre.errors import JobError

        raise JobError(f"{layout.root} is running already; see `nacre status {layout.root}`")
    if is_finished(layout, update=True, traps=traps) and not accept_loss:
        say_finished(layout, as_json=as_json)
        return 0
    make_private(layout.state)
    job = Job(layout.root, settings, on_terminal=sys.stderr.isatty())
    job.origin = origin or load_job(layout).origin
    display = display_for(SystemClock(), quiet=quiet, as_json=as_json)
    result = run_job(job, display, Start(accept_loss=accept_loss))
    summarize(layout, settings, result, as_json=as_json)
    return result.code


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel="Crawl")(check)
    app.command(rich_help_panel="Crawl")(run)


def register_schema(app: typer.Typer) -> None:
    """Add `schema`, beside what else is about configurations."""
    app.command(rich_help_panel="Rules and settings")(schema)
