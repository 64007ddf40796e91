"""Rounds on a cluster: the rows of the local engine, whoever is killed, and nothing twice."""

import threading

import pytest

from tests.cycle.spark.cluster import kill, wait_for
from tests.cycle.spark.web import (
    asked,
    captured,
    result,
    rounds,
    run,
)

pytestmark = pytest.mark.spark

PAGES = 4
"""Pages of a host."""


def spark(cluster):
    return "--engine", "spark", "--master", cluster.master


def test_rounds_on_a_cluster_know_what_local_ones_know(
    web, configuration, cluster, local, tmp_path
):
    run(rounds(tmp_path / "c", web[0], *spark(cluster)), configuration)
    assert result(tmp_path / "c", configuration) == local[0]
    assert captured(str(tmp_path / "c" / "cycle")) == local[1]
    assert asked(tmp_path / "c", configuration, "storage", "check")["damaged"] == []


def test_an_executor_is_killed_while_it_fetches(web, configuration, cluster, local, tmp_path):
    directory = tmp_path / "c"
    known = set(cluster.executors())

    def kill_one():
        wait_for(lambda: list(directory.glob("cycle/segments/*/units/*/attempt-1")), "a unit")
        fresh = wait_for(lambda: [pid for pid in cluster.executors() if pid not in known], "JVMs")
        kill(fresh[0])

    killer = threading.Thread(target=kill_one)
    killer.start()
    run(rounds(directory, web[0], *spark(cluster)), configuration)
    killer.join()
    assert result(directory, configuration) == local[0]
    assert captured(str(directory / "cycle")) == local[1]
