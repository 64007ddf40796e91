"""Starts jobs as separate processes, which outlive the console.

A start is queued in the console's database until fewer than `console.max_running` jobs run. Starts
are two seconds apart. The entry is removed from the queue before the process is created: a console
that is killed in between starts a job at most once.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, Protocol

import msgspec

from nacre.core.clock import Clock
from nacre.errors import JobError, NacreError
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.places import Fleet, FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.machine.layout import Layout
from nacre.machine.local_files import close_to_others, make_private, read_ordinary
from nacre.messages import message
from nacre.report.escape import flat

SPACING: Final = 2.0
"""Seconds between two starts, as each job first reads its store and its settings."""
LOOK: Final = 0.5
"""Seconds between two checks of the queue and of the started processes."""
LARGEST: Final = 1_000_000
"""Bytes of `state/console.out` after which the file is started again."""
_TAIL: Final = 1500
_FAILED: Final = frozenset((1, 2))
"""Exit codes of a process that could not run its job; all others are outcomes of a run."""

LaunchStep = Literal["queued", "starting", "failed"]


class LaunchFacts(msgspec.Struct, frozen=True):
    """The start of a job that does not answer yet.

    Attributes:
        step: The start is queued, its process begins, or the process ended with an error.
        place: Position in the queue, from 1; 0 if it is not queued.
        text: The end of the output of a failed process; "" otherwise.
    """

    step: LaunchStep
    place: int = 0
    text: str = ""


class StartedProcess:
    """A started process, and the offset of its output.

    The process outlives the console, at whose end the object of `subprocess` would warn about it.

    Args:
        process: The process.
        offset: Byte offset of its output in the output file.

    Attributes:
        offset: As given.
        answered: It answered as a running job.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", offset: int) -> None:
        self._pid = process.pid
        self._code: int | None = None
        process.returncode = 0
        self.offset = offset
        self.answered = False

    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        if self._code is None:
            with suppress(ChildProcessError):
                pid, status = os.waitpid(self._pid, os.WNOHANG)
                if pid:
                    self._code = os.waitstatus_to_exitcode(status)
        return self._code


class JobWatch(Protocol):
    """The part of the poller that a start needs.

    Attributes:
        begun: Directories of jobs whose process was started and has not answered yet.
    """

    begun: set[str]

    async def look(self, job: FoundJob) -> None:
        """Poll a job now."""

    def is_running(self, job: FoundJob) -> bool:
        """Whether a job ran at its last poll."""


