"""`nacre help` and `nacre version`: for those who type words where others type options."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from nacre import __version__
from nacre.cli import output
from nacre.job.states import EXIT_TABLE

EXIT_CODES = "Exit codes: " + "; ".join(f"{code} {said}" for code, said in EXIT_TABLE.items()) + "."


def _exit_codes() -> Iterator[str]:
    yield output.table([(int(code), said) for code, said in EXIT_TABLE.items()], indent="")


def _documents() -> Iterator[str]:
    from nacre.config.documents import documents

    for page in documents():
        title = page.read_text("utf-8").partition("\n")[0].lstrip("# ")
        yield f"{title}: {output.shown(page)}"


_TOPICS = {"docs": _documents, "exit-codes": _exit_codes}
"""What `nacre help` knows beside commands."""


def show_help(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND",
            help="Such as `crawl` or `archive check`; `exit-codes` lists those, `docs` the pages "
            "of the documentation.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show the help of a command."""
    if words and words[0] in _TOPICS:
        for line in _TOPICS[words[0]]():
            output.say(line)
        return
    text = _context(ctx, words or []).get_help()
    if text:  # one that is printed in colours is printed already
        output.say(text)


def _context(ctx: Any, words: list[str]) -> Any:  # noqa: ANN401 - typer has classes of its own
    """A context of the command that is meant."""
    found = ctx.find_root()
    for number, word in enumerate(words):
        below: Mapping[str, Any] = getattr(found.command, "commands", {})
        if word not in below:
            known = ", ".join(sorted({*below, *(() if number else _TOPICS)}))
            said = f"{found.command_path} has no command {word!r}"
            ctx.fail(f"{said}; it has: {known}" if known else f"{said}: it has none")
        found = type(found)(below[word], info_name=word, parent=found)
    return found


def version() -> None:
    """Print the version and end."""
    print(f"nacre {__version__}")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("help", rich_help_panel="Help")(show_help)
    app.command(rich_help_panel="Help")(version)
