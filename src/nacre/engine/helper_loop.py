"""The loop of a helper process that reads what may be hostile; `helper_process` starts one."""

import os
import resource
import struct
import sys
from collections.abc import Callable

MEMORY = 2_000_000_000
"""Address space of a helper, bytes."""

LENGTH = struct.Struct(">I")
"""Before each message, its length in bytes."""


def keep_quiet() -> None:
    """Let what libraries print go nowhere: it is no answer, and nobody reads complaints."""
    sys.stdout = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.close(quiet)


def serve(answer: Callable[[bytes], bytes], memory: int = MEMORY) -> None:
    """The loop of a helper process: a message in, its answer out; ends with the pipe.

    Args:
        answer: Makes the answer to a message.
        memory: Address space of the process, bytes.
    """
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        head = source.read(4)
        if len(head) < 4:
            return
        (size,) = LENGTH.unpack(head)
        data = source.read(size)
        if len(data) < size:
            return
        found = answer(data)
        sink.write(LENGTH.pack(len(found)) + found)
        sink.flush()
