"""A larger site on a cluster: executor, worker or driver killed, object storage, two drivers.

Each run of rounds has the hash of local ones, nothing is twice in the archive, and the number of
requests that were repeated is printed (`pytest -s`). Pages of a host: `NACRE_SPARK_PAGES`.
"""

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest

from nacre.rounds.segments.parts import UnitPlace
from nacre.rounds.storage import Storage, open_storage
from nacre.uri.parse import host
from tests.rounds.objects import environment
from tests.rounds.spark.cluster import ROOT, SparkCluster, below, command_of, kill, wait_for
from tests.rounds.spark.web import asked, captured, result, rounds, run, spark_settings
from tools.nginx import Nginx, Request

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PAGES = int(os.environ.get("NACRE_SPARK_PAGES", "250"))
ROUNDS = 3
OPTIONS = ("--set", "archive.max_file_size=100000", "--set", "politeness.delay=0.03")
"""Small files, so that units have parts; a delay, so that a kill meets a unit between two parts."""


class RunningUnit(NamedTuple):
    """A unit on the cluster: its name, its process, and the executor and worker above it."""

    segment: str
    unit: str
    pid: int
    executor: int
    worker: "subprocess.Popen[bytes]"


def say(text: str) -> None:
    """Print a line of the report."""
    sys.stdout.write(f"\n{text}\n")


def running_units(cluster: SparkCluster) -> list[RunningUnit]:
    found = []
    for worker in list(cluster.workers):
        for executor in below(worker.pid):
            if "CoarseGrainedExecutorBackend" not in command_of(executor):
                continue
            for pid in below(executor):
                words = command_of(pid).split("\0")
                if "nacre.rounds.units.unit" in words:
                    spec = json.loads(words[words.index("nacre.rounds.units.unit") + 1])
                    one = RunningUnit(spec["segment"], spec["unit"], pid, executor, worker)
                    found.append(one)
    return found


def listed(storage: Storage, segment: str, unit: str) -> list[str]:
    """The URLs of a list."""
    data = io.BytesIO(storage.read(f"segments/{segment}/lists/{unit}.parquet"))
    return list(pq.read_table(data, columns=["key"]).column("key").to_pylist())


def half_done(cluster: SparkCluster, place: str) -> RunningUnit | None:
    """A unit that has committed a part, and is not at its end."""
    storage = open_storage(place)
    for one in running_units(cluster):
        parts = UnitPlace(storage, one.segment, one.unit).manifests().values()
        done = sum(part.facts for part in parts)
        if parts and done < 0.8 * len(listed(storage, one.segment, one.unit)):
            return one
    return None


class Watching(threading.Thread):
    """Notes on which worker each unit ran."""

    def __init__(self, cluster: SparkCluster) -> None:
        super().__init__(daemon=True)
        self.cluster = cluster
        self.seen: dict[tuple[str, str], set[int]] = {}
        self.began: dict[str, float] = {}
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.2):
            for one in running_units(self.cluster):
                self.seen.setdefault((one.segment, one.unit), set()).add(one.worker.pid)
                self.began.setdefault(one.segment, time.time())


class SparkRun:
    """A run of rounds on the cluster, in a directory of its own."""

    def __init__(
        self, cluster: SparkCluster, web: tuple[int, Nginx], env: dict[str, str], folder: Path
    ) -> None:
        self.cluster, self.env, self.directory = cluster, env, folder / "c"
        self.port, self._nginx = web
        self.place = str(self.directory / "cycle")
        self._before = len(self._nginx.requests())

    @property
    def command(self) -> list[str]:
        engine = ("--engine", "spark", "--master", self.cluster.master)
        storage = [] if self.place.startswith("/") else ["--set", f"cycle.storage={self.place}"]
        return rounds(self.directory, self.port, *OPTIONS, *storage, *engine, count=ROUNDS)

    def requests(self) -> list[Request]:
        return self._nginx.requests()[self._before :]

    def repeated(self) -> int:
        """Requests of pages that were made before."""
        found = Counter(
            (one.address, one.target) for one in self.requests() if "robots" not in one.target
        )
        return sum(found.values()) - len(found)

    def assert_as_local(self, what: str, local: tuple[str, Counter[str]]) -> None:
        """All is as it is without the cluster; says so."""
        digest = result(self.directory, self.env)
        pages = captured(self.place)
        twice = sum(1 for count in pages.values() if count > 1)
        say(
            f"{what}: hash {digest[:16]}, local {local[0][:16]}; {len(pages):,} pages in the "
            f"archive, {twice} twice; {self.repeated()} requests repeated"
        )
        assert digest == local[0]
        assert pages == local[1]
        assert asked(self.directory, self.env, "storage", "check")["damaged"] == []


@pytest.fixture
def spark_run(cluster, web, configuration, tmp_path):
    return SparkRun(cluster, web, configuration, tmp_path)