class Launcher:
    """Starts jobs in the order of the requests.

    Args:
        fleet: The jobs.
        watch: Reports which jobs run.
        database: Stores the queued starts.
        clock: The time.
        most: Maximum number of concurrent jobs, including jobs that were started elsewhere.
    """

    def __init__(
        self, fleet: Fleet, watch: JobWatch, database: ConsoleDatabase, clock: Clock, most: int
    ) -> None:
        self._fleet = fleet
        self._watch = watch
        self._database = database
        self._clock = clock
        self.most = most
        self._last = -SPACING
        self._started: dict[str, StartedProcess] = {}
        self._failed: dict[str, str] = {}

    def facts(self, job: FoundJob) -> LaunchFacts | None:
        """Return the start of a job; None if the job runs or was not started."""
        path = str(job.layout.root)
        waiting = [row[0] for row in self._rows()]
        if path in waiting:
            return LaunchFacts("queued", waiting.index(path) + 1)
        started = self._started.get(path)
        if started is not None and not started.answered:
            return LaunchFacts("starting")
        if path in self._failed:
            return LaunchFacts("failed", text=self._failed[path])
        return None

    def _rows(self) -> list[tuple[str, str]]:
        rows = self._database.rows("SELECT path, arguments FROM starts ORDER BY number")
        return [(str(path), str(arguments)) for path, arguments in rows]

    async def order(
        self, job: FoundJob, arguments: Sequence[str], *, paused: bool = False
    ) -> LaunchFacts:
        """Queue the start of a job; it starts at once if the limit allows it.

        Args:
            job: The job.
            arguments: The command of Nacre, such as `run DIR`.
            paused: The job waits for `resume`; False also cancels the pause of an earlier start.

        Raises:
            RefusedRequestError: The job is already being started (409).
            JobError: The pause file cannot be created or removed.
            StorageError: The console's database cannot be written.
        """
        facts = self.facts(job)
        if facts is not None and facts.step != "failed":
            raise RefusedRequestError(
                409,
                "starting",
                message("console.job-starting", "{id} is being started already", id=job.id),
            )
        if paused:
            lay_pause(job.layout)
        else:
            lift_start_pause(job.layout)
        path = str(job.layout.root)
        self._failed.pop(path, None)
        self._database.rows(
            "INSERT INTO starts (path, arguments, asked) VALUES (?, ?, ?)",
            path, json.dumps(list(arguments)), self._clock.now(),
        )  # fmt: skip
        await self.turn()
        return self.facts(job) or LaunchFacts("starting")

    def withdraw(self, job: FoundJob) -> bool:
        """Remove a job from the queue; return False if it is not queued.

        Raises:
            JobError: The pause file cannot be removed.
        """
        path = str(job.layout.root)
        if not self._database.rows("DELETE FROM starts WHERE path = ? RETURNING path", path):
            return False
        lift_start_pause(job.layout)
        return True

    async def run(self) -> None:
        """Start queued jobs until cancelled."""
        while True:
            await self.turn()
            await self._clock.sleep(LOOK)

    async def turn(self) -> None:
        """Check the started processes, and start the next job if the limit allows it."""
        await self._look()
        mono = self._clock.monotonic()
        if mono - self._last < SPACING or self.running() >= self.most:
            return
        rows = self._rows()
        if not rows:
            return
        path, arguments = rows[0]
        self._last = mono
        self._database.rows("DELETE FROM starts WHERE path = ?", path)
        self._watch.begun.add(path)
        try:
            self._started[path] = await asyncio.to_thread(
                start_process, Path(path), json.loads(arguments)
            )
        except BaseException as error:
            # After a cancellation nothing waits for the process; its answers show that it runs.
            self._watch.begun.discard(path)
            if not isinstance(error, JobError):
                raise
            self._note_failure(path, str(error))

    def running(self) -> int:
        """Return the number of jobs that run or are starting."""
        ours = {path for path, process in self._started.items() if process.code() is None}
        running = {str(job.layout.root) for job in self._fleet.jobs if self._watch.is_running(job)}
        others_running = running - set(self._started)
        return len(ours | others_running)

    async def _look(self) -> None:
        """Note which started processes answer, and which have ended."""
        jobs = {str(job.layout.root): job for job in self._fleet.jobs}
        for path, process in list(self._started.items()):
            job, code = jobs.get(path), process.code()
            if code is not None:  # the next check reports how its run ended
                self._watch.begun.discard(path)
            if job is not None and (not process.answered or code is not None):
                await self._watch.look(job)
                process.answered = process.answered or self._watch.is_running(job)
                if process.answered:
                    self._watch.begun.discard(path)
            if code is None:
                continue
            self._started.pop(path, None)
            if code in _FAILED or (code < 0 and not process.answered):
                text = _last_output(Layout(Path(path)), process.offset) or f"exit code {code}"
                self._note_failure(path, text)

    def _note_failure(self, path: str, text: str) -> None:
        """Keep why a start failed; the next one is another start, by whomever."""
        self._failed[path] = text
        with suppress(JobError):  # the next start here tries it again, and says so
            lift_start_pause(Layout(Path(path)))


