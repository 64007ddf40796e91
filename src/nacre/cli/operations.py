"""Commands made of operations: their options come from the fields of the request."""

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir, job_of
from nacre.errors import ConfigError
from nacre.ops.fields import FieldShape, field_meanings, field_shape, option_of, ordered_fields
from nacre.ops.operation import Operation, OperationContext, Q, R

S = TypeVar("S", bound=msgspec.Struct)

_TECHNICAL = 999_999_999
"""Limits of this size and more only keep numbers exact: the help leaves them out."""
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


def accepted(result: msgspec.Struct) -> dict[str, Any]:
    """Return the JSON of a result with `ok`, as the control socket answers."""
    return {"ok": True, **msgspec.to_builtins(result, enc_hook=str)}


class OperationCommand:
    """The function of a command: typer reads its options from the signature.

    Args:
        operation: The operation.
        show: Makes the text of its result.
        as_json: Makes the JSON of its result.
        flag: An operation that a flag runs in its place; None for none.
        in_group: The directory of the job is before the command: `nacre frontier DIR retire`.
    """

    def __init__(
        self,
        operation: Operation[Any, Any],
        show: Show,
        as_json: Callable[[Any], object] = accepted,
        *,
        flag: FlagOperation | None = None,
        in_group: bool = False,
    ) -> None:
        self._operation = operation
        self._show = show
        self._as_json = as_json
        self._flag = flag
        self.__name__ = operation.name
        self.__doc__ = "\n\n".join(filter(None, (operation.summary, operation.detail)))
        self.__signature__ = Signature(_parameters(operation, flag, in_group=in_group))
        self.__annotations__: dict[str, Any] = {}  # the signature has all types

    def __call__(
        self, job: Path | typer.Context, *, as_json: bool, flagged: bool = False, **values: object
    ) -> None:
        """Run the operation, and print its result."""
        directory = job if isinstance(job, Path) else job_of(job)
        operation, show, to_json = self._operation, self._show, self._as_json
        if flagged and self._flag is not None:
            operation, show, to_json = self._flag[1:]
            values = {}
        # Not decoded: the bounds of texts are those of the REST API, and typer checks the others.
        request = request_of(operation.request, values)
        result = run_operation(operation, directory, request)
        if as_json:
            output.say_json(to_json(result))
        else:
            output.say(show(result, request, directory))


def run_operation(operation: Operation[Q, R], directory: Path, request: Q) -> R:
    """Run an operation on the job of a directory.

    Raises:
        JobError: The job refuses.
    """
    return operation.run(context_of(directory), request)


def context_of(directory: Path) -> OperationContext:
    """Return the context of an operation on the job of a directory, for the user."""
    from nacre.machine.clock import SystemClock
    from nacre.machine.layout import Layout

    return OperationContext(Layout(directory), SystemClock())


def _parameters(
    operation: Operation[Any, Any], flag: FlagOperation | None, *, in_group: bool
) -> list[Parameter]:
    """The parameters of a command: the job, the fields of the request, the format."""
    keyword = Parameter.KEYWORD_ONLY
    job = typer.Context if in_group else JobDir
    parameters = [Parameter("job", Parameter.POSITIONAL_OR_KEYWORD, annotation=job)]
    parameters += request_parameters(operation.request)
    if flag is not None:
        kind = Annotated[bool, typer.Option(flag.flag, help=flag.operation.summary)]
        parameters.append(Parameter("flagged", keyword, annotation=kind, default=False))
    parameters.append(Parameter("as_json", keyword, annotation=AsJson, default=False))
    return parameters


def request_parameters(
    request: type[msgspec.Struct], names: Collection[str] = (), panel: str = ""
) -> list[Parameter]:
    """Return the parameters of a command that its request has: an option for each field.

    Args:
        request: The request.
        names: Fields to include; () for all.
        panel: The panel of the help for all, each with one form; "" for that of each field.
    """
    meanings = field_meanings(request)
    parameters = []
    for field in ordered_fields(request):
        if not names or field.name in names:
            kind = _typed_field(field, meanings[field.name], panel)
            default = Parameter.empty if field.required else _typed_default(field)
            keyword = Parameter.KEYWORD_ONLY
            parameters.append(Parameter(field.name, keyword, annotation=kind, default=default))
    return parameters


