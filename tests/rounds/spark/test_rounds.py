"""Rounds on a cluster: the rows of the local engine though one is killed, and nothing twice.

Those that nothing disturbs are in `test_kills`, on a larger site.
"""

import threading

import pytest

from tests.rounds.spark.cluster import kill, wait_for
from tests.rounds.spark.web import (
    asked,
    captured,
    result,
    rounds,
    run,
)

pytestmark = pytest.mark.spark

PAGES, ROUNDS = 4, 2
"""Pages of a host; the seeds link to all of them, so that two rounds fetch them."""


def test_rounds_on_a_cluster_know_what_local_ones_know_though_an_executor_is_killed(
    web, configuration, cluster, local, tmp_path
):
    directory = tmp_path / "c"
    known = set(cluster.executors())

    def kill_one():
        wait_for(lambda: list(directory.glob("cycle/segments/*/units/*/attempt-1")), "a unit")
        fresh = wait_for(lambda: [pid for pid in cluster.executors() if pid not in known], "JVMs")
        kill(fresh[0])

    killer = threading.Thread(target=kill_one)
    killer.start()
    spark = ("--engine", "spark", "--master", cluster.master)
    run(rounds(directory, web[0], *spark, count=ROUNDS), configuration)
    killer.join()
    assert result(directory, configuration) == local[0]
    assert captured(str(directory / "cycle")) == local[1]
    assert asked(directory, configuration, "storage", "check")["damaged"] == []
