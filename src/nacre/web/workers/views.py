"""The views of a reader process: a store that stays open for each recently viewed job.

Opening a store takes 0.1 s, and longer for a large one: too long for a page. So a view stays open
for a minute after its last use. If its store has changed, the view still answers for some seconds,
with the time of its data, and is reopened between two questions. A view that takes longer to open
is reopened less often, so that few questions have to wait for it.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from nacre.config.check import Loaded
from nacre.config.secret import allow_unread_secrets
from nacre.errors import StorageError
from nacre.inspect.stored_job import read_only, require_store
from nacre.inspect.view import LiveFigures, ToeFacts, View
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.settings.load import load_job
from nacre.settings.settings import JobSettings
from nacre.store.store import Store

FRESH: Final = 2.0
"""Seconds after which the view of a changed store is reopened between questions."""
STALE: Final = 10.0
"""Seconds after which the view of a changed store must be reopened before it answers."""
SHARE: Final = 30.0
"""A view is used for at least this multiple of its opening time."""
IDLE: Final = 60.0
"""Seconds without a question after which a view is closed."""
MOST: Final = 6
"""Maximum views of a process; a further one closes the least recently used view."""
_SETTINGS: Final = 30.0
"""Seconds after which settings are read again even if `crawl.yaml` is unchanged, as it can include
other files."""
CLOCK: Final = SystemClock()
"""The time of this process."""


def fresh_for(cost: float) -> float:
    """Return the seconds after which a view is reopened, by the seconds that its opening took."""
    return max(FRESH, SHARE * cost)


def usable_for(cost: float) -> float:
    """Return the seconds after which a view is unusable, by the seconds that its opening took."""
    return max(STALE, 2 * fresh_for(cost))


class OpenView:
    """An open store, with values that were computed from it.

    Attributes:
        layout: The job's directories.
        store: The store of the job.
        as_of: Time of the data, seconds since the epoch.
        cost: Seconds that the opening took.
        found: Values computed from these data, by name; they are dropped with the view.
        kept: Values that are seldom computed, by name; they outlive the view.
    """

    def __init__(self, layout: Layout, lasting: dict[str, Any], stamp: object) -> None:
        self.layout = layout
        self.as_of = CLOCK.now()
        self.opened = CLOCK.monotonic()
        self.used = self.opened
        self.stamp = stamp
        self.store: Store = read_only(str(layout.store))
        self.cost = CLOCK.monotonic() - self.opened
        self.found: dict[str, Any] = {}
        self.kept = lasting

    @property
    def loaded(self) -> Loaded[JobSettings]:
        """The settings of the job, which are read again when its file has changed.

        Raises:
            ConfigError: The settings cannot be read.
        """
        facts = self.layout.config.stat()
        stamp = facts.st_mtime_ns, facts.st_size, facts.st_ino
        cached = self.kept.get("settings")
        now = CLOCK.monotonic()
        if cached is None or cached[0] != stamp or now - cached[1] > _SETTINGS:
            with allow_unread_secrets():
                cached = self.kept["settings"] = (stamp, now, load_job(self.layout))
        loaded: Loaded[JobSettings] = cached[2]
        return loaded

    def view(self, *, running: bool = False) -> View:
        """Return the view of the job for explanations and reports.

        Args:
            running: A process works on it.
        """
        loaded = self.loaded
        return View(self.layout, loaded.settings, self.store, CLOCK, None, loaded.origin, running)

    def once(self, name: str, make: Callable[[], Any]) -> Any:  # noqa: ANN401 - as it is made
        """Return a value by name, and compute it from these data at the first call."""
        if name not in self.found:
            self.found[name] = make()
        return self.found[name]

    def close(self) -> None:
        """Close the store."""
        self.found.clear()
        self.store.close()


class ViewBook:
    """The views of this process."""

    def __init__(self) -> None:
        self._views: dict[Path, OpenView] = {}
        self._kept: dict[Path, dict[str, Any]] = {}
        self.since = 0.0
        """Data that the task reads must not be older than this, seconds since the epoch."""

    @contextmanager
    def fresh(self, since: float) -> Iterator[None]:
        """Require data that are not older than `since`, seconds since the epoch, in the block."""
        self.since = since
        try:
            yield
        finally:
            self.since = 0.0

    @property
    def open(self) -> list[Path]:
        """Directories of the jobs whose views are open."""
        return list(self._views)

    def get(self, layout: Layout, since: float = 0.0) -> OpenView:
        """Return the view of a job.

        Args:
            layout: Directories of the job.
            since: Oldest allowed time of the data, seconds since the epoch.

        Raises:
            JobError: The job never ran.
            StorageError: The store cannot be read.
        """
        since = max(since, self.since)
        require_store(layout)
        root, stamp, now = layout.root, store_stamp(layout), CLOCK.monotonic()
        view = self._views.get(root)
        if view is not None and view.stamp == stamp:
            view.as_of = CLOCK.now()
        elif view is None or now - view.opened > usable_for(view.cost) or view.as_of < since:
            view = self._opened(layout, stamp)
        view.used = now
        return view

    def _opened(self, layout: Layout, stamp: object) -> OpenView:
        root = layout.root
        self.drop(root)
        if len(self._views) >= MOST:
            self.close(min(self._views, key=lambda view: self._views[view].used))
        view = self._views[root] = OpenView(layout, self._kept.setdefault(root, {}), stamp)
        return view

    @contextmanager
    def looking(self, layout: Layout, since: float = 0.0) -> Iterator[OpenView]:
        """Use the view of a job in the block; a view with a read error is closed."""
        view = self.get(layout, since)
        try:
            yield view
        except StorageError:
            self.drop(layout.root)
            raise

    def tend(self) -> None:
        """Close unused views, or reopen a changed one; called between two questions."""
        now = CLOCK.monotonic()
        for root, view in list(self._views.items()):
            if now - view.used > IDLE:
                self.close(root)
            elif view.used > view.opened and now - view.opened > fresh_for(view.cost):
                stamp = store_stamp(view.layout)
                if stamp != view.stamp:
                    used = view.used
                    with suppress(StorageError):
                        fresh = self._opened(view.layout, stamp)
                        fresh.opened, fresh.used = max(fresh.opened, used), used
                    return  # one at a time: a question may wait

    def drop(self, root: Path) -> None:
        """Close a view, but keep the lasting values of the job."""
        view = self._views.pop(root, None)
        if view is not None:
            view.close()

    def close(self, root: Path) -> None:
        """Close a view, and forget the lasting values of the job."""
        self.drop(root)
        self._kept.pop(root, None)


VIEWS: Final = ViewBook()
"""The views of this process."""

ROWS: Final = 10_000
"""Maximum rows that are read for a page."""
SECONDS: Final = 0.015
"""Maximum seconds of the scan for a page."""
_EACH: Final = 64


class ScanBudget:
    """The budget of a scan for a page: rows and time.

    Args:
        rows: Maximum rows.
        seconds: Maximum seconds.

    Attributes:
        looked: Rows that were read.
    """

    def __init__(self, rows: int = ROWS, seconds: float = SECONDS) -> None:
        self.looked = 0
        self._rows = rows
        self._until = CLOCK.monotonic() + seconds

    @property
    def spent(self) -> bool:
        """Count another row, and return whether the budget is used up."""
        self.looked += 1
        if self.looked >= self._rows:
            return True
        return not self.looked % _EACH and CLOCK.monotonic() > self._until


def figures_of(answer: Mapping[str, Any]) -> LiveFigures:
    """Return the live figures of a job from its answer to `toes`."""
    toes = [ToeFacts(*(toe[name] for name in ToeFacts._fields)) for toe in answer["toes"]]
    return LiveFigures(int(answer["parallel"]), toes, float(answer["offset"]))


Stamp = frozenset[tuple[str, int, int]]
"""Name, bytes and time of change (ns) of each file."""
_OPENING: Final = frozenset(("LOCK", "LOG", "rocksdict-config.json"))
"""Files that each opening of a store writes, even one for reading."""


def store_stamp(layout: Layout) -> Stamp:
    """Return a value that changes whenever a job's store does; empty without a store."""
    return folder_stamp(layout.store)


def folder_stamp(folder: Path) -> Stamp:
    """Return a folder's files except those of `_OPENING`; an empty set without a folder."""
    try:
        with os.scandir(folder) as entries:
            return frozenset(
                (entry.name, *_facts(entry))
                for entry in entries
                if entry.name not in _OPENING and not entry.name.startswith("LOG.old")
            )
    except OSError:
        return frozenset()


def stamp_text(stamps: Iterable[Stamp]) -> str:
    """Return a digest of stamps as text, which is the same for equal stamps."""
    digest = hashlib.sha256()
    for stamp in stamps:
        digest.update(repr(sorted(stamp)).encode())
    return digest.hexdigest()


def _facts(entry: "os.DirEntry[str]") -> tuple[int, int]:
    try:
        stat = entry.stat(follow_symlinks=False)
    except OSError:
        return 0, 0
    return stat.st_size, stat.st_mtime_ns
