"""The loop of a reader process: `python -m nacre.console.readers.worker`.

Requests and answers are messages of msgpack with their length before them, on standard input and
output. It ends with its input, and so with the console.
"""

import os
import resource
import struct
import sys
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

LENGTH = struct.Struct(">I")
"""Before each message, its length in bytes."""
_NICE = 10
_MEMORY = 8 << 30
"""Address space, bytes: what a store maps counts, so that it is far above what is used."""


class ReaderRequest(msgspec.Struct, frozen=True):
    """A question to a reader process.

    Attributes:
        task: A name of `tasks.TASKS`.
        job: Directory of the job.
        arguments: Of the task.
    """

    task: str
    job: str
    arguments: dict[str, Any] = {}


class ReaderAnswer(msgspec.Struct, frozen=True):
    """An answer of a reader process.

    Attributes:
        data: What the task gave.
        error: Class of the error that it raised; "" for none.
        message: Text of the error.
    """

    data: Any = None
    error: str = ""
    message: str = ""


def answer_to(request: ReaderRequest) -> ReaderAnswer:
    """Do a task; an error is an answer."""
    from nacre.console.readers.tasks import TASKS  # noqa: PLC0415 - the pool needs the structs only
    from nacre.errors import NacreError  # noqa: PLC0415
    from nacre.store.layout import Layout  # noqa: PLC0415

    try:
        data = TASKS[request.task](Layout(Path(request.job)), request.arguments)
    except NacreError as error:
        return ReaderAnswer(None, type(error).__name__, str(error))
    except Exception as error:  # noqa: BLE001 - a bug in a task is not the end of the process
        return ReaderAnswer(None, "Exception", f"{type(error).__name__}: {error}")
    return ReaderAnswer(data)


def read_message(source: BinaryIO) -> bytes | None:
    """The next message; None at the end."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    data = source.read(size)
    return data if len(data) == size else None


def message(data: bytes) -> bytes:
    """A message with its length before it."""
    return LENGTH.pack(len(data)) + data


def main() -> None:
    """Answer until the input ends."""
    os.nice(_NICE)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    decoder, encoder = msgspec.msgpack.Decoder(ReaderRequest), msgspec.msgpack.Encoder()
    while (data := read_message(source)) is not None:
        sink.write(message(encoder.encode(answer_to(decoder.decode(data)))))
        sink.flush()


if __name__ == "__main__":
    main()
