"""Places: the directories that are looked through for jobs.

A job is found, not registered: it is a directory with `crawl.yaml` that belongs to this user. Links
are not followed, and nothing is looked for within a job.
"""

import asyncio
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from nacre.console.fleet.removal_book import JobRemoval, RemovalBook
from nacre.console.problems import not_found
from nacre.errors import JobError
from nacre.messages import message
from nacre.store.layout import Layout

DEPTH: Final = 3
"""Levels below a place at which a job can lie: `crawls/GROUP/GROUP/JOB`."""
MOST: Final = 20_000
"""Directories that are looked at in one place; a home directory given by mistake has more."""
CXML: Final = "crawler-beans.cxml"
"""The configuration of a job of Heritrix's interface."""
PROFILE: Final = "profile-crawler-beans.cxml"
"""The same of a profile."""
CLASSES: Final = "classes.txt"
"""Answers about unknown classes of the beans of a job, one `CLASS=WHAT` a line."""
REPORT: Final = "migration-report.txt"
"""The report on the conversion of the beans."""


class JobPlace(NamedTuple):
    """A directory that is looked through.

    Attributes:
        label: The first part of its jobs' names: its own name.
        root: The directory, absolute.
        job: It is a job itself, and the only one.
    """

    label: str
    root: Path
    job: bool = False


class FoundJob(NamedTuple):
    """A job that was found.

    Attributes:
        id: Its name in URLs: that of the place and the way to it, joined by `~`.
        name: Name of its directory.
        place: Label of its place.
        layout: Its directories.
    """

    id: str
    name: str
    place: str
    layout: Layout


def places_of(directories: Sequence[Path]) -> tuple[JobPlace, ...]:
    """The places of the directories that were given.

    Args:
        directories: They; a directory that is a job is a place of this one job.

    Raises:
        JobError: One is not a directory.
    """
    places: list[JobPlace] = []
    for directory in directories:
        # Jobs are kept by their paths, which are written in one way only.
        root = directory.resolve() if ".." in directory.parts else directory.absolute()
        if not root.is_dir():
            raise JobError(
                message(
                    "console.not-a-directory",
                    "{directory} is not a directory; name one that holds jobs",
                    directory=directory,
                )
            )
        places.append(new_place(root, {place.label for place in places}))
    return tuple(places)


def new_place(root: Path, taken: Collection[str]) -> JobPlace:
    """A place with a label of its own: users can be restricted to it.

    Args:
        root: Its directory; one that is a job is a place of this one job.
        taken: Labels of other places.
    """
    is_job = Layout(root).config.is_file()
    label = free = (root.parent.name if is_job else root.name) or "root"
    number = 1
    while free in taken:
        number += 1
        free = f"{label}-{number}"
    return JobPlace(free, root, is_job)


def find_jobs(places: Sequence[JobPlace]) -> list[FoundJob]:
    """All jobs of all places, by their ids."""
    found: dict[str, FoundJob] = {}
    paths: set[Path] = set()
    for place in places:
        for root in [place.root] if place.job else _jobs_below(place.root):
            if root in paths:
                continue
            paths.add(root)
            inside = (root.name,) if place.job else root.relative_to(place.root).parts
            name = _free("~".join((place.label, *inside)) if inside else place.label, found)
            found[name] = FoundJob(name, root.name, place.label, Layout(root))
    return [found[name] for name in sorted(found)]


def _free(name: str, taken: dict[str, FoundJob]) -> str:
    """The name, or one with a number behind it: two places can have the same name."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}~{number}"
    return free


def _jobs_below(root: Path) -> Iterator[Path]:
    return (path for path, is_job in directories_below(root) if is_job)


def directories_below(root: Path) -> Iterator[tuple[Path, bool]]:
    """The directories that are looked through below a place, and whether each is a job.

    Args:
        root: Directory of the place.
    """
    user, seen, todo = os.getuid(), 0, [(root, 0)]
    while todo and seen < MOST:
        directory, depth = todo.pop(0)
        for entry in _entries(directory):
            seen += 1
            if not entry.is_dir(follow_symlinks=False) or entry.name.startswith("."):
                continue
            if not _is_utf_8(entry.name):  # no page can name it, and no store can be there
                continue
            path = Path(entry.path)
            is_job = _is_job(path, user)
            yield path, is_job
            if not is_job and depth + 1 < DEPTH:
                todo.append((path, depth + 1))


def _is_utf_8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _entries(directory: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(directory) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:  # closed to this user, or gone meanwhile
        return []


def _is_job(path: Path, user: int) -> bool:
    try:
        return (path / "crawl.yaml").is_file() and path.stat().st_uid == user
    except OSError:
        return False


class Fleet:
    """The jobs of this machine that the console shows.

    Args:
        places: The directories that are looked through.
        removals: The jobs that were removed from the console.

    Attributes:
        places: As given, and those that were added meanwhile.
    """

    def __init__(self, places: Sequence[JobPlace], removals: RemovalBook) -> None:
        self.places = tuple(places)
        self._removals = removals
        self._turn = asyncio.Lock()
        self._jobs: dict[str, FoundJob] = {}
        self._removed: list[tuple[FoundJob, JobRemoval]] = []

    async def scan(self) -> None:
        """Look through all places."""
        async with self._turn:  # else an older look could end after a newer one, and hold
            found = await asyncio.to_thread(find_jobs, self.places)
            seen = [(job, self._removals.of(job.layout.root)) for job in found]
            self._jobs = {job.id: job for job, removal in seen if removal is None}
            self._removed = [(job, removal) for job, removal in seen if removal is not None]

    @property
    def jobs(self) -> list[FoundJob]:
        """All jobs but the removed ones, by their ids."""
        return list(self._jobs.values())

    @property
    def removed(self) -> list[tuple[FoundJob, JobRemoval]]:
        """The jobs that were removed from the console and are still there, by their ids."""
        return list(self._removed)

    def knows(self, name: str) -> bool:
        """Whether a job of this id was found."""
        return name in self._jobs

    def job(self, name: str) -> FoundJob:
        """The job of an id.

        Raises:
            RefusedRequestError: There is none (404).
        """
        found = self._jobs.get(name)
        if found is None:
            raise not_found("job", name)
        return found
