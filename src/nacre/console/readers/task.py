"""Typed tasks of reader processes: what is asked of a job, and the struct of the answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, get_type_hints

import msgspec

from nacre.console.readers.views import VIEWS
from nacre.core.message_data import to_builtins
from nacre.machine.layout import Layout

Q = TypeVar("Q", bound=msgspec.Struct)
A = TypeVar("A")
SINCE = "since"
"""Argument that the pool adds: the moment of the last change, seconds since the epoch."""


class NoRequest(msgspec.Struct, frozen=True):
    """A request without options."""


class Nothing(msgspec.Struct, frozen=True):
    """An answer without data."""


@dataclass(frozen=True)
class ReaderTask(Generic[Q, A]):
    """A read of a job, for reader processes.

    Attributes:
        name: Its name in `tasks.TASKS`, in the metrics, and of a task in the background.
        read: Reads the job, in the process that calls it.
        request: Struct of the request.
        answer: Struct of the answer.
    """

    name: str
    read: Callable[[Layout, Q], A]
    request: type[Q]
    answer: type[A]

    def run(self, layout: Layout, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 - plain data
        """Read a job, and return the answer as plain data.

        Args:
            layout: The job.
            arguments: The fields of the request, and `SINCE` if the job was changed lately.
        """
        with VIEWS.fresh(float(arguments.get(SINCE, 0.0))):
            answer = self.read(layout, msgspec.convert(arguments, self.request))
        return to_builtins(answer)


def reader_task(name: str) -> Callable[[Callable[[Layout, Q], A]], ReaderTask[Q, A]]:
    """Declare a function of a job and a request as a task of reader processes.

    Args:
        name: The name of the task.
    """

    def declare(read: Callable[[Layout, Q], A]) -> ReaderTask[Q, A]:
        _, request, answer = get_type_hints(read).values()
        return ReaderTask(name, read, request, answer)

    return declare
