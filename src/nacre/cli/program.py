"""What all commands have in common: their help, and the order of `nacre archive DIR check`."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandFunctionType


class Command(TyperCommand):
    """A command whose help reads well at any width."""

    def __init__(self, name: str | None, **more: Any) -> None:  # noqa: ANN401 - as its base has it
        super().__init__(name, **more)
        self.help = _paragraphs(self.help)

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - as its base says
        """Its parameters; a flag takes no value, so none is shown."""
        return _flags_without_type(super().get_params(ctx))


class Group(TyperGroup):
    """A command with commands below it, whose help reads well at any width."""

    def __init__(self, **more: Any) -> None:  # noqa: ANN401 - as its base has it
        super().__init__(**more)
        self.help = _paragraphs(self.help)

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - as its base says
        """Its parameters; a flag takes no value, so none is shown."""
        return _flags_without_type(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - as its base says
        """The command that is meant; `nacre archive check DIR` is told of the right order."""
        first = str(ctx.params.get("directory", ""))
        if first in self.commands and args[0] not in self.commands:
            ctx.fail(f"The directory comes first: {ctx.command_path} {args[0]} {first}")
        return super().resolve_command(ctx, args)


class Program(typer.Typer):
    """Commands that belong together, of the classes above."""

    def __init__(self, *, cls: type[TyperGroup] = Group, **more: Any) -> None:  # noqa: ANN401 - as its base has it
        super().__init__(cls=cls, no_args_is_help=True, rich_markup_mode="rich", **more)

    def command(
        self,
        name: str | None = None,
        **more: Any,  # noqa: ANN401 - as its base has it
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """See its base."""
        return super().command(name, cls=Command, **more)


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
