"""Commands of other packages: the entry points `nacre.commands` (docs/plugins.md).

An entry point leads to a function `register(app)`, as each module of Nacre's own commands has it,
to a `typer.Typer`, or to a command of click.

The installed packages are asked only for a command that Nacre does not have itself, and for the
list of all; the code of a command is loaded when that command is used.
"""

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint
from inspect import isfunction
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from nacre.cli.program import Program
from nacre.config.registry import (
    COMMANDS,
    PluginError,
    describe_entry,
    entry_points_of,
    failure,
    load,
    package_of,
    summary_of,
)
from nacre.errors import NacreError

_PANEL = "Of other packages"
_OF_PROGRAMS = ("install_completion", "show_completion")
"""Options that Typer gives to separate programs."""


class PluginCommand(TyperGroup):
    """A command of another package, as the list of commands shows it.

    Args:
        entry: Its entry point.
    """

    def __init__(self, entry: EntryPoint) -> None:
        summary = summary_of(entry) or f"A command of {package_of(entry) or entry.value}."
        super().__init__(name=entry.name, help=summary.replace("[", r"\["), rich_help_panel=_PANEL)
        self._entry = entry

    def loaded(self) -> Any:  # noqa: ANN401 - typer's commands, and click's, have no common base
        """The command itself.

        Raises:
            NacreError: Its package is broken; the message has its name.
        """
        try:
            return _command(load(self._entry), self._entry)
        except PluginError as error:
            raise NacreError(f"{describe_entry(self._entry)} {error}") from error

    def make_context(self, *args: Any, **more: Any) -> Any:  # noqa: ANN401 - as its base says
        """A context of the command itself: what runs is that one."""
        return self.loaded().make_context(*args, **more)


class ClickCommand(TyperCommand):
    """A command of the library click, which reads its arguments and ends the process itself."""

    def __init__(self, name: str, command: Any) -> None:  # noqa: ANN401 - click is not required
        super().__init__(name, help=command.help, add_help_option=False)
        self._command = command

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as its base says
        """All arguments as they are."""
        ctx.args = list(args)
        return []

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as its base says
        """Run it."""
        return self._command.main(args=ctx.args, prog_name=ctx.command_path)

    def get_help(self, ctx: Any) -> str:  # noqa: ANN401 - as its base says
        """Its help as click writes it."""
        command = self._command
        return str(command.get_help(command.context_class(command, info_name=ctx.command_path)))


def _command(target: object, entry: EntryPoint) -> Any:  # noqa: ANN401 - see `loaded`
    if isinstance(target, typer.Typer):
        return _without_completion(get_command(target))
    if isinstance(target, TyperCommand | TyperGroup):
        return target
    if hasattr(target, "main") and hasattr(target, "context_class"):
        return ClickCommand(entry.name, target)
    if isfunction(target):
        return _registered(target, entry)
    raise PluginError(
        "is not a command: no typer.Typer, no click command, and no function that registers one"
    )


def _registered(register: Callable[[typer.Typer], object], entry: EntryPoint) -> Any:  # noqa: ANN401 - see `loaded`
    """What a function adds to the commands under the name of its entry point."""
    app = Program()
    try:
        register(app)
        added = get_group(app).commands
    except Exception as error:
        raise PluginError(failure(error)) from error
    if entry.name not in added:
        raise PluginError(f"registers no command {entry.name!r}")
    return added[entry.name]


def _without_completion(command: Any) -> Any:  # noqa: ANN401 - see `loaded`
    command.params = [param for param in command.params if param.name not in _OF_PROGRAMS]
    return command


@cache
def plugin_commands() -> dict[str, PluginCommand]:
    """All of them by name; where two packages offer one name, the first package by name counts."""
    commands: dict[str, PluginCommand] = {}
    for entry in sorted(entry_points_of(COMMANDS), key=package_of):
        commands.setdefault(entry.name, PluginCommand(entry))
    return commands
