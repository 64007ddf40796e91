"""Commands made of operations: their options come from the fields of the request."""

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import msgspec
import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir
from nacre.ops.fields import field_meanings, typed_form
from nacre.ops.operation import Operation, OperationContext, Q, R

Show = Callable[[Any, Any, Path], str]
"""Makes the text of a result; takes the result, the request and the directory of the job."""


class FlagOperation(NamedTuple):
    """An operation that a flag of another command runs in its place.

    Attributes:
        flag: The flag, such as `--list`.
        operation: The operation; its summary is the help of the flag.
        show: Makes the text of its result.
        as_json: Makes the JSON of its result.
    """

    flag: str
    operation: Operation[Any, Any]
    show: Show
    as_json: Callable[[Any], object]


class OperationCommand:
    """The function of a command: typer reads its options from the signature.

    Args:
        operation: The operation.
        show: Makes the text of its result.
        flag: An operation that a flag runs in its place; None for none.
    """

    def __init__(
        self, operation: Operation[Any, Any], show: Show, flag: FlagOperation | None = None
    ) -> None:
        self._operation = operation
        self._show = show
        self._flag = flag
        self.__name__ = operation.name
        self.__doc__ = "\n\n".join(filter(None, (operation.summary, operation.detail)))
        self.__signature__ = Signature(_parameters(operation, flag))
        self.__annotations__: dict[str, Any] = {}  # the signature has all types

    def __call__(
        self, directory: Path, *, as_json: bool, flagged: bool = False, **values: object
    ) -> None:
        """Run the operation, and print its result."""
        if flagged and self._flag is not None:
            operation, show, values = self._flag.operation, self._flag.show, {}
        else:
            operation, show = self._operation, self._show
        request = make_request(operation, values)
        result = run_operation(operation, directory, request)
        if not as_json:
            output.say(show(result, request, directory))
        elif flagged and self._flag is not None:
            output.say_json(self._flag.as_json(result))
        else:
            output.say_json({"ok": True, **msgspec.to_builtins(result)})


def make_request(operation: Operation[Q, R], values: Mapping[str, object]) -> Q:
    """Make the request of an operation from the values of its options.

    Raises:
        ConfigError: A value does not fit.
    """
    try:
        return msgspec.convert(values, operation.request)
    except msgspec.ValidationError as error:
        from nacre.errors import ConfigError, Problem
        from nacre.ops.misfits import misfit_of

        path, words = misfit_of(error, operation.request)
        raise ConfigError([Problem(f"--{path}", words)]) from None


def run_operation(operation: Operation[Q, R], directory: Path, request: Q) -> R:
    """Run an operation on the job of a directory.

    Raises:
        JobError: The job refuses.
    """
    from nacre.engine.clock import SystemClock
    from nacre.store.layout import Layout

    return operation.run(OperationContext(Layout(directory), SystemClock()), request)


def _parameters(operation: Operation[Any, Any], flag: FlagOperation | None) -> list[Parameter]:
    """The parameters of a command: the job, the fields of the request, the format."""
    keyword = Parameter.KEYWORD_ONLY
    found = [Parameter("directory", Parameter.POSITIONAL_OR_KEYWORD, annotation=JobDir)]
    meanings = field_meanings(operation.request)
    for field in msgspec.structs.fields(operation.request):
        default = Parameter.empty if field.required else field.default
        kind = _typed_field(field, meanings[field.name])
        found.append(Parameter(field.name, keyword, annotation=kind, default=default))
    if flag is not None:
        kind = Annotated[bool, typer.Option(flag.flag, help=flag.operation.summary)]
        found.append(Parameter("flagged", keyword, annotation=kind, default=False))
    found.append(Parameter("as_json", keyword, annotation=AsJson, default=False))
    return found


def _typed_field(field: msgspec.structs.FieldInfo, meaning: str) -> Any:  # noqa: ANN401 - a type
    """The type of a field with what typer reads: an option, or an argument."""
    form = typed_form(field.type)
    metavar = form.metavar if form is not None else None
    kind, meta = _split(field.type)
    bounds = {"min": meta.ge, "max": meta.le} if meta is not None else {}
    more: dict[str, Any] = {"metavar": metavar, "help": meaning, **bounds}
    if form is not None and form.is_argument:
        return Annotated[kind, typer.Argument(**more)]
    name = field.name.replace("_", "-")
    return Annotated[kind, typer.Option(f"--{name}", show_default=False, **more)]


def _split(kind: Any) -> tuple[Any, msgspec.Meta | None]:  # noqa: ANN401 - types
    """A type without its annotations, and its bounds; None for none."""
    if get_origin(kind) is not Annotated:
        return kind, None
    plain, *annotations = get_args(kind)
    return plain, next((one for one in annotations if isinstance(one, msgspec.Meta)), None)
