"""`nacre captures`: search the captures of a job, a collection or a file, and export them."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from nacre.cli import output
from nacre.cli.installing import Yes, with_words
from nacre.cli.operations import with_options_of
from nacre.cli.options import Target, holding_of
from nacre.cli.output import count
from nacre.core.states import ExitCode
from nacre.ops.captures import CapturesQuery

if TYPE_CHECKING:
    from nacre.catalogue.holdings import Holding
    from nacre.catalogue.query import CapturePage, CatalogueQuery

_FORMS: Final = ("table", "csv", "json", "cdxj", "warc", "wacz")
_PACKAGES: Final = ("warc", "wacz")
_URL_WIDTH: Final = 100


@with_options_of(CapturesQuery)
def captures(
    ctx: typer.Context,
    target: Target,
    *,
    options: CapturesQuery,
    facets: Annotated[
        bool, typer.Option("--facets", help="Only print how many captures have each value.")
    ] = False,
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="|".join(_FORMS), show_default=False,
            help="Format of the results; all formats but `table` have all results. `warc` and "
            "`wacz` need --out; `nacre archive pack` has more options for them.",
        ),
    ] = "table",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", show_default=False, help="Write results to FILE."),
    ] = None,
    _yes: Yes = False,
) -> None:  # fmt: skip
    """Search the captures of a job, a collection or a file, and export them.

    The catalogue is made from the indexes of the WARCs at the first search, and is followed while
    a crawl runs. Ends with code 10 if nothing is found.
    """
    from nacre.errors import ConfigError
    from nacre.messages import message
    from nacre.ops.captures import build_catalogues, export_captures, find_captures, read_query

    if form not in _FORMS:
        raise ConfigError(
            message(
                "cli.no-format",
                "--format {form}: no such format; one of: {names}",
                form=form,
                names=", ".join(_FORMS),
            )
        )
    query = read_query(options)
    if form in _PACKAGES:
        with_words(ctx, query.words, lambda: _pack(target, options, form, out))
        return
    holding = holding_of([target])
    build_catalogues(holding, _report if sys.stderr.isatty() else None)
    if facets:
        _say_facets(holding, query)
    elif form != "table" or out is not None:
        format_name = "csv" if form == "table" else form
        with_words(
            ctx, query.words, lambda: _write(export_captures(holding, query, format_name), out)
        )
    else:
        page = with_words(ctx, query.words, lambda: find_captures(holding, query))
        _say_page(page, holding)
        _say_advice(page, holding, query)
        if not page.items and not page.next:
            raise typer.Exit(ExitCode.NOTHING_DUE)


def _pack(target: str, options: CapturesQuery, form: str, out: Path | None) -> None:
    """Write the captures of a search into a WARC or a WACZ."""
    from nacre.cli.packing import describe_package
    from nacre.errors import ConfigError
    from nacre.messages import message
    from nacre.ops.packing import PackRequest, pack

    if out is None:
        raise ConfigError(
            message("cli.format-needs-out", "--format {form} needs a file: --out FILE", form=form)
        )
    request = PackRequest(wacz=out) if form == "wacz" else PackRequest(warc=out)
    output.say(describe_package(pack([target], request, options), request))


def _report(done: int, total: int) -> None:
    """Print the progress of the catalogue on a terminal."""
    share = 100 * done // total if total else 0
    end = "\n" if done >= total else ""
    print(f"\rcatalogue: {share} %", end=end, file=sys.stderr, flush=True)


def _write(lines: "Iterable[str]", out: Path | None) -> None:
    """Write the lines of an export to a file, or print them; quiet if stdout is closed."""
    if out is not None:
        from nacre.errors import StorageError
        from nacre.messages import message

        try:
            with out.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                file.writelines(lines)
        except OSError as error:
            raise StorageError(
                message(
                    "cli.cannot-write-file",
                    "{path} cannot be written: {reason}. Name another file with --out",
                    path=str(out),
                    reason=error.strerror or str(error),
                )
            ) from error
        return
    try:
        for line in lines:
            sys.stdout.write(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # The rest of the buffer must not be written again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_page(page: "CapturePage", holding: "Holding") -> None:
    from nacre.ops.captures import listed_capture
    from nacre.report.formatting import size

    rows: list[tuple[object, ...]] = []
    is_several = len(holding.members) > 1
    for item in page.items:
        facts = listed_capture(item, holding)
        url = facts.url if len(facts.url) <= _URL_WIDTH else f"{facts.url[:_URL_WIDTH]}…"
        member = (facts.member,) if is_several else ()
        rows.append(
            (
                facts.time, facts.status or "-", facts.mime or "-", size(facts.size),
                facts.verdict or "-", *member, url,
            )
        )  # fmt: skip
    if rows:
        heads = ("time", "status", "type", "size", "verdict", *(("job",) * is_several), "URL")
        output.say(output.table([heads, *rows], indent=""))
    if page.reached:
        output.tell(f"nacre: searched up to {page.reached}")
    if page.next:
        output.tell(f"nacre: more: --after {page.next}")


def _say_advice(page: "CapturePage", holding: "Holding", query: "CatalogueQuery") -> None:
    """Print what the search left out, and why it found nothing if it did."""
    from nacre.ops.search_advice import skipped_members

    if query.words and (skipped := skipped_members(holding)):
        output.tell(f"nacre: warning: {skipped}")
    if not page.items and not page.next:
        for line in _explain_nothing(holding, query):
            output.tell(f"nacre: {line}")


def _explain_nothing(holding: "Holding", query: "CatalogueQuery") -> list[str]:
    """Return why a search has no result, and what may find more."""
    from nacre.catalogue.query import CatalogueQuery, count_facets
    from nacre.ops.search_advice import advise_after_nothing

    counts = count_facets(holding, CatalogueQuery())
    name, total = output.safe(holding.name), count(counts.total, "capture")
    if not counts.total:
        return [f"{name} has no captures yet; crawl first"]
    total = f"{total} in all" if counts.is_exact else f"at least {total}"
    reason = f"no capture has these properties; {name} has {total}"
    return [reason, *advise_after_nothing(query)]


def _say_facets(holding: "Holding", query: "CatalogueQuery") -> None:
    from nacre.catalogue.query import count_facets
    from nacre.errors import ConfigError
    from nacre.messages import message

    if query.words:
        raise ConfigError(
            message(
                "cli.no-facets-of-words",
                "--facets cannot count a search for words: leave out --facets, or select by a URL "
                "or host",
            )
        )
    counts = count_facets(holding, query)
    before = "" if counts.is_exact else "at least "
    output.say(f"{before}{count(counts.total, 'capture')}")
    for name, values in counts.facets.items():
        if values:
            output.say(f"\n{name}")
            rows = [(value or "(none)", f"{number:,}".rjust(12)) for value, number in values]
            output.say(output.table(rows))


COMMANDS: Final = {"captures": captures}
"""The function of the command, by name."""
