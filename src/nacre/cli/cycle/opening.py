"""Options of all commands of `nacre cycle DIR`, and opening the directory."""

import inspect
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nacre.cli import output
from nacre.cli.operations import request_of, request_parameters
from nacre.cli.options import AsJson, Quiet
from nacre.ops.round_requests import LocalOptions, RoundsRequest, StepRequest, setup_of
from nacre.rounds.opening import NO_SETUP, StepSetup, open_step

if TYPE_CHECKING:
    from nacre.rounds.journal import StopSignal
    from nacre.rounds.steps.context import StepContext, Told


def warn(text: str) -> None:
    """Print a warning or a note."""
    output.tell(f"nacre: {text}")


class CommonOptions(NamedTuple):
    """The options that all steps have.

    Attributes:
        setup: How the step is set up.
        quiet: Print only results and errors.
        as_json: Print results as JSON.
    """

    setup: StepSetup = NO_SETUP
    quiet: bool = False
    as_json: bool = False

    @property
    def dry(self) -> bool:
        """Change nothing."""
        return self.setup.dry


def _common(*, quiet: Quiet = False, as_json: AsJson = False) -> None:
    """Has the parameters of a command that say how it prints."""


def _setup_parameters(*names: str) -> list[inspect.Parameter]:
    """The parameters of a `StepSetup`; without names, all."""
    return [*request_parameters(StepRequest, names), *request_parameters(LocalOptions, names)]


def _with_parameters(
    function: Callable[..., None], name: str, parameters: list[inspect.Parameter],
    value_of: Callable[[dict[str, Any]], object],
) -> Callable[..., None]:  # fmt: skip
    """A command in which options take the place of a parameter of a function.

    Args:
        function: The function.
        name: The parameter.
        parameters: The options.
        value_of: Makes the value of the parameter of those of the options.
    """
    names = {parameter.name for parameter in parameters}

    @wraps(function)
    def command(*arguments: Any, **options: Any) -> None:  # noqa: ANN401 - those of the function
        typed = {key: options.pop(key) for key in names if key in options}
        function(*arguments, **{name: value_of(typed)}, **options)

    own = list(inspect.signature(function).parameters.values())
    at = [parameter.name for parameter in own].index(name)
    own[at : at + 1] = parameters
    vars(command)["__signature__"] = inspect.Signature(own)
    return command


def step_command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command with the options that all steps have.

    Args:
        function: Its parameter `common` receives them as `CommonOptions`.
    """
    printing = list(inspect.signature(_common).parameters.values())

    def common_of(typed: dict[str, Any]) -> CommonOptions:
        return CommonOptions(_setup_of(typed), typed["quiet"], typed["as_json"])

    return _with_parameters(function, "common", [*_setup_parameters(), *printing], common_of)


def setup_command(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command with some of the options that all steps have.

    Args:
        names: Fields of `StepRequest` and `LocalOptions`. The parameter `setup` of the function
            receives their values as `StepSetup`.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        return _with_parameters(function, "setup", _setup_parameters(*names), _setup_of)

    return decorate


def _setup_of(typed: dict[str, Any]) -> StepSetup:
    return setup_of(request_of(StepRequest, typed), request_of(LocalOptions, typed))


def limit_command(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command with options of lists.

    Args:
        names: Fields of `RoundsRequest`. The parameter `limits` of the function receives a request
            with their values.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        parameters = request_parameters(RoundsRequest, names)

        def limits_of(typed: dict[str, Any]) -> RoundsRequest:
            return request_of(RoundsRequest, typed)

        return _with_parameters(function, "limits", parameters, limits_of)

    return decorate


def opened(
    directory: Path,
    setup: StepSetup = NO_SETUP,
    on_progress: "Told | None" = None,
    *,
    writes: bool = True,
) -> "AbstractContextManager[StepContext]":
    """Open a directory for a step, and print its warnings; see `open_step`."""
    return open_step(directory, setup, on_progress, writes=writes, warn=warn)


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
