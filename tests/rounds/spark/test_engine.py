"""The engine on a cluster: results, failures, killed executors, what it checks at the start."""

import os
import shutil
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from nacre.crawldb.rank import LEVELS
from nacre.errors import ConfigError, DamageError, StorageError
from nacre.rounds.engine import BrokenTaskError
from nacre.rounds.tables.hashing import table_hash
from nacre.rounds.tables.readers import TableView, table_stats
from tests.rounds.made import INTERVAL, MadeCycle, fill, found
from tests.rounds.objects import environment
from tests.rounds.spark.cluster import SETTINGS, kill, wait_for
from tests.rounds.steps.fetched import FetchedCycle
from tests.rounds.steps.killed import KillingEngine
from tests.rounds.steps.test_update_killed import fetched_rounds, known, updated

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def engine(cluster, object_server):
    """One context for all: starting one takes some seconds."""
    for name, value in cluster.env.items():
        if name.startswith(("SPARK_", "PYSPARK")):
            os.environ[name] = value
    from nacre.rounds.engine.spark import SparkEngine  # noqa: PLC0415 - needs pyspark

    objects = {f"spark.executorEnv.{k}": v for k, v in environment(object_server).items()}
    path = {"spark.executorEnv.PYTHONPATH": cluster.env["PYTHONPATH"]}
    made = SparkEngine(cluster.master, {**SETTINGS, **objects, **path})
    yield made
    made.close()


def square(number):
    return number * number, os.getpid()


def fails(spec):
    kind, message = spec
    raise {"damage": DamageError, "full": StorageError, "bug": ValueError}[kind](message)


def slow(spec):
    """Says which process it runs in, and waits there once."""
    folder, number = spec
    Path(folder, f"{number}-{os.getpid()}").touch()
    mark = Path(folder, "go")
    deadline = time.monotonic() + 40
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return number


def test_tasks_run_in_both_executors(engine, cluster):
    wait_for(lambda: len(cluster.executors()) == 2, "two executors")
    assert engine.name == "spark"
    heard = []
    results = engine.map(square, list(range(40)), lambda number, _: heard.append(number))
    assert [result for result, _ in results] == [n * n for n in range(40)]
    assert heard == list(range(40))
    assert len({pid for _, pid in results}) >= 2
    assert engine.map(square, []) == []
    assert engine.notes == ()


def test_errors_of_a_task_keep_their_kind(engine):
    with pytest.raises(DamageError, match="b0001: broken"):
        engine.map(fails, [("damage", "b0001: broken")])
    with pytest.raises(BrokenTaskError, match=r"(?s)ValueError: oh.*in fails"):
        engine.map(fails, [("bug", "oh")])
    with pytest.raises(StorageError, match="failed 4 times: no space in 国"):
        engine.map(fails, [("full", "no space in 国")])


def test_a_killed_executor_is_replaced(engine, cluster, tmp_path):
    wait_for(lambda: len(cluster.executors()) == 2, "two executors")

    def kill_one():
        wait_for(lambda: len(list(tmp_path.iterdir())) >= 2, "two tasks")
        kill(cluster.executors()[0])
        (tmp_path / "go").touch()

    killer = threading.Thread(target=kill_one)
    killer.start()
    assert engine.map(slow, [(str(tmp_path), number) for number in range(6)]) == list(range(6))
    killer.join()
    runs = [path.name.partition("-")[0] for path in tmp_path.iterdir() if path.name != "go"]
    assert len(runs) == 7


def test_executors_are_asked_before_the_first_task(engine, tmp_path_factory, monkeypatch):
    # The engine of the module tells later executors of this storage, so it outlives the test.
    storage = tmp_path_factory.mktemp("storage")
    reports = engine.require_executors(str(storage))
    assert {report.python for report in reports} == {".".join(map(str, sys.version_info[:2]))}
    assert list(storage.rglob("*-*")) == []
    with pytest.raises(ConfigError, match="cannot write to the storage"):
        engine.require_executors("/proc/nowhere")
    monkeypatch.setattr("nacre.rounds.engine.spark.__version__", "9.9")
    with pytest.raises(ConfigError, match=r"it has Nacre 0\.1\.0, the driver 9\.9"):
        engine.require_executors(str(storage / "other"))


