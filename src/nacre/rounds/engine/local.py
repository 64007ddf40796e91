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

from nacre.rounds.engine import (
    ATTEMPTS,
    PAUSES,
    GuardedTask,
    OnResult,
    RetryTaskError,
    TaskFailure,
    TaskResult,
    TaskSpec,
    gave_up,
    raised,
)
from nacre.store.local_files import hold_folder

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext

PRELOADED = ("duckdb", "pyarrow.parquet", "nacre.rounds.tables.tables")
"""What the fork server imports; a module that is missing is left out."""
UNITS_PRELOADED = ("nacre.rounds.units.warm", *PRELOADED)
"""The same where units are fetched, too; what they need comes first, and says how."""


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
        """See `TaskEngine.scratch`: it goes with this process, however its workers end."""
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
        told = on_result or _nobody
        if self.workers == 1 or len(specs) < 2:
            return _one_by_one(task, specs, told, self._pauses)
        return self._in_pool(task, specs, told)

    def begin(self) -> None:
        """Start the fork server, so that it has imported what units need when they begin."""
        fork_server(UNITS_PRELOADED)
        forkserver.ensure_running()

    def close(self) -> None:
        """See `TaskEngine.close`; tasks that run are killed."""
        pool, self._pool = self._pool, None
        if pool is not None:
            _end(pool)

    def _in_pool(
        self,
        task: GuardedTask[TaskSpec, TaskResult],
        specs: Sequence[TaskSpec],
        told: OnResult[TaskResult],
    ) -> list[TaskResult]:
        results: dict[int, TaskResult] = {}
        tries = [0] * len(specs)
        try:
            while len(results) < len(specs):
                left = [number for number in range(len(specs)) if number not in results]
                self._round(task, specs, left, tries, results, told)
        except BaseException:
            self.close()  # what still runs would write for nobody
            raise
        return [results[number] for number in range(len(specs))]

    def _round(
        self,
        task: GuardedTask[TaskSpec, TaskResult],
        specs: Sequence[TaskSpec],
        left: list[int],
        tries: list[int],
        results: dict[int, TaskResult],
        told: OnResult[TaskResult],
    ) -> None:
        """Run what is left until all is done, or the pool breaks because a process died."""
        pool = self._pool = self._pool or _pool(self.workers)
        waiting: dict[Future[TaskResult | TaskFailure], int] = {}
        try:
            for number in left:
                waiting[pool.submit(task, specs[number])] = number
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    number = waiting.pop(future)
                    result = _outcome(future, number, tries)
                    if isinstance(result, RetryTaskError):
                        pause = self._pauses[tries[number] - 1]
                        waiting[pool.submit(_later, pause, task, specs[number])] = number
                        continue
                    results[number] = result
                    told(number, result)
        except BrokenProcessPool as error:
            self.close()
            # Which of those that ran has killed its process is not known: it counts for all.
            for number in left:
                if number not in results:
                    tries[number] += 1
                    if tries[number] >= ATTEMPTS:
                        raise gave_up(number, "its process died (out of memory?)") from error


def _outcome(
    future: "Future[TaskResult | TaskFailure]", number: int, tries: list[int]
) -> TaskResult | RetryTaskError:
    """The result of a task, or why it is tried once more."""
    try:
        result = future.result()
    except RetryTaskError as error:
        tries[number] += 1
        if tries[number] >= ATTEMPTS:
            raise gave_up(number, str(error)) from error
        return error
    if isinstance(result, TaskFailure):
        raise raised(result)
    return result


def _later(
    pause: float, task: GuardedTask[TaskSpec, TaskResult], spec: TaskSpec
) -> TaskResult | TaskFailure:
    """Another attempt, after a pause."""
    time.sleep(pause)
    return task(spec)


def _one_by_one(
    task: GuardedTask[TaskSpec, TaskResult],
    specs: Sequence[TaskSpec],
    told: OnResult[TaskResult],
    pauses: Sequence[float],
) -> list[TaskResult]:
    results = []
    for number, spec in enumerate(specs):
        result = tried(task, spec, number, pauses)
        results.append(result)
        told(number, result)
    return results


def tried(
    task: GuardedTask[TaskSpec, TaskResult],
    spec: TaskSpec,
    number: int,
    pauses: Sequence[float] = PAUSES,
    pause: Callable[[float], object] | None = None,
) -> TaskResult:
    """Run a task in this process, once more after each pause where that may help.

    Args:
        task: The task.
        spec: What it is to do.
        number: Its number, for messages.
        pauses: Seconds before the second attempt and the ones after it.
        pause: Waits so many seconds; None: the usual way.

    Raises:
        NacreError: It failed, for good or in every attempt.
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
            raise raised(result)
        return result
    raise gave_up(number, message)


def _nobody(_number: int, _result: object) -> None:
    """Nobody hears of a result."""


def fork_server(preloaded: Sequence[str] = PRELOADED) -> "ForkServerContext":
    """Makes processes by the fork server, which starts with the first of them.

    Args:
        preloaded: What it imports when it starts.
    """
    driver_folder()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(preloaded))
    return context


@cache
def driver_folder() -> Path:
    """The temporary folder of this process for what its children need; made at the first call.

    It is that of multiprocessing, with the socket of the fork server, which removes it at the end
    of the process; after a kill the next start of a job finds that nobody holds it.
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
    """In a process of the fork server: it is killed when the driver ends, in whatever way."""
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
