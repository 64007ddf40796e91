"""The console's records for commands: its database, without its server.

A command works on the console's files whether the console is running or not. A running console
picks up the changes (`runners.OutsideChanges`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from nacre.core.clock import Clock, iso_millis
from nacre.errors import JobError, StorageError
from nacre.fleet.audit import FILE, AuditEntry, audit_text, line_of
from nacre.fleet.database import ConsoleDatabase, running_console
from nacre.fleet.job_books import NONE, DiskQuotaBook, LabelBook, WantedKindBook
from nacre.fleet.place_book import PlaceBook, place_names
from nacre.fleet.places import FoundJob, JobPlace, RemovalBook, find_jobs, places_of
from nacre.fleet.schedule_book import ScheduleBook
from nacre.fleet.webhook_book import WebhookBook
from nacre.job.apply_change import user_name
from nacre.job.control import is_running
from nacre.machine.layout import Layout
from nacre.machine.local_files import append_lines
from nacre.messages import message
from nacre.rounds.rounds_mark import rounds_run
from nacre.runs.passes import find_recurring
from nacre.runs.runs import append_note, note_line

HOW: Final = "command"
"""Authentication method of a user who ran a command, in the audit log."""


class JobBooks(NamedTuple):
    """The books that have jobs by their directories.

    Attributes:
        labels: Names and tags of jobs.
        quotas: Bytes that jobs may use.
        wanted: Kinds of URLs of which no banner warns.
        removals: Jobs that were removed from the console.
        schedules: When runs begin.
    """

    labels: LabelBook
    quotas: DiskQuotaBook
    wanted: WantedKindBook
    removals: RemovalBook
    schedules: ScheduleBook

    def move(self, before: str, after: Path) -> None:
        """Keep the name, the tags, the quota and the wanted kinds of a job that was moved.

        Args:
            before: Its former directory.
            after: Its new directory.
        """
        self.labels.move(before, str(after))
        self.quotas.move(before, str(after))
        self.wanted.move(before, str(after))
        self.removals.drop(str(after))  # of another job, whose directory is gone

    def forget(self, job: FoundJob) -> None:
        """Drop the name, the tags, the quota and the wanted kinds of a job that was deleted."""
        self.labels.set(job, NONE)
        self.quotas.set(str(job.layout.root), 0)
        self.wanted.set(job, ())


class ConsoleBooks:
    """The books of a console.

    Args:
        folder: Folder of the console's own files.
        clock: The time.

    Raises:
        StorageError: The database cannot be used.

    Attributes:
        labels: Names and tags of jobs.
        quotas: Bytes that jobs may use.
        removals: Jobs that were removed from the console.
        wanted: Kinds of URLs of which no banner warns.
        schedules: When runs begin.
        webhooks: Who is notified of what happens.
        places: Places that were added.
        who: Name of the user who runs the command.
    """

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._database = ConsoleDatabase(folder)
        self.labels = LabelBook(self._database)
        self.quotas = DiskQuotaBook(self._database)
        self.removals = RemovalBook(self._database)
        self.wanted = WantedKindBook(self._database)
        self.schedules = ScheduleBook(self._database, clock)
        self.webhooks = WebhookBook(self._database, clock)
        self.places = PlaceBook(self._database)
        self.who = user_name()

    @property
    def of_jobs(self) -> JobBooks:
        """The books that have jobs by their directories."""
        return JobBooks(self.labels, self.quotas, self.wanted, self.removals, self.schedules)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._clock.now()

    @property
    def is_served(self) -> bool:
        """Whether a console runs with these files."""
        return running_console(self._folder) is not None

    def homes(self) -> list[JobPlace]:
        """The places of the console that was started last, and those that were added."""
        return list(self.places.served())

    def jobs(self) -> list[FoundJob]:
        """The jobs of these places, removed ones among them."""
        return find_jobs(self.homes())

    def job(self, directory: Path) -> FoundJob:
        """A job as the console knows it; one in none of its places as if it were one by itself.

        Args:
            directory: Its directory, however it is written; or its id.

        Raises:
            JobError: It is no job.
        """
        jobs = self.jobs()
        # An id comes first: as a path it can be longer than a path may be.
        for job in jobs:
            if job.id == str(directory):
                return job
        Layout(directory).require()
        for job in jobs:
            if _is_same(job.layout.root, directory):
                return job
        return find_jobs(places_of([directory]))[0]

    def home(self, label: str) -> JobPlace:
        """A place for new jobs.

        Args:
            label: Its label; "" for the first one.

        Raises:
            JobError: There is none.
        """
        places = [place for place in self.homes() if not place.job]
        for place in places:
            if label in {"", place.label}:
                return place
        labels = place_names([place.label for place in places])
        raise JobError(
            message(
                "console.no-place-for-jobs",
                "there is no place {label!r} for jobs; there are: {names}",
                label=label,
                names=labels,
            )
        )

    def require_places(self, labels: Sequence[str]) -> None:
        """Refuse labels of which no place has one.

        Raises:
            JobError: There is one.
        """
        self.places.require(labels)

    def require_rest(self, job: FoundJob) -> None:
        """Refuse a job that a process works on, or soon will.

        Raises:
            JobError: It runs, waits for its next pass, or waits for its start.
        """
        layout = job.layout
        again = find_recurring(layout)
        waits = again is not None and again.waits
        rows = self._database.rows("SELECT 1 FROM starts WHERE path = ?", str(layout.root))
        if is_running(layout.socket) or waits or rounds_run(layout):
            raise JobError(
                message(
                    "console.job-runs-elsewhere",
                    "{id} is running: stop it first with `nacre stop {root}`",
                    id=job.id,
                    root=layout.root,
                )
            )
        if rows:
            raise JobError(
                message(
                    "console.job-waits-for-start",
                    "{id} waits for its start: stop it in the console first",
                    id=job.id,
                )
            )

    def note(self, command: str, job: FoundJob | None, before: Any, after: Any) -> None:  # noqa: ANN401 - JSON
        """Write a change to the audit log, and to the log of the job that it is about.

        Args:
            command: The command without its arguments, such as `nacre console schedule add`.
            job: The job; None for none.
            before: What was changed, before; None for nothing.
            after: The same after it; None for nothing.

        Raises:
            StorageError: The audit log cannot be written.
        """
        time = iso_millis(self.now())
        entry = AuditEntry(
            time, self.who, HOW, "", command, 0, "done", job=job.id if job else "",
            before=before, after=after,
        )  # fmt: skip
        path = self._folder / FILE
        try:
            append_lines(path, line_of(entry))
        except OSError as error:
            raise StorageError(
                message(
                    "console.file-unwritable",
                    "{path} cannot be written: {strerror}",
                    path=path,
                    strerror=error.strerror,
                )
            ) from error
        if job is not None:
            append_note(job.layout.root, note_line(time, "INFO", audit_text(entry)))


def _is_same(first: Path, second: Path) -> bool:
    """Whether two paths lead to one directory; one that is gone meanwhile leads nowhere."""
    try:
        return first.samefile(second)
    except OSError:
        return False