def test_tables_are_the_same_on_both_engines(engine, tmp_path):
    from nacre.rounds.engine.local import LocalEngine  # noqa: PLC0415
    from nacre.rounds.segments.compaction import compact  # noqa: PLC0415 - beside its use

    made = MadeCycle(tmp_path, 16)
    made.add(*(found(f"http://{n % 30}.test/{n}", score=n) for n in range(400)))
    local = TableView(made.cycle, made.newest, LocalEngine(1), made.place, INTERVAL)
    stats, digest = table_stats(local), table_hash(local)
    compact(made.cycle, engine, made.place, made.clock, keep=3)
    spark = TableView(made.cycle, made.newest, engine, made.place, INTERVAL)
    assert table_stats(spark) == stats
    assert table_hash(spark) == digest


def test_tables_in_a_bucket(engine, bucket, tmp_path):
    from nacre.rounds.segments.compaction import compact  # noqa: PLC0415 - beside its use

    made = MadeCycle(tmp_path, 4)
    made.use(bucket)
    made.add(*(found(f"http://{n}.test/") for n in range(20)))
    view = TableView(made.cycle, made.newest, engine, made.place, INTERVAL)
    before = table_hash(view)
    done = compact(made.cycle, engine, made.place, made.clock, keep=3)
    assert done.version.number == 2
    assert table_hash(view._replace(version=done.version)) == before


def test_the_update_of_killed_workers_has_the_same_rows(engine, tmp_path, monkeypatch):
    from nacre.rounds.engine.local import LocalEngine  # noqa: PLC0415 - beside its use
    from nacre.rounds.steps import update as step  # noqa: PLC0415

    monkeypatch.setattr(step, "_LEAST_ROWS", 8)
    fetched_rounds(tmp_path / "spark")
    shutil.copytree(tmp_path / "spark", tmp_path / "local")
    killing = KillingEngine(engine, tmp_path / "kills", 2)
    assert updated(tmp_path / "spark", killing).visits == 40
    assert killing.kills == 2
    updated(tmp_path / "local", LocalEngine(1))
    assert known(tmp_path / "spark") == known(tmp_path / "local")


def fill_links(crawl):
    """Six hundred pages of many hosts, each with links to others."""
    pages = [f"http://h{n % 40}.site{n % 11}.example/书/{n}" for n in range(600)]
    pairs = {
        (pages[n], pages[(n * 7 + k * k * 31 + k) % 600]) for n in range(600) for k in range(4)
    }
    rows = [{"dst": d, "src": s, "first": 1, "last": 1} for s, d in sorted(pairs) if s != d]
    fill(crawl, "links", rows, "add")


@pytest.mark.parametrize(
    "level", [one if one == "host" else pytest.param(one, marks=pytest.mark.slow) for one in LEVELS]
)
def test_ranks_are_the_same_bits_on_both_engines(engine, tmp_path, monkeypatch, level):
    from nacre.rounds.engine.local import LocalEngine  # noqa: PLC0415 - beside its use
    from nacre.rounds.steps import rank as step  # noqa: PLC0415
    from nacre.rounds.steps.rank import RankOptions, rank  # noqa: PLC0415

    monkeypatch.setattr(step, "parts_of", lambda _: 3)
    monkeypatch.setattr(step, "_ROWS", 100)
    crawl = FetchedCycle(tmp_path, 8)
    fill_links(crawl)
    known = []
    for runs in (LocalEngine(1), engine):
        with crawl.context() as context:
            result = rank(replace(context, engine=runs), RankOptions(level, iterations=4))
        view = TableView(crawl.cycle, crawl.newest, LocalEngine(1), crawl.place, INTERVAL)
        known.append((table_hash(view, f"rank_{level}"), result.nodes, result.residuals))
    assert known[0] == known[1]
    assert known[0][1] > 10
