"""Fixtures of the tests on a cluster; of a module are `PAGES` of a host, `ROUNDS`, `OPTIONS`."""

import pytest

from tests.rounds.objects import bucket, object_server
from tests.rounds.spark.cluster import cluster
from tests.rounds.spark.web import HOSTS, captured, result, rounds, run, site, spark_settings

__all__ = ["bucket", "cluster", "configuration", "local", "object_server", "web"]


@pytest.fixture(scope="module")
def web(request, tmp_path_factory):
    """The port of the site, and its server."""
    with site(tmp_path_factory.mktemp("web"), request.module.PAGES) as running:
        yield running


@pytest.fixture(scope="module")
def configuration(cluster, tmp_path_factory):
    """The environment of a driver."""
    return spark_settings(tmp_path_factory.mktemp("conf"), cluster.env)


@pytest.fixture(scope="module")
def local(request, web, configuration, tmp_path_factory):
    """The same rounds on this machine: their hash, and what is in their archive."""
    directory = tmp_path_factory.mktemp("local") / "c"
    options = getattr(request.module, "OPTIONS", ())
    run(rounds(directory, web[0], *options, count=request.module.ROUNDS), configuration)
    pages = captured(str(directory / "cycle"))
    assert set(pages.values()) == {1}
    assert len(pages) == len(HOSTS) * request.module.PAGES
    return result(directory, configuration), pages
