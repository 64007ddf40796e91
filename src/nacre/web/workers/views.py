"""The stores that a reader process keeps open: a view of each job that somebody looks at.

Opening a store takes 0.1 s, and a large one longer, which no page can wait for. So a view stays
open for a minute after it was looked at. One whose store has changed still answers for some
seconds, with the time of its data, and is opened again between two questions; the longer that
takes, the more seldom, so that few questions come while it is done.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from nacre.config.check import Loaded
from nacre.errors import StorageError
from nacre.inspect.stored_job import read_only, require_store
from nacre.inspect.view import LiveFigures, ToeFacts, View
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.settings.load import load_job
from nacre.settings.settings import JobSettings
from nacre.store.store import Store

FRESH: Final = 2.0
"""Seconds after which a view of a store that has changed is opened again in the background."""
STALE: Final = 10.0
"""Seconds after which it answers no more before it was opened again."""
SHARE: Final = 30.0
"""A view lasts at least this many times the time of its opening."""
IDLE: Final = 60.0
"""Seconds without a question after which it is closed."""
MOST: Final = 6
"""Views of a process; another one closes that which was looked at longest ago."""
_SETTINGS: Final = 30.0
"""Seconds after which settings are read again though `crawl.yaml` is the same: it can include
others."""
CLOCK: Final = SystemClock()
"""The time of this process."""


def fresh_for(cost: float) -> float:
    """Seconds after which a view is opened again in the background, by the cost of an opening."""
    return max(FRESH, SHARE * cost)


def usable_for(cost: float) -> float:
    """Seconds after which it answers no more, by the seconds of an opening."""
    return max(STALE, 2 * fresh_for(cost))


class OpenView:
    """A store that is open, and what was made of it.

    Attributes:
        layout: The job's directories.
        store: Its store.
        as_of: The moment for which its data hold, seconds since the epoch.
        cost: Seconds that the opening took.
        found: What was computed of these data, by name; it goes with them.
        kept: What is computed rarely, by name: it outlives this store, and has its own time.
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
        """The settings of the job, read again when its file has changed.

        Raises:
            ConfigError: They cannot be read.
        """
        facts = self.layout.config.stat()
        stamp = facts.st_mtime_ns, facts.st_size, facts.st_ino
        cached = self.kept.get("settings")
        now = CLOCK.monotonic()
        if cached is None or cached[0] != stamp or now - cached[1] > _SETTINGS:
            cached = self.kept["settings"] = (stamp, now, load_job(self.layout))
        loaded: Loaded[JobSettings] = cached[2]
        return loaded

    def view(self, *, running: bool = False) -> View:
        """The job as explanations and reports look at it.

        Args:
            running: A process works on it.
        """
        loaded = self.loaded
        return View(self.layout, loaded.settings, self.store, CLOCK, None, loaded.origin, running)

    def once(self, name: str, make: Callable[[], Any]) -> Any:  # noqa: ANN401 - as it is made
        """A value that is made of these data once, by name."""
        if name not in self.found:
            self.found[name] = make()
        return self.found[name]

    def close(self) -> None:
        """Give the store back."""
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
        """Read no data in the block that are older than a moment, seconds since the epoch."""
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
        """The view of a job.

        Args:
            layout: Its directories.
            since: Its data must not be older than this, seconds since the epoch.

        Raises:
            JobError: It never ran.
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
            self.close(min(self._views, key=lambda one: self._views[one].used))
        view = self._views[root] = OpenView(layout, self._kept.setdefault(root, {}), stamp)
        return view

    @contextmanager
    def looking(self, layout: Layout, since: float = 0.0) -> Iterator[OpenView]:
        """Look at a job; a view in which something cannot be read is not used again."""
        view = self.get(layout, since)
        try:
            yield view
        except StorageError:
            self.drop(layout.root)
            raise

    def tend(self) -> None:
        """Between two questions: close what nobody looks at, open again what has changed."""
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
        """Close a view; what is kept of the job stays."""
        view = self._views.pop(root, None)
        if view is not None:
            view.close()

    def close(self, root: Path) -> None:
        """Close a view, and forget what is kept of the job."""
        self.drop(root)
        self._kept.pop(root, None)


VIEWS: Final = ViewBook()
"""Those of this process."""

ROWS: Final = 10_000
"""Rows that a page may cost."""
SECONDS: Final = 0.015
"""Seconds that it may take."""
_EACH: Final = 64


class ScanBudget:
    """The cost that a page may have: rows and time.

    Args:
        rows: Rows.
        seconds: Seconds.

    Attributes:
        looked: Rows that were looked at.
    """

    def __init__(self, rows: int = ROWS, seconds: float = SECONDS) -> None:
        self.looked = 0
        self._rows = rows
        self._until = CLOCK.monotonic() + seconds

    @property
    def spent(self) -> bool:
        """Whether it is used up, after another row."""
        self.looked += 1
        if self.looked >= self._rows:
            return True
        return not self.looked % _EACH and CLOCK.monotonic() > self._until


def figures_of(answer: Mapping[str, Any]) -> LiveFigures:
    """The figures of a running job, of its answer to `toes`."""
    toes = [ToeFacts(*(toe[name] for name in ToeFacts._fields)) for toe in answer["toes"]]
    return LiveFigures(int(answer["parallel"]), toes, float(answer["offset"]))


Stamp = frozenset[tuple[str, int, int]]
"""Name, bytes and time of change (ns) of each file."""
_OPENING: Final = frozenset(("LOCK", "LOG", "rocksdict-config.json"))
"""Files that are written when a store is opened, also to be read."""


def store_stamp(layout: Layout) -> Stamp:
    """A value that changes whenever the store of a job does; the same without a store."""
    return folder_stamp(layout.store)


def folder_stamp(folder: Path) -> Stamp:
    """The files of a folder but those that an opening of a store writes; empty without a folder."""
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
    """Stamps as a text that can be kept: the same for the same stamps."""
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
