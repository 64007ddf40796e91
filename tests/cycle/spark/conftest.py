"""Fixtures of the tests on a cluster."""

from tests.cycle.objects import bucket, object_server
from tests.cycle.spark.cluster import cluster

__all__ = ["bucket", "cluster", "object_server"]
