"""`nacre rights JOB [URL]`: the preferences of sites about the use of their content."""

import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from nacre.cli import output
from nacre.cli.installing import Yes, with_parquet
from nacre.cli.options import AsJson, JobDir
from nacre.cli.output import without_warnings
from nacre.core.message_data import to_plain

if TYPE_CHECKING:
    from nacre.inspect.rights import LedgerRow, UrlRights
    from nacre.machine.layout import Layout

UnknownChoice = Literal["keep", "drop"]
_NOTHING: Final = "no preferences are recorded; `nacre rights JOB --rebuild` reads the WARCs"
_ROWS: Final = 2_000
"""Rows whose columns have the same width."""
_NAMES: Final = {"reply": "its headers and HTML"}


_Url = Annotated[
    str, typer.Argument(metavar="URL", help="A URL; default: all rows.", show_default=False)
]
_At = Annotated[
    str,
    typer.Option(
        "--at", metavar="TIME", show_default=False, help="Time, such as 2026-11; default: now."
    ),
]
_History = Annotated[
    bool, typer.Option("--history", help="Of a URL: list the signals of all times.")
]
_Rebuild = Annotated[
    bool, typer.Option("--rebuild", help="Read the WARCs of the job, which must not run.")
]
_Csv = Annotated[
    bool, typer.Option("--csv", help="Print the captures with their preferences as CSV.")
]
_Parquet = Annotated[
    Path | None,
    typer.Option("--parquet", metavar="FILE", show_default=False, help="Write them as Parquet."),
]
_Without = Annotated[
    list[str] | None,
    typer.Option(
        "--without", metavar="PREFERENCE", show_default=False,
        help="Of --csv, --parquet: leave out captures for which it held: train-ai=n.",
    ),
]  # fmt: skip
_Unknown = Annotated[
    UnknownChoice,
    typer.Option(
        "--unknown", help="With --without: keep or drop captures of which it is not known."
    ),
]


def rights(
    ctx: typer.Context,
    directory: JobDir,
    url: _Url = "",
    *,
    at: _At = "",
    history: _History = False,
    rebuild: _Rebuild = False,
    as_csv: _Csv = False,
    parquet: _Parquet = None,
    without: _Without = None,
    unknown: _Unknown = "keep",
    as_json: AsJson = False,
    _yes: Yes = False,
) -> None:
    """Show what sites state on the use of their content, as a crawl recorded it.

    Of a URL: the preferences that hold, and the signals that state them, each with the capture that
    has it. `unknown` means that a source was not collected; it is no permission.
    """
    from nacre.machine.layout import Layout

    layout = Layout(directory)
    layout.require_runs("readdb --stats")
    exports = as_csv or parquet is not None
    _refuse_useless(url, at=at, history=history, exports=exports, without=without)
    if rebuild:
        _rebuild(layout)
    elif exports:
        chosen = (without or [], unknown)
        with_parquet(ctx, parquet is not None, lambda: _export(layout, url, chosen, parquet))
    else:
        _show(layout, url, at, history=history, as_json=as_json)


def _refuse_useless(
    url: str, *, at: str, history: bool, exports: bool, without: list[str] | None
) -> None:
    """Refuse options that have no effect."""
    if (at or history) and not url:
        raise typer.BadParameter("--at and --history need a URL", param_hint="URL")
    if (at or history) and exports:
        raise typer.BadParameter(
            "--csv and --parquet list the captures of all times, without --at and --history",
            param_hint="--csv",
        )
    if without and not exports:
        raise typer.BadParameter("it needs --csv or --parquet", param_hint="--without")


def _rebuild(layout: "Layout") -> None:
    from nacre.ops.rights import rebuild_ledger

    result = rebuild_ledger(layout)
    captures = output.count(result.captures, "capture")
    output.say(f"{output.count(result.rows, 'row')} of {captures}")


def _export(
    layout: "Layout",
    url: str,
    chosen: tuple[list[str], UnknownChoice],
    parquet: Path | None,
) -> None:
    """Export captures.

    Args:
        layout: The job.
        url: Only captures of this URL; "" for all.
        chosen: Preferences whose captures are left out, and what is done with unknown ones.
        parquet: The file; None for CSV on the standard output.
    """
    from nacre.ops.rights import (
        capture_rights,
        read_preferences,
        rights_csv,
        write_rights_parquet,
    )

    without, unknown = chosen
    with capture_rights(layout, url, read_preferences(without), unknown) as (rows, selection):
        if parquet is not None:
            count = write_rights_parquet(parquet, rows)
            output.say(f"{output.format_path(parquet)}: {output.count(count, 'capture')}")
        else:
            for text in rights_csv(rows):
                sys.stdout.write(text)
        unstated = [preference.text for preference in selection.unstated]
        outcome = "left out" if unknown == "drop" else "listed"
        for line in without_warnings(unstated, selection.unknown, outcome):
            output.tell(f"nacre: warning: {output.safe(line)}")


def _show(layout: "Layout", url: str, at: str, *, history: bool, as_json: bool) -> None:
    from nacre.ops.rights import all_rights, rights_history, rights_of_url

    if not url or history:
        rows = rights_history(layout, url) if url else all_rights(layout)
        _say_rows(rows, layout.root, as_json=as_json)
        return
    answer = rights_of_url(layout, url, at)
    if as_json:
        output.say_json(to_plain(answer))
    else:
        _say_url(answer)


def _say_rows(rows: "Iterable[LedgerRow]", job: Path, *, as_json: bool) -> None:
    """Print the rows of a job, some thousands at a time: a job may have millions."""
    if as_json:
        output.say_json_items(map(to_plain, rows))
        return
    remaining, printed = iter(rows), False
    while part := list(islice(remaining, _ROWS)):
        output.say(output.table(_lines(part), indent=""))
        printed = True
    if not printed:
        output.tell(output.to_copy(_NOTHING, job))


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
