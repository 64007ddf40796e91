"""The jobs that were removed from the console, by their directories, in the console's database."""

from pathlib import Path
from typing import NamedTuple

from nacre.console.access.database import ConsoleDatabase


class JobRemoval(NamedTuple):
    """The removal of a job from the console.

    Attributes:
        time: When, seconds since the epoch.
        by: Who removed it.
    """

    time: float
    by: str


class RemovalBook:
    """The removed jobs: they are found, but not listed, looked at, counted or started.

    Args:
        database: Keeps them.
    """

    def __init__(self, database: ConsoleDatabase) -> None:
        self._database = database
        # Lists of jobs are made each second: they ask the memory.
        self._known: dict[str, JobRemoval] = {}
        self.read()

    def read(self) -> None:
        """Read them anew: a command may have changed them."""
        self._known = {
            str(path): JobRemoval(float(str(time)), str(by))
            for path, time, by in self._database.rows("SELECT path, time, by FROM removed")
        }

    def of(self, root: Path) -> JobRemoval | None:
        """The removal of the job of a directory; None for one that is shown."""
        return self._known.get(str(root))

    def add(self, root: Path, removal: JobRemoval) -> None:
        """Keep the removal of a job."""
        self._database.rows(
            "INSERT OR REPLACE INTO removed VALUES (?, ?, ?)", str(root), removal.time, removal.by
        )
        self._known[str(root)] = removal

    def drop(self, root: Path) -> None:
        """Forget the removal of a job, so that it is shown again; it may have none."""
        if self._known.pop(str(root), None) is not None:
            self._database.rows("DELETE FROM removed WHERE path = ?", str(root))
