"""An engine for clusters: each task is one partition of an RDD of Apache Spark.

Spark brings the spec to an executor, runs the function there, tries it again elsewhere when the
executor dies, and brings back the result. No row passes through it. Speculation is off, because
parallel attempts of a unit would fetch from a site twice.
"""

import os
import re
import secrets
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, NamedTuple

from nacre import __version__
from nacre.config.extras import MissingExtraError
from nacre.errors import ConfigError, NacreError, StorageError
from nacre.machine.clock import SystemClock
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
from nacre.rounds.storage import MissingFileError, leave_probe, open_storage, require_writable

JAVA = "apt-get install openjdk-17-jre-headless"
SETTINGS = {
    "spark.speculation": "false",
    "spark.task.maxFailures": str(ATTEMPTS),
    "spark.task.cpus": "1",
    "spark.decommission.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of Spark that this engine needs; `spark-defaults.conf` has the others."""
OVERHEAD = 400
"""Memory beside the JVM that a core needs, MiB: a task with its kernel, or a unit."""
APART = 60.0
"""Largest difference of the clocks of an executor and the driver, s."""
IDLE = 30.0
"""Seconds after which the engine reports that no executor takes a task."""

_CLOCK = SystemClock()
_LOOPBACK = re.compile(r"(local(\[|-cluster|$)|spark://(127\.|localhost|\[?::1))")
_OF_PYTHON = re.compile(r"(?!(?:org|java|scala|py4j)\.)[\w.]+(?:Error|Exception): ")
_RETRIED = re.compile(r"RetryTaskError: (.*)")


class ExecutorReport(NamedTuple):
    """The report of an executor about itself.

    Attributes:
        host: Its host.
        python: Version of its Python.
        nacre: Version of its Nacre; "" if Nacre is not installed.
        clock: Its time, s since the epoch.
        storage: The reason why it cannot write to the storage; "" if it can.
        probe: Name of the file that it wrote into the storage for the driver; "" for none.
    """

    host: str
    python: str
    nacre: str
    clock: float
    storage: str
    probe: str = ""


class SparkEngine:
    """`TaskEngine` on a cluster of Apache Spark.

    Args:
        master: URL of the master; "" for that of `spark-defaults.conf`.
        settings: Further settings of Spark.
        tell: Receives a sentence for the operator while tasks wait for an executor.

    Attributes:
        name: `spark`.
        scratch: "", as each executor has its own temporary folder.
        workers: Cores of the cluster at the start.
        notes: Notes for the operator.
    """

    name = "spark"
    scratch = ""

    def __init__(
        self,
        master: str = "",
        settings: Mapping[str, str] | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        _require_spark()
        from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - an extra, slow to import

        conf = SparkConf().setAppName("nacre cycle")
        if master:
            conf.setMaster(master)
        # Otherwise workers take the first Python on their PATH; pyspark reads the variable only.
        named = os.environ.get("PYSPARK_PYTHON") or conf.get("spark.pyspark.python")
        self._python = os.environ["PYSPARK_PYTHON"] = str(named or sys.executable)
        chosen = {**SETTINGS, "spark.pyspark.python": self._python, **(settings or {})}
        for name, value in chosen.items():
            conf.set(name, value)
        _require_overhead(conf)
        try:
            self._context: Any = SparkContext(conf=conf)
        except Exception as error:
            raise ConfigError(f"Spark does not start at {master!r}: {_reason(error)}") from error
        self._context.setLogLevel("ERROR")
        self.workers = int(self._context.defaultParallelism)
        self._fit: dict[str, str] = {}
        self._tell = tell
        self._is_reported = False
        self.notes = tuple(security_notes(conf.get("spark.master", ""), dict(conf.getAll())))

    def map(
        self,
        function: Callable[[TaskSpec], TaskResult],
        specs: Sequence[TaskSpec],
        on_result: OnResult[TaskResult] | None = None,
    ) -> list[TaskResult]:
        """See `TaskEngine.map`; `on_result` receives the results after the last task."""
        if not specs:
            return []
        task = ClusterTask(GuardedTask(function), own_driver(self._fit))
        try:
            with self._watched():
                results = self._context.parallelize(list(specs), len(specs)).map(task).collect()
        except KeyboardInterrupt:
            self._context.cancelAllJobs()
            raise
        except Exception as error:
            raise self._to_error(error) from error
        for number, result in enumerate(results):
            if isinstance(result, TaskFailure):
                raise to_exception(result)
            if on_result is not None:
                on_result(number, result)
        return list(results)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Report once that no executor takes a task; Spark itself waits without a message."""
        finished = threading.Event()

        def watch() -> None:
            while not (self._is_reported or finished.wait(IDLE)):
                tracker = self._context.statusTracker()
                stages = [
                    stage for n in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(n))
                ]
                if is_idle([(stage.numActiveTasks, stage.numCompletedTasks) for stage in stages]):
                    self._is_reported = True
                    self._tell(waiting_note(dict(self._context.getConf().getAll())))

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            finished.set()
            thread.join()

    def require_executors(self, place: str) -> list[ExecutorReport]:
        """Check that the executors can work, before the first task; once for each storage.

        Args:
            place: The storage that they write to.

        Raises:
            ConfigError: An executor has another Nacre or a wrong clock, cannot write, or writes to
                another place than the driver reads.
        """
        if place in self._fit:
            return []
        number = max(2, self.workers) * 2
        reports = sorted(set(self.map(report_task, [place] * number)))
        driver = own_driver()
        problems = [problem for report in reports if (problem := _unfit(report, driver))]
        problems += list(apart_problems(place, reports))
        if problems:
            raise ConfigError("; ".join(dict.fromkeys(problems)))
        storage = open_storage(place)
        probe = f"probes/driver{secrets.token_hex(6)}"
        storage.put(probe, b"")
        self._fit[place] = probe
        return reports

    def close(self) -> None:
        """See `TaskEngine.close`."""
        self._context.stop()
        for place, probe in self._fit.items():
            with suppress(NacreError):
                open_storage(place).delete(probe)

    def _to_error(self, error: Exception) -> NacreError:
        retried = _RETRIED.search(str(error))
        if retried:
            return attempts_error(0, retried[1])
        reason = _reason(error)
        if "PYTHON_VERSION_MISMATCH" in reason:
            return ConfigError(f"executors need the driver's minor version of Python: {reason}")
        if reason.startswith(("ModuleNotFoundError", "ImportError")):
            return ConfigError(
                f"the Python of an executor, {self._python}, lacks a module ({reason}): install "
                "Nacre with the extra `cycle` there, or name another Python by PYSPARK_PYTHON"
            )
        return StorageError(
            f"Spark gave up: {reason.rstrip('.')}. The logs of driver and executors have more; "
            "the command goes on where it stopped when it is run again"
        )


def is_idle(stages: Sequence[tuple[int, int]]) -> bool:
    """Return whether there are tasks, and no executor has taken any.

    Args:
        stages: For each stage the running tasks, and the finished tasks.
    """
    return bool(stages) and not any(map(any, stages))


def waiting_note(settings: Mapping[str, str]) -> str:
    """The note for an operator whose tasks no executor takes.

    Args:
        settings: The settings of the context.
    """
    memory = settings.get("spark.executor.memory", "1g")
    cores = settings.get("spark.executor.cores", "1")
    return (
        f"no executor of {settings.get('spark.master', 'the cluster')} has taken a task for "
        f"{IDLE:.0f} s, and the step waits for one. An executor wants {memory} of memory "
        f"(spark.executor.memory) and {cores} or more cores: look whether the workers have that "
        "free, or set less in spark-defaults.conf"
    )


class DriverReport(NamedTuple):
    """The facts about the driver that are sent with a task.

    Attributes:
        nacre: Version of its Nacre.
        python: Version of its Python.
        clock: Its time when the task was sent, s since the epoch.
        storages: The checked storages that executors write to, each with the name of a file that
            the driver wrote into it; "" for none.
    """

    nacre: str
    python: str
    clock: float
    storages: tuple[tuple[str, str], ...] = ()


def own_driver(storages: Iterable[str] | Mapping[str, str] = ()) -> DriverReport:
    """The facts of this process as a driver.

    Args:
        storages: Storages that executors write to; a mapping has the file that the driver wrote.
    """
    probes = dict(storages) if isinstance(storages, Mapping) else dict.fromkeys(storages, "")
    return DriverReport(__version__, _python_version(), _CLOCK.now(), tuple(sorted(probes.items())))


class ClusterTask(Generic[TaskSpec, TaskResult]):
    """A task on an executor; it checks an executor that joined after the start.

    An attempt after the first begins with a pause.

    Args:
        task: The task.
        driver: The facts about the driver.
    """

    def __init__(self, task: GuardedTask[TaskSpec, TaskResult], driver: DriverReport) -> None:
        self._task = task
        self._driver = driver

    def __call__(self, spec: TaskSpec) -> TaskResult | TaskFailure:
        """Run the task; a storage that is not writable raises `RetryTaskError`."""
        problem = late_problem(self._driver, _own_report())
        if problem:
            return TaskFailure(ConfigError.__name__, problem)
        _require_storages(self._driver)
        attempt = _attempt()
        if attempt:
            time.sleep(PAUSES[min(attempt, len(PAUSES)) - 1])
        return self._task(spec)


def late_problem(driver: DriverReport, own: ExecutorReport) -> str:
    """The reason why an executor cannot run a task; "" when it can.

    A task may wait for a core, so the clock of its executor may be later than the time when it was
    sent; it must not be earlier.

    Args:
        driver: The driver when it sent the task.
        own: The executor.
    """
    return _unfit(own._replace(clock=min(own.clock, driver.clock)), driver)


_WRITTEN: set[str] = set()
"""The storages that this process wrote to."""


def _require_storages(driver: DriverReport) -> None:
    """Raise RetryTaskError if this executor cannot write; checked once in each process."""
    for place, probe in driver.storages:
        if place in _WRITTEN:
            continue
        own = _own_report()
        try:
            storage = open_storage(place)
            require_writable(storage)
            if probe:
                storage.read(probe)
        except MissingFileError:
            raise RetryTaskError(_not_shared(own.host, place)) from None
        except NacreError as error:
            raise RetryTaskError(_no_storage(own._replace(storage=str(error)))) from None
        _WRITTEN.add(place)


def _attempt() -> int:
    """The number of the attempt of the task that runs, from 0; 0 outside of Spark."""
    from pyspark import TaskContext  # noqa: PLC0415 - an extra, slow to import

    context = TaskContext.get()
    return int(context.attemptNumber()) if context is not None else 0


def other_version(host: str, version: str, driver_version: str) -> str:
    """Return the message about an executor with another Nacre."""
    return f"{host}: it has Nacre {version}, the driver {driver_version}: install one"


def report_task(place: str) -> ExecutorReport:
    """Report on the executor that runs this, and leave a file for the driver to find."""
    try:
        return _own_report()._replace(probe=leave_probe(open_storage(place)))
    except NacreError as error:
        return _own_report()._replace(storage=str(error))


def apart_problems(place: str, reports: Iterable[ExecutorReport]) -> Iterator[str]:
    """Yield the executors whose files are not in the storage that the driver reads.

    The files are removed.

    Args:
        place: The storage.
        reports: The reports of the executors that wrote to it.
    """
    storage = open_storage(place)
    for report in (shared for shared in reports if shared.probe):
        try:
            storage.read(report.probe)  # a list of files may be an old one on NFS
        except MissingFileError:
            yield _not_shared(report.host, place)
        else:
            storage.delete(report.probe)


def _not_shared(host: str, place: str) -> str:
    return (
        f"{host}: driver and executor do not see each other's files in {place}: it is another "
        "disk there. Name an object store by cycle.storage (s3://bucket/prefix), or a directory "
        "that all machines share"
    )


def _own_report() -> ExecutorReport:
    host, now = socket.gethostname(), round(_CLOCK.now(), 1)
    return ExecutorReport(host, _python_version(), __version__, now, "")


def _python_version() -> str:
    """Of this process: `3.11`."""
    return ".".join(map(str, sys.version_info[:2]))


def _unfit(report: ExecutorReport, driver: DriverReport) -> str:
    """Return why an executor cannot work; "" if it can."""
    if report.nacre != driver.nacre:
        return other_version(report.host, report.nacre, driver.nacre)
    if report.python != driver.python:
        return (
            f"{report.host}: it has Python {report.python}, the driver {driver.python}: name "
            "one of the same minor version by PYSPARK_PYTHON"
        )
    apart = abs(report.clock - driver.clock)
    if apart > APART:
        return f"{report.host}: its clock is {apart:.0f} s from the driver's: set it (NTP)"
    if report.storage:
        return _no_storage(report)
    return ""


def _no_storage(report: ExecutorReport) -> str:
    return f"{report.host}: it cannot write to the storage of the cycle: {report.storage}"


def security_notes(master: str, settings: Mapping[str, str]) -> list[str]:
    """Return notes for the operator of a cluster that other hosts can reach."""
    if _LOOPBACK.match(master) or settings.get("spark.authenticate") == "true":
        return []
    return [
        f"{master}: Spark trusts its network, and spark.authenticate is off: whoever reaches the "
        "master can run programs as its user"
    ]


def required_overhead(cores: int) -> int:
    """Memory beside the JVM that an executor needs, MiB."""
    return OVERHEAD * max(1, cores)


def _require_overhead(conf: Any) -> None:  # noqa: ANN401 - a class of pyspark's
    """Raise ConfigError if YARN or Kubernetes would kill executors for their memory."""
    master = conf.get("spark.master", "") or ""
    if not master.startswith(("yarn", "k8s")):
        return  # other masters do not count it
    cores = int(conf.get("spark.executor.cores", "1"))
    required = required_overhead(cores)
    configured = mebibytes(conf.get("spark.executor.memoryOverhead", "384m"))
    if configured < required:
        raise ConfigError(
            f"spark.executor.memoryOverhead is {configured}m, and {cores} cores of an executor "
            f"need {required}m beside the JVM: set it in spark-defaults.conf"
        )


def mebibytes(text: str) -> int:
    """A size as Spark writes it, such as `1g` or `512m`, in MiB; a bare number is in MiB."""
    size = re.fullmatch(r"(\d+)([kmgt]?)b?", text.strip().lower())
    if not size:
        raise ConfigError(f"spark.executor.memoryOverhead is {text!r}: it takes a size as 800m")
    scale = {"k": 1 / 1024, "": 1, "m": 1, "g": 1024, "t": 1024**2}[size[2]]
    return int(int(size[1]) * scale)


def _require_spark() -> None:
    """Raise ConfigError with the install command if pyspark or Java is missing."""
    if find_spec("pyspark") is None:
        raise MissingExtraError("--engine spark needs", "spark")
    home = os.environ.get("JAVA_HOME", "")
    if not (home and Path(home, "bin", "java").exists()) and shutil.which("java") is None:
        raise ConfigError(f"--engine spark needs Java 17 or 21, and there is none: {JAVA}")


def _reason(error: Exception) -> str:
    """Return the most specific line of an error of Java or of a worker's Python."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    of_python = [line for line in lines if _OF_PYTHON.match(line)]
    if of_python:
        return of_python[-1]  # after the traceback of a worker
    messages = [line for line in lines if not line.startswith(("at ", "An error occurred"))]
    return (messages or lines or [type(error).__name__])[0].lstrip(": ")
