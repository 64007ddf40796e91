"""A standalone cluster of Spark on the loopback: a master, and workers with a scratch of their own.

It is started from the package that pip installed, by its classes; nothing goes to the background.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tools.nginx import free_port

ROOT = Path(__file__).parents[3]
MEMORY = "600m"
"""Of an executor."""
LONG = 300.0


def wait_for(condition, what, seconds=LONG):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"{what} has not come within {seconds:.0f} s"
        time.sleep(0.05)
    return found


class SparkCluster:
    """A master and its workers; each worker's executors lie below its own process."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        import pyspark  # noqa: PLC0415 - only `.venv-spark` has it

        self.folder = folder
        self.port = free_port()
        self.master = f"spark://127.0.0.1:{self.port}"
        self.env = {
            **os.environ,
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "200m",
            "SPARK_NO_DAEMONIZE": "1",
            "PYTHONPATH": f"{ROOT}/src:{ROOT}",
        }
        self.env.pop("PYSPARK_PYTHON", None)  # the engine names the Python of the executors
        self._processes: list[subprocess.Popen[bytes]] = []
        arguments = ["--host", "127.0.0.1", "--port", str(self.port), "--webui-port", "0"]
        self.workers: list[subprocess.Popen[bytes]] = []
        try:
            self._start("master", "master.Master", arguments)
            wait_for(lambda: "I have been elected leader" in self.log("master"), "the master")
            self.add_workers(*range(1, workers + 1))
        except BaseException:
            self.stop()
            raise

    def _start(
        self, name: str, kind: str, arguments: list[str], env: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        command = [f"{self.env['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{kind}"]
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, *arguments], stdout=log, stderr=log, env={**self.env, **(env or {})},
                cwd=self.folder, start_new_session=True,
            )  # fmt: skip
        self._processes.append(process)
        return process

    def add_workers(self, *numbers: int) -> None:
        """Start workers with one core, and a temporary folder of their own."""
        for number in numbers:
            name = f"worker-{number}"
            scratch = self.folder / f"{name}-scratch"
            scratch.mkdir()
            arguments = [
                "--cores", "1", "--memory", "700m", "--host", "127.0.0.1", "--webui-port", "0",
                "--work-dir", str(self.folder / name), self.master,
            ]  # fmt: skip
            env = {"TMPDIR": str(scratch)}
            self.workers.append(self._start(name, "worker.Worker", arguments, env))
        for number in numbers:
            name = f"worker-{number}"
            wait_for(lambda name=name: "Successfully registered" in self.log(name), name)

    def log(self, name: str) -> str:
        """What a process of the cluster has said."""
        return (self.folder / f"{name}.log").read_text("utf-8", "replace")

    def executors(self) -> list[int]:
        """Process ids of the JVMs of executors."""
        return [
            pid
            for worker in self.workers
            for pid in below(worker.pid)
            if "CoarseGrainedExecutorBackend" in command_of(pid)
        ]

    def stop(self) -> None:
        """End all of it."""
        for process in reversed(self._processes):
            for pid in [*below(process.pid), process.pid]:
                kill(pid)
            process.wait()


def kill(pid: int) -> None:
    """`kill -9`; nothing happens when it is gone."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    except OSError:
        return ""


def below(pid: int) -> list[int]:
    """All processes below one, the nearest first."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            found = re.match(
                r"(\d+) \(.*\) \S (\d+)", path.read_text("utf-8", "replace"), re.DOTALL
            )
        except OSError:
            continue
        if found:
            children.setdefault(int(found[2]), []).append(int(found[1]))
    listed, waiting = [], [pid]
    while waiting:
        for child in children.get(waiting.pop(0), []):
            listed.append(child)
            waiting.append(child)
    return listed


SETTINGS = {"spark.executor.memory": MEMORY, "spark.driver.memory": "600m"}


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """One cluster for all tests."""
    pytest.importorskip("pyspark", reason="`make spark` makes the environment that has it")
    made = SparkCluster(tmp_path_factory.mktemp("spark"))
    yield made
    made.stop()
