"""Verdicts of captures, from the crawl.log of their runs.

crawl.log has the verdict of a visit that differs from the last one (`verdict:CLASS:SCORE`). The
same content is a revisit record, which its index says. A visit of a later run without either, of a
URL that was not captured before, is new.
"""

import gzip
import sqlite3
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from nacre.annotations import DUPLICATE_DELTA, DUPLICATE_DIGEST, DUPLICATE_NOT_MODIFIED
from nacre.catalogue.rows import NEW, VERDICTS, seconds_of
from nacre.catalogue.schema import add_counts
from nacre.report.log_fields import line_fields, number_of
from nacre.uri.surt import index_key

_WINDOW: Final = 64 << 10
"""Bytes at the end of a growing log that are read again if a capture of theirs is not indexed."""
_LONGEST: Final = 1 << 20
_VERDICT: Final = b"verdict:"
_NEW: Final = VERDICTS.index(NEW)
_SAME: Final = frozenset((DUPLICATE_DIGEST, DUPLICATE_NOT_MODIFIED, DUPLICATE_DELTA))


class LoggedVerdict(NamedTuple):
    """The verdict of a line of crawl.log.

    Attributes:
        url: The URL.
        time: When the fetch began, seconds since the epoch.
        verdict: Its number in `rows.VERDICTS`; 0: it is new if no earlier capture is known.
    """

    url: str
    time: int
    verdict: int


def logged_verdict(line: bytes) -> LoggedVerdict | None:
    """Return the verdict of a line; None if it has none, or its reply is the last one again."""
    fields = line_fields(line)
    if fields is None or number_of(fields[1]) <= 0:
        return None
    digits, annotations = (
        fields[8].decode("ascii", "replace"),
        fields[11].decode("utf-8", "replace"),
    )
    if len(digits) < 17 or not digits[:17].isascii() or not digits[:17].isdigit():
        return None
    time = seconds_of(digits[:14])
    if time is None:
        return None
    words = annotations.split(",")
    if not _SAME.isdisjoint(words):
        return None
    kind = next((word.split(":")[1] for word in words if word.startswith(_VERDICT.decode())), "")
    number = VERDICTS.index(kind) if kind in VERDICTS else 0
    return LoggedVerdict(fields[3].decode("utf-8", "replace"), time, number)


class LogReader:
    """Reads the logs of the runs of a job, and stores the verdicts.

    The positions in the logs are stored as states of the catalogue: `log:RUN/FILE`, and `log:RUN`
    for a run that is over.

    Args:
        database: The catalogue.
        runs: The directory of the runs.
        batch: Lines of a transaction.
    """

    def __init__(self, database: sqlite3.Connection, runs: Path, batch: int) -> None:
        self._database = database
        self._runs = runs
        self._batch = batch

    def read(self, open_runs: Container[str], is_late: Callable[[], bool]) -> bool:
        """Read the logs from where the last update ended; False if the time is over before.

        Args:
            open_runs: Names of the runs with an open index.
            is_late: Whether the time is over.
        """
        query = "SELECT name, value FROM state WHERE name GLOB 'log:*'"
        positions: dict[str, int] = dict(self._database.execute(query))
        names = sorted(path.name for path in self._runs.iterdir()) if self._runs.is_dir() else []
        for name in names:
            if f"log:{name}" in positions:
                continue
            for path in sorted((self._runs / name / "logs").glob("crawl.log*")):
                state = f"log:{name}/{path.name}"
                part = _LogPart(path, state, name == names[0], name in open_runs)
                if not self._read_part(part, positions.get(state, 0), is_late):
                    return False
            if name not in open_runs:
                self._put_position(f"log:{name}", 0)
        return True

    def _read_part(self, part: "_LogPart", position: int, is_late: Callable[[], bool]) -> bool:
        """Read a file of a log; False if the time is over before its end."""
        for lines, start in _batches(part.path, position, self._batch):
            if is_late():
                return False
            self._database.execute("BEGIN IMMEDIATE")
            try:
                unmatched = self._store(lines, is_first=part.is_first)
                end = start + sum(map(len, lines))
                if part.is_open and unmatched >= 0:
                    end = max(start + sum(map(len, lines[:unmatched])), end - _WINDOW)
                self._put_position(part.state, end)
                self._database.execute("COMMIT")
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
        return True

    def _put_position(self, name: str, position: int) -> None:
        self._database.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, position))

    def _store(self, lines: Sequence[bytes], *, is_first: bool) -> int:
        """Store the verdicts of some lines.

        Returns:
            The number of the first line whose capture is not in the catalogue; -1 for none.
        """
        unmatched = -1
        counts: Counter[tuple[str, str | int]] = Counter()
        for number, line in enumerate(lines):
            if is_first and _VERDICT not in line:
                continue
            logged = logged_verdict(line)
            if logged is not None and not self._store_verdict(logged, counts) and unmatched < 0:
                unmatched = number
        add_counts(self._database, counts)
        return unmatched

    def _store_verdict(
        self, logged: LoggedVerdict, counts: "Counter[tuple[str, str | int]]"
    ) -> bool:
        """Store a verdict; return whether its capture is in the catalogue."""
        key = index_key(logged.url).replace(" ", "%20")
        query = (
            "SELECT id, verdict FROM capture_key JOIN capture USING (id)"
            " WHERE key = ? AND capture_key.time = ? AND url = ?"
        )
        row = self._database.execute(query, (key, logged.time, logged.url)).fetchone()
        if row is None:
            return False
        verdict = logged.verdict
        if not verdict:
            earlier = "SELECT 1 FROM capture_key WHERE key = ? AND time < ? LIMIT 1"
            if self._database.execute(earlier, (key, logged.time)).fetchone() is not None:
                return True
            verdict = _NEW
        number, former = row
        if former != verdict:
            update = "UPDATE capture SET verdict = ? WHERE id = ?"
            self._database.execute(update, (verdict, number))
            counts["verdict", verdict] += 1
            counts["verdict", former] -= 1
        return True


class _LogPart(NamedTuple):
    """A file of the log of a run.

    Attributes:
        path: The file.
        state: Name of its position.
        is_first: It is of the first run of the job.
        is_open: It is of a run that writes.
    """

    path: Path
    state: str
    is_first: bool
    is_open: bool


def _batches(path: Path, position: int, most: int) -> Iterator[tuple[list[bytes], int]]:
    """Yield complete lines from a position on, with the position of the first of each portion."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        if path.suffix != ".gz" and path.stat().st_size < position:
            position = 0  # rotated: it is another file
        with opener(path, "rb") as file:
            file.seek(position)
            lines: list[bytes] = []
            while (line := file.readline(_LONGEST)).endswith(b"\n"):
                lines.append(line)
                if len(lines) >= most:
                    yield lines, position
                    position += sum(map(len, lines))
                    lines = []
            if lines:
                yield lines, position
    except (OSError, EOFError):
        return  # moved away at this moment, or cut off: as in report.log_fields
