"""Engines that run tasks: the protocol, and the report of a task that fails.

A task is a pure function of files: it is given a small spec, reads and writes files of a storage
and returns a small result. Function, spec and result are pickled, so the function stands at the
top of a module. An engine may run a task again, also beside an attempt that it believes lost;
files carry the name of their attempt, and only those of a returned result are ever named.
"""

import traceback
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from nacre.errors import ConfigError, DamageError, JobError, NacreError, StorageError

TaskSpec = TypeVar("TaskSpec")
TaskResult = TypeVar("TaskResult")

OnResult = Callable[[int, TaskResult], None]
"""Called in the driver with the number of a spec and its result."""

ATTEMPTS = 4
"""How often a task is tried; Spark's `spark.task.maxFailures`."""
PAUSES = (1.0, 2.0, 4.0)
"""Seconds before the second attempt and the ones after it: a disk or a store may recover."""


class TaskEngine(Protocol):
    """Runs tasks. `close` gives back what it holds.

    Attributes:
        name: `local` or `spark`.
        workers: Tasks that run at the same time.
    """

    name: str
    workers: int

    @property
    def scratch(self) -> str:
        """Folder where tasks keep what they work with: `TaskPlace.scratch`.

        "" where each machine has a temporary folder of its own.
        """
        ...

    def map(
        self,
        function: Callable[[TaskSpec], TaskResult],
        specs: Sequence[TaskSpec],
        on_result: OnResult[TaskResult] | None = None,
    ) -> list[TaskResult]:
        """The results in the order of the specs; `on_result` hears of each as it comes.

        Raises:
            NacreError: A task failed for a reason that another attempt does not change, or too
                often. Which one it was stands in the message.
        """
        ...

    def close(self) -> None:
        """End the workers. May be called twice."""
        ...


class TaskFailure(NamedTuple):
    """The exception of a task, as it travels to the driver.

    Attributes:
        kind: Name of the class of the exception.
        message: Its message.
        trace: Its traceback; "" for an error that Nacre raises on purpose.
    """

    kind: str
    message: str
    trace: str = ""


class GuardedTask(Generic[TaskSpec, TaskResult]):
    """A task that returns what goes wrong, except where another attempt may help."""

    def __init__(self, function: Callable[[TaskSpec], TaskResult]) -> None:
        self._function = function

    def __call__(self, spec: TaskSpec) -> TaskResult | TaskFailure:
        """Run it; a storage that failed for now raises `RetryTaskError`."""
        try:
            return self._function(spec)
        except (ConfigError, JobError, DamageError) as error:
            return TaskFailure(type(error).__name__, str(error))
        except StorageError as error:
            raise RetryTaskError(str(error)) from None
        except NacreError as error:
            return TaskFailure(type(error).__name__, str(error))
        except Exception as error:  # noqa: BLE001 - a bug is told in the driver, with its place
            return TaskFailure(type(error).__name__, str(error), traceback.format_exc())


class RetryTaskError(Exception):
    """A task that may succeed when it is tried again; not a `NacreError`, so that it pickles."""


class BrokenTaskError(NacreError):
    """A task has a bug; the message has its traceback."""


def raised(failure: TaskFailure) -> NacreError:
    """The exception that a failure stands for, in the driver."""
    if failure.trace:
        return BrokenTaskError(f"{failure.kind}: {failure.message}\n{failure.trace}")
    for kind in (ConfigError, DamageError, JobError):
        if failure.kind in {kind.__name__, *(below.__name__ for below in _below(kind))}:
            return kind(failure.message)
    return StorageError(failure.message)


def _below(kind: type[NacreError]) -> list[type[NacreError]]:
    direct = kind.__subclasses__()
    return [*direct, *(deeper for one in direct for deeper in _below(one))]


def gave_up(number: int, message: str) -> StorageError:
    """The error of a task that failed in every attempt."""
    why = message.rstrip(".")
    return StorageError(
        f"task {number} failed {ATTEMPTS} times: {why}. Nothing was committed: the same "
        "command goes on where it stopped"
    )
