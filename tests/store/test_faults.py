"""A write, sync or batch that fails: a clear error, and the same start as after a crash."""

import asyncio
import errno
import random

import pytest

from nacre.errors import StorageError
from nacre.store.recovery import StartOptions, recover
from nacre.store.store import Store
from tests.store.simulated import World
from tests.store.workload import ROOT, Crawl, check

VISITS = 11


def start(world, suspects=()):
    return recover(
        Store(world.engine),
        world.disk,
        ROOT,
        StartOptions(archives=("archive",), suspects=suspects),
    )


def run(world, acknowledged):
    """One process's crawl; the crawl and the errors that ended it."""
    crawl, errors = Crawl(world, acknowledged), []
    try:
        asyncio.run(crawl.run(VISITS))
    except* StorageError as group:
        errors = list(group.exceptions)
    return crawl, errors


def operations():
    world = World()
    start(world)
    first = len(world.log)
    run(world, [0])
    return len(world.log) - first


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_failure_of_any_operation_is_told_and_nothing_is_lost(number):
    total = operations()
    assert total > 60
    for failing in range(total):
        world, acknowledged, left = World(), [0], [failing]
        start(world)

        def fault(operation, path, left=left):
            left[0] -= 1
            return number if left[0] == -1 else 0

        world.fault = fault
        crawl, errors = run(world, acknowledged)
        assert errors
        assert any(f"errno {number}" in str(error) for error in errors)
        suspects = crawl.commit.suspects
        crawl.commit.close()
        assert not world.disk._handles, "a handle was not given back"
        world.reopen(random.Random(failing))
        start(world, suspects)
        check(world, acknowledged[-1])
        _, errors = run(world, acknowledged)
        assert not errors
        after = world.crash(random.Random(failing), "drop")
        start(after)
        assert check(after, VISITS) == VISITS


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_failure_within_the_recovery_is_told_and_done_again(number):
    image, failing = World(), 0
    start(image)
    left = [45]

    def stop(operation, path):
        left[0] -= 1
        return number if left[0] < 0 else 0

    image.fault = stop
    acknowledged = [0]
    run(image, acknowledged)
    image.reopen(random.Random(1))
    while True:
        world, left = image.crash(random.Random(2), "keep"), [failing]

        def fault(operation, path, left=left):
            left[0] -= 1
            return number if left[0] == -1 else 0

        world.fault = fault
        try:
            start(world)
            break
        except StorageError as error:
            assert f"errno {number}" in str(error)  # noqa: PT017  # the last round has no error
        assert not world.disk._handles
        world.reopen(random.Random(failing))
        start(world)
        check(world, acknowledged[-1])
        failing += 1
    assert failing > 10
