"""The declaration of an operation on a job.

From it come the command and its options, the REST route with its schema, the line "as command",
the check of the state and the role. A face adds only how it shows the result.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import msgspec

from nacre.core.clock import Clock
from nacre.ops.fields import typed_form
from nacre.ops.roles import Role
from nacre.store.layout import Layout

Q = TypeVar("Q", bound=msgspec.Struct)
R = TypeVar("R", bound=msgspec.Struct)


def _ignore(_done: int, _total: int) -> None:
    """Ignore the progress of an operation."""


class OperationContext(NamedTuple):
    """The job of an operation, and for whom it runs.

    Attributes:
        layout: Directories of the job.
        clock: The time.
        by: Name of the requester for job.log; "" for the user who runs this process.
        patience: Seconds after which a running job that has not answered is given up.
        tell: Receives the steps that are done, and all steps; 0 if their number is unknown.
    """

    layout: Layout
    clock: Clock
    by: str = ""
    patience: float = 600.0
    tell: Callable[[int, int], None] = _ignore


def requester_of(context: OperationContext) -> str:
    """Return the requester with the user of this process, for job.log; "" for the user alone."""
    return f"{context.by} (uid {os.getuid()})" if context.by else ""


@dataclass(frozen=True)
class Operation(Generic[Q, R]):
    """An operation on one job.

    Attributes:
        name: Name of the command, and last part of the path of the REST API.
        summary: What it does, in one sentence.
        request: The options; the docstring says what each one means.
        result: The result.
        run: Carries it out. It blocks, and raises a NacreError if the job refuses.
        states: Groups of states of a job in which it is possible; see `job_states`.
        role: The role that a request needs.
        detail: More paragraphs of the help; "" for none.
        opens_store: It opens the store of a job at rest: a server runs it in another process.
    """

    name: str
    summary: str
    request: type[Q]
    result: type[R]
    run: Callable[[OperationContext, Q], R]
    states: frozenset[str]
    role: Role = Role.OPERATOR
    detail: str = ""
    opens_store: bool = False


def command_line(operation: Operation[Q, R]) -> str:
    """Return the command with its arguments; `{job}` is the place of the directory (pure)."""
    words = ["nacre", operation.name, "{job}"]
    for field in msgspec.structs.fields(operation.request):
        form = typed_form(field.type)
        if form is not None and form.is_argument:
            words.append(form.metavar)
    return " ".join(words)
