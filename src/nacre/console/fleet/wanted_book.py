"""The kinds of URLs that somebody said are wanted, so that no banner warns of them any more."""

from collections.abc import Sequence
from typing import Final

from nacre.console.access.database import ConsoleDatabase
from nacre.console.fleet.places import FoundJob
from nacre.errors import JobError
from nacre.messages import message

MOST: Final = 100
"""Kinds of a job."""


class WantedKindBook:
    """The wanted kinds of all jobs, by their directories; commands move them, too.

    Args:
        database: Keeps them.
    """

    def __init__(self, database: ConsoleDatabase) -> None:
        self._database = database

    def of(self, job: FoundJob) -> tuple[str, ...]:
        """The wanted kinds of a job, the oldest first: beginnings of URLs."""
        found = self._database.rows(
            "SELECT prefix FROM wanted_kinds WHERE path = ? ORDER BY rowid", str(job.layout.root)
        )
        return tuple(str(prefix) for (prefix,) in found)

    def set(self, job: FoundJob, prefixes: tuple[str, ...]) -> tuple[str, ...]:
        """Keep the wanted kinds of a job in place of those of before; they, each once."""
        path, kept = str(job.layout.root), tuple(dict.fromkeys(prefixes))
        with self._database.together():
            self._database.rows("DELETE FROM wanted_kinds WHERE path = ?", path)
            for prefix in kept:
                self._database.rows("INSERT INTO wanted_kinds VALUES (?, ?)", path, prefix)
        return kept

    def move(self, before: str, after: str) -> None:
        """Keep the wanted kinds of a job that has another directory now.

        Args:
            before: Its directory until now.
            after: That of now.
        """
        self._database.rows("DELETE FROM wanted_kinds WHERE path = ?", after)
        self._database.rows("UPDATE wanted_kinds SET path = ? WHERE path = ?", after, before)


def kinds_of(
    known: Sequence[str], added: Sequence[str], removed: Sequence[str] = ()
) -> tuple[str, ...]:
    """The wanted kinds after a change; the oldest make room for more than a hundred (pure).

    Args:
        known: Those of before, the oldest first.
        added: Further ones.
        removed: Those that are wanted no more.

    Raises:
        JobError: One of these is none.
    """
    wrong = [prefix for prefix in removed if prefix not in known]
    if wrong:
        raise JobError(
            message(
                "console.no-muted-kind",
                "{wrong} is no wanted kind; there are: {names}",
                wrong=wrong[0],
                names=", ".join(known) or "none",
            )
        )
    left = [prefix for prefix in known if prefix not in removed]
    return tuple(dict.fromkeys((*left, *added)))[-MOST:]
