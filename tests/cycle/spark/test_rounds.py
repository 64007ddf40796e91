"""Rounds on a cluster: the rows of the local engine, whoever is killed, and nothing twice."""

import threading

import pytest

from tests.cycle.spark.cluster import kill, wait_for
from tests.cycle.spark.web import (
    HOSTS,
    asked,
    captured,
    result,
    rounds,
    run,
    site,
    spark_settings,
)

pytestmark = pytest.mark.spark

PAGES = 4
"""Pages of a host."""


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    with site(tmp_path_factory.mktemp("web"), PAGES) as running:
        yield running


@pytest.fixture(scope="module")
def configuration(cluster, tmp_path_factory):
    """The environment of a driver."""
    return spark_settings(tmp_path_factory.mktemp("conf"), cluster.env)


@pytest.fixture(scope="module")
def local(web, configuration, tmp_path_factory):
    """The same rounds on this machine, and what they knew in the end."""
    directory = tmp_path_factory.mktemp("local") / "c"
    run(rounds(directory, web[0]), configuration)
    pages = captured(str(directory / "cycle"))
    assert set(pages.values()) == {1}
    assert len(pages) == len(HOSTS) * PAGES
    return directory, result(directory, configuration), pages


def spark(cluster):
    return "--engine", "spark", "--master", cluster.master


def test_rounds_on_a_cluster_know_what_local_ones_know(
    web, configuration, cluster, local, tmp_path
):
    run(rounds(tmp_path / "c", web[0], *spark(cluster)), configuration)
    assert result(tmp_path / "c", configuration) == local[1]
    assert captured(str(tmp_path / "c" / "cycle")) == local[2]
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
    assert result(directory, configuration) == local[1]
    assert captured(str(directory / "cycle")) == local[2]
