"""The program around all commands: help, and the order of `nacre archive DIR check`."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from inspect import Signature, signature
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import (
    get_command,
    get_command_from_info,
    get_command_name,
    get_group,
    get_group_from_info,
    solve_typer_info_defaults,
)
from typer.models import CommandFunctionType, CommandInfo, TyperInfo

from nacre.errors import NacreError


class Command(TyperCommand):
    """A command whose help reads well at any width."""

    def __init__(self, name: str | None, **more: Any) -> None:  # noqa: ANN401 - as its base has it
        super().__init__(name, **more)
        self.help = _paragraphs(self.help)

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - as its base says
        """Its parameters; a flag takes no value, so none is shown."""
        return _flags_without_type(super().get_params(ctx))


class CommandGroup(TyperGroup):
    """A command with commands below it, whose help reads well at any width."""

    def __init__(self, **more: Any) -> None:  # noqa: ANN401 - as its base has it
        super().__init__(**more)
        self.help = _paragraphs(self.help)

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - as its base says
        """Its parameters; a flag takes no value, so none is shown."""
        return _flags_without_type(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as its base says
        """Parse arguments; `nacre frontier --help list` and `… list --help` mean the same."""
        words = [arg for arg in args if arg not in ctx.help_option_names]
        if len(args) == 2 and len(words) == 1:
            try:
                below = command_below(ctx, words[0])
            except NacreError:  # it fails once more where it runs, and that error is shown
                below = None
            if below is not None:
                typer.echo(below.command.get_help(below), color=ctx.color)
                ctx.exit()
        return list(super().parse_args(ctx, args))

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as its base says
        """Run a command; after a directory alone, say which commands may follow."""
        if not self.invoke_without_command and not _named(ctx):
            ctx.fail(f"Say what to do: {ctx.command_path} {_directory(ctx)} {self._choice()}")
        return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - as its base says
        """The names of its commands; none of them is made for that."""
        return list(self.commands)

    def _choice(self) -> str:
        return "|".join(name for name, command in self.commands.items() if not command.hidden)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - as its base says
        """The command that is meant; `nacre archive check DIR` gets the right order."""
        first = str(ctx.params.get("directory", ""))
        if first in self.commands and args[0] not in self.commands:
            ctx.fail(f"The directory comes first: {ctx.command_path} {args[0]} {first}")
        return super().resolve_command(ctx, args)


def command_below(ctx: Any, name: str) -> Any:  # noqa: ANN401 - a context of Typer's
    """Make the context of a subcommand of `ctx`, to get its help; None if there is none."""
    group = ctx.command
    command = group.get_command(ctx, name) if hasattr(group, "get_command") else None
    if command is None:
        return None
    load = getattr(command, "loaded", None)  # a placeholder for the command of another package
    return type(ctx)(load() if load is not None else command, info_name=name, parent=ctx)


class Program(typer.Typer):
    """Commands that belong together, of the classes above."""

    def __init__(self, *, cls: type[TyperGroup] = CommandGroup, **more: Any) -> None:  # noqa: ANN401 - as its base has it
        super().__init__(cls=cls, no_args_is_help=True, rich_markup_mode="rich", **more)

    def command(
        self,
        name: str | None = None,
        **more: Any,  # noqa: ANN401 - as its base has it
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """See its base."""
        more.setdefault("cls", Command)
        return super().command(name, **more)


class LateCommands(Mapping[str, Any]):
    """The commands of a group by name, each made when it is first asked for.

    Typer takes a millisecond for each, and there are a hundred, of which one runs.

    Args:
        makers: What makes the command of a name.
    """

    def __init__(self, makers: Mapping[str, Callable[[], Any]]) -> None:
        self._makers = makers
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - typer's commands have no common base
        """The command of a name."""
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """The names, in the order in which they were registered."""
        return iter(self._makers)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._makers)


class LateCommand(TyperGroup):
    """A command that is imported when it is used.

    Args:
        name: Its name.
        summary: The first sentence of its help, for the list of all commands.
        load: Makes the command itself.
        panel: The panel of the list that shows it.
    """

    def __init__(self, name: str, summary: str, load: Callable[[], Any], panel: str) -> None:
        super().__init__(name=name, help=summary, rich_help_panel=panel)
        self._load = load

    def loaded(self) -> Any:  # noqa: ANN401 - typer's commands have no common base
        """The command itself."""
        return self._load()

    def make_context(self, *args: Any, **more: Any) -> Any:  # noqa: ANN401 - as its base says
        """A context of the command itself, which is the one that runs."""
        return self.loaded().make_context(*args, **more)


class LateCallback:
    """The function of a command, which is imported when the command is used.

    Args:
        name: Name of the command.
        summary: The first sentence of its help, for a list of commands that must be quick; "" for a
            list that imports the function.
        place: `module:name` of a mapping from names of commands to functions.
    """

    def __init__(self, name: str, summary: str, place: str) -> None:
        self.__name__ = name
        self.summary = summary
        self._place = place

    @property
    def __signature__(self) -> Signature:
        return signature(self._function())

    @property
    def __annotations__(self) -> dict[str, Any]:  # type: ignore[override]
        return {}

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return self._function().__doc__

    def __call__(self, *args: Any, **more: Any) -> None:  # noqa: ANN401 - as the function has it
        """Call the function."""
        self._function()(*args, **more)

    def _function(self) -> Callable[..., None]:
        module, _, name = self._place.partition(":")
        functions: Mapping[str, Callable[..., None]] = getattr(import_module(module), name)
        return functions[self.__name__]


def late_program(place: str) -> Any:  # noqa: ANN401 - typer's commands have no common base
    """Make the command of a program from its place, `module:name`."""
    module, _, name = place.partition(":")
    return late_group(getattr(import_module(module), name))


def late_group(app: typer.Typer, *, root: bool = False) -> Any:  # noqa: ANN401 - typer's commands have no common base
    """The command of a program with several commands, which are made when they are asked for.

    Args:
        app: The program.
        root: It is what the process runs: with the options that install completions in a shell.
    """
    with _without_commands(app):
        group: Any = get_command(app) if root else get_group(app)
    group.commands = _late_commands(app)
    return group


def _late_commands(app: typer.Typer) -> LateCommands:
    makers: dict[str, Callable[[], Any]] = {}
    for info in app.registered_commands:
        name = info.name or get_command_name(getattr(info.callback, "__name__", ""))
        make = partial(_command_of, info, app)
        if isinstance(info.callback, LateCallback) and info.callback.summary:
            panel = str(info.rich_help_panel)
            make = partial(LateCommand, name, info.callback.summary, make, panel)
        makers[name] = make
    for below in app.registered_groups:
        makers[str(solve_typer_info_defaults(below).name)] = partial(_group_of, below, app)
    return LateCommands(makers)


def _command_of(info: CommandInfo, app: typer.Typer) -> Any:  # noqa: ANN401 - see `late_group`
    return get_command_from_info(
        info,
        pretty_exceptions_short=app.pretty_exceptions_short,
        rich_markup_mode=app.rich_markup_mode,
    )


def _group_of(info: TyperInfo, app: typer.Typer) -> Any:  # noqa: ANN401 - see `late_group`
    program = info.typer_instance
    if program is None:
        raise TypeError("a group of commands without its program")
    with _without_commands(program):
        group: Any = get_group_from_info(
            info,
            pretty_exceptions_short=app.pretty_exceptions_short,
            suggest_commands=app.suggest_commands,
            rich_markup_mode=app.rich_markup_mode,
        )
    group.commands = _late_commands(program)
    return group


@contextmanager
def _without_commands(app: typer.Typer) -> Iterator[None]:
    """While the block runs, a program has none of its commands, but what else it says of itself."""
    commands, groups = app.registered_commands, app.registered_groups
    app.registered_commands, app.registered_groups = [], []
    try:
        yield
    finally:
        app.registered_commands, app.registered_groups = commands, groups


def _named(ctx: Any) -> bool:  # noqa: ANN401 - a context of Typer's
    """Whether a command is named behind the group's own arguments."""
    return bool([*getattr(ctx, "_protected_args", ()), *ctx.args])


def _directory(ctx: Any) -> str:  # noqa: ANN401 - a context of Typer's
    return str(ctx.params.get("directory") or "DIR")


def _paragraphs(text: str | None) -> str | None:
    """A docstring with each paragraph in one line, for the terminal to wrap."""
    if text is None:
        return None
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _flags_without_type(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params
