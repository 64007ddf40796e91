"""The jobs of all places, as they were found last."""

import asyncio
from collections.abc import Sequence

from nacre.console.fleet.places import FoundJob, JobPlace, find_jobs
from nacre.console.problems import not_found


class Fleet:
    """The jobs of this machine that the console shows.

    Args:
        places: The directories that are looked through.

    Attributes:
        places: As given, and those that were added meanwhile.
    """

    def __init__(self, places: Sequence[JobPlace]) -> None:
        self.places = tuple(places)
        self._jobs: dict[str, FoundJob] = {}

    async def scan(self) -> None:
        """Look through all places."""
        found = await asyncio.to_thread(find_jobs, self.places)
        self._jobs = {job.id: job for job in found}

    @property
    def jobs(self) -> list[FoundJob]:
        """All jobs, by their ids."""
        return list(self._jobs.values())

    def job(self, name: str) -> FoundJob:
        """The job of an id.

        Raises:
            RefusedRequestError: There is none (404).
        """
        found = self._jobs.get(name)
        if found is None:
            raise not_found(f"job {name}")
        return found
