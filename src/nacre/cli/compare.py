"""`compare` and `cite`: two captures side by side, and references to captures."""

from typing import Annotated, Literal

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, Html, Target, holding_of

_Section = Annotated[
    Literal["text", "source", "headers", "links"] | None,
    typer.Option("--what", show_default=False, help="Print this part only."),
]
_Old = Annotated[
    str,
    typer.Option(
        "--old", metavar="TIME", show_default=False,
        help="Time of the older capture, or its beginning, such as 2026-11-20T10; default: the "
        "last one before the newer that differs from it.",
    ),
]  # fmt: skip
_New = Annotated[
    str,
    typer.Option(
        "--new", metavar="TIME", show_default=False,
        help="The same for the newer capture; default: the last.",
    ),
]  # fmt: skip
_Urn = Annotated[
    str,
    typer.Option(
        "--urn", metavar="URN", show_default=False,
        help="Find the capture by its urn:pwid:…, or by its urn:uuid:…, for which the WARC "
        "files are read.",
    ),
]  # fmt: skip
_ArchiveId = Annotated[
    str,
    typer.Option(
        "--archive-id", metavar="ID", show_default=False,
        help="Name of your archive in the PWID, such as its domain; default: the identifier "
        "of the collection, else the name of the job or file.",
    ),
]  # fmt: skip
_ReplayUrl = Annotated[
    str,
    typer.Option(
        "--replay", metavar="URL", show_default=False,
        help="Address at which readers can look at the capture.",
    ),
]  # fmt: skip
_MOST_ROWS = 200
_LONG_SEARCH = 1 << 30
"""Bytes from which a search prints its progress."""


def compare(
    target: Target,
    url: Annotated[str, typer.Argument(metavar="URL", help="URL.", show_default=False)],
    to: Annotated[
        str,
        typer.Argument(
            metavar="[URL2]", show_default=False, help="Another URL, for the newer capture."
        ),
    ] = "",
    *,
    old: _Old = "",
    new: _New = "",
    section: _Section = None,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Compare two captures of a URL, or of two URLs: text, source, headers, links.

    Of images and other content, sizes and digests are compared, and where the bytes begin to
    differ. `report DIR diff URL` compares pages with what a job knows of its site.
    """
    from nacre.cli.reports import write_html
    from nacre.core.message_data import to_plain
    from nacre.ops.compare import CompareRequest, compare_captures
    from nacre.replay.compare_report import compare_document
    from nacre.report.plain import plain_text

    request = CompareRequest(url, to, old, new, section or "")
    view = compare_captures(holding_of([target]), request)
    if html is not None:
        write_html(html, compare_document(view))
    if as_json:
        output.say_json(to_plain(view))
    elif html is None:
        output.say(plain_text(compare_document(view), _MOST_ROWS).rstrip("\n"))


def cite(
    target: Target,
    url: Annotated[
        str, typer.Argument(metavar="[URL]", help="URL, or URN.", show_default=False)
    ] = "",
    *,
    at: Annotated[
        str,
        typer.Option(
            "--at", metavar="TIME", show_default=False,
            help="Time of the capture, or its beginning, else the nearest; default: the last.",
        ),
    ] = "",
    urn: _Urn = "",
    form: Annotated[
        Literal["text", "bibtex", "ris", "csl"],
        typer.Option("--format", help="Format; csl is CSL-JSON."),
    ] = "text",
    archive_id: _ArchiveId = "",
    replay: _ReplayUrl = "",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Print a citation of a capture, with its permanent URNs, or find a capture by its URN.

    `urn:uuid:…` is the id of its record. `urn:pwid:…` has archive, time and URL, so that any
    archive can find the capture by its index.
    """
    from nacre.core.message_data import to_plain
    from nacre.errors import JobError
    from nacre.messages import message
    from nacre.ops.citation import CitationRequest, cite_capture
    from nacre.replay.citation import format_citation

    if bool(url) == bool(urn):
        raise JobError(message("cli.url-or-urn", "name a URL, or a URN with --urn"))
    request = CitationRequest(url, at, urn, archive_id, replay)
    citation = cite_capture(holding_of([target]), request, tell=_tell_read)
    if as_json:
        output.say_json(to_plain(citation))
    else:
        output.say(format_citation(citation, form).rstrip("\r\n").replace("\r\n", "\n"))


def _tell_read(done: int, total: int) -> None:
    """Print the progress of a search in large files."""
    from nacre.report.formatting import size

    if total >= _LONG_SEARCH:
        output.tell(f"nacre: read {size(done)} of {size(total)}")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel="Look")(compare)
    app.command(rich_help_panel="Look")(cite)
