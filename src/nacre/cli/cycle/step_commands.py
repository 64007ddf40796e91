"""Commands of single steps, built from operations; a view prints the result."""

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from nacre.cli import output
from nacre.cli.cycle.display import StepDisplay, display_of
from nacre.cli.cycle.texts import fetch_progress_text, result_numbers
from nacre.cli.operations import context_of, request_of, request_parameters
from nacre.cli.options import AsJson, Quiet, is_typed, job_of
from nacre.core.states import ExitCode
from nacre.ops.operation import Operation
from nacre.ops.round_requests import LocalOptions, StepRequest, StepRun

if TYPE_CHECKING:
    from nacre.rounds.journal import StopSignal


class StepCall(NamedTuple):
    """A command as it was typed.

    Attributes:
        directory: The directory.
        request: The options of the step.
        is_dry: Nothing is changed.
        as_json: The result is printed as JSON.
    """

    directory: Path
    request: Any
    is_dry: bool
    as_json: bool


def _finish(_result: object, _call: StepCall) -> ExitCode:
    return ExitCode.FINISHED


def _tell_nothing(_result: object, _call: StepCall) -> None:
    """Print nothing on stderr."""


class StepView(NamedTuple):
    """The output of the command of a step.

    Attributes:
        text: Makes the text, or prints it and returns "".
        numbers: Makes the JSON; None for a result that has a text alone.
        code_of: Returns the exit code.
        tell: Prints on stderr before the result.
        is_live: The progress is shown, and the first signal ends the step cleanly.
    """

    text: Callable[[Any, StepCall], str]
    numbers: Callable[[Any], object] = result_numbers
    code_of: Callable[[Any, StepCall], int] = _finish
    tell: Callable[[Any, StepCall], None] = _tell_nothing
    is_live: bool = False


def _printing(*, quiet: Quiet = False, as_json: AsJson = False) -> None:
    """Has the parameters of a command that say how it prints."""


class StepCommand:
    """The function of the command of a step: typer reads its options from the signature.

    Args:
        operation: The operation.
        view: How its result is printed.
    """

    def __init__(self, operation: Operation[Any, Any], view: StepView) -> None:
        self._operation = operation
        self._view = view
        self.__name__ = operation.name
        self.__doc__ = "\n\n".join(filter(None, (operation.summary, operation.detail)))
        local = request_parameters(LocalOptions, operation.local) if operation.local else []
        printing = signature(_printing).parameters.values()
        own = operation.request.__struct_fields__
        is_step = issubclass(operation.request, StepRequest)
        self.__signature__ = Signature(
            [
                Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
                *request_parameters(operation.request),
                *local,
                *(
                    option
                    for option in printing
                    if option.name not in own and (option.name != "quiet" or is_step)
                ),
            ]
        )
        self.__annotations__: dict[str, Any] = {}  # the signature has all types

    def __call__(
        self, ctx: typer.Context, *, as_json: bool, quiet: bool = False, **values: object
    ) -> None:
        """Run the step, and print its result."""
        operation, view = self._operation, self._view
        local = request_of(LocalOptions, values)
        request = request_of(operation.request, {**values, "as_json": as_json})
        call = StepCall(job_of(ctx), request, local.dry_run, as_json)
        typed = [name for name in operation.request.__struct_fields__ if is_typed(ctx, name)]
        display = display_of(quiet=quiet, as_json=as_json)
        if view.is_live:
            display.step("", operation.name)
        with _step_run(call, local, display, view) as run:
            step = run._replace(typed=typed)
            context = context_of(call.directory)._replace(step=step)
            result = operation.run(context, call.request)
        display.leave()
        view.tell(result, call)
        if result is not None:
            _print(view, result, call)
        raise typer.Exit(view.code_of(result, call))


def _print(view: StepView, result: object, call: StepCall) -> None:
    numbers = view.numbers(result) if call.as_json else None
    if numbers is not None:
        output.say_json(numbers)
    elif text := view.text(result, call):
        output.say(text)


@contextmanager
def _step_run(
    call: StepCall, local: LocalOptions, display: StepDisplay, view: StepView
) -> Iterator[StepRun]:
    """Show the progress of a step while it runs, and note signals."""
    from nacre.machine.layout import Layout
    from nacre.rounds.journal import StopSignal

    if not view.is_live:
        yield StepRun(local, warn)
        return

    def report(_name: str, numbers: Mapping[str, Any]) -> None:
        display.progress(numbers, fetch_progress_text(numbers))

    with signals_to(StopSignal(Layout(call.directory))) as stop:
        yield StepRun(local, warn, display.note, report, lambda: bool(stop.signals))


def warn(text: str) -> None:
    """Print a warning or a note."""
    output.tell(f"nacre: {text}")


@contextmanager
def signals_to(stop: "StopSignal") -> "Iterator[StopSignal]":
    """While the block runs, the first signal ends the rounds after the step; the second at once."""

    def note_signal(_number: int, _frame: object) -> None:
        stop.note_signal()
        if stop.signals > 1:
            raise KeyboardInterrupt
        output.tell("nacre: ends after this step; once more ends at once")

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, note_signal) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
