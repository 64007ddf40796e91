"""An engine of this machine: a pool of processes.

The processes come from a fork server that has imported the kernels once, so that starting them
costs milliseconds, and nothing of the driver's threads or locks is forked. They live as long as
the engine. With one worker, or one task, the driver runs it itself.
"""

import multiprocessing
import multiprocessing.connection
import multiprocessing.util
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing import forkserver
from pathlib import Path
from typing import TYPE_CHECKING

from nacre.machine.local_files import hold_folder
from nacre.rounds.engine import (
    ATTEMPTS,
    PAUSES,
    GuardedTask,
    OnResult,
    RetryTaskError,
    TaskFailure,
    TaskResult,
    TaskSpec,
    attempts_error,
    to_exception,
)

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext

PRELOADED = ("duckdb", "pyarrow.parquet", "nacre.rounds.tables.tables")
"""Modules that the fork server imports; it skips a missing module."""
UNITS_PRELOADED = ("nacre.rounds.units.warm", *PRELOADED)
"""The same modules, and those of units, which come first and configure the imports."""


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


class LocalEngine:
    """`TaskEngine` on a pool of processes.

    Attributes:
        name: `local`.
        workers: Processes.
    """

    name = "local"

    def __init__(self, workers: int = 0, pauses: Sequence[float] = PAUSES) -> None:
        self.workers = workers or usable_cores()
        self._pauses = pauses
        self._pool: ProcessPoolExecutor | None = None

    @property
    def scratch(self) -> str:
        """See `TaskEngine.scratch`: it is removed with this process, however its workers end."""
        folder = driver_folder() / "tasks"
        folder.mkdir(exist_ok=True)
        return str(folder)

    def map(
        self,
        function: Callable[[TaskSpec], TaskResult],
        specs: Sequence[TaskSpec],
        on_result: OnResult[TaskResult] | None = None,
    ) -> list[TaskResult]:
        """See `TaskEngine.map`."""
        task = GuardedTask(function)
        report = on_result or _ignore_result
        if self.workers == 1 or len(specs) < 2:
            return _run_in_driver(task, specs, report, self._pauses)
        return self._run_in_pool(task, specs, report)

    def begin(self) -> None:
        """Start the fork server, so that it has imported what units need when they begin."""
        fork_server(UNITS_PRELOADED)
        forkserver.ensure_running()

    def close(self) -> None:
        """See `TaskEngine.close`; tasks that run are killed."""
        pool, self._pool = self._pool, None
        if pool is not None:
            _end(pool)

    def _run_in_pool(
        self,
        task: GuardedTask[TaskSpec, TaskResult],
        specs: Sequence[TaskSpec],
        report: OnResult[TaskResult],
    ) -> list[TaskResult]:
        results: dict[int, TaskResult] = {}
        tries = [0] * len(specs)
        try:
            while len(results) < len(specs):
                numbers = [number for number in range(len(specs)) if number not in results]
                self._run_round(task, specs, numbers, tries, results, report)
        except BaseException:
            self.close()  # the results of running tasks would be ignored
            raise
        return [results[number] for number in range(len(specs))]

    def _run_round(
        self,
        task: GuardedTask[TaskSpec, TaskResult],
        specs: Sequence[TaskSpec],
        numbers: list[int],
        tries: list[int],
        results: dict[int, TaskResult],
        report: OnResult[TaskResult],
    ) -> None:
        """Run tasks until all are done, or the pool breaks because a process died."""
        pool = self._pool = self._pool or _pool(self.workers)
        waiting: dict[Future[TaskResult | TaskFailure], int] = {}
        try:
            for number in numbers:
                waiting[pool.submit(task, specs[number])] = number
            while waiting:
                finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in finished:
                    number = waiting.pop(future)
                    result = _result_of(future, number, tries)
                    if isinstance(result, RetryTaskError):
                        pause = self._pauses[tries[number] - 1]
                        waiting[pool.submit(_run_later, pause, task, specs[number])] = number
                        continue
                    results[number] = result
                    report(number, result)
        except BrokenProcessPool as error:
            self.close()
            # The task that killed its process is unknown: the failure counts for all that ran.
            for number in numbers:
                if number not in results:
                    tries[number] += 1
                    if tries[number] >= ATTEMPTS:
                        raise attempts_error(number, "its process died (out of memory?)") from error


def _result_of(
    future: "Future[TaskResult | TaskFailure]", number: int, tries: list[int]
) -> TaskResult | RetryTaskError:
    """Return the result of a task, or the reason for another attempt."""
    try:
        result = future.result()
    except RetryTaskError as error:
        tries[number] += 1
        if tries[number] >= ATTEMPTS:
            raise attempts_error(number, str(error)) from error
        return error
    if isinstance(result, TaskFailure):
        raise to_exception(result)
    return result


def _run_later(
    pause: float, task: GuardedTask[TaskSpec, TaskResult], spec: TaskSpec
) -> TaskResult | TaskFailure:
    """Run a task again, after a pause."""
    time.sleep(pause)
    return task(spec)


def _run_in_driver(
    task: GuardedTask[TaskSpec, TaskResult],
    specs: Sequence[TaskSpec],
    report: OnResult[TaskResult],
    pauses: Sequence[float],
) -> list[TaskResult]:
    results = []
    for number, spec in enumerate(specs):
        result = run_with_retries(task, spec, number, pauses)
        results.append(result)
        report(number, result)
    return results


def run_with_retries(
    task: GuardedTask[TaskSpec, TaskResult],
    spec: TaskSpec,
    number: int,
    pauses: Sequence[float] = PAUSES,
    pause: Callable[[float], object] | None = None,
) -> TaskResult:
    """Run a task in this process, again after each pause if that may help.

    Args:
        task: The task.
        spec: The spec of the task.
        number: Its number, for messages.
        pauses: Seconds before the second and each further attempt.
        pause: Waits a number of seconds; None for `time.sleep`.

    Raises:
        NacreError: It failed permanently, or in every attempt.
    """
    message = ""
    for seconds in (0.0, *pauses):
        (pause or time.sleep)(seconds)
        try:
            result = task(spec)
        except RetryTaskError as error:
            message = str(error)
            continue
        if isinstance(result, TaskFailure):
            raise to_exception(result)
        return result
    raise attempts_error(number, message)


def _ignore_result(_number: int, _result: object) -> None:
    """Ignore a result."""


def fork_server(preloaded: Sequence[str] = PRELOADED) -> "ForkServerContext":
    """Return the context of the fork server, which starts with its first process.

    Args:
        preloaded: Modules that it imports when it starts.
    """
    driver_folder()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(preloaded))
    return context


@cache
def driver_folder() -> Path:
    """Return the temporary folder of this process for its children; made at the first call.

    It is the folder of multiprocessing, with the socket of the fork server, which removes it at the
    end of the process; after a kill the next start of a job finds it without a lock.
    """
    folder = Path(multiprocessing.util.get_temp_dir())
    hold_folder(folder)
    return folder


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=fork_server(), initializer=_begin)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's
    end_with_driver()


def end_with_driver() -> None:
    """Kill this process of the fork server when the driver ends, in whatever way."""
    threading.Thread(target=_wait_for_driver, daemon=True).start()


def _wait_for_driver() -> None:
    driver = multiprocessing.parent_process()
    if driver is not None:
        multiprocessing.connection.wait([driver.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)


def _end(pool: ProcessPoolExecutor) -> None:
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
    for process in processes:
        process.join()
