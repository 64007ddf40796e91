"""Changes of the console's files by commands, which a running console takes over."""

from typing import Final

from nacre.console.access.database import ConsoleDatabase
from nacre.console.live.hub import JOBS, job_topic
from nacre.console.services import ConsoleServices

LOOK: Final = 2.0
"""Seconds between two looks."""


class OutsideChanges:
    """It takes over what `nacre console schedule|quota|webhook|place|job` changed.

    Schedules, webhooks and limits of quotas are read from the database each time. What the console
    keeps in its memory is read anew: labels, removals and places.

    Args:
        services: The parts of the console.
        database: Its own.
    """

    def __init__(self, services: ConsoleServices, database: ConsoleDatabase) -> None:
        self._services = services
        self._database = database
        self._others = database.others
        self._added = set(services.places.all())

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self.turn()
            await self._services.clock.sleep(LOOK)

    async def turn(self) -> None:
        """Look once."""
        now, services = self._database.others, self._services
        if now == self._others:
            return
        self._others = now
        services.labels.read()
        services.removals.read()
        self._take_places()
        await services.poller.scan()
        for topic in (JOBS, *(job_topic(job.id) for job in services.fleet.jobs)):
            services.hub.changed(topic)

    def _take_places(self) -> None:
        """Add the places that were added, and leave out those that were taken off the list."""
        fleet, book = self._services.fleet, self._services.places
        added = set(book.all())
        gone, self._added = self._added - added, added
        fleet.places = book.beside([place for place in fleet.places if place.root not in gone])
