"""The jobs of all places, as they were found last."""

import asyncio
from collections.abc import Sequence

from nacre.console.fleet.places import FoundJob, JobPlace, find_jobs
from nacre.console.fleet.removal_book import JobRemoval, RemovalBook
from nacre.console.problems import not_found


class Fleet:
    """The jobs of this machine that the console shows.

    Args:
        places: The directories that are looked through.
        removals: The jobs that were removed from the console.

    Attributes:
        places: As given, and those that were added meanwhile.
    """

    def __init__(self, places: Sequence[JobPlace], removals: RemovalBook) -> None:
        self.places = tuple(places)
        self._removals = removals
        self._turn = asyncio.Lock()
        self._jobs: dict[str, FoundJob] = {}
        self._removed: list[tuple[FoundJob, JobRemoval]] = []

    async def scan(self) -> None:
        """Look through all places."""
        async with self._turn:  # else an older look could end after a newer one, and hold
            found = await asyncio.to_thread(find_jobs, self.places)
            seen = [(job, self._removals.of(job.layout.root)) for job in found]
            self._jobs = {job.id: job for job, removal in seen if removal is None}
            self._removed = [(job, removal) for job, removal in seen if removal is not None]

    @property
    def jobs(self) -> list[FoundJob]:
        """All jobs but the removed ones, by their ids."""
        return list(self._jobs.values())

    @property
    def removed(self) -> list[tuple[FoundJob, JobRemoval]]:
        """The jobs that were removed from the console and are still there, by their ids."""
        return list(self._removed)

    def knows(self, name: str) -> bool:
        """Whether a job of this id was found."""
        return name in self._jobs

    def job(self, name: str) -> FoundJob:
        """The job of an id.

        Raises:
            RefusedRequestError: There is none (404).
        """
        found = self._jobs.get(name)
        if found is None:
            raise not_found("job", name)
        return found
