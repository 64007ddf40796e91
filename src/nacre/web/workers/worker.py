"""The loop of a reader process: `python -m nacre.web.workers.worker NICE MODULE`.

Requests and answers are msgpack messages with a length prefix, on standard input and output. Before
its answer, a task can report progress. The process ends at the end of its input, and so with the
console.
"""

import os
import resource
import select
import struct
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from nacre.core.message_data import encode

if TYPE_CHECKING:
    from nacre.machine.layout import Layout

LENGTH = struct.Struct(">I")
"""The prefix of each message: its length in bytes."""
_MEMORY = 8 << 30
"""Limit of the address space, bytes; far above the use, as mapped files of a store count too."""


FindTask = Callable[[str], Callable[["Layout", Mapping[str, Any]], Any]]
"""Returns the function of a task by its name."""


class ReaderRequest(msgspec.Struct, frozen=True):
    """A question to a reader process.

    Attributes:
        task: Name of a task in the pool's `TaskTable`.
        job: Directory of the job.
        arguments: Arguments of the task.
    """

    task: str
    job: str
    arguments: dict[str, object] = {}


class ReaderAnswer(msgspec.Struct, frozen=True):
    """An answer of a reader process.

    Attributes:
        data: The result of the task.
        error: Class of the error that it raised; "" for none.
        message: Text of the error, which can be a `Message`.
        done: Steps done, in a progress report; -1 for the answer itself.
        total: Steps in all; 0 if that is not known.
        problems: Of a ConfigError: its problems, each as its fields.
        refusal: Of a RefusedRequestError: its status and its code.
    """

    data: Any = None
    error: str = ""
    message: Any = ""
    done: int = -1
    total: int = 0
    problems: list[Any] = []
    refusal: tuple[int, str] = (0, "")


def answer_to(
    request: ReaderRequest,
    find_task: FindTask,
    report_progress: Callable[[int, int], None] | None = None,
) -> ReaderAnswer:
    """Run a task, and return its result or error as an answer.

    Args:
        request: The question.
        find_task: Returns the task of a name.
        report_progress: Receives steps done and steps in all; None to report nothing.
    """
    from nacre.errors import NacreError  # noqa: PLC0415 - the pool needs the structs only
    from nacre.fleet.refusals import RefusedRequestError  # noqa: PLC0415 - as below
    from nacre.machine.layout import Layout  # noqa: PLC0415
    from nacre.web.workers.task import PROGRESS  # noqa: PLC0415 - as below

    PROGRESS.begin(report_progress)
    try:
        data = find_task(request.task)(Layout(Path(request.job)), request.arguments)
    except RefusedRequestError as error:
        refusal = (error.status, error.code)
        return ReaderAnswer(None, type(error).__name__, error.message, refusal=refusal)
    except NacreError as error:
        problems = [list(problem) for problem in getattr(error, "problems", ())]
        return ReaderAnswer(None, _known_class(error), error.message, problems=problems)
    except Exception as error:  # noqa: BLE001 - a bug in a task is not the end of the process
        return ReaderAnswer(None, "Exception", f"{type(error).__name__}: {error}")
    return ReaderAnswer(data)


def _known_class(error: Exception) -> str:
    """Return the name of the error's class, or of its nearest base class in `nacre.errors`."""
    from nacre import errors  # noqa: PLC0415 - as below

    names = [kind.__name__ for kind in type(error).__mro__]
    return next((name for name in names if hasattr(errors, name)), names[0])


def read_message(source: BinaryIO) -> bytes | None:
    """Read the next message; None at the end of the input."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    data = source.read(size)
    return data if len(data) == size else None


def pack_frame(data: bytes) -> bytes:
    """Return a message with its length prefix."""
    return LENGTH.pack(len(data)) + data


def main() -> None:
    """Answer until the input ends.

    The arguments are the priority, below that of the caller, and the module of the tasks.
    """
    os.nice(int(sys.argv[1]))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    decoder = msgspec.msgpack.Decoder(ReaderRequest)

    def send(answer: ReaderAnswer) -> None:
        sink.write(pack_frame(encode(answer)))
        sink.flush()

    while True:
        _wait(source)
        data = read_message(source)
        if data is None:
            return
        find_task: FindTask = import_module(sys.argv[2]).find_task
        answer = answer_to(
            decoder.decode(data),
            find_task,
            lambda done, total: send(ReaderAnswer(done=done, total=total)),
        )
        send(answer)


_LOOK = 0.25
"""Seconds between two looks whether a view is to be opened again, while no question comes."""


def _wait(source: BinaryIO) -> None:
    """Wait for the next question. One comes after the other, so that none is buffered."""
    views = sys.modules.get("nacre.web.workers.views")  # no task may have needed it yet
    while not select.select([source], [], [], None if views is None else _LOOK)[0]:
        if views is not None:
            views.VIEWS.tend()


if __name__ == "__main__":
    main()
