"""The pool of reader processes.

A store is opened and scanned in processes of their own: a scan holds Python's lock, and would hold
up all pages. A process that does not answer in time is killed, and the next question starts
another.
"""

import asyncio
import contextlib
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from nacre import errors
from nacre.console.problems import RefusedRequestError
from nacre.console.readers.worker import LENGTH, ReaderAnswer, ReaderRequest, message
from nacre.errors import ConfigError, JobError, NacreError, Problem

PATIENCE: Final = 5.0
"""Seconds that a question may take while somebody waits for a page."""
START: Final = 30.0
"""Seconds that the first question of a process may take: it loads its modules."""
LONG: Final = 3600.0
"""Seconds that a task in the background may take."""
ALONE: Final = 2
"""Processes beside the pool, each for one task that takes long."""
MEMORY: Final = 400_000_000
"""Resident memory after which a process is replaced, bytes."""

Told = Callable[[int, int], None]
"""Takes steps done, and steps in all."""


class OccupiedError(Exception):
    """A process is with a task that takes long; another one is to be asked."""


class ReaderProcess:
    """One reader process; it is started with its first question, and answers one at a time.

    Attributes:
        waiting: Questions that are asked of it now.
    """

    def __init__(self) -> None:
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._left = asyncio.Event()
        self._is_warm = False
        self.waiting = 0

    async def ask(
        self, request: ReaderRequest, patience: float, tell: Told | None = None
    ) -> ReaderAnswer:
        """Ask it.

        Args:
            request: The question.
            patience: Seconds that it may take.
            tell: Takes how far the task is; None: nobody listens.

        Raises:
            TimeoutError: It took longer.
            ConnectionError: The process died.
            OccupiedError: It was given to a task that takes long, and this question was not begun.
        """
        self.waiting += 1
        try:
            await self._have_turn()
            try:
                return await self._answered(request, patience, tell)
            finally:
                self._turn.release()
        finally:
            self.waiting -= 1

    async def _have_turn(self) -> None:
        turn = asyncio.ensure_future(self._turn.acquire())
        left = asyncio.ensure_future(self._left.wait())
        try:
            await asyncio.wait({turn, left}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if turn.done():
                self._turn.release()
            raise
        finally:
            left.cancel()
            has_turn = turn.done() or not turn.cancel()
        if not has_turn:
            raise OccupiedError

    def leave(self) -> None:
        """Send the questions that wait away: what is asked now takes long."""
        self._left.set()

    def come_back(self) -> None:
        """Take questions again."""
        self._left.clear()

    async def _answered(
        self, request: ReaderRequest, patience: float, tell: Told | None
    ) -> ReaderAnswer:
        try:
            async with asyncio.timeout(patience if self._is_warm else patience + START):
                process = await self._started()
                answer = await _exchanged(process, msgspec.msgpack.encode(request), tell)
        except asyncio.IncompleteReadError:
            await self.close()
            raise ConnectionError("the reader process ended") from None
        except BaseException:  # it is in the middle of an answer that nobody waits for
            await self.close()
            raise
        self._is_warm = True
        if resident(process.pid) > MEMORY:
            await self.close()
        return answer

    async def _started(self) -> Process:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "nacre.console.readers.worker",
                stdin=PIPE, stdout=PIPE, start_new_session=True,
            )  # fmt: skip
        return self._process

    @property
    def patience(self) -> float:
        """Seconds that a page waits for it: more while it loads its modules."""
        return PATIENCE if self._is_warm else PATIENCE + START

    async def close(self) -> None:
        """End it."""
        process, self._process, self._is_warm = self._process, None, False
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        # Its pipes are closed by the loop when it is reaped.
        await process.wait()


async def _exchanged(process: Process, request: bytes, tell: Told | None) -> ReaderAnswer:
    """The answer to a request, over the pipes of a process."""
    sink, source = process.stdin, process.stdout
    if sink is None or source is None:
        raise ConnectionError("the reader process has no pipes")
    sink.write(message(request))
    await sink.drain()
    while True:
        (size,) = LENGTH.unpack(await source.readexactly(LENGTH.size))
        answer = msgspec.msgpack.decode(await source.readexactly(size), type=ReaderAnswer)
        if answer.done < 0:
            return answer
        if tell is not None:
            tell(answer.done, answer.total)


