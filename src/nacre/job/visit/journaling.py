"""The recovery journal of a run, `logs/frontier.recover.gz`, in Heritrix's format.

Lines are collected until their commit group is sealed and go into its batch as one gzip member, so
that the file is as durable as what it tells of. Source: Heritrix 3, `FrontierJournal`.
"""

import gzip
from collections.abc import Callable

from nacre.core.clock import Clock
from nacre.core.stamp import digits14
from nacre.frontier.recoverlog import Tag, line_of

NAME = "frontier.recover.gz"
_LEVEL = 1
_TIME_EVERY = 10_000
_SHORT = frozenset((Tag.EMITTED, Tag.INCLUDED, Tag.RESCHEDULED))
"""Lines with a URI alone."""


class RecoveryJournal:
    """Collects the lines of one run.

    Args:
        append: Adds bytes to the file, in the open commit group.
        clock: For the times in between.
    """

    def __init__(self, append: Callable[[str, bytes], None], clock: Clock) -> None:
        self._append = append
        self._clock = clock
        self._lines: list[str] = []
        self._number = 0

    def note(self, tag: Tag, url: str, path: str, via: str) -> None:
        """Something happened to a URI; see `frontier.recoverlog`."""
        self._lines.append(f"{tag} {url}" if tag in _SHORT else line_of(tag, url, path, via))
        self._number += 1
        if self._number % _TIME_EVERY == 0:
            self._lines.append(f"T {digits14(self._clock.now())}")

    def seal(self) -> None:
        """The commit group is about to be sealed: its lines go with it."""
        if self._lines:
            self._lines.append("")
            text = "\n".join(self._lines).encode("utf-8", "backslashreplace")
            self._lines = []
            self._append(NAME, gzip.compress(text, _LEVEL, mtime=0))
