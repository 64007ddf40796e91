"""The process of a unit, and the task that waits for it.

On this machine the fork server of `engine.local` makes the process, which has imported the modules
of units (`warm.py`): their import takes longer than some hundreds of pages. An executor of a
cluster starts a Python. Either way lines of JSON come through a pipe; the last line is the result.
A unit ends with its task, however that ends.
"""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import msgspec

from nacre.errors import JobError, StorageError
from nacre.machine.clock import SystemClock
from nacre.rounds.engine import PAUSES, GuardedTask, OnResult, TaskFailure, to_exception
from nacre.rounds.engine.local import (
    UNITS_PRELOADED,
    driver_folder,
    end_with_driver,
    fork_server,
    run_with_retries,
)
from nacre.rounds.segments.fetch_progress import UnitProgress
from nacre.rounds.segments.parts import UnitPlace
from nacre.rounds.storage import open_storage
from nacre.rounds.units.unit import UnitLine, UnitResult, UnitSpec, run_unit
from nacre.rounds.units.unit_folder import temporary_folder

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

LOCAL, REMOTE = 1.0, 15.0
"""Seconds between two files of progress, by where the storage is."""
NAME = "nacre unit"
"""The name of the forked process of a unit, as `ps -o comm` shows it."""
_ERROR = 4_000
_PR_SET_NAME = 15
_CLOCK = SystemClock()


def fetch_unit(spec: UnitSpec) -> UnitResult:
    """Run a unit in a separate Python, to its end; a task of the engine.

    Raises:
        StorageError: It died; another attempt resumes it.
        NacreError: It cannot run.
    """
    if not spec.scratch:
        spec = msgspec.structs.replace(spec, scratch=str(temporary_folder(spec.storage)))
    text = msgspec.json.encode(spec).decode()
    command = [sys.executable, "-m", "nacre.rounds.units.unit", text, str(os.getpid())]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(  # noqa: S603 - this interpreter, and a spec of ours
            command, stdout=subprocess.PIPE, stderr=errors, process_group=0
        ) as child,
    ):
        try:
            last = _relay(spec, child.stdout or ())
        except BaseException:
            child.send_signal(signal.SIGKILL)
            raise
        code = child.wait()
        errors.seek(0)
        stderr = errors.read()
    return _result_of(spec, last, code, stderr)


def fetch_here(
    specs: Sequence[UnitSpec],
    number: int,
    pauses: Sequence[float] = PAUSES,
    on_result: OnResult[UnitResult] | None = None,
) -> list[UnitResult]:
    """Run units as forked processes of this machine; return results in the order of specs.

    Args:
        specs: The units.
        number: Number of parallel units.
        pauses: Seconds before the second and each further attempt of a unit.
        on_result: Receives each result at once, with the number of its spec, in any thread.

    Raises:
        NacreError: A unit cannot run, or died in every attempt; the others are killed.
    """
    if not specs:
        return []
    units = ForkedUnits()
    task = GuardedTask(units.fetch)

    def fetched(place: int, spec: UnitSpec) -> UnitResult:
        result = run_with_retries(task, spec, place, pauses, units.pause)
        if on_result is not None:
            on_result(place, result)
        return result

    with ThreadPoolExecutor(min(number, len(specs)), "unit") as pool:
        try:
            running = [pool.submit(fetched, place, spec) for place, spec in enumerate(specs)]
            finished, _ = wait(running, return_when=FIRST_EXCEPTION)
            for future in finished:
                future.result()
            return [future.result() for future in running]
        finally:
            units.close()
            pool.shutdown(cancel_futures=True)


