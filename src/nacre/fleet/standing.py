"""The standing of a console: active, so that it may change its places, or read-only.

A console locks a file in each of its places, and one in its folder. The operating system releases
the locks when the process ends, however it ends. A console that finds a lock taken is read-only,
tries again every two seconds, and then takes over. The same applies if one of its places is inside
a place of another console, or contains one. At its start a console gets all locks or none, so that
two consoles never wait for each other. It keeps its locks while it waits for a place that was added
later.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from nacre.core.clock import Clock, iso
from nacre.core.message_data import to_json
from nacre.fleet.places import DEPTH, JobPlace, directories_below
from nacre.fleet.refusals import RefusedRequestError
from nacre.machine.layout import Layout
from nacre.machine.local_files import is_locked, lock_file
from nacre.messages import message

EACH: Final = 2.0
"""Seconds between two attempts to take over."""
OF_PLACE: Final = ".nacre-console"
"""Name of the lock file in a directory with jobs."""
OF_FOLDER: Final = "console.lock"
"""Name of the lock file in the console's folder, and in `state` of a job that is a place itself."""
_LONGEST: Final = 4096


class ConsoleHolder(msgspec.Struct, frozen=True):
    """A console that has a lock.

    Attributes:
        pid: Its process id.
        host: Name of its machine.
        since: When it took the lock, RFC 3339.
        url: Its URL.
    """

    pid: int
    host: str
    since: str
    url: str


class HeldElsewhere(NamedTuple):
    """A place or folder that another console has locked.

    Attributes:
        path: The path.
        holder: The other console; None if its lock file does not name it.
    """

    path: Path
    holder: ConsoleHolder | None

    @property
    def words(self) -> str:
        """An English text about the other console."""
        if self.holder is None:
            return f"another console has {self.path}"
        holder = self.holder
        return (
            f"the console {holder.url} (process {holder.pid} on {holder.host}, since "
            f"{holder.since}) has {self.path}"
        )


class ConsoleStanding:
    """Whether a console may change things.

    Attributes:
        elsewhere: The path that another console has locked; None if this console may change things.
    """

    def __init__(self) -> None:
        self.elsewhere: HeldElsewhere | None = None

    def require(self) -> None:
        """Refuse a change while another console has locked a place or the folder of this one.

        Raises:
            RefusedRequestError: This console is read-only (409).
        """
        if self.elsewhere is None:
            return
        path, holder = self.elsewhere
        if holder is None:
            raise RefusedRequestError(
                409,
                "read-only",
                message(
                    "console.place-of-another-console",
                    "another console has {path}: this one only shows it, and takes over when "
                    "that one "
                    "ends",
                    path=path,
                ),
            )
        raise RefusedRequestError(
            409,
            "read-only",
            message(
                "console.place-of-console",
                "the console {url} (process {pid} on {host}, since {since}) has {path}: this one "
                "only shows it, and takes over when that one ends",
                url=holder.url,
                pid=holder.pid,
                host=holder.host,
                since=holder.since,
                path=path,
            ),
        )