def start_process(root: Path, arguments: Sequence[str]) -> StartedProcess:
    """Start a process in its own session, without open files of the console.

    Args:
        root: Directory of the job.
        arguments: The command of Nacre, such as `run DIR`.

    Raises:
        JobError: The process cannot be started.
    """
    layout = Layout(root)
    path = output_of(layout)
    try:
        make_private(layout.state)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        try:
            if os.fstat(handle).st_size > LARGEST:
                os.ftruncate(handle, 0)
            offset = os.fstat(handle).st_size
            process = subprocess.Popen(  # noqa: S603 - arguments are paths of jobs and our own words
                [*scope_of(os.environ), sys.executable, "-m", "nacre", *arguments],
                stdin=subprocess.DEVNULL, stdout=handle, stderr=handle, start_new_session=True,
            )  # fmt: skip
        finally:
            os.close(handle)
    except (OSError, NacreError) as error:
        raise JobError(
            message(
                "console.start-failed", "{root} cannot be started: {error}", root=root, error=error
            )
        ) from error
    return StartedProcess(process, offset)


def scope_of(environ: Mapping[str, str]) -> list[str]:
    """Return the command prefix that starts a process in its own systemd scope; [] for none.

    When a service ends, systemd kills all processes of its control group, even those in a new
    session. The console runs as a service if INVOCATION_ID is set. If `systemd-run` or its bus is
    not available, the unit needs `KillMode=process`.
    """
    program = shutil.which("systemd-run", path=environ.get("PATH"))
    if program is None or "INVOCATION_ID" not in environ:
        return []
    if os.getuid() == 0:
        return [program, "--scope", "--quiet", "--collect"]
    bus = Path(environ.get("XDG_RUNTIME_DIR", "/nonexistent")) / "bus"
    return [program, "--user", "--scope", "--quiet", "--collect"] if bus.exists() else []


def output_of(layout: Layout) -> Path:
    """Return the file with the output of the processes that a console started for a job."""
    return layout.state / "console.out"


def _last_output(layout: Layout, offset: int) -> str:
    """Return the end of a process's output, in one line."""
    with suppress(OSError), output_of(layout).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(offset, size - _TAIL))
        return flat(file.read().decode("utf-8", "replace")).strip()
    return ""


_START: Final = "a start that waits for resume\n"
"""Content of the pause file that the console creates; a file with other content is a user's."""


def lay_pause(layout: Layout) -> None:
    """Create a pause file, so that the next start of a job waits for `resume`.

    Raises:
        JobError: The file cannot be made.
    """
    lay(layout, "pause", _START)


def lift_start_pause(layout: Layout) -> None:
    """Delete the pause file of `lay_pause`; a pause file that a user created stays.

    Raises:
        JobError: It cannot be removed.
    """
    try:
        is_ours = read_ordinary(layout.control / "pause", len(_START)) == _START.encode()
    except OSError:  # there is none, or it is longer than ours
        return
    if is_ours:
        lift_pause(layout)


def lift_pause(layout: Layout) -> None:
    """Take the file away that has a job wait, if it is there.

    Raises:
        JobError: It cannot be removed.
    """
    lift(layout, "pause")


def lay(layout: Layout, name: str, text: str = "") -> None:
    """Make a file in `control`, which a job looks for; one that is there stays as it is.

    Args:
        layout: The job.
        name: Name of the file.
        text: What it says.

    Raises:
        JobError: The file cannot be made.
    """
    try:
        layout.control.mkdir(0o700, exist_ok=True)
        close_to_others(layout.control, 0o700)
        with suppress(FileExistsError), (layout.control / name).open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise JobError(
            message(
                "console.control-not-created",
                "{control}/{name} cannot be made: {strerror}",
                control=layout.control,
                name=name,
                strerror=error.strerror,
            )
        ) from error


def lift(layout: Layout, name: str) -> None:
    """Take a file of `control` away, if it is there.

    Raises:
        JobError: It cannot be removed.
    """
    try:
        (layout.control / name).unlink(missing_ok=True)
    except OSError as error:
        raise JobError(
            message(
                "console.control-not-removed",
                "{control}/{name} cannot be removed: {strerror}",
                control=layout.control,
                name=name,
                strerror=error.strerror,
            )
        ) from error
