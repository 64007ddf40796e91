"""Checks on request for the problems that prevent a job at rest from starting.

A check reads all settings, rules and seeds of a job. So it runs once for each state of the job's
files, one at a time, and never while something waits for the numbers of a job.
"""

import asyncio
import os
from contextlib import suppress
from typing import Final

from nacre.errors import NacreError
from nacre.fleet.places import FoundJob
from nacre.machine.layout import Layout
from nacre.web.workers.pool import ReaderPool

LONGEST: Final = 60.0
"""Seconds that a check may take."""
PATIENCE: Final = 2.0
"""Seconds that a page waits for a check; a longer check continues, and live pages show it."""
_CONFIGURES: Final = (".yaml", ".yml", ".txt", ".surt", ".surts", ".gz", ".csv")
"""Ends of the names of files beside `crawl.yaml` that settings name."""


def settings_stamp(layout: Layout) -> str:
    """A text that changes whenever the files do that the check of a job reads in its directory."""
    stamps = []
    with suppress(OSError), os.scandir(layout.root) as entries:
        for entry in entries:
            if entry.name.endswith(_CONFIGURES):
                facts = entry.stat(follow_symlinks=False)
                stamps.append(f"{entry.name} {facts.st_size} {facts.st_mtime_ns}")
    return "\n".join(sorted(stamps))


class StartChecks:
    """The last check of each job.

    Args:
        readers: Run the checks.
    """

    def __init__(self, readers: ReaderPool) -> None:
        self._readers = readers
        self._known: dict[str, tuple[str, dict[str, object]]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def busy(self) -> bool:
        """Whether a check is being made."""
        return bool(self._tasks)

    def findings_of(self, job: FoundJob, stamp: str) -> dict[str, object]:
        """The findings of a check of these files, as `kept_from_start` has them; {} for none.

        Args:
            job: The job.
            stamp: Its `settings_stamp` now.
        """
        stamp_checked, findings = self._known.get(job.id, ("", {}))
        return findings if stamp_checked == stamp else {}

    def forget(self, job: str) -> None:
        """Forget the check of a removed job."""
        self._known.pop(job, None)

    async def look(self, job: FoundJob, patience: float = PATIENCE) -> bool:
        """Check a job if its files have changed; return whether the result is known now.

        Args:
            job: The job.
            patience: Seconds to wait; the check goes on after that.
        """
        stamp = await asyncio.to_thread(settings_stamp, job.layout)
        if self.findings_of(job, stamp):
            return True
        task = self._tasks.get(job.id)
        if task is None:
            loop = asyncio.get_running_loop()
            task = loop.create_task(self._check(job, stamp), name=f"check {job.id}")
            self._tasks[job.id] = task
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(task), patience)
        return bool(self.findings_of(job, stamp))

    async def _check(self, job: FoundJob, stamp: str) -> None:
        try:
            findings = await self._readers.ask("kept-from-start", job.layout.root, LONGEST)
            self._known[job.id] = (stamp, findings)
        except NacreError:  # no reader is free; the start itself checks again
            return
        finally:
            self._tasks.pop(job.id, None)