def test_undisturbed_units_run_in_both_executors(spark_run, local):
    watching = Watching(spark_run.cluster)
    watching.start()
    run(spark_run.command, spark_run.env)
    watching.over.set()
    watching.join()
    segment = max(name for name, _ in watching.seen)
    of_unit = {unit: pids for (name, unit), pids in watching.seen.items() if name == segment}
    storage = open_storage(spark_run.place)
    workers: dict[str, int] = {}
    for unit, pids in of_unit.items():
        assert len(pids) == 1
        workers |= {host(url): next(iter(pids)) for url in listed(storage, segment, unit)}
    asked_by = Counter(
        workers[one.address] for one in spark_run.requests()
        if one.began >= watching.began[segment] and one.address in workers
    )  # fmt: skip
    numbers = {worker.pid: n for n, worker in enumerate(spark_run.cluster.workers, 1)}
    say(f"units of {segment} by worker, and their requests in the server's log:")
    for pid, count in asked_by.items():
        units = sorted(unit for unit, pids in of_unit.items() if pid in pids)
        say(f"  worker {numbers[pid]}: {', '.join(units)}; {count:,} requests")
    assert len(of_unit) >= 4
    assert len(asked_by) == 2
    spark_run.assert_as_local("undisturbed", local)
    assert spark_run.repeated() == 0


def killed_in_the_middle(spark_run, kill_it) -> None:
    """Run rounds, and kill once while a unit is between its first part and its end."""
    done = []

    def wait_and_kill():
        one = wait_for(lambda: half_done(spark_run.cluster, spark_run.place), "a part of a unit")
        kill_it(one)
        done.append(one.unit)

    killer = threading.Thread(target=wait_and_kill)
    killer.start()
    run(spark_run.command, spark_run.env)
    killer.join()
    assert len(done) == 1


def test_an_executor_is_killed(spark_run, local):
    killed_in_the_middle(spark_run, lambda one: kill(one.executor))
    spark_run.assert_as_local("kill -9 of an executor", local)


def test_a_worker_is_killed(spark_run, local):
    cluster = spark_run.cluster
    number = len(list(cluster.folder.glob("worker-*.log"))) + 1

    def kill_worker(one):
        cluster.workers.remove(one.worker)
        for pid in [*below(one.worker.pid), one.worker.pid]:
            kill(pid)
        cluster.add_workers(number)

    killed_in_the_middle(spark_run, kill_worker)
    spark_run.assert_as_local("kill -9 of a worker", local)


def kill_the_driver(spark_run) -> None:
    driver = subprocess.Popen(
        spark_run.command, env=spark_run.env, cwd=ROOT, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for(lambda: half_done(spark_run.cluster, spark_run.place), "a part of a unit")
    for pid in [driver.pid, *below(driver.pid)]:
        kill(pid)
    driver.wait()
    run(spark_run.command, spark_run.env)


def test_the_driver_is_killed_and_run_again(spark_run, local):
    kill_the_driver(spark_run)
    spark_run.assert_as_local("kill -9 of the driver, run again", local)


def test_all_tables_in_a_bucket_and_an_executor_is_killed(
    cluster, web, object_server, bucket, local, tmp_path
):
    settings = tmp_path / "conf"
    settings.mkdir()
    env = spark_settings(settings, cluster.env, **environment(object_server))
    spark_run = SparkRun(cluster, web, env, tmp_path)
    spark_run.place = bucket
    killed_in_the_middle(spark_run, lambda one: kill(one.executor))
    kept_here = {path.name for path in spark_run.directory.glob("cycle/*")}
    assert not kept_here & {"versions", "manifests", "tables", "segments", "archive"}
    spark_run.assert_as_local("object storage, kill -9 of an executor", local)


def test_of_two_drivers_at_once_one_wins(spark_run, local, tmp_path):
    defaults = Path(spark_run.env["SPARK_CONF_DIR"], "spark-defaults.conf").read_text()
    (tmp_path / "conf").mkdir()
    one_core = tmp_path / "conf" / "spark-defaults.conf"
    one_core.write_text(f"{defaults}\nspark.cores.max 1\n")  # each of them has an executor
    spark_run.env = {**spark_run.env, "SPARK_CONF_DIR": str(one_core.parent)}
    run([*spark_run.command, "--rounds", "1"], spark_run.env)
    drivers = [
        subprocess.Popen(
            spark_run.command, env=spark_run.env, cwd=ROOT, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]  # fmt: skip
    said = [driver.communicate(timeout=900)[1] for driver in drivers]
    codes = [driver.returncode for driver in drivers]
    lines = [text.strip().splitlines()[-1] for text in said]
    for code, line in zip(codes, lines, strict=True):
        say(f"one of two drivers: exit {code}: {line}")
    assert sorted(map(bool, codes)) == [False, True]
    told = lines[max(range(2), key=lambda n: codes[n])]
    assert "another" in told or "was committed by" in told
    pages = captured(spark_run.place)
    assert set(pages.values()) == {1}
    assert asked(spark_run.directory, spark_run.env, "storage", "check")["damaged"] == []
    assert set(pages) <= set(local[1])


def test_a_cluster_that_can_take_no_task_is_told(cluster, web, tmp_path):
    (tmp_path / "conf").mkdir()
    env = spark_settings(tmp_path / "conf", cluster.env)
    defaults = tmp_path / "conf" / "spark-defaults.conf"
    defaults.write_text(f"{defaults.read_text()}\nspark.executor.memory 9g\n")
    command = rounds(
        tmp_path / "c", web[0], "--engine", "spark", "--master", cluster.master, count=1
    )
    with subprocess.Popen(
        command, env=env, cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as driver:
        assert driver.stderr is not None
        try:
            line = next(line for line in driver.stderr if "no executor" in line)
        finally:
            driver.send_signal(signal.SIGINT)
            driver.communicate(timeout=60)
    say(line.strip())
    assert "wants 9g of memory (spark.executor.memory)" in line
