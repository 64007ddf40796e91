"""The ends of the processes of running jobs, noticed at once: `kill -9` says nothing by itself."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

LONGEST = 4096
"""Bytes of a file that names a control socket."""


class ProcessEnds:
    """Watches the processes of jobs until they end.

    Args:
        ended: Takes the id of a job whose process has ended.
    """

    def __init__(self, ended: Callable[[str], None]) -> None:
        self._ended = ended
        self._watched: dict[str, int] = {}

    def watch(self, job: str, named: Path) -> None:
        """Watch the process of a running job; one that is watched already stays so.

        Args:
            job: Its id.
            named: The file that names its control socket and process.
        """
        pid = 0 if job in self._watched else pid_in(named)
        if not pid:
            return
        try:
            handle = os.pidfd_open(pid)
        except OSError:  # it ended just now, or is of a container with numbers of its own
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
        """Watch none any more."""
        for job in list(self._watched):
            self._forget(job)


def pid_in(named: Path) -> int:
    """The process that a file of a control socket names; 0 for none."""
    try:
        with named.open("rb") as file:
            data = json.loads(file.read(LONGEST))
        return max(int(data["pid"]), 0)
    except (OSError, ValueError, TypeError, KeyError):
        return 0
