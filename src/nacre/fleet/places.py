"""Places: the directories that are searched for jobs.

Jobs are found, not registered: a job is a directory with `crawl.yaml` that belongs to this user.
Symbolic links are not followed, and the directory of a job is not searched for further jobs.
"""

import asyncio
import os
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from nacre.errors import ConfigError, JobError, Problem
from nacre.fleet.database import ConsoleDatabase, ConsoleTable
from nacre.fleet.refusals import not_found
from nacre.machine.layout import Layout
from nacre.messages import message

DEPTH: Final = 3
"""Maximum depth of a job below a place: `crawls/GROUP/GROUP/JOB`."""
MOST: Final = 20_000
"""Maximum directories that are searched in a place; a home directory given by mistake has more."""
CXML: Final = "crawler-beans.cxml"
"""The configuration of a job of Heritrix's interface."""
PROFILE: Final = "profile-crawler-beans.cxml"
"""The same of a profile."""
CLASSES: Final = "classes.txt"
"""Answers about unknown classes of the beans of a job, one `CLASS=WHAT` a line."""
REPORT: Final = "migration-report.txt"
"""The report on the conversion of the beans."""


class JobPlace(NamedTuple):
    """A directory that is searched for jobs.

    Attributes:
        label: The first part of its jobs' ids: the name of the directory.
        root: Absolute path of the directory.
        job: The directory is itself a job, and contains no others.
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
    """Return the places of directories.

    Args:
        directories: The directories; a directory that is a job is a place of this one job.

    Raises:
        JobError: A path is not a directory.
    """
    places: list[JobPlace] = []
    for directory in directories:
        # Records refer to jobs by their paths, so each path must have a single form.
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


def new_place(root: Path, labels: Collection[str]) -> JobPlace:
    """A place with its own label: users can be restricted to it.

    Args:
        root: Its directory; one that is a job is a place of this one job.
        labels: Labels of other places.
    """
    is_job = Layout(root).config.is_file()
    label = free = (root.parent.name if is_job else root.name) or "root"
    number = 1
    while free in labels:
        number += 1
        free = f"{label}-{number}"
    return JobPlace(free, root, is_job)


def find_jobs(places: Sequence[JobPlace]) -> list[FoundJob]:
    """Return all jobs of all places, sorted by id."""
    jobs: dict[str, FoundJob] = {}
    paths: set[Path] = set()
    for place in places:
        for root in [place.root] if place.job else _jobs_below(place.root):
            if root in paths:
                continue
            paths.add(root)
            inside = (root.name,) if place.job else root.relative_to(place.root).parts
            name = _free("~".join((place.label, *inside)) if inside else place.label, jobs)
            jobs[name] = FoundJob(name, root.name, place.label, Layout(root))
    return [jobs[name] for name in sorted(jobs)]


def _free(name: str, names: dict[str, FoundJob]) -> str:
    """Return the name, with a number appended if another place already has it."""
    number, free = 1, name
    while free in names:
        number += 1
        free = f"{name}~{number}"
    return free


def _jobs_below(root: Path) -> Iterator[Path]:
    return (path for path, is_job in directories_below(root) if is_job)


def directories_below(root: Path) -> Iterator[tuple[Path, bool]]:
    """Yield the searched directories below a place, and whether each is a job.

    Args:
        root: Directory of the place.
    """
    user, entries, todo = os.getuid(), 0, [(root, 0)]
    while todo and entries < MOST:
        directory, depth = todo.pop(0)
        for entry in _entries(directory):
            entries += 1
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
    except OSError:  # not readable, or removed in the meantime
        return []


def _is_job(path: Path, user: int) -> bool:
    try:
        return (path / "crawl.yaml").is_file() and path.stat().st_uid == user
    except OSError:
        return False


class JobRemoval(msgspec.Struct, frozen=True):
    """The removal of a job from the console.

    Attributes:
        path: Directory of the job.
        time: When, seconds since the epoch.
        by: Name of the user.
    """

    path: str
    time: float
    by: str


class RemovalBook(ConsoleTable[JobRemoval]):
    """The removed jobs, which are found, but not listed, read, counted or started.

    Args:
        database: The console's database.
    """

    def __init__(self, database: ConsoleDatabase) -> None:
        super().__init__(database, "removed", JobRemoval)


class Fleet:
    """The jobs of this machine that the console shows.

    Args:
        places: The directories that are looked through.
        removals: The jobs that were removed from the console.

    Attributes:
        places: The directories, including those that were added since the start.
        removals: The jobs that were removed from the console.
    """

    def __init__(self, places: Sequence[JobPlace], removals: RemovalBook) -> None:
        self.places = tuple(places)
        self.removals = removals
        self._turn = asyncio.Lock()
        self._jobs: dict[str, FoundJob] = {}
        self._removed: list[tuple[FoundJob, JobRemoval]] = []

    async def scan(self) -> None:
        """Search all places for jobs."""
        async with self._turn:  # otherwise an older scan could overwrite the result of a newer one
            jobs = await asyncio.to_thread(find_jobs, self.places)
            rows = {removal.path: removal for removal in self.removals.all()}
            removals = [(job, rows.get(str(job.layout.root))) for job in jobs]
            self._jobs = {job.id: job for job, removal in removals if removal is None}
            self._removed = [(job, removal) for job, removal in removals if removal is not None]

    @property
    def jobs(self) -> list[FoundJob]:
        """All jobs except the removed ones, by their ids."""
        return list(self._jobs.values())

    @property
    def removed(self) -> list[tuple[FoundJob, JobRemoval]]:
        """The jobs that were removed from the console and still exist, by their ids."""
        return list(self._removed)

    def knows(self, name: str) -> bool:
        """Whether a job of this id was found."""
        return name in self._jobs

    def job(self, name: str) -> FoundJob:
        """Return the job of an id.

        Raises:
            RefusedRequestError: There is no such job (404).
        """
        known_job = self._jobs.get(name)
        if known_job is None:
            raise not_found("job", name)
        return known_job


LONGEST: Final = 100
"""Maximum characters of a name."""
MOST_BYTES: Final = 255
"""Maximum bytes of a name, by the limit of file systems; a Chinese character has three."""
_NUMBER: Final = 4
"""Bytes reserved after a date, for the number of a further job on the same day."""
_DATED: Final = "%Y-%m-%d"
_FIELD: Final = re.compile(r"%(.?)")
_FIELDS: Final = frozenset("YmdHMjGV")
"""Year, month, day, hour, minute, day of the year, and the year and number of the week."""


def check_name(name: str) -> str:
    """Check the name of a job's directory, and return it.

    Raises:
        ConfigError: The name is invalid.
    """
    if not name or not name.isprintable() or len(name) > LONGEST:
        raise _bad_name(name)
    if len(name.encode()) > MOST_BYTES:
        raise _bad_name(name)
    if name.startswith((".", "-")) or re.search(r"[/\\~]", name) or name != name.strip():
        raise _bad_name(name)
    return name


def _bad_name(name: str) -> ConfigError:
    text = message("console.job-name", "{name!r} is no name of a job", name=name)
    expected = message(
        "console.job-name-characters",
        "up to 100 characters (85 Chinese ones) without / \\ and ~, which do not begin with . or -",
    )
    return ConfigError([Problem("name", text, expected, "library-2026")])


def with_tail(name: str, tail: str, most: int = MOST_BYTES) -> str:
    """Append a text to a name, and shorten the name if both exceed the limit of a directory name.

    Args:
        name: The name.
        tail: ASCII text, which is never shortened.
        most: Maximum bytes of the result.
    """
    start = name.encode(errors="replace")[: most - len(tail)]
    # A character that was cut in the middle is dropped.
    return start.decode(errors="ignore") + tail


def dated_name(pattern: str, base: str, time: float, zone: str = "UTC") -> str:
    """Return the name of a job that a schedule creates.

    Args:
        pattern: A name with the strftime fields `%Y`, `%m`, `%d`, `%H`, `%M`, `%j`, `%G` and `%V`;
            "" for the base followed by the date.
        base: Name of the job or the profile that the new job is based on.
        time: Time of the run, seconds since the epoch.
        zone: Name of the time zone.

    Raises:
        ConfigError: The pattern has another field, or makes no name.
    """
    moment = datetime.fromtimestamp(time, UTC if zone == "UTC" else ZoneInfo(zone))
    if not pattern:
        day = moment.strftime(_DATED)
        return check_name(
            with_tail(base[: LONGEST - len(day) - 1], f"-{day}", MOST_BYTES - _NUMBER)
        )

    def value(match: re.Match[str]) -> str:
        if match[1] not in _FIELDS:
            text = message(
                "console.date-part",
                "{pattern!r} has {value!r}, which is no part of a date here",
                pattern=pattern,
                value=match[0],
            )
            expected = message(
                "console.date-parts",
                "%Y %m %d %H %M, %j (day of the year), %G and %V (year and week)",
            )
            raise ConfigError([Problem("name", text, expected, "news-%Y-%m-%d")])
        return moment.strftime(match[0])

    return check_name(_FIELD.sub(value, pattern))
