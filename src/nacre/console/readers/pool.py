"""The pool of reader processes.

A store is opened and scanned in processes of their own: a scan holds Python's lock, and would hold
up all pages. A process that does not answer in time is killed, and the next question starts
another.
"""

import asyncio
import contextlib
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any, Final

import msgspec

from nacre import errors
from nacre.console.problems import RefusedRequestError
from nacre.console.readers.worker import LENGTH, ReaderAnswer, ReaderRequest, message
from nacre.errors import JobError, NacreError

PATIENCE: Final = 5.0
"""Seconds that a question may take while somebody waits for a page."""
START: Final = 30.0
"""Seconds that the first question of a process may take: it loads its modules."""
MEMORY: Final = 400_000_000
"""Resident memory after which a process is replaced, bytes."""


class ReaderProcess:
    """One reader process; it is started with its first question, and answers one at a time.

    Attributes:
        waiting: Questions that are asked of it now.
    """

    def __init__(self) -> None:
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._is_warm = False
        self.waiting = 0

    async def ask(self, request: ReaderRequest, patience: float) -> ReaderAnswer:
        """Ask it.

        Args:
            request: The question.
            patience: Seconds that it may take.

        Raises:
            TimeoutError: It took longer.
            ConnectionError: The process died.
        """
        self.waiting += 1
        try:
            async with self._turn:
                return await self._answered(request, patience)
        finally:
            self.waiting -= 1

    async def _answered(self, request: ReaderRequest, patience: float) -> ReaderAnswer:
        try:
            async with asyncio.timeout(patience if self._is_warm else patience + START):
                process = await self._started()
                data = await _exchanged(process, msgspec.msgpack.encode(request))
        except asyncio.IncompleteReadError:
            await self.close()
            raise ConnectionError("the reader process ended") from None
        except BaseException:  # it is in the middle of an answer that nobody waits for
            await self.close()
            raise
        self._is_warm = True
        if resident(process.pid) > MEMORY:
            await self.close()
        return msgspec.msgpack.decode(data, type=ReaderAnswer)

    async def _started(self) -> Process:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "nacre.console.readers.worker",
                stdin=PIPE, stdout=PIPE, start_new_session=True,
            )  # fmt: skip
        return self._process

    async def close(self) -> None:
        """End it."""
        process, self._process, self._is_warm = self._process, None, False
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        # Its pipes are closed by the loop when it is reaped.
        await process.wait()


async def _exchanged(process: Process, request: bytes) -> bytes:
    """The answer to a request, over the pipes of a process."""
    sink, source = process.stdin, process.stdout
    if sink is None or source is None:
        raise ConnectionError("the reader process has no pipes")
    sink.write(message(request))
    await sink.drain()
    (size,) = LENGTH.unpack(await source.readexactly(LENGTH.size))
    return await source.readexactly(size)


def resident(pid: int) -> int:
    """Resident memory of a process, bytes; 0 where it is gone."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * 4096


class ReaderPool:
    """Reader processes that share the questions.

    Args:
        number: How many processes there may be.
    """

    def __init__(self, number: int = 2) -> None:
        self._processes = [ReaderProcess() for _ in range(number)]

    async def ask(
        self, task: str, job: Path, patience: float = PATIENCE, **arguments: object
    ) -> Any:  # noqa: ANN401 - as the task gives it
        """Ask the process that has least to do.

        Args:
            task: A name of `tasks.TASKS`.
            job: Directory of the job.
            patience: Seconds that the answer may take.
            arguments: Of the task.

        Raises:
            NacreError: As the task raised it.
            RefusedRequestError: It took too long (503).
        """
        process = min(self._processes, key=lambda one: one.waiting)
        request = ReaderRequest(task, str(job), arguments)
        try:
            answer = await process.ask(request, patience)
        except TimeoutError:
            raise RefusedRequestError(
                503, "too-slow", f"{job.name} could not be read within {patience:g} s"
            ) from None
        except ConnectionError as error:
            raise RefusedRequestError(503, "reader", f"{job.name}: {error}") from None
        if answer.error:
            raise _error(answer)
        return answer.data

    async def close(self) -> None:
        """End all processes."""
        for process in self._processes:
            await process.close()


def _error(answer: ReaderAnswer) -> NacreError:
    """The error of a task, of the class that it had where that is one of Nacre's."""
    found = getattr(errors, answer.error, None)
    if isinstance(found, type) and issubclass(found, NacreError):
        return found(answer.message)
    if answer.error == "Exception":
        return NacreError(f"an error in a reader process: {answer.message}")
    return JobError(answer.message)
