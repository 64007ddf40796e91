"""The background work of a console."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from nacre.console.parts import ConsoleParts
from nacre.console.quota_runner import QuotaRunner
from nacre.console.schedule_runner import ScheduleRunner
from nacre.console.webhook_runner import WebhookRunner
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.standing import EACH, ConsoleLocks
from nacre.web.live.hub import JOBS, job_topic
from nacre.web.supervision import Work, keep

WARM: Final = 3.0
"""Seconds from the start of a console to that of its reader processes, so that it answers first."""


async def warm_readers(parts: ConsoleParts) -> None:
    """Start the reader processes, so that no page waits for them."""
    await parts.common.clock.sleep(WARM)
    await parts.common.readers.warm()


Runners = tuple[tuple[str, Work], ...]


def readers_of(parts: ConsoleParts, database: ConsoleDatabase) -> Runners:
    """Return the read-only background work with its names; each runs until it is cancelled.

    Args:
        parts: The parts of the console.
        database: Its database.
    """
    return (
        ("poller", parts.common.poller.run),
        ("readers", partial(warm_readers, parts)),
        ("tails of logs", parts.tails.run),
        ("changes by commands", OutsideChanges(parts, database).run),
    )


def changers_of(parts: ConsoleParts) -> Runners:
    """Return the background work that makes changes, for the console that holds its places."""
    return (
        ("launcher", parts.launcher.run),
        ("schedules", ScheduleRunner(parts.runners).run),
        ("quotas", QuotaRunner(parts.runners).run),
        ("webhooks", WebhookRunner(parts.runners).run),
    )


def begin_all(
    group: asyncio.TaskGroup, parts: ConsoleParts, runners: Runners
) -> list[asyncio.Task[None]]:
    """Begin work in a group, so that an error in it ends nothing else; its tasks.

    Args:
        group: The group.
        parts: The parts of the console.
        runners: The work.
    """
    board, clock = parts.troubles, parts.common.clock
    return [group.create_task(keep(name, work, board, clock), name=name) for name, work in runners]


async def keep_standing(
    parts: ConsoleParts, locks: ConsoleLocks, begin: Callable[[], bool]
) -> None:
    """Have a console work while its places are its own, and only show them while they are not.

    Args:
        parts: Its parts.
        locks: Its locks, which were tried once.
        begin: Called each time when the console takes over, and again while it gives False.
    """
    working: list[asyncio.Task[None]] = []
    has_begun = False
    async with asyncio.TaskGroup() as group:
        while True:
            before = parts.standing.elsewhere
            if before is None:
                has_begun = has_begun or begin()
                working = working or begin_all(group, parts, changers_of(parts))
            await parts.common.clock.sleep(EACH)
            has_all = await asyncio.to_thread(locks.take)
            if not has_all:
                for task in working:
                    task.cancel()
                working, has_begun = [], False
            if parts.standing.elsewhere != before:
                parts.common.hub.changed(JOBS)


LOOK: Final = 2.0
"""Seconds between two looks."""


class OutsideChanges:
    """Applies what `nacre console schedule|quota|webhook|place|job` changed.

    What the database has is read again when it changes; places are in memory, and live pages show
    the list of jobs again.

    Args:
        parts: The parts of the console.
        database: Its own.
    """

    def __init__(self, parts: ConsoleParts, database: ConsoleDatabase) -> None:
        self._parts = parts
        self._database = database
        self._others = database.data_version
        self._added = set(parts.places.all())

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self.turn()
            await self._parts.common.clock.sleep(LOOK)

    async def turn(self) -> None:
        """Look once."""
        now, parts = self._database.data_version, self._parts
        if now == self._others:
            return
        self._others = now
        self._take_places()
        await parts.common.poller.scan()
        for topic in (JOBS, *(job_topic(job.id) for job in parts.common.fleet.jobs)):
            parts.common.hub.changed(topic)

    def _take_places(self) -> None:
        """Add the places that were added, and leave out those that were taken off the list."""
        fleet, book = self._parts.common.fleet, self._parts.places
        added = set(book.all())
        gone, self._added = self._added - added, added
        fleet.places = book.beside([place for place in fleet.places if place.root not in gone])