def request_of(request: type[S], values: Mapping[str, Any]) -> S:
    """Return the request of the options that were typed.

    Args:
        request: Its struct.
        values: Values of parameters by name, those of other structs among them; None for an option
            that was left out.
    """
    typed = {}
    for field in msgspec.structs.fields(request):
        value = values.get(field.name)
        if value is not None:
            typed[field.name] = tuple(value) if isinstance(value, list) else value
    return request(**typed)


def with_options_of(
    request: type[S],
    parameter: str = "options",
    names: Collection[str] = (),
    panel: str = "",
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command whose parameter `options` has an option for each field of a request.

    Args:
        request: The struct of the request.
        parameter: Name of the parameter.
        names: Fields that have an option; () for all.
        panel: The panel of the help for all; "" for that of each field.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def command(*arguments: Any, **values: Any) -> None:  # noqa: ANN401 - as its signature says
            typed = {name: values.pop(name) for name in names or request.__struct_fields__}
            made = request_of(request, typed)
            try:
                function(*arguments, **{parameter: made}, **values)
            except ConfigError as error:
                raise _by_options(error, made) from None

        own = list(signature(function).parameters.values())
        at = [item.name for item in own].index(parameter)
        own[at : at + 1] = request_parameters(request, names, panel)
        vars(command)["__signature__"] = Signature(own)
        return command

    return decorate


def _by_options(error: ConfigError, request: msgspec.Struct) -> ConfigError:
    """Name the options that were typed in the place of their fields."""
    options = {
        field.name: option_of(field)
        for field in msgspec.structs.fields(request)
        if not field_shape(field.type).form.is_argument
        and (field.required or getattr(request, field.name) != field.default)
    }
    problems = [
        problem if problem.file else problem._replace(path=options.get(problem.path, problem.path))
        for problem in error.problems
    ]
    return error if problems == list(error.problems) else ConfigError(problems)


def _typed_default(field: msgspec.structs.FieldInfo) -> object:
    """Return the default of a parameter; None if it cannot be written as text."""
    shape = field_shape(field.type)
    return None if shape.is_list or "" in shape.choices else field.default


def _typed_field(field: msgspec.structs.FieldInfo, meaning: str, panel: str) -> Any:  # noqa: ANN401 - a type
    """The type of a field with what typer reads: an option, or an argument."""
    shape = field_shape(field.type)
    form, kind = shape.form, _typed_kind(shape)
    form = form._replace(letter="", panel=panel) if panel else form
    bounds: dict[str, Any] = {}
    if shape.kind in (int, float):
        bounds = {"min": _stated(shape.minimum), "max": _stated(shape.maximum)}
    metavar = form.metavar or "|".join(filter(None, shape.choices)) or None
    more: dict[str, Any] = {"metavar": metavar, "help": meaning, **bounds}
    if form.is_argument:
        return Annotated[kind, typer.Argument(**more)]
    names = [option_of(field), *form.letter.split()]
    shows = kind in (int, float) and not field.required
    if form.panel:
        more["rich_help_panel"] = form.panel
    return Annotated[kind, typer.Option(*names, show_default=shows, **more)]


def _stated(limit: float | None) -> float | None:
    """Return a limit for the help; None for one that only keeps numbers exact."""
    return limit if limit is not None and abs(limit) < _TECHNICAL else None


def _typed_kind(shape: FieldShape) -> Any:  # noqa: ANN401 - a type
    """The type that typer reads; an option of several values or choices may be left out."""
    kind: Any = Literal[tuple(filter(None, shape.choices))] if shape.choices else shape.kind
    if shape.is_list:
        return list[kind] | None
    return kind | None if shape.is_optional or "" in shape.choices else kind
