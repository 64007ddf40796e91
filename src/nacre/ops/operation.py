"""The declaration of an operation on a job, with the roles and the states that it can have.

From it come the command and its options, the REST route with its schema, the line "as command",
the check of the state and the role. A face adds only how it shows the result.
"""

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

import msgspec

from nacre.core.clock import Clock
from nacre.core.states import CRASHED
from nacre.machine.layout import Layout
from nacre.ops.fields import field_shape, option_of

if TYPE_CHECKING:
    from nacre.ops.round_requests import StepRun


NEVER_RAN, PREPARING, RUNNING, PAUSED, STOPPING, STOPPED, FINISHED = (
    "never-ran", "preparing", "running", "paused", "stopping", "stopped", "finished",
)  # fmt: skip
"""The groups of a continuous crawl."""

ROUNDS, ROUNDS_RUNNING = "rounds", "rounds-running"
"""The groups of a batch crawl, which other commands control: at rest, and while rounds run."""

LIVE: Final = frozenset((RUNNING, PAUSED))
"""Groups in which a process answers commands."""

GROUPS: Final[Mapping[str, str]] = {
    "NASCENT": NEVER_RAN,
    "PREPARING": PREPARING,
    "RUNNING": RUNNING,
    "EMPTY": RUNNING,
    "PAUSING": PAUSED,
    "PAUSED": PAUSED,
    "STOPPING": STOPPING,
    "ABORTED": STOPPED,
    "INTERRUPTED": STOPPED,
    CRASHED: STOPPED,
    "FINISHED_DISK_WAIT": STOPPED,
    "FINISHED_ABNORMAL": STOPPED,
    "FINISHED_QUEUE_BUDGET": STOPPED,
    "FINISHED_TIME_LIMIT": STOPPED,
    "FINISHED_DATA_LIMIT": STOPPED,
    "FINISHED_DOCUMENT_LIMIT": STOPPED,
    "FINISHED_WRITE_LIMIT": STOPPED,
    "FINISHED": FINISHED,
    "ROUNDS": ROUNDS,
}
"""The group of each state of `JobOverview.state`. A run that reached a limit can be resumed."""


def group_of(state: str) -> str:
    """Return the group of a state of `JobOverview.state`; `stopped` for an unknown state."""
    return GROUPS.get(state, STOPPED)


class Role(IntEnum):
    """A role; each role has the permissions of all lower roles, too."""

    NOBODY = 0
    VIEWER = 1
    OPERATOR = 2
    ADMIN = 3

    @property
    def title(self) -> str:
        """Its name in lower case, as it is typed."""
        return self.name.lower()


def role_named(name: str) -> Role | None:
    """The role of a name such as `operator`; None for a name that is none."""
    return next((role for role in Role if role and role.title == name), None)


Q = TypeVar("Q", bound=msgspec.Struct)
R = TypeVar("R")


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
        step: How a step of rounds is run; None for the defaults.
    """

    layout: Layout
    clock: Clock
    by: str = ""
    patience: float = 600.0
    tell: Callable[[int, int], None] = _ignore
    step: "StepRun | None" = None


def requester_of(context: OperationContext) -> str:
    """Return the requester with the user of this process, for job.log; "" for the user alone."""
    return f"{context.by} (uid {os.getuid()})" if context.by else ""


@dataclass(frozen=True)
class Operation(Generic[Q, R]):
    """An operation on one job.

    Attributes:
        name: Name of the command, and last part of the path of the REST API.
        summary: Description in one sentence.
        request: The options, which its docstring describes.
        result: The result.
        run: Function that runs it. It blocks, and raises a NacreError if the job refuses.
        states: Groups of states of a job in which it is possible; see `GROUPS`.
        role: The role that a request needs.
        detail: More paragraphs of the help; "" for none.
        opens_store: It opens the store of a job at rest: a server runs it in another process.
        local: Fields of `round_requests.LocalOptions` that its command has, too.
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
    local: tuple[str, ...] = ()


def command_line(operation: Operation[Q, R]) -> str:
    """Return the command with its arguments; `{job}` is the place of the directory (pure)."""
    forms = [field_shape(field.type).form for field in msgspec.structs.fields(operation.request)]
    arguments = [form.metavar for form in forms if form.is_argument]
    return " ".join(["nacre", operation.name, "{job}", *arguments])


def option_words(request: msgspec.Struct, without: Collection[str] = ()) -> list[str]:
    """Return the options that make a request on a command line; defaults are left out (pure).

    Args:
        request: The request.
        without: Fields that are no options.
    """
    words: list[str] = []
    for field in msgspec.structs.fields(request):
        value = getattr(request, field.name)
        if value == field.default or field.name in without:
            continue
        yes, _, no = option_of(field).partition("/")
        if isinstance(value, bool):
            words += [option for option in (yes if value else no,) if option]
        else:
            values = value if isinstance(value, tuple) else (value,)
            words += [f"{yes}={item}" for item in values]
    return words


def option_line(request: type[msgspec.Struct]) -> str:
    """Return all options of a request with the names of their values: `--top N --index` (pure)."""
    words = []
    for field in msgspec.structs.fields(request):
        shape = field_shape(field.type)
        words += [option_of(field).partition("/")[0], shape.form.metavar or "|".join(shape.choices)]
    return " ".join(filter(None, words)).replace(" |", " ")
