"""Quotas of disk space, and what was measured of them last, in the console's database."""

from collections.abc import Callable

import msgspec

from nacre.config.component import parse_size
from nacre.console.access.database import ConsoleDatabase
from nacre.core.message_data import to_json
from nacre.errors import ConfigError, Problem
from nacre.job.quotas import QuotaLevel
from nacre.messages import message
from nacre.ops.fields import LARGEST

ALL_JOBS = ""
"""In place of the directory of a job: all jobs together."""


def limit_of(text: str) -> int:
    """Bytes, of a text such as `500 GB` (pure).

    Raises:
        ConfigError: It is no size, or too large a one.
    """
    try:
        found = int(str(parse_size(text)))
    except (ValueError, OverflowError):
        found = -1
    if 0 <= found <= LARGEST:
        return found
    said = message(
        "console.quota-format",
        "{text!r} is no quota; write it as 500 GB or 2 TiB, up to 9000 TB, or 0",
        text=text,
    )
    raise ConfigError([Problem("limit", said, "", "500 GB")])


class KeptQuota(msgspec.Struct, frozen=True):
    """The quota of a job, or of all jobs.

    Attributes:
        path: Directory of the job; "" for all jobs together.
        limit: Bytes that may be used; 0 for no quota.
        used: Bytes that were used when it was measured last; 0 before.
        measured: When that was, seconds since the epoch; 0 for never.
        level: The level that was decided last.
        held: The console holds the job, so that it is the one that releases it.
        trouble: Why the job could not be held or released; "" for no trouble.
    """

    path: str
    limit: int = 0
    used: int = 0
    measured: float = 0.0
    level: QuotaLevel = QuotaLevel.FREE
    held: bool = False
    trouble: str = ""


class DiskQuotaBook:
    """The quotas; they last over restarts.

    Args:
        database: Keeps them.
        tell: Called when a quota is kept that is at another level.
    """

    def __init__(self, database: ConsoleDatabase, tell: Callable[[], None] = lambda: None) -> None:
        self._database = database
        self._tell = tell

    def all(self) -> dict[str, KeptQuota]:
        """All quotas, by the directories of their jobs."""
        rows = self._database.rows("SELECT quota FROM quotas ORDER BY path")
        found = [msgspec.json.decode(str(row[0]), type=KeptQuota) for row in rows]
        return {one.path: one for one in found}

    def limits(self) -> dict[str, int]:
        """The limits that are set, by the directories of their jobs."""
        return {path: kept.limit for path, kept in self.all().items() if kept.limit}

    def find(self, path: str) -> KeptQuota:
        """The quota of a job, by its directory; one without a limit where none was set."""
        row = self._database.row("SELECT quota FROM quotas WHERE path = ?", path)
        if row is None:
            return KeptQuota(path)
        return msgspec.json.decode(str(row[0]), type=KeptQuota)

    def set(self, path: str, limit: int) -> None:
        """Set a limit.

        Args:
            path: Directory of the job; "" for all jobs together.
            limit: Bytes; 0 for none.
        """
        self.keep(msgspec.structs.replace(self.find(path), limit=limit))

    def move(self, before: str, after: str) -> None:
        """Keep the quota of a job that has another directory now.

        Args:
            before: Its directory until now.
            after: That of now.
        """
        quota = self.find(before)
        self.keep(KeptQuota(before))
        self.keep(msgspec.structs.replace(quota, path=after))

    def keep(self, quota: KeptQuota) -> None:
        """Keep a quota in the place of that of the same job; one that says nothing is forgotten."""
        before = self.find(quota.path).level
        is_empty = not quota.limit and not quota.held and not quota.trouble
        if is_empty:
            self._database.rows("DELETE FROM quotas WHERE path = ?", quota.path)
        else:
            self._database.rows(
                "INSERT OR REPLACE INTO quotas VALUES (?, ?)",
                quota.path, to_json(quota).decode(),
            )  # fmt: skip
        if (QuotaLevel.FREE if is_empty else quota.level) != before:
            self._tell()
