"""The pool of reader processes.

A store is opened and scanned in separate processes: a scan holds Python's lock, and would hold
up all pages. A process that does not answer in time is killed, and the next question starts
another.

Questions that are bounded, such as a page of queues, share some processes. Those that read a store
to its end, such as a report, have processes of a lower priority: some are answered at a time, and
further ones wait for their turn. So no page waits for a report.
"""

import asyncio
import contextlib
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

import msgspec

from nacre import errors
from nacre.core.message_data import decode_message
from nacre.errors import ConfigError, JobError, NacreError, Problem
from nacre.fleet.refusals import SOON, RefusedRequestError
from nacre.job.control import is_running
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.web.workers.background import Tell
from nacre.web.workers.worker import LENGTH, ReaderAnswer, ReaderRequest, pack_frame

PATIENCE: Final = 5.0
"""Timeout of a question for a page, seconds."""
HELD_UP: Final = 5.0
"""Seconds after which a question delays others, so that they get another process."""
START: Final = 30.0
"""Additional seconds for the first question of a process, which loads its modules."""
LONG: Final = 3600.0
"""Timeout of a background task, seconds."""
ALONE: Final = 2
"""Processes for long tasks, beside those for pages; further tasks wait for their turn."""
NICE: Final = 10
"""Nice value of these processes; those for pages have the priority of the console."""
MEMORY: Final = 400_000_000
"""Resident memory after which a process is replaced, bytes."""

TRIES: Final = 3
"""Attempts of a question whose process dies, each in a new process; a task that writes is tried
once."""


class TaskTable(NamedTuple):
    """The tasks of the processes of a pool.

    Attributes:
        module: The module whose `find_task` returns the task of a name.
        long: Tasks that read a store to its end, or wait for other machines.
        writes: Tasks that open the store of a job at rest to change it; only one process at a time
            can do that.
    """

    module: str
    long: frozenset[str]
    writes: frozenset[str]

    def is_long(self, task: str, arguments: Mapping[str, object]) -> bool:
        """Whether a task may take long: it is one of `long`, or it reads all rows.

        Args:
            task: Name of the task.
            arguments: Arguments of the task; `whole` means all rows.
        """
        return task in self.long or bool(arguments.get("whole"))


class OccupiedError(Exception):
    """The process runs a long task; the question must go to another process."""


