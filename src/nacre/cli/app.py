"""The commands in one table, and what all of them share: version, errors, exit codes."""

import errno
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from nacre import __version__
from nacre.cli import (
    about,
    archive,
    control,
    crawl,
    frontier,
    history,
    jobs,
    look,
    migrate,
    recrawl,
    reports,
    setting,
    simweb,
    simweb_paper,
    urls,
)
from nacre.cli.about import EXIT_CODES
from nacre.cli.output import complain, speaking_json
from nacre.cli.program import Group, Program
from nacre.errors import ConfigError, JobError, NacreError, URIError
from nacre.job.states import ExitCode

_PYDANTIC = (
    ("Value error, ", ""),
    ("Input should be ", "it should be "),
    (", unable to parse string as an integer", ""),
    (", unable to parse string as a number", ""),
)
_DENIED = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))
"""What the operator may not do is no fault of a disk."""


class Commands(Group):
    """Turns the errors that Nacre raises on purpose into a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as its base says
        """Run a command; with `--json` its errors are JSON too."""
        as_json = "--json" in ctx.args
        with speaking_json(as_json):
            try:
                return super().invoke(ctx)
            except TyperException as error:
                if isinstance(error, typer.BadParameter):
                    error.message = _plain(error.message)
                if not as_json or not hasattr(error, "format_message"):
                    raise
                complain(ConfigError(error.format_message()))
                raise typer.Exit(ExitCode.USAGE) from None
            except NacreError as error:
                code = _code_of(error)
                complain(error, code)
                raise typer.Exit(code) from None


def _plain(message: str) -> str:
    for said, plain in _PYDANTIC:
        message = message.replace(said, plain)
    return message


def _code_of(error: NacreError) -> ExitCode:
    denied = getattr(error, "errno", 0) in _DENIED
    wrong = denied or isinstance(error, ConfigError | JobError | URIError)
    return ExitCode.USAGE if wrong else ExitCode.ERROR


app = Program(
    cls=Commands,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EXIT_CODES,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"nacre {__version__}")
        raise typer.Exit


@app.callback()
def nacre(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            callback=_print_version,
            is_eager=True,
            help="Print the version and end.",
        ),
    ] = False,
) -> None:
    """Keep the web: exact WARC captures, politely collected.

    Start with `nacre crawl URL`. A job is a directory; every other command takes it.
    """


crawl.register(app)
jobs.register(app)
recrawl.register(app)
control.register(app)
setting.register(app)
look.register(app)
reports.register(app)
history.register(app)
frontier.register(app)
archive.register(app)
urls.register(app)
migrate.register(app)
jobs.register_schema(app)
simweb.register(app)
simweb_paper.register(app)
about.register(app)
