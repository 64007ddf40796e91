"""Commands made of operations: their options come from the fields of the request."""

from collections.abc import Callable
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import msgspec
import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir, job_of
from nacre.ops.fields import Typed, field_meanings, typed_form
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


def accepted(result: msgspec.Struct) -> dict[str, Any]:
    """Return the JSON of a result with `ok`, as the control socket answers."""
    return {"ok": True, **msgspec.to_builtins(result)}


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
        request = operation.request(**values)
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
    from nacre.engine.clock import SystemClock
    from nacre.store.layout import Layout

    return OperationContext(Layout(directory), SystemClock())


def _parameters(
    operation: Operation[Any, Any], flag: FlagOperation | None, *, in_group: bool
) -> list[Parameter]:
    """The parameters of a command: the job, the fields of the request, the format."""
    keyword = Parameter.KEYWORD_ONLY
    job = typer.Context if in_group else JobDir
    parameters = [Parameter("job", Parameter.POSITIONAL_OR_KEYWORD, annotation=job)]
    meanings = field_meanings(operation.request)
    for field in msgspec.structs.fields(operation.request):
        default = Parameter.empty if field.required else field.default
        kind = _typed_field(field, meanings[field.name])
        parameters.append(Parameter(field.name, keyword, annotation=kind, default=default))
    if flag is not None:
        kind = Annotated[bool, typer.Option(flag.flag, help=flag.operation.summary)]
        parameters.append(Parameter("flagged", keyword, annotation=kind, default=False))
    parameters.append(Parameter("as_json", keyword, annotation=AsJson, default=False))
    return parameters


def _typed_field(field: msgspec.structs.FieldInfo, meaning: str) -> Any:  # noqa: ANN401 - a type
    """The type of a field with what typer reads: an option, or an argument."""
    form = typed_form(field.type) or Typed("")
    kind, meta = _split(field.type)
    bounds = {"min": meta.ge, "max": meta.le} if meta is not None else {}
    more: dict[str, Any] = {"metavar": form.metavar or None, "help": meaning, **bounds}
    if form.is_argument:
        return Annotated[kind, typer.Argument(**more)]
    names = [form.option or f"--{field.name.replace('_', '-')}", *filter(None, (form.letter,))]
    shows = kind is int and not field.required
    return Annotated[kind, typer.Option(*names, show_default=shows, **more)]


def _split(kind: Any) -> tuple[Any, msgspec.Meta | None]:  # noqa: ANN401 - types
    """A type without its annotations, and its bounds; None for none."""
    if get_origin(kind) is not Annotated:
        return kind, None
    plain, *annotations = get_args(kind)
    return plain, next((each for each in annotations if isinstance(each, msgspec.Meta)), None)
