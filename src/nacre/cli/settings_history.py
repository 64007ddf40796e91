"""`nacre settings DIR …`: the versions of a job's crawl.yaml."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir, job_of
from nacre.cli.program import Program

if TYPE_CHECKING:
    from nacre.machine.layout import Layout
    from nacre.ops.settings_file import SaveRequest, SaveResult

Number = Annotated[
    int, typer.Argument(metavar="N", help="Number of the version.", show_default=False)
]
Optional = Annotated[
    int | None, typer.Argument(metavar="[N]", help="Number of a version.", show_default=False)
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Restore it even if it has errors; the job cannot be started then."
    ),
]
Why = Annotated[
    str, typer.Option("--why", metavar="TEXT", show_default=False, help="Reason, for the history.")
]

history = Program()


@history.callback()
def _job(ctx: typer.Context, directory: JobDir) -> None:
    """The versions of a job's crawl.yaml: who wrote which, what changed, and an earlier one again.

    Each change by `nacre set`, `nacre sheet` and the console is a version; 200 are kept.
    """


@history.command("history")
def list_versions(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the versions, the newest first."""
    from nacre.core.clock import iso
    from nacre.core.message_data import to_plain
    from nacre.ops.settings_file import list_versions as read_versions

    edits = read_versions(_layout(ctx))
    if as_json:
        versions = [{**to_plain(edit), "time": iso(edit.time)} for edit in edits]
        for version in versions:
            del version["digest"]
        output.say_json(versions)
        return
    rows = [
        (edit.number, iso(edit.time), edit.source, edit.who or "-", edit.why or "-")
        for edit in edits
    ]
    output.say(output.table([("version", "written", "how", "by", "why"), *rows]))


@history.command("show")
def show_version(ctx: typer.Context, number: Number) -> None:
    """Print the text of a version; marks replace secrets."""
    output.say(_text(_layout(ctx), number).rstrip("\n"))


@history.command("diff")
def show_difference(
    ctx: typer.Context, older: Optional = None, newer: Optional = None, as_json: AsJson = False
) -> None:
    """Print the changes between two versions; by default between the last two.

    With one number: between that version and the previous one.
    """
    from nacre.ops.settings_file import list_versions as read_versions

    layout = _layout(ctx)
    numbers = [edit.number for edit in read_versions(layout)]
    first, second = _pair_of_versions(numbers, older, newer)
    before = _text(layout, first) if first else ""
    lines = difference(before, _text(layout, second), f"version {first}", f"version {second}")
    if as_json:
        output.say_json({"older": first, "newer": second, "lines": lines})
        return
    output.say("\n".join(lines) if lines else "they are the same")


def _pair_of_versions(
    numbers: Sequence[int], older: int | None, newer: int | None
) -> tuple[int, int]:
    """The two versions to compare; 0 for an empty file before the first (pure).

    Args:
        numbers: Those that there are, the newest first.
        older: The first that was named; None for none.
        newer: The second; None for none.
    """
    if older is not None and newer is not None:
        return older, newer
    second = numbers[0] if older is None else older
    return next((number for number in numbers if number < second), 0), second


def difference(before: str, after: str, old: str, new: str) -> list[str]:
    """The lines of a unified difference (pure).

    Args:
        before: A text.
        after: Another one.
        old: Name of the first.
        new: Name of the second.
    """
    import difflib

    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="")
    return list(lines)


@history.command("restore")
def restore_version(
    ctx: typer.Context, number: Number, why: Why = "", force: Force = False, as_json: AsJson = False
) -> None:
    """Restore the text of an earlier version, as a new version; the job must not run."""
    layout = _layout(ctx)
    _text(layout, number)
    reason = why or f"version {number} again"
    from nacre.ops.settings_file import SaveRequest

    request = SaveRequest(version=number, why=reason, force=force)
    tell_saved(layout, save(layout, request), as_json=as_json)


def save(layout: "Layout", request: "SaveRequest") -> "SaveResult":
    """Write another text of a job that does not run, for the user of this process.

    Raises:
        ConfigError: It has problems.
        JobError: The job runs, or the file was changed meanwhile.
    """
    from msgspec.structs import replace

    from nacre.errors import ConfigError, JobError, Problem
    from nacre.job.apply_change import user_name
    from nacre.ops.settings_file import save_config

    result = save_config(layout, replace(request, user=user_name(), files=True))
    if result.outcome == "running":
        raise JobError(
            f"{layout.root} is running, and its file cannot be replaced: change single settings "
            f"with `nacre set {layout.root} PATH=VALUE`, or stop it first"
        )
    if result.outcome == "changed":
        raise JobError(f"{layout.config} was changed meanwhile; try again")
    if result.outcome == "problems" and result.findings is not None:
        raise ConfigError(
            [
                Problem(
                    finding.path, finding.message, finding.expected, finding.sample,
                    str(layout.config), finding.line,
                )
                for finding in result.findings.problems
            ]
        )  # fmt: skip
    return result


def tell_saved(layout: "Layout", result: "SaveResult", *, as_json: bool) -> None:
    """Print the changes that were saved."""
    number, lines = result.number, result.difference
    if as_json:
        facts = {"outcome": result.outcome, "version": number or None, "difference": lines}
        output.say_json(facts)
        return
    if result.outcome == "same":
        output.say("nothing is different from the file as it is")
        return
    for line in lines:
        output.say(line)
    output.say(f"version {number}, in {output.format_path(layout.config)}")


def _layout(ctx: typer.Context) -> "Layout":
    from nacre.machine.layout import Layout

    layout = Layout(Path(job_of(ctx)))
    layout.require()
    return layout


def _text(layout: "Layout", number: int) -> str:
    """The text of a version.

    Raises:
        JobError: There is none.
    """
    from nacre.errors import JobError
    from nacre.ops.settings_file import get_version

    version = get_version(layout, number)
    if version is None:
        raise JobError(
            f"{layout.root} has no version {number}; `nacre settings {layout.root} history` "
            "lists those that are kept"
        )
    return version.text


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(history, name="settings", rich_help_panel="Rules and settings")
