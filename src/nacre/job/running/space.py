"""Free space: the crawl pauses before a disk is full, and goes on when there is room again."""

from pathlib import Path

from nacre.job.configuration.settings import JobSettings
from nacre.job.configuration.variables import known_part
from nacre.job.layout import Layout
from nacre.store.seam import Disk
from nacre.store.space import reserve, shortage

_WITHOUT_TERMINAL = 3600.0
_EVERY = 2.0
"""How often a running crawl looks, seconds."""


def places(layout: Layout, settings: JobSettings) -> list[str]:
    """A directory on each file system that the job writes to.

    One that is still to be made is stood for by the nearest that is there.
    """
    named = map(Path, map(known_part, settings.archive.directories))
    return [str(layout.root), *(str(_there(path)) for path in named if path.is_absolute())]


def _there(directory: Path) -> Path:
    above = (directory, *directory.parents)
    return next(path for path in above if path.is_dir() or path.parent == path)


def longest_wait(settings: JobSettings, *, on_terminal: bool) -> float | None:
    """Longest pause for space, seconds; None for ever: a person at a terminal will see it."""
    if settings.disk.max_wait is not None or on_terminal:
        return settings.disk.max_wait
    return _WITHOUT_TERMINAL


class SpaceGuard:
    """Looks at every file system that the job writes to.

    Args:
        disk: The file operations.
        layout: The job's directories.
        settings: Its settings.
        buffers: Memory of the store for rows not yet in sorted files, bytes.

    Attributes:
        short: There is too little space on one of them.
        settings: Its settings; others may be assigned while it runs.
        on_terminal: A person watches: without a setting, a pause lasts for ever.
    """

    def __init__(self, disk: Disk, layout: Layout, settings: JobSettings, buffers: int) -> None:
        self._disk = disk
        self.settings = settings
        self._buffers = buffers
        self._places = places(layout, settings)
        self._next = 0.0
        self._since = 0.0
        self.on_terminal = False
        self.short = False

    def needed(self, largest: int) -> int:
        """Free bytes below which the crawl pauses; `largest` is the largest commit group."""
        return max(reserve(self._buffers, largest), self.settings.disk.reserve)

    def check(self, mono: float, largest: int) -> str | None:
        """Look, at most every two seconds; a text for the operator when something changed."""
        if mono < self._next:
            return None
        self._next = mono + _EVERY
        missing = shortage(self._disk, self._places, self.needed(largest))
        if missing and not self.short:
            self.short, self._since = True, mono
            return f"paused for space: {missing}; free some and the crawl goes on by itself"
        if not missing and self.short:
            self.short = False
            return "there is space again: the crawl goes on"
        return None

    def waited_too_long(self, mono: float) -> bool:
        """The longest pause for space is over."""
        longest = longest_wait(self.settings, on_terminal=self.on_terminal)
        return self.short and longest is not None and mono - self._since > longest
