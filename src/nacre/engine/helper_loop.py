"""The loop of a helper process that reads hostile data; `helper_process` starts it."""

import math
import os
import resource
import shutil
import struct
import sys
from collections.abc import Callable

MEMORY = 2_000_000_000
"""Address space of a helper, bytes."""

FOLDER = "NACRE_HELPER_FOLDER"
"""Variable with the folder for temporary files of a helper, deleted when the helper ends."""

LENGTH = struct.Struct(">I")
"""Before each message, its length in bytes."""


def keep_quiet() -> None:
    """Discard output of libraries: it is no answer."""
    sys.stdout = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.close(quiet)


def serve(answer: Callable[[bytes], bytes], memory: int = MEMORY, cpu: float | None = None) -> None:
    """The loop of a helper process: a message in, its answer out; ends with the pipe.

    Args:
        answer: Makes the answer to a message.
        memory: Address space of the process, bytes.
        cpu: Time of the processor for one message, s: beyond it the process is killed by SIGXCPU.
            None: no limit.
    """
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    if cpu is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        _answer_all(answer, cpu)
    finally:  # also if the parent process was killed
        shutil.rmtree(os.environ.get(FOLDER, ""), ignore_errors=True)


def _answer_all(answer: Callable[[bytes], bytes], cpu: float | None) -> None:
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        head = source.read(4)
        if len(head) < 4:
            return
        (size,) = LENGTH.unpack(head)
        data = source.read(size)
        if len(data) < size:
            return
        if cpu is not None:
            _allow(cpu)
        reply = answer(data)
        sink.write(LENGTH.pack(len(reply)) + reply)
        sink.flush()


def _allow(cpu: float) -> None:
    """Let the process work some seconds more; a machine that is busy takes none of them away."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime + cpu)
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
