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
    """The records that refer to jobs by their directories.

    Attributes:
        labels: Names and tags of jobs.
        quotas: Bytes that jobs may use.
        muted_warnings: Kinds of URLs of which no banner warns.
        removals: Jobs that were removed from the console.
        schedules: When runs begin.
    """

    labels: LabelBook
    quotas: DiskQuotaBook
    muted_warnings: WantedKindBook
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
        self.muted_warnings.move(before, str(after))
        self.removals.drop(str(after))  # of another job, which no longer exists

    def forget(self, job: FoundJob) -> None:
        """Drop the name, the tags, the quota and the wanted kinds of a job that was deleted."""
        self.labels.set(job, NONE)
        self.quotas.set(str(job.layout.root), 0)
        self.muted_warnings.set(job, ())


class ConsoleBooks:
    """The records of a console.

    Args:
        folder: The console's folder.
        clock: The time.

    Raises:
        StorageError: The database cannot be used.

    Attributes:
        labels: Names and tags of jobs.
        quotas: Bytes that jobs may use.
        removals: Jobs that were removed from the console.
        wanted: Kinds of URLs of which no banner warns.
        schedules: When runs begin.
        webhooks: The webhooks and their deliveries.
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
        """The records that refer to jobs by their directories."""
        return JobBooks(self.labels, self.quotas, self.wanted, self.removals, self.schedules)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def now(self) -> float:
        """Return the present time, seconds since the epoch."""
        return self._clock.now()

    @property
    def is_served(self) -> bool:
        """Whether a console runs with this folder."""
        return running_console(self._folder) is not None

    def homes(self) -> list[JobPlace]:
        """The places of the last started console, and those that were added."""
        return list(self.places.served())

    def jobs(self) -> list[FoundJob]:
        """The jobs of these places, including removed jobs."""
        return find_jobs(self.homes())

    def job(self, directory: Path) -> FoundJob:
        """Return a job as the console knows it; a job outside all places is a place by itself.

        Args:
            directory: Path of its directory in any form, or its id.

        Raises:
            JobError: There is no such job.
        """
        jobs = self.jobs()
        # Try the id first: as a path, an id can be too long.
        for job in jobs:
            if job.id == str(directory):
                return job
        Layout(directory).require()
        for job in jobs:
            if _is_same(job.layout.root, directory):
                return job
        return find_jobs(places_of([directory]))[0]

    def home(self, label: str) -> JobPlace:
        """Return a place for new jobs.

        Args:
            label: Label of the place; "" for the first place.

        Raises:
            JobError: There is no such place.
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
        """Refuse labels that no place has.

        Raises:
            JobError: A label is unknown.
        """
        self.places.require(labels)

    def require_rest(self, job: FoundJob) -> None:
        """Refuse a job that runs or is about to run.

        Raises:
            JobError: The job runs, or waits for its start or its next pass.
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
            before: The value before the change; None for none.
            after: The value after the change; None for none.

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
    """Whether two paths lead to the same directory; False if one does not exist."""
    try:
        return first.samefile(second)
    except OSError:
        return False