class ConsoleLocks:
    """The locks of a console.

    Args:
        standing: Receives the path that another console has locked.
        folder: The console's folder.
        places: Returns the present places of the console.
        url: URL of the console.
        clock: The time.
    """

    def __init__(
        self,
        standing: ConsoleStanding,
        folder: Path,
        places: Callable[[], Sequence[JobPlace]],
        url: str,
        clock: Clock,
    ) -> None:
        self._standing = standing
        self._folder = folder
        self._places = places
        self._url = url
        self._clock = clock
        self._held: dict[Path, int] = {}
        self._last: dict[Path, Path] = {}
        """The lock of another console that made an attempt fail, by path; it is checked first."""

    def take(self) -> bool:
        """Take all missing locks or none; return whether this console has all locks now."""
        files = dict(self._lock_files())
        self._give_back(self._held.keys() - files.keys())
        before = set(self._held)
        for path, of in files.items():
            if path not in self._held and not self._lock(path, of):
                self._give_back(self._held.keys() - before)
                return False
        self._standing.elsewhere = None
        return True

    def free(self) -> None:
        """Release all locks."""
        self._give_back(set(self._held))

    def _give_back(self, paths: Iterable[Path]) -> None:
        for path in paths:
            os.close(self._held.pop(path))

    def _lock_files(self) -> Iterator[tuple[Path, Path]]:
        """Yield the files to lock, each with its folder or place."""
        yield self._folder / OF_FOLDER, self._folder
        for place in self._places():
            yield lock_of(place), place.root

    def _lock(self, path: Path, of: Path) -> bool:
        handle, blocking = None, self._taken_still(path)
        if blocking is None:
            handle, blocking = _locked(path)
        # Each console locks first, then checks the others: if two start, one sees the other.
        if blocking is None and of != self._folder:
            # Without its own lock it keeps no console away, so the places below are not checked.
            below = _below(path, of) if handle is not None else ()
            blocking = next(filter(self._is_taken, chain(_above(of), below)), None)
        if blocking is not None:
            if handle is not None:
                os.close(handle)
            self._last[path] = blocking
            self._standing.elsewhere = HeldElsewhere(of, holder_in(blocking))
            return False
        if handle is not None:
            self._keep(path, handle)
        return True

    def _taken_still(self, path: Path) -> Path | None:
        """Return the lock that made the last attempt fail, if it is still taken; None otherwise."""
        last = self._last.pop(path, None)
        return last if last is not None and self._is_taken(last) else None

    def _is_taken(self, path: Path) -> bool:
        return path not in self._held and is_locked(path)

    def _keep(self, path: Path, handle: int) -> None:
        """Keep a lock, and write its holder to the file."""
        self._held[path] = handle
        holder = ConsoleHolder(os.getpid(), os.uname().nodename, iso(self._clock.now()), self._url)
        # On a full disk the lock still holds, but the file does not name the holder.
        with suppress(OSError):
            os.ftruncate(handle, 0)
            os.pwrite(handle, to_json(holder), 0)


def lock_of(place: JobPlace) -> Path:
    """Return the file that a console locks for a place."""
    return Layout(place.root).state / OF_FOLDER if place.job else place.root / OF_PLACE


def held_elsewhere(place: JobPlace) -> HeldElsewhere | None:
    """Return the other console that holds a place, or a place around or in it; None for none."""
    path = lock_of(place)
    locks = chain((path,), _above(place.root), _below(path, place.root))
    lock = next(filter(is_locked, locks), None)
    return HeldElsewhere(place.root, holder_in(lock)) if lock is not None else None


def _locked(path: Path) -> tuple[int | None, Path | None]:
    """Return the handle of a lock, or its path if another console has it.

    Both are None if the directory does not exist or is not writable: then no console can change
    anything in it.
    """
    try:
        handle = lock_file(path)
    except OSError:
        return None, None
    return handle, path if handle is None else None


def _above(root: Path) -> Iterator[Path]:
    """Yield the lock files of the places that may contain a directory."""
    for parent in root.parents[:DEPTH]:
        yield parent / OF_PLACE


def _below(path: Path, root: Path) -> Iterator[Path]:
    """Yield the lock files of the places and single jobs inside a place.

    Args:
        path: Lock file of the place; a place that is a single job contains no others.
        root: Directory of the place.
    """
    if path.name == OF_PLACE:
        for directory, is_job in directories_below(root):
            yield lock_of(JobPlace("", directory, is_job))


def holder_in(path: Path) -> ConsoleHolder | None:
    """Return the console that holds a lock, from its file; None if the file does not name one."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return msgspec.json.decode(os.pread(handle, _LONGEST, 0), type=ConsoleHolder)
    except (OSError, msgspec.MsgspecError):
        return None
    finally:
        os.close(handle)
