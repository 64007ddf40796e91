"""Detects at once that the process of a job has ended, also after `kill -9`."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

LONGEST = 4096
"""Maximum bytes that are read of a control socket's file."""


class ProcessEnds:
    """Watches the processes of jobs until they end.

    Args:
        ended: Called with the id of a job whose process has ended.
    """

    def __init__(self, ended: Callable[[str], None]) -> None:
        self._ended = ended
        self._watched: dict[str, int] = {}

    def watch(self, job: str, named: Path) -> None:
        """Watch the process of a running job, if it is not watched yet.

        Args:
            job: Id of the job.
            named: The file with the control socket and process id of the job.
        """
        pid = 0 if job in self._watched else pid_in(named)
        if not pid:
            return
        try:
            handle = os.pidfd_open(pid)
        except OSError:  # it has just ended, or its id is of a container's namespace
            return
        self._watched[job] = handle
        asyncio.get_running_loop().add_reader(handle, self._over, job)

    def _over(self, job: str) -> None:
        self._forget(job)
        self._ended(job)

    def _forget(self, job: str) -> None:
        handle = self._watched.pop(job)
        asyncio.get_running_loop().remove_reader(handle)
        os.close(handle)

    def close(self) -> None:
        """Stop watching all processes."""
        for job in list(self._watched):
            self._forget(job)


def pid_in(named: Path) -> int:
    """Return the process id in the file of a control socket; 0 for none."""
    try:
        with named.open("rb") as file:
            data = json.loads(file.read(LONGEST))
        return max(int(data["pid"]), 0)
    except (OSError, ValueError, TypeError, KeyError):
        return 0