class ForkedUnits:
    """Forks processes of units, and waits for them; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._children: set[BaseProcess] = set()
        self._closed = threading.Event()

    def pause(self, seconds: float) -> None:
        """Wait a number of seconds, or until `close`."""
        self._closed.wait(seconds)

    def fetch(self, spec: UnitSpec) -> UnitResult:
        """Run a unit to its end.

        Raises:
            StorageError: It died; another attempt resumes it.
            NacreError: It cannot run, or `close` was called.
        """
        context = fork_server(UNITS_PRELOADED)
        with tempfile.NamedTemporaryFile(prefix="unit-", dir=driver_folder()) as errors:
            lines, sender = context.Pipe(duplex=False)
            with lines:
                with sender:
                    arguments = (msgspec.json.encode(spec), sender, errors.name, dict(os.environ))
                    child = context.Process(target=run_forked, args=arguments)
                    self._start(child)
                try:
                    last = _relay(spec, _read_lines(lines))
                    child.join()
                finally:
                    self._end(child)
            code = child.exitcode or 0
            text = errors.read()
        return _result_of(spec, last, code, text)

    def _start(self, child: "BaseProcess") -> None:
        with self._lock:
            if self._closed.is_set():
                raise JobError("the fetch has ended")
            child.start()
            self._children.add(child)

    def _end(self, child: "BaseProcess") -> None:
        with self._lock:
            self._children.discard(child)
            if child.is_alive():
                child.kill()
        child.join()

    def close(self) -> None:
        """Kill running units, and start no more."""
        with self._lock:
            self._closed.set()
            for child in self._children:
                child.kill()


def run_forked(text: bytes, lines: Connection, errors: str, environment: Mapping[str, str]) -> None:
    """Run a unit in a process that the fork server made.

    Args:
        text: The spec, JSON.
        lines: The pipe for its lines.
        errors: File for its stderr.
        environment: Variables of the driver, which may have changed since the server began.
    """
    end_with_driver()
    os.setpgid(0, 0)  # Ctrl-C is the driver's
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)
    ctypes.CDLL(None).prctl(_PR_SET_NAME, NAME.encode())
    file = os.open(errors, os.O_WRONLY | os.O_APPEND)
    for number in (1, 2):
        os.dup2(file, number)
    os.close(file)
    spec = msgspec.json.decode(text, type=UnitSpec)
    sys.exit(run_unit(spec, lambda line: lines.send_bytes(msgspec.json.encode(line))))


def _read_lines(lines: Connection) -> Iterator[bytes]:
    """Yield the lines of a forked unit, to its end."""
    while True:
        try:
            yield lines.recv_bytes()
        except (EOFError, ConnectionResetError):
            return


def _relay(spec: UnitSpec, lines: Iterable[bytes]) -> UnitLine | None:
    """Forward the progress of a unit; return its last line, None without lines."""
    place = UnitPlace(open_storage(spec.storage), spec.segment, spec.unit)
    every = LOCAL if place.storage.local_path("x") is not None else REMOTE
    line, last_report = None, 0.0
    unreported: UnitProgress | None = None
    for text in lines:
        try:
            line = msgspec.json.decode(text, type=UnitLine)
        except msgspec.DecodeError:
            continue  # the last line of a process that was killed
        if line.progress is None:
            continue
        unreported = line.progress
        if _CLOCK.monotonic() - last_report >= every:
            last_report = _CLOCK.monotonic()
            place.storage.put(place.progress, msgspec.json.encode(unreported))
            unreported = None
    if unreported is not None:
        place.storage.put(place.progress, msgspec.json.encode(unreported))
    return line


def _result_of(spec: UnitSpec, last: UnitLine | None, code: int, stderr: bytes) -> UnitResult:
    """Return the result of a unit, or raise its failure."""
    if last is not None and last.result is not None:
        return last.result
    if last is not None and last.failure is not None:
        raise to_exception(TaskFailure(last.failure.kind, last.failure.message))
    ended = f"signal {-code}" if code < 0 else f"exit code {code}"
    text = stderr[-_ERROR:].decode("utf-8", "replace").strip()
    raise StorageError(f"the unit {spec.unit} ended by {ended}: {text or 'no message'}")
