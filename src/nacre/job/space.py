"""Free space: the crawl pauses before a disk is full, and goes on when there is room again."""

from nacre.job.layout import Layout
from nacre.job.settings import JobSettings
from nacre.store.commit import GroupCommit
from nacre.store.seam import Disk

_EVERY = 2.0
_MARGIN = 64_000_000
"""What is kept beside buffers and the largest group, bytes (architecture 6)."""


class SpaceGuard:
    """Looks at every file system that the job writes to.

    Attributes:
        short: There is too little space on one of them.
    """

    def __init__(
        self, disk: Disk, layout: Layout, settings: JobSettings, commit: GroupCommit
    ) -> None:
        self._disk = disk
        self._settings = settings
        self._commit = commit
        self._paths = [str(layout.root)]
        self._paths += [d for d in settings.archive.directories if d.startswith("/")]
        self._next = 0.0
        self._since = 0.0
        self.short = False
        self.max_wait: float | None = settings.disk.max_wait

    @property
    def needed(self) -> int:
        """Free bytes below which the crawl pauses."""
        settings = self._settings
        own = 2 * settings.store.memory + self._commit.largest + _MARGIN
        return max(own, settings.disk.reserve)

    def check(self, mono: float) -> str | None:
        """Look, at most every two seconds; a text for the operator when something changed."""
        if mono < self._next:
            return None
        self._next = mono + _EVERY
        free, path = min((self._disk.free_space(path), path) for path in self._paths)
        if free < self.needed and not self.short:
            self.short, self._since = True, mono
            return (
                f"paused: {free // 1_000_000} MB free on {path}, {self.needed // 1_000_000} MB "
                "needed; free some space and the crawl goes on by itself"
            )
        if free >= self.needed and self.short:
            self.short = False
            return f"goes on: {free // 1_000_000} MB free on {path}"
        return None

    def waited_too_long(self, mono: float) -> bool:
        """The longest pause for space is over."""
        return self.short and self.max_wait is not None and mono - self._since > self.max_wait
