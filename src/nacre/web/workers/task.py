"""Typed tasks of reader processes: request, answer and progress."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, get_type_hints

import msgspec

from nacre.machine.layout import Layout
from nacre.messages import Message
from nacre.web.workers.views import VIEWS

Q = TypeVar("Q", bound=msgspec.Struct)
A = TypeVar("A")
SINCE = "_since"
"""Argument that the pool adds: the moment of the last change, seconds since the epoch."""


class NoRequest(msgspec.Struct, frozen=True):
    """A request without options."""


class Nothing(msgspec.Struct, frozen=True):
    """An answer without data."""


@dataclass(frozen=True)
class ReaderTask(Generic[Q, A]):
    """A read of a job, for reader processes.

    Attributes:
        name: Its name in `reader_tasks.TASKS`, in the metrics, and of a task in the background.
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

        Raises:
            TypeError: The request has no field of a name; otherwise its value would be lost.
        """
        unknown = arguments.keys() - {*self.request.__struct_encode_fields__, SINCE}
        if unknown:
            raise TypeError(f"{self.name} has no argument {', '.join(sorted(unknown))}")
        with VIEWS.fresh(float(arguments.get(SINCE, 0.0))):
            answer = self.read(layout, msgspec.convert(arguments, self.request))
        return msgspec.to_builtins(answer, builtin_types=(Message, bytes))


def reader_task(name: str) -> Callable[[Callable[[Layout, Q], A]], ReaderTask[Q, A]]:
    """Declare a function of a job and a request as a task of reader processes.

    Args:
        name: The name of the task.
    """

    def declare(read: Callable[[Layout, Q], A]) -> ReaderTask[Q, A]:
        _, request, answer = get_type_hints(read).values()
        return ReaderTask(name, read, request, answer)

    return declare


_EACH: Final = 0.5


class ProgressTeller:
    """Reports the progress of a task at limited intervals.

    Attributes:
        send: Receives steps done and steps in all; None to report nothing.
    """

    def __init__(self) -> None:
        self.send: Callable[[int, int], None] | None = None
        self._last = 0.0

    def begin(self, send: Callable[[int, int], None] | None) -> None:
        """Begin a task, and report its progress to `send`; None to report nothing."""
        self.send = send
        self._last = time.monotonic()

    def tell(self, steps: int, total: int = 0) -> None:
        """Report the progress.

        Args:
            steps: Steps done.
            total: Steps in all; 0 if that is not known.
        """
        now = time.monotonic()
        if self.send is not None and now - self._last >= _EACH:
            self._last = now
            self.send(steps, total)


PROGRESS: Final = ProgressTeller()
"""The progress of this process, which runs one task at a time."""
