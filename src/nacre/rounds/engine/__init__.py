"""Engines that run tasks: the protocol, and the report of a task that fails.

A task is a pure function of files: it receives a small spec, reads and writes files of a storage
and returns a small result. Function, spec and result are pickled, so the function is at the top
level of a module. An engine may run a task again, even while an attempt that it believes lost
still runs; file names contain their attempt, and a version lists only those of a returned
result.
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
"""Seconds before the second and each further attempt: a disk or a store may recover."""


class TaskEngine(Protocol):
    """Runs tasks. `close` releases its resources.

    Attributes:
        name: `local` or `spark`.
        workers: Parallel tasks.
    """

    name: str
    workers: int

    @property
    def scratch(self) -> str:
        """Folder for the temporary files of tasks: `TaskPlace.scratch`.

        "" if each machine has its own temporary folder.
        """
        ...

    def map(
        self,
        function: Callable[[TaskSpec], TaskResult],
        specs: Sequence[TaskSpec],
        on_result: OnResult[TaskResult] | None = None,
    ) -> list[TaskResult]:
        """Return the results in the order of the specs; `on_result` receives each at once.

        Raises:
            NacreError: A task failed for a reason that another attempt does not change, or too
                often. The message contains its number.
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
    """A task that returns its failure, unless another attempt may help."""

    def __init__(self, function: Callable[[TaskSpec], TaskResult]) -> None:
        self._function = function

    def __call__(self, spec: TaskSpec) -> TaskResult | TaskFailure:
        """Run the task; a temporary fault of the storage raises `RetryTaskError`."""
        try:
            return self._function(spec)
        except (ConfigError, JobError, DamageError) as error:
            return TaskFailure(type(error).__name__, str(error))
        except StorageError as error:
            raise RetryTaskError(str(error)) from None
        except NacreError as error:
            return TaskFailure(type(error).__name__, str(error))
        except Exception as error:  # noqa: BLE001 - the driver reports a bug, with its traceback
            return TaskFailure(type(error).__name__, str(error), traceback.format_exc())


class RetryTaskError(Exception):
    """A task may succeed in another attempt; no `NacreError`, so that it pickles."""


class BrokenTaskError(NacreError):
    """A task has a bug; the message has its traceback."""


def to_exception(failure: TaskFailure) -> NacreError:
    """Return the exception of a failure, for the driver."""
    if failure.trace:
        return BrokenTaskError(f"{failure.kind}: {failure.message}\n{failure.trace}")
    for kind in (ConfigError, DamageError, JobError):
        if failure.kind in {kind.__name__, *(below.__name__ for below in _subclasses(kind))}:
            return kind(failure.message)
    return StorageError(failure.message)


def _subclasses(kind: type[NacreError]) -> list[type[NacreError]]:
    direct = kind.__subclasses__()
    return [*direct, *(deeper for kind_below in direct for deeper in _subclasses(kind_below))]


def attempts_error(number: int, message: str) -> StorageError:
    """Return the error of a task that failed in every attempt."""
    reason = message.rstrip(".")
    return StorageError(
        f"task {number} failed {ATTEMPTS} times: {reason}. Nothing was committed: the same "
        "command goes on where it stopped"
    )