def resident(pid: int) -> int:
    """Resident memory of a process, bytes; 0 where it is gone."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * 4096


class ReaderPool:
    """Reader processes that share the questions.

    A job is asked of the process that has it open already, unless that has more to do than another.

    Args:
        number: How many processes there may be.

    Attributes:
        times: Answers so far and the seconds that they took, by task.
    """

    def __init__(self, number: int = 2) -> None:
        self.times: dict[str, tuple[int, float]] = {}
        self._processes = [ReaderProcess() for _ in range(number)]
        self._usual: dict[Path, ReaderProcess] = {}
        self._lonely: set[ReaderProcess] = set()
        self._changed: dict[Path, float] = {}

    def changed(self, job: Path, now: float) -> None:
        """Note that a job was just changed: later answers show it.

        Args:
            job: Directory of the job.
            now: Seconds since the epoch.
        """
        self._changed[job] = now

    def patience(self, job: Path) -> float:
        """Seconds that a page waits for an answer on a job, before it becomes a task."""
        return self._chosen(job).patience

    def _chosen(self, job: Path) -> ReaderProcess:
        usual = self._usual.get(job)
        found = min(self._processes, key=lambda one: (one.waiting, one is not usual))
        self._usual[job] = found
        return found

    def _request(self, task: str, job: Path, arguments: dict[str, object]) -> ReaderRequest:
        since = self._changed.get(job, 0.0)
        return ReaderRequest(task, str(job), {**arguments, "since": since} if since else arguments)

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
        request = self._request(task, job, arguments)
        began = time.perf_counter()
        try:
            while True:
                with contextlib.suppress(OccupiedError):
                    return await _asked(self._chosen(job), request, patience, None)
        finally:
            self._note(task, began)

    def _note(self, task: str, began: float) -> None:
        """Note the end of a question that began then, by the counter of the process."""
        count, seconds = self.times.get(task, (0, 0.0))
        self.times[task] = (count + 1, seconds + time.perf_counter() - began)

    async def work(self, task: str, job: Path, tell: Told, **arguments: object) -> Any:  # noqa: ANN401 - as the task gives it
        """Ask for something that may take long: after 5 s another process serves the others.

        Args:
            task: A name of `tasks.TASKS`.
            job: Directory of the job.
            tell: Takes how far it is.
            arguments: Of the task.

        Raises:
            NacreError: As the task raised it.
            RefusedRequestError: It took an hour, or too many take long already (503).
        """
        request = self._request(task, job, arguments)
        began = time.perf_counter()
        try:
            while True:
                with contextlib.suppress(OccupiedError):
                    return await self._worked(job, request, tell)
        finally:
            self._note(task, began)

    async def _worked(self, job: Path, request: ReaderRequest, tell: Told) -> Any:  # noqa: ANN401 - as the task gives it
        """The answer of the process of a job, which goes on apart where it takes long."""
        process = self._chosen(job)
        asking = asyncio.ensure_future(_asked(process, request, LONG, tell))
        try:
            done, _ = await asyncio.wait({asking}, timeout=process.patience)
            if not done:
                return await self._work_apart(process, asking, job)
            return asking.result()
        finally:
            asking.cancel()

    async def _work_apart(
        self, process: ReaderProcess, asking: "asyncio.Future[Any]", job: Path
    ) -> Any:  # noqa: ANN401 - as the task gives it
        """Let a process finish its question apart, with another one in its place."""
        if process not in self._processes:  # it is with another question that takes long
            return await asking
        if len(self._lonely) >= ALONE:
            raise RefusedRequestError(
                503, "busy", f"{ALONE} questions that take long are answered now; try again later"
            )
        substitute = ReaderProcess()
        self._processes[self._processes.index(process)] = substitute
        self._lonely.add(process)
        process.leave()
        try:
            return await asking
        finally:
            self._lonely.discard(process)
            await self._back(process, substitute, job)

    async def _back(self, process: ReaderProcess, substitute: ReaderProcess, job: Path) -> None:
        """Put a process back, with all that it has open; or end it where that is not possible."""
        if substitute in self._processes and not substitute.waiting:
            self._processes[self._processes.index(substitute)] = process
            self._usual[job] = process
            process.come_back()
            await substitute.close()
        else:
            await process.close()

    async def close(self) -> None:
        """End all processes."""
        for process in (*self._processes, *self._lonely):
            await process.close()


async def _asked(
    process: ReaderProcess, request: ReaderRequest, patience: float, tell: Told | None
) -> Any:  # noqa: ANN401 - as the task gives it
    name = Path(request.job).name
    try:
        answer = await process.ask(request, patience, tell)
    except TimeoutError:
        raise RefusedRequestError(
            503, "too-slow", f"{name} could not be read within {patience:g} s"
        ) from None
    except ConnectionError as error:
        raise RefusedRequestError(503, "reader", f"{name}: {error}") from None
    if answer.error:
        raise _error(answer)
    return answer.data


def _error(answer: ReaderAnswer) -> NacreError:
    """The error of a task, of the class that it had where that is one of Nacre's."""
    found = getattr(errors, answer.error, None)
    if answer.error == "RefusedRequestError":
        status, _, rest = answer.message.partition(" ")
        code, _, detail = rest.partition(" ")
        return RefusedRequestError(int(status), code, detail)
    if found is ConfigError and answer.problems:
        return ConfigError([Problem(*one) for one in answer.problems])
    if isinstance(found, type) and issubclass(found, NacreError):
        return found(answer.message)
    if answer.error == "Exception":
        return NacreError(f"an error in a reader process: {answer.message}")
    return JobError(answer.message)