class ReaderProcess:
    """A reader process, which starts with its first question and answers one at a time.

    Args:
        tasks: The tasks that it can run.
        nice: Its nice value, added to that of the console.

    Attributes:
        tasks: The tasks that it can run.
        waiting: Number of questions that it answers or that wait for it.
    """

    def __init__(self, tasks: TaskTable, nice: int = 0) -> None:
        self.tasks = tasks
        self._nice = nice
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._left = asyncio.Event()
        self._is_warm = False
        self.waiting = 0

    async def ask(
        self, request: ReaderRequest, patience: float, tell: Tell | None = None
    ) -> ReaderAnswer:
        """Send a question to the process, and return the answer.

        Args:
            request: The question.
            patience: Timeout in seconds.
            tell: Progress callback; None for none.

        Raises:
            TimeoutError: The answer took longer.
            ConnectionError: The process died.
            OccupiedError: The process was reserved for a long task before this question began.
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
        leaving = asyncio.ensure_future(self._left.wait())
        try:
            await asyncio.wait({turn, leaving}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if turn.done():
                self._turn.release()
            raise
        finally:
            leaving.cancel()
            has_turn = turn.done() or not turn.cancel()
        if not has_turn:
            raise OccupiedError

    def leave(self) -> None:
        """Reject queued questions, because the present one takes long."""
        self._left.set()

    def come_back(self) -> None:
        """Accept questions again."""
        self._left.clear()

    async def _answered(
        self, request: ReaderRequest, patience: float, tell: Tell | None
    ) -> ReaderAnswer:
        try:
            async with asyncio.timeout(patience if self._is_warm else patience + START):
                process = await self._started()
                answer = await _exchanged(process, msgspec.msgpack.encode(request), tell)
        # The process ended during the answer, or before the question.
        # RuntimeError is uvloop's, for a pipe that it has closed already.
        except (asyncio.IncompleteReadError, ConnectionError, RuntimeError):
            await self.close()
            raise ConnectionError(
                message("console.reader-ended", "the reader process ended")
            ) from None
        except BaseException:  # the rest of the answer would be read as the next one
            await self.close()
            raise
        self._is_warm = True
        if resident(process.pid) > MEMORY:
            await self.close()
        return answer

    async def _started(self) -> Process:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "nacre.web.workers.worker", str(self._nice),
                self.tasks.module, stdin=PIPE, stdout=PIPE, start_new_session=True,
            )  # fmt: skip
        return self._process

    @property
    def patience(self) -> float:
        """Seconds that a page waits for an answer: more while the process loads its modules."""
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


decode_answer = msgspec.msgpack.Decoder(ReaderAnswer, ext_hook=decode_message).decode
"""Decodes a message of a reader process."""


async def _exchanged(process: Process, request: bytes, tell: Tell | None) -> ReaderAnswer:
    """Send a request over the pipes of a process, and return the answer."""
    sink, source = process.stdin, process.stdout
    if sink is None or source is None:
        raise ConnectionError(
            message("console.reader-without-pipes", "the reader process has no pipes")
        )
    sink.write(pack_frame(request))
    await sink.drain()
    while True:
        (size,) = LENGTH.unpack(await source.readexactly(LENGTH.size))
        answer = decode_answer(await source.readexactly(size))
        if answer.done < 0:
            return answer
        if tell is not None:
            tell(answer.done, answer.total)


def resident(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 if it has ended."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * 4096


class ReaderPool:
    """Reader processes that share the questions.

    A question goes to the process that has the job open, unless another one has fewer questions.

    Args:
        tasks: The tasks that the processes can run.
        number: Maximum number of processes for short questions.

    Attributes:
        times: Number of answers so far and their seconds in total, by task.
    """

    def __init__(self, tasks: TaskTable, number: int = 2) -> None:
        self._tasks = tasks
        self.times: dict[str, tuple[int, float]] = {}
        self._processes = [ReaderProcess(tasks) for _ in range(number)]
        self._usual: dict[Path, ReaderProcess] = {}
        self._turns = asyncio.Semaphore(ALONE)
        self._lonely: set[ReaderProcess] = set()
        self._rested: list[ReaderProcess] = []
        self._changed: dict[Path, float] = {}
        self._writing: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    def changed(self, job: Path, now: float) -> None:
        """Note that a job was just changed: later answers show it.

        Args:
            job: Directory of the job.
            now: Seconds since the epoch.
        """
        self._changed[job] = now

    def patience(self, task: str, job: Path, /, **arguments: object) -> float:
        """Return the seconds that a page waits for an answer until it shows a background task.

        Args:
            task: Name of the task in the table.
            job: Directory of the job.
            arguments: Arguments of the task.
        """
        if not self._tasks.is_long(task, arguments):
            return self._chosen(job).patience
        return self._rested[-1].patience if self._rested else PATIENCE + START

    def _chosen(self, job: Path) -> ReaderProcess:
        usual = self._usual.get(job)
        chosen = min(self._processes, key=lambda process: (process.waiting, process is not usual))
        self._usual[job] = chosen
        return chosen

    def _request(self, task: str, job: Path, arguments: dict[str, object]) -> ReaderRequest:
        since = self._changed.get(job, 0.0)
        return ReaderRequest(task, str(job), {**arguments, "_since": since} if since else arguments)

    async def ask(
        self, task: str, job: Path, patience: float = PATIENCE, /, **arguments: object
    ) -> Any:  # noqa: ANN401 - as the task gives it
        """Ask a question, and wait for the answer.

        Args:
            task: Name of the task in the table.
            job: Directory of the job.
            patience: Timeout in seconds; for a long task it includes the wait for its turn.
            arguments: Arguments of the task.

        Raises:
            NacreError: The error that the task raised.
            RefusedRequestError: The answer took too long (503).
        """
        request = self._request(task, job, arguments)
        began = time.perf_counter()
        try:
            if self._tasks.is_long(task, arguments):
                return await self._ask_apart(request, patience)
            while True:
                with contextlib.suppress(OccupiedError):
                    return await _ask_reader(self._chosen(job), request, patience, None)
        finally:
            self._note(task, began)

    def _note(self, task: str, began: float) -> None:
        """Count a question that ends now; `began` is its start by `time.perf_counter`."""
        count, seconds = self.times.get(task, (0, 0.0))
        self.times[task] = (count + 1, seconds + time.perf_counter() - began)

    async def _ask_apart(self, request: ReaderRequest, patience: float) -> Any:  # noqa: ANN401 - as the task gives it
        try:
            async with asyncio.timeout(patience + START):
                return await self._apart(request, patience, None)
        except TimeoutError:
            raise RefusedRequestError(
                503,
                "busy",
                message(
                    "console.reader-busy",
                    "{alone} questions that take long are answered now, and the turn of this "
                    "one did "
                    "not come within {patience:g} s; try again later",
                    alone=ALONE,
                    patience=patience + START,
                ),
                SOON,
            ) from None

    async def work(self, task: str, job: Path, tell: Tell, /, **arguments: object) -> Any:  # noqa: ANN401 - as the task gives it
        """Ask a question that may take long, for a background task.

        Tasks that change the frontier of the same job at rest run one after the other.

        Args:
            task: Name of the task in the table.
            job: Directory of the job.
            tell: Progress callback.
            arguments: Arguments of the task.

        Raises:
            NacreError: The error that the task raised.
            RefusedRequestError: The answer took more than an hour (503).
        """
        request = self._request(task, job, arguments)
        began = time.perf_counter()
        try:
            if task in self._tasks.writes and not is_running(Layout(job).socket):
                async with self._writing.setdefault(job, asyncio.Lock()):
                    return await self._apart(request, LONG, tell)
            if self._tasks.is_long(task, arguments):
                return await self._apart(request, LONG, tell)
            while True:
                with contextlib.suppress(OccupiedError):
                    return await self._begun_among_others(request, tell)
        finally:
            self._note(task, began)

    async def _apart(self, request: ReaderRequest, patience: float, tell: Tell | None) -> Any:  # noqa: ANN401 - as the task gives it
        """Ask a process that answers nothing else, once a process for long tasks is free."""
        async with self._turns:
            process = self._rested.pop() if self._rested else ReaderProcess(self._tasks, NICE)
            self._lonely.add(process)
            try:
                return await _ask_reader(process, request, patience, tell)
            finally:
                self._lonely.discard(process)
                if self._rested:  # keep one: its modules are loaded, and perhaps the job is open
                    await process.close()
                else:
                    self._rested.append(process)

    async def _begun_among_others(self, request: ReaderRequest, tell: Tell) -> Any:  # noqa: ANN401 - as the task gives it
        """Ask a shared process; if the answer takes long, other questions get another process."""
        job = Path(request.job)
        process = self._chosen(job)
        asking = asyncio.ensure_future(_ask_reader(process, request, LONG, tell))
        try:
            finished, _ = await asyncio.wait(
                {asking}, timeout=process.patience - PATIENCE + HELD_UP
            )
            if finished or process not in self._processes:  # or it is already replaced
                return await asking
            if not self._turns.locked():
                return await self._set_apart(process, asking, job)
        finally:
            asking.cancel()
        await asyncio.wait({asking})
        if not asking.cancelled():  # it has just finished
            return asking.result()
        return await self._apart(request, LONG, tell)

    async def _set_apart(
        self, process: ReaderProcess, asking: "asyncio.Future[Any]", job: Path
    ) -> Any:  # noqa: ANN401 - as the task gives it
        """Let a process finish its question alone, and put a substitute in its place."""
        async with self._turns:
            substitute = ReaderProcess(self._tasks)
            self._processes[self._processes.index(process)] = substitute
            self._lonely.add(process)
            process.leave()
            try:
                return await asking
            finally:
                self._lonely.discard(process)
                await self._back(process, substitute, job)

    async def _back(self, process: ReaderProcess, substitute: ReaderProcess, job: Path) -> None:
        """Put a process back with its open views if its substitute is idle; otherwise end it."""
        if substitute in self._processes and not substitute.waiting:
            self._processes[self._processes.index(substitute)] = process
            self._usual[job] = process
            process.come_back()
            await substitute.close()
        else:
            await process.close()

    async def warm(self) -> None:
        """Start the processes, one after the other, so that no page waits for that."""
        request = ReaderRequest("warm", ".")
        for process in list(self._processes):
            with contextlib.suppress(NacreError, OccupiedError):
                await _ask_reader(process, request, START, None)
        with contextlib.suppress(NacreError):
            await self._apart(request, START, None)

    async def close(self) -> None:
        """End all processes."""
        for process in (*self._processes, *self._lonely, *self._rested):
            await process.close()


async def _ask_reader(
    process: ReaderProcess, request: ReaderRequest, patience: float, tell: Tell | None
) -> Any:  # noqa: ANN401 - as the task gives it
    name = Path(request.job).name
    try:
        answer = await _answer(process, request, patience, tell)
    except TimeoutError:
        text = message(
            "console.reader-timeout",
            "{name} could not be read within {patience:g} s",
            name=name,
            patience=patience,
        )
        raise RefusedRequestError(503, "too-slow", text, SOON) from None
    except ConnectionError as error:
        raise RefusedRequestError(503, "reader", f"{name}: {error}", SOON) from None
    if answer.error:
        raise error_of(answer)
    return answer.data


async def _answer(
    process: ReaderProcess, request: ReaderRequest, patience: float, tell: Tell | None
) -> ReaderAnswer:
    """The answer to a request, which is made again where the process died over it.

    What has killed it need not be the question: the kernel kills for lack of memory.
    """
    for _ in range(0 if request.task in process.tasks.writes else TRIES - 1):
        with contextlib.suppress(ConnectionError):
            return await process.ask(request, patience, tell)
    return await process.ask(request, patience, tell)


def error_of(answer: ReaderAnswer) -> NacreError:
    """The error of a task, of the class that it had where that is one of Nacre's."""
    kind = getattr(errors, answer.error, None)
    if answer.error == "RefusedRequestError":
        return RefusedRequestError(*answer.refusal, answer.message)
    if kind is ConfigError and answer.problems:
        return ConfigError([Problem(*problem) for problem in answer.problems])
    if isinstance(kind, type) and issubclass(kind, NacreError):
        return kind(answer.message)
    if answer.error == "Exception":
        return NacreError(
            message(
                "console.reader-error",
                "an error in a reader process: {message}",
                message=answer.message,
            )
        )
    return JobError(answer.message)
