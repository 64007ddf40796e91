"""What the engine on Spark checks before it starts; the tasks themselves: `tests/rounds/spark`."""

import shutil
from contextlib import nullcontext

import pytest

from nacre.errors import ConfigError
from nacre.rounds.engine import GuardedTask, RetryTaskError, TaskFailure, spark
from nacre.rounds.engine.spark import (
    ClusterTask,
    ExecutorReport,
    SparkEngine,
    apart_problems,
    mebibytes,
    own_driver,
    report_task,
    required_overhead,
    security_notes,
)


@pytest.mark.parametrize(
    ("text", "size"), [("1g", 1024), ("512m", 512), ("384", 384), ("2048k", 2), ("1GB", 1024)]
)
def test_sizes_as_spark_writes_them(text, size):
    assert mebibytes(text) == size


def test_a_size_that_is_none():
    with pytest.raises(ConfigError, match="'much': it takes a size as 800m"):
        mebibytes("much")


def test_each_core_needs_memory_beside_the_jvm():
    assert required_overhead(1) == 400
    assert required_overhead(4) == 1600


@pytest.mark.parametrize(
    ("master", "settings", "told"),
    [
        ("spark://127.0.0.1:7077", {}, False),
        ("local[2]", {}, False),
        ("spark://10.0.0.5:7077", {}, True),
        ("spark://10.0.0.5:7077", {"spark.authenticate": "true"}, False),
        ("yarn", {}, True),
    ],
)
def test_a_cluster_that_others_reach_is_told_of(master, settings, told):
    assert bool(security_notes(master, settings)) is told


@pytest.mark.parametrize(
    ("settings", "fits"),
    [
        ({"spark.master": "spark://h:1"}, True),
        ({"spark.master": "yarn"}, False),
        ({"spark.master": "yarn", "spark.executor.memoryOverhead": "400m"}, True),
        (
            {
                "spark.master": "k8s://h",
                "spark.executor.cores": "4",
                "spark.executor.memoryOverhead": "1g",
            },
            False,
        ),
    ],
)
def test_executors_that_would_be_killed_for_their_memory_are_refused(settings, fits):
    refused = pytest.raises(ConfigError, match=r"memoryOverhead is \d+m")
    with nullcontext() if fits else refused:
        spark._require_overhead(settings)
    assert mebibytes(settings.get("spark.executor.memoryOverhead", "384m")) >= 384


def test_an_executor_that_cannot_work_is_told(tmp_path):
    report = report_task(str(tmp_path))
    driver = own_driver()._replace(clock=report.clock)
    assert report.storage == ""
    assert spark._unfit(report, driver) == ""
    assert "its clock is 90 s" in spark._unfit(report._replace(clock=report.clock + 90), driver)
    assert "Python 2.7, the driver 3." in spark._unfit(report._replace(python="2.7"), driver)
    assert "Nacre 9" in spark._unfit(report._replace(nacre="9"), driver)
    (tmp_path / "file").touch()
    blocked = report_task(str(tmp_path / "file"))
    assert "cannot write to the storage" in spark._unfit(blocked, driver)
    assert isinstance(blocked, ExecutorReport)


def test_executors_with_a_disk_of_their_own_are_refused(tmp_path):
    reports = [report_task(str(tmp_path / "theirs")), report_task(str(tmp_path / "ours"))]
    (problem,) = apart_problems(str(tmp_path / "ours"), reports)
    assert "do not see each other's files" in problem
    assert "cycle.storage (s3://bucket/prefix)" in problem
    assert not list((tmp_path / "ours").rglob("*-*")), "what was found is removed"


def test_an_executor_that_joins_late_with_a_disk_of_its_own_is_refused(no_attempt, tmp_path):
    place = str(tmp_path)
    driver = own_driver({place: "probes/driver1"})
    task = ClusterTask(GuardedTask(length), driver)
    with pytest.raises(RetryTaskError, match="do not see each other's files"):
        task("four")
    (tmp_path / "probes" / "driver1").touch()
    assert task("four") == 4


def length(text):
    return len(text)


@pytest.fixture
def no_attempt(monkeypatch):
    monkeypatch.setattr(spark, "_attempt", lambda: 0)
    monkeypatch.setattr(spark, "_WRITTEN", set())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"nacre": "9"}, "the driver 9: install one"),
        ({"python": "2.7"}, "the driver 2.7: name one"),
        ({"clock": 61.0}, "its clock is 61 s from the driver's"),
        ({"clock": -3_600.0}, ""),
    ],
)
def test_an_executor_that_joins_late_is_looked_at(no_attempt, change, told):
    driver = own_driver()
    # Times are against that of the driver; a task that has waited for an hour is none of late.
    if "clock" in change:
        change = {"clock": driver.clock + change["clock"]}
    found = ClusterTask(GuardedTask(length), driver._replace(**change))("four")
    if told:
        assert isinstance(found, TaskFailure)
        assert (found.kind, told in found.message) == ("ConfigError", True)
    else:
        assert found == 4


def test_a_process_writes_to_each_storage_before_its_first_task(no_attempt, tmp_path):
    place = tmp_path / "cycle"
    task = ClusterTask(GuardedTask(length), own_driver([str(place)]))
    place.write_text("no folder")
    with pytest.raises(RetryTaskError, match="it cannot write to the storage of the cycle"):
        task("four")
    place.unlink()
    assert task("four") == 4
    shutil.rmtree(place, ignore_errors=True)
    assert task("four") == 4
    assert not place.exists(), "once is enough"


JAVA_ERROR = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.
: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 4197, in invoke_udf
ModuleNotFoundError: No module named 'duckdb'
\tat org.apache.spark.api.python.BasePythonRunner
Caused by: java.io.IOException: closed
"""


def test_of_an_error_behind_a_traceback_its_last_line_is_told():
    assert spark._reason(Exception(JAVA_ERROR)) == "ModuleNotFoundError: No module named 'duckdb'"
    lost = ": org.apache.spark.SparkException: Job 3 cancelled\n\tat org.apache.spark"
    assert spark._reason(Exception(lost)) == "org.apache.spark.SparkException: Job 3 cancelled"


def test_without_the_library_or_java_the_command_is_told(monkeypatch):
    monkeypatch.setattr("nacre.rounds.engine.spark.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"--engine spark needs the extra `spark` \(pyspark\)"):
        SparkEngine("local[1]")
    monkeypatch.setattr("nacre.rounds.engine.spark.find_spec", lambda name: name)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(ConfigError, match=r"needs Java 17 or 21.*openjdk-17-jre-headless"):
        SparkEngine("local[1]")


@pytest.mark.parametrize(
    ("stages", "idle"),
    [
        ([], False),
        ([(0, 0)], True),
        ([(1, 0)], False),
        ([(0, 3)], False),
        ([(0, 0), (1, 0)], False),
    ],
)
def test_a_cluster_is_idle_when_no_task_of_its_work_began(stages, idle):
    assert spark.is_idle(stages) is idle


def test_what_an_executor_wants_is_told_when_none_comes():
    note = spark.waiting_note({"spark.master": "spark://a:7077", "spark.executor.memory": "4g"})
    assert note.startswith("no executor of spark://a:7077 has taken a task for 30 s, and the step")
    assert "wants 4g of memory (spark.executor.memory) and 1 or more cores" in note
    assert "wants 1g of memory" in spark.waiting_note({})
