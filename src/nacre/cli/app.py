"""The command line as a whole: all commands, `help`, `version`, errors and exit codes."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import TyperException

from nacre import __version__
from nacre.cli import (
    archive,
    compare,
    control,
    frontier,
    history,
    jobs,
    output,
    profiles,
    recrawl,
    reports,
    search,
    settings,
    settings_history,
    urls,
)
from nacre.cli.output import complain, is_denied, speaking_json
from nacre.cli.program import (
    CommandGroup,
    LateCallback,
    LateCommand,
    Program,
    command_below,
    late_group,
    late_program,
)
from nacre.core.states import EXIT_TABLE, ExitCode
from nacre.errors import ConfigError, ConflictError, JobError, NacreError, URIError

EXIT_CODES = (
    "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_TABLE.items()) + "."
)


if TYPE_CHECKING:
    from nacre.cli.plugin_commands import PluginCommand

_PYDANTIC = (
    ("Value error, ", ""),
    ("Input should be ", "it should be "),
    (", unable to parse string as an integer", ""),
    (", unable to parse string as a number", ""),
)
_PACKAGES = {
    "simweb": "the simulated web is a separate package: run `make environment` in a checkout of "
    "Nacre for its ./nacre, or `pip install ./simweb` there for an installed Nacre",
}
"""Install instructions of Nacre's commands that are not in its wheel."""


def _extension_command(name: str) -> Any:  # noqa: ANN401 - typer's commands have no common base
    """Load a command of an extension, which has the name of its command.

    Raises:
        MissingExtraError: The extension is not installed.
        NacreError: It cannot be loaded.
    """
    from nacre.config.extension import load_part, require_extension

    extension = require_extension(name, f"`nacre {name}` needs")
    return late_group(load_part(name, extension.commands[name]))


_LATE_FUNCTIONS = {
    "crawl": ("Crawl URLs now, with sensible defaults.", "Crawl"),
    "new": ("Create a job directory with comments; `nacre run DIR` starts it.", "Crawl"),
    "page": ("Archive one page as it looks now, run in a browser, with pictures.", "Crawl"),
    "record": ("Record what your own browser or a program requests, until Ctrl-C.", "Crawl"),
    "changes": (
        "List what the runs of a job found new, changed and gone, with the words that differ.",
        "Look",
    ),
    "rights": (
        "Show what sites state on the use of their content, as a crawl recorded it.",
        "Look",
    ),
    "captures": ("Search the captures of a job, a collection or a file, and export them.", "Look"),
}
"""The summaries and panels of commands whose functions are imported when they run."""

LATE = {
    "cycle": LateCommand(
        "cycle",
        "Crawl in rounds, as Nutch does: inject, generate, fetch, update.",
        partial(late_program, "nacre.cli.cycle.commands:cycle"),
        "Crawl",
    ),
    "console": LateCommand(
        "console",
        "See and steer jobs in a browser.",
        partial(late_program, "nacre.cli.console:console"),
        "Look",
    ),
    "collection": LateCommand(
        "collection",
        "Named sets of jobs and files, for all commands that take a collection.",
        partial(late_program, "nacre.cli.collection:collection"),
        "Look",
    ),
    "identity": LateCommand(
        "identity",
        "Signed requests: keys that sites recognize the crawler by.",
        partial(late_program, "nacre.cli.identity:identity"),
        "Rules and settings",
    ),
    "migrate": LateCommand(
        "migrate",
        "Make a job from the configuration of another crawler.",
        partial(_extension_command, "migrate"),
        "Rules and settings",
    ),
}
"""Commands of Nacre that are only imported when they run."""


