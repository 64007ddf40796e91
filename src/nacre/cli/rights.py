"""`nacre rights JOB [URL]`: the preferences of sites about the use of their content."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir
from nacre.core.message_data import to_plain

if TYPE_CHECKING:
    from nacre.inspect.rights import LedgerRow, UrlRights

UnknownChoice = Literal["keep", "drop"]
_NOTHING: Final = "no preferences are recorded; `nacre rights JOB --rebuild` reads the WARCs"
_NAMES: Final = {"reply": "its headers and HTML"}


def rights(
    directory: JobDir,
    url: Annotated[
        str, typer.Argument(metavar="URL", help="A URL; default: all rows.", show_default=False)
    ] = "",
    *,
    at: Annotated[
        str,
        typer.Option(
            "--at", metavar="TIME", show_default=False, help="Time, such as 2026-11; default: now."
        ),
    ] = "",
    history: Annotated[
        bool, typer.Option("--history", help="Of a URL: list the signals of all times.")
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Read the WARCs of the job, which must not run.")
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print the captures with their preferences as CSV.")
    ] = False,
    parquet: Annotated[
        Path | None,
        typer.Option(
            "--parquet", metavar="FILE", show_default=False, help="Write them as Parquet."
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without", metavar="PREFERENCE", show_default=False,
            help="Of --csv, --parquet: leave out captures for which it held: train-ai=n.",
        ),
    ] = None,
    unknown: Annotated[
        UnknownChoice,
        typer.Option(
            "--unknown", help="With --without: keep or drop captures of which it is not known."
        ),
    ] = "keep",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Show what sites state on the use of their content, as a crawl recorded it.

    Of a URL: the preferences that hold, and the signals that state them, each with the capture that
    has it. `unknown` means that a source was not collected; it is no permission.
    """
    from nacre.machine.layout import Layout
    from nacre.ops.rights import all_rights, rebuild_ledger, rights_history, rights_of_url

    layout = Layout(directory)
    layout.require_runs("readdb --stats")
    if (at or history) and not url:
        raise typer.BadParameter("--at and --history need a URL", param_hint="URL")
    if without and not (as_csv or parquet is not None):
        raise typer.BadParameter("it needs --csv or --parquet", param_hint="--without")
    if rebuild:
        result = rebuild_ledger(layout)
        captures = output.count(result.captures, "capture")
        output.say(f"{output.count(result.rows, 'row')} of {captures}")
    elif as_csv or parquet is not None:
        _export(directory, without or [], unknown, parquet)
    elif not url or history:
        rows = rights_history(layout, url) if url else all_rights(layout)
        _say_rows(rows, as_json=as_json)
    else:
        answer = rights_of_url(layout, url, at)
        if as_json:
            output.say_json(to_plain(answer))
        else:
            _say_url(answer)


def _export(
    directory: Path, without: list[str], unknown: UnknownChoice, parquet: Path | None
) -> None:
    from nacre.ops.rights import (
        capture_rights,
        read_preferences,
        rights_csv,
        write_rights_parquet,
    )

    rows = capture_rights(directory, read_preferences(without), unknown)
    if parquet is not None:
        count = write_rights_parquet(parquet, rows)
        output.say(f"{output.shown(parquet)}: {output.count(count, 'capture')}")
        return
    for text in rights_csv(rows):
        sys.stdout.write(text)


def _say_rows(rows: "Iterable[LedgerRow]", *, as_json: bool) -> None:
    listed = list(rows)
    if as_json:
        output.say_json([to_plain(row) for row in listed])
    elif not listed:
        output.tell(_NOTHING)
    else:
        output.say(output.table(_lines(listed), indent=""))


def _say_url(answer: "UrlRights") -> None:
    output.say(output.safe(answer.url))
    output.say(f"at {answer.time}")
    output.say(output.table([*answer.uses.items()]))
    if answer.missing:
        names = ", ".join(_NAMES.get(name, name) for name in answer.missing)
        output.say(f"not collected: {names}")
    if answer.signals:
        output.say("")
        output.say(output.table(_lines(answer.signals), indent=""))


def _lines(rows: "Iterable[LedgerRow]") -> list[tuple[str, ...]]:
    """Return rows of a table: interval, source, preferences, line, capture."""
    return [
        (
            row.since,
            row.until or "-",
            output.safe(f"{row.source} ({row.agent})" if row.agent else row.source),
            output.safe(row.preferences or row.state or "none"),
            output.safe(row.line),
            output.safe(f"{row.url} {row.record_id}".strip()),
        )
        for row in rows
    ]


COMMANDS: Final = {"rights": rights}
"""The function of the command, by name."""
