"""The work that a console does by itself, beside answering."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from nacre.console.access.database import ConsoleDatabase
from nacre.console.fleet.standing import EACH, ConsoleLocks
from nacre.console.kept_work import Work, keep
from nacre.console.live.hub import JOBS
from nacre.console.outside_changes import OutsideChanges
from nacre.console.quota_runner import QuotaRunner
from nacre.console.schedule_runner import ScheduleRunner
from nacre.console.services import ConsoleServices
from nacre.console.webhook_runner import WebhookRunner

WARM: Final = 3.0
"""Seconds after its start when a console starts its reader processes: first it answers."""


async def warm_readers(services: ConsoleServices) -> None:
    """Start the reader processes, so that no page waits for them."""
    await services.clock.sleep(WARM)
    await services.readers.warm()


Runners = tuple[tuple[str, Work], ...]


def readers_of(services: ConsoleServices, database: ConsoleDatabase) -> Runners:
    """The names of the work that only looks, and the work, which goes on until it is cancelled.

    Args:
        services: The parts of the console.
        database: Its own.
    """
    return (
        ("poller", services.poller.run),
        ("readers", partial(warm_readers, services)),
        ("tails of logs", services.tails.run),
        ("changes by commands", OutsideChanges(services, database).run),
    )


def changers_of(services: ConsoleServices) -> Runners:
    """The work that changes something, likewise: for the console that has its places."""
    return (
        ("launcher", services.launcher.run),
        ("schedules", ScheduleRunner(services).run),
        ("quotas", QuotaRunner(services).run),
        ("webhooks", WebhookRunner(services).run),
    )


def begin_all(
    group: asyncio.TaskGroup, services: ConsoleServices, runners: Runners
) -> list[asyncio.Task[None]]:
    """Begin work in a group, so that an error in it ends nothing else; its tasks.

    Args:
        group: The group.
        services: The parts of the console.
        runners: The work.
    """
    board, clock = services.troubles, services.clock
    return [group.create_task(keep(name, work, board, clock), name=name) for name, work in runners]


async def keep_standing(
    services: ConsoleServices, locks: ConsoleLocks, begin: Callable[[], bool]
) -> None:
    """Have a console work while its places are its own, and only show them while they are not.

    Args:
        services: Its parts.
        locks: Its locks, which were tried once.
        begin: Called each time when the console takes over, and again while it gives False.
    """
    working: list[asyncio.Task[None]] = []
    has_begun = False
    async with asyncio.TaskGroup() as group:
        while True:
            before = services.standing.elsewhere
            if before is None:
                has_begun = has_begun or begin()
                working = working or begin_all(group, services, changers_of(services))
            await services.clock.sleep(EACH)
            has_all = await asyncio.to_thread(locks.take)
            if not has_all:
                for task in working:
                    task.cancel()
                working, has_begun = [], False
            if services.standing.elsewhere != before:
                services.hub.changed(JOBS)