class Commands(CommandGroup):
    """All commands: Nacre's own and those of other packages.

    The errors that Nacre raises on purpose become a message and an exit code here.
    """

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - as its base says
        """Their names, those of other packages last."""
        own = [*self.commands, *LATE]
        return [*own, *(name for name in self._plugin_commands() if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - as its base says
        """The command of a name; Nacre's own comes before one of another package."""
        own = self.commands.get(cmd_name) or LATE.get(cmd_name)
        return own or self._plugin_commands().get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - as its base says
        """The command that is meant; of a package of Nacre that is not installed, how to do so."""
        if args[0] in _PACKAGES and self.get_command(ctx, args[0]) is None:
            raise ConfigError(f"nacre {args[0]}: {_PACKAGES[args[0]]}")
        return super().resolve_command(ctx, args)

    def _plugin_commands(self) -> "dict[str, PluginCommand]":
        from nacre.cli.plugin_commands import plugin_commands

        return plugin_commands()

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as its base says
        """Run a command; with `--json` its errors are JSON too."""
        as_json = "--json" in ctx.args
        with speaking_json(as_json):
            try:
                return super().invoke(ctx)
            except TyperException as error:
                plain = _plain(error)
                if not as_json or not hasattr(plain, "format_message"):
                    raise plain from None
                complain(ConfigError(plain.format_message()))
                raise typer.Exit(ExitCode.USAGE) from None
            except NacreError as error:
                code = _code_of(error)
                complain(error, code)
                raise typer.Exit(code) from None


def _plain(error: TyperException) -> TyperException:
    """Return an error of the command line, with plain words in place of those of pydantic."""
    if not isinstance(error, typer.BadParameter):
        return error
    message = error.message
    for phrase, plain in _PYDANTIC:
        message = message.replace(phrase, plain)
    if message == error.message:
        return error
    return type(error)(message, ctx=error.ctx, param=error.param, param_hint=error.param_hint)


def _code_of(error: NacreError) -> ExitCode:
    # What the console refuses (4xx) is refused to a command for the same reason.
    if isinstance(error, ConflictError):
        return ExitCode.CONFLICT
    refused = 400 <= getattr(error, "status", 0) < 500
    wrong = refused or is_denied(error) or isinstance(error, ConfigError | JobError | URIError)
    return ExitCode.USAGE if wrong else ExitCode.ERROR


app = Program(
    cls=Commands,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EXIT_CODES,
)


def _print_version(is_set: bool) -> None:
    if is_set:
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
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Crawl web sites politely, and archive them as exact WARC captures.

    Start with `nacre crawl URL`. A job is a directory; every other command takes it.
    """


def _exit_codes() -> Iterator[str]:
    yield output.table([(int(code), meaning) for code, meaning in EXIT_TABLE.items()], indent="")


def _documents() -> Iterator[str]:
    from nacre.config.extras import documents

    for page in documents():
        title = page.read_text("utf-8").partition("\n")[0].lstrip("# ")
        yield f"{title}: {output.format_path(page)}"


_TOPICS = {"docs": _documents, "exit-codes": _exit_codes}
"""Topics of `nacre help` that are no commands."""


def show_help(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND",
            help="A command such as `crawl` or `archive check`; `exit-codes` lists the exit "
            "codes, `docs` the pages of the documentation.",
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


def _context(ctx: Any, words: list[str]) -> Any:  # noqa: ANN401 - typer has its own classes
    """Return the context of the command of these words."""
    context = ctx.find_root()
    for number, word in enumerate(words):
        below = command_below(context, word)
        if below is None:
            listed = getattr(context.command, "list_commands", lambda _: ())(context)
            names = ", ".join(sorted({*listed, *(() if number else _TOPICS)}))
            message = f"{context.command_path} has no command {word!r}"
            ctx.fail(f"{message}; it has: {names}" if names else f"{message}: it has none")
        context = below
    return context


def version() -> None:
    """Print the version and exit."""
    print(f"nacre {__version__}")


def _register_help(app: typer.Typer) -> None:
    """Add `help` and `version`."""
    app.command("help", rich_help_panel="Help")(show_help)
    app.command(rich_help_panel="Help")(version)


def _register_late(names: Iterable[str], module: str) -> None:
    """Add commands whose functions are imported when they run."""
    for name in names:
        summary, panel = _LATE_FUNCTIONS[name]
        callback = LateCallback(name, summary, f"nacre.cli.{module}:COMMANDS")
        app.command(name, rich_help_panel=panel)(callback)


_register_late(("crawl", "new"), "crawl")
_register_late(("page",), "page")
_register_late(("record",), "record")
jobs.register(app)
recrawl.register(app)
app.command("replay", rich_help_panel="Look")(
    LateCallback(
        "replay", "Show an archive in the browser, until Ctrl-C.", "nacre.cli.replay:COMMANDS"
    )
)
control.register(app)
settings.register(app)
control.register_look(app)
reports.register(app)
compare.register(app)
history.register(app)
frontier.register(app)
archive.register(app)
urls.register(app)
search.register(app)
_register_late(("captures",), "captures")
_register_late(("changes",), "changes")
_register_late(("rights",), "rights")
settings_history.register(app)
profiles.register(app)
jobs.register_schema(app)
_register_help(app)
