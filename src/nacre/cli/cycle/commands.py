"""`nacre cycle DIR`: rounds, if no step is named after it, and the list of all steps."""

from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, get_args

import typer

from nacre.cli.cycle.program import CycleProgram
from nacre.cli.cycle.readers import READERS, SEGMENT_CHANGES
from nacre.cli.cycle.step_commands import StepCommand
from nacre.cli.cycle.steps import STEPS
from nacre.cli.cycle.tables import TABLES
from nacre.cli.installing import Yes
from nacre.cli.operations import request_of, request_parameters
from nacre.cli.options import AsJson, JobDir, Quiet, is_typed
from nacre.ops.job_options import OF_ROUNDS, JobOptions
from nacre.ops.operation import Operation
from nacre.ops.round_requests import LocalRoundsOptions
from nacre.ops.rounds import ROUNDS

cycle = CycleProgram()


def _printing(*, quiet: Quiet = False, as_json: AsJson = False, _yes: Yes = False) -> None:
    """Has the parameters of the command that say how it prints."""


class RoundsCommand:
    """The function of `nacre cycle DIR`: typer reads its options from the signature.

    Args:
        operation: The operation, whose request has the options of rounds.
    """

    def __init__(self, operation: Operation[Any, Any] = ROUNDS) -> None:
        self._request = operation.request
        self.__name__ = "rounds"
        self.__doc__ = "\n\n".join((operation.summary, operation.detail))
        named = Parameter.POSITIONAL_OR_KEYWORD
        of_rounds = [
            *request_parameters(self._request), *request_parameters(LocalRoundsOptions),
        ]  # fmt: skip
        new = request_parameters(JobOptions, OF_ROUNDS, "A new directory")
        self.__signature__ = Signature(
            [
                Parameter("ctx", named, annotation=typer.Context),
                Parameter("directory", named, annotation=JobDir),
                *sorted(of_rounds, key=_panel),
                *new,
                *signature(_printing).parameters.values(),
            ]
        )
        self.__annotations__: dict[str, Any] = {}  # the signature has all types

    def __call__(self, ctx: typer.Context, directory: Path, **values: Any) -> None:  # noqa: ANN401 - as its signature says
        """Run rounds, unless a step is named."""
        if ctx.invoked_subcommand is not None:
            _require_nothing_else(ctx)
            return
        from nacre.cli.cycle.running import run_cycle

        code = run_cycle(
            Path(directory), request_of(self._request, values),
            request_of(LocalRoundsOptions, values), {name: values[name] for name in OF_ROUNDS},
            quiet=values["quiet"], as_json=values["as_json"],
        )  # fmt: skip
        raise typer.Exit(code)


_PANELS = ("Rounds", "Lists", "How")


def _panel(parameter: Parameter) -> int:
    """The place of the panel of an option in the help."""
    panel = getattr(get_args(parameter.annotation)[-1], "rich_help_panel", None)
    return _PANELS.index(panel) if panel in _PANELS else len(_PANELS)


def _require_nothing_else(ctx: typer.Context) -> None:
    """Raise ConfigError for options of rounds before the name of a step."""
    from nacre.errors import ConfigError

    typed = [
        param
        for param in ctx.command.params
        if param.name not in {"directory", "_yes"} and is_typed(ctx, str(param.name))
    ]
    if typed:
        step = ctx.invoked_subcommand
        raise ConfigError(
            f"{typed[0].opts[0]} before {step} is an option of rounds. Write "
            f"{ctx.command_path} DIR {step} {typed[0].opts[0]} …"
        )


cycle.callback(invoke_without_command=True)(RoundsCommand())
_COMMANDS = {"Steps": STEPS, "Look": READERS, "Tables": (*TABLES, SEGMENT_CHANGES)}
for panel, views in _COMMANDS.items():
    for operation, view in views:
        cycle.command(operation.name, rich_help_panel=panel)(StepCommand(operation, view))
