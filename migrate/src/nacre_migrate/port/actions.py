"""The actions of Heritrix's interface on jobs: build, launch, pause, delete, and so on.

A job is built by a check, and remembered as built until it is torn down; a launch is a process of
its own (`nacre run`), which outlives the console.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from nacre.errors import JobError, NacreError
from nacre.fleet.job_books import require_quota
from nacre.fleet.job_folders import require_never_ran
from nacre.fleet.launch import StartedProcess, lay_pause, start_process
from nacre.fleet.places import PROFILE, FoundJob, JobPlace
from nacre.fleet.reach import PortOptions
from nacre.fleet.refusals import not_found
from nacre.fleet.requester import Requester
from nacre.fleet.snapshot import UNREADABLE
from nacre.job.background.checkpoints import list_checkpoints
from nacre.job.control import NotRunningError, ask_command
from nacre.job.overview import JobOverview
from nacre.machine.layout import Layout
from nacre.web.port import PortParts
from nacre_migrate.port.conversion import ask_reader, config_of, convert, is_profile, note
from nacre_migrate.port.files import launch_of, page_of
from nacre_migrate.port.model import OVER, READY, UNBUILT, HeritrixJobFacts

_PATIENCE: Final = 60.0
_SHORT: Final = 5.0
"""Seconds that a job may take to begin an action, and to return its numbers."""
_STOP: Final = 3.0
"""Seconds that a teardown waits for the end of a run, as theirs does."""
_LOOK: Final = 0.1


class _Context:
    """A built job: its process, its launch since and the checkpoint of that, its last state."""

    def __init__(self) -> None:
        self.launched = False
        self.checkpoint = ""
        self.last_state = ""
        self.overview: JobOverview | None = None
        self.process: StartedProcess | None = None

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.code() is None


class BuiltJobs:
    """The jobs that are built, and the actions that wait for them; shared by all requests."""

    def __init__(self) -> None:
        self.contexts: dict[Path, _Context] = {}
        self.resuming: dict[Path, str] = {}
        """Who asked for each unpause that is still to be sent."""


class HeritrixJobs:
    """The jobs of the console as a user sees and steers them by Heritrix's interface.

    Args:
        parts: The parts of the console that the port uses.
        options: The options of the port.
        built: The jobs that are built.
        requester: The user of the request.
    """

    def __init__(
        self,
        parts: PortParts,
        options: PortOptions,
        built: BuiltJobs,
        requester: Requester,
    ) -> None:
        self._parts = parts
        self._requester = requester
        self._options = options
        self._contexts = built.contexts
        self._resuming = built.resuming

    # ---- which jobs there are

    @property
    def directory(self) -> Path:
        """The directory in which jobs are made.

        Raises:
            JobError: There is none: single jobs are shown only.
        """
        roots = self._directories()
        if not roots:
            raise JobError("no directory for new jobs: start `nacre console DIR` with one")
        return roots[0]

    @property
    def shown_directory(self) -> str:
        """The same, as it is shown; "" if there is none."""
        return next(map(str, self._directories()), "")

    def _directories(self) -> list[Path]:
        return [place.root for place in self.places if not place.job]

    @property
    def places(self) -> list[JobPlace]:
        """The places that the user sees."""
        return [place for place in self._parts.fleet.places if self._requester.sees(place.label)]

    def all(self) -> dict[str, FoundJob]:
        """The jobs by their short names: the name of the directory, or the id where two share it.

        Only those that the user sees: all other methods find jobs by this one.

        A batch crawl has no runs that could be launched, and is left out.
        """
        visible = [job for job in self._parts.fleet.jobs if self._requester.sees(job.place)]
        jobs = [job for job in visible if not job.layout.in_rounds]
        names = [job.name for job in jobs]
        return {job.name if names.count(job.name) == 1 else job.id: job for job in jobs}

    def job(self, name: str) -> FoundJob:
        """The job of a short name.

        Raises:
            RefusedRequestError: There is none (404).
        """
        match = self.all().get(name)
        if match is None:
            raise not_found("job", name)
        return match

    async def rescan(self) -> None:
        """Look for jobs."""
        await self._parts.fleet.scan()

    async def facts(self, name: str, base: str, *, logs: bool = True) -> HeritrixJobFacts:
        """The facts about a job.

        Args:
            name: Its short name.
            base: URL of the engine.
            logs: With the ends of its logs, and the size of its archive.
        """
        job = self.job(name)
        snapshot = await self._parts.poller.fresh(job)
        root, layout = job.layout.root, job.layout
        context = self._contexts.get(root)
        if snapshot.running and (context is None or not context.launched):
            context = self._contexts.setdefault(root, _Context())
            context.launched = True
        state, ended, overview = UNBUILT, "", snapshot.overview
        if context is not None:
            if snapshot.state != UNREADABLE:
                context.last_state, context.overview = snapshot.state, overview
            # A job that is too busy to answer is as it was: clients know no other states.
            last, overview = context.last_state or "RUNNING", context.overview
            state, ended = _state_of(context, last, running=snapshot.running)
        runs = _runs(layout)
        run = latest_run(layout)
        config = config_of(root)
        facts = HeritrixJobFacts(
            name, str(root), base, config, config == PROFILE or is_profile(root), state, ended,
            launch_of(run), str(layout.run(run)) if run else "", len(runs),
            overview.started if overview is not None else 0.0,
            overview, snapshot.rate, snapshot.bytes_rate,
            checkpoint=context.checkpoint if context is not None else "",
        )  # fmt: skip
        if not logs:
            return facts
        if snapshot.running and facts.is_running:
            facts = await _with_toes(facts, layout)
        return await asyncio.to_thread(_with_logs, facts, layout)

    # ---- life of a job

    async def delete(self, name: str) -> str:
        """Delete a job that never ran.

        Raises:
            JobError: It ran: its archive is never deleted here; or it is built.
        """
        layout = self.job(name).layout
        if layout.root in self._contexts:
            raise JobError("Job has application context. Teardown required.")
        require_never_ran(layout)
        await asyncio.to_thread(shutil.rmtree, layout.root)
        await self.rescan()
        return f"Deleted {name}"

    async def build(self, name: str) -> str:
        """Check a job; return the message for the user, "" if it is built.

        Raises:
            JobError: It has problems, which are in its log.
        """
        layout = self.job(name).layout
        if layout.root in self._contexts:
            return ""
        config = config_of(layout.root)
        if config == PROFILE or is_profile(layout.root):
            raise JobError(f"{name} is a profile: copy it")
        problems: list[str] = []
        if config != layout.config.name:
            problems = await convert(self._parts, layout, config, self._requester)
        if not problems:
            answer = await ask_reader(self._parts, layout, "check")
            problems = list(answer["problems"])
            for warning in answer["warnings"]:
                note(self._parts, layout, "WARNING", warning)
        for problem in problems:
            note(self._parts, layout, "SEVERE", problem)
        if problems:
            raise JobError(f"{len(problems)} problems keep {name} from starting: {problems[0]}")
        self._contexts[layout.root] = _Context()
        note(self._parts, layout, "INFO", "Job instantiated")
        return ""

    async def launch(self, name: str, by: str, checkpoint: str = "") -> str:
        """Start a job, paused; return the message for the user.

        Args:
            name: Its short name.
            by: Who asks, for its log.
            checkpoint: The checkpoint that it goes back to; "" for none.

        Raises:
            JobError: It cannot be launched now, or has problems.
            RefusedRequestError: A quota of disk space is used up (409).
        """
        job = self.job(name)
        layout = job.layout
        facts = await self.facts(name, "", logs=False)
        if facts.is_running:
            raise JobError("Can't relaunch running job")
        if not facts.is_launchable:
            raise JobError("Can't relaunch previously-launched assembled job: teardown first")
        await require_quota(self._parts.quotas, job)
        await self.build(name)
        back = _checkpoint_of(layout, checkpoint)
        arguments = await self._next_run(job, back)
        if not self._options.runs_at_once:
            lay_pause(layout)
        context = self._contexts[layout.root]
        words = [*arguments, "--quiet", "--by", by]
        context.process = await asyncio.to_thread(start_process, layout.root, words)
        context.launched, context.checkpoint = True, back
        await self._parts.poller.look(job)
        return f"Launched {name}"

    async def _next_run(self, job: FoundJob, checkpoint: str) -> list[str]:
        """The command that starts the next run of a job."""
        layout = job.layout
        if checkpoint:
            return ["run", str(layout.root), "--checkpoint", checkpoint]
        if not layout.has_store:
            return ["run", str(layout.root)]
        await self._parts.poller.look(job)
        state = self._parts.poller.snapshot(job).state
        if state == READY or (self._options.resumes and not state.startswith("FINISHED")):
            return ["run", str(layout.root)]
        ended = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "nacre", "end", str(layout.root),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        # A run that was planned and has not begun is not ended, but begun.
        if await ended.wait():
            return ["run", str(layout.root)]
        return ["recrawl", str(layout.root), "--full"]

    async def pause(self, name: str, by: str) -> str:
        """Pause a job."""
        await self._send(self.job(name), "pause", by)
        return ""

    async def unpause(self, name: str, by: str) -> str:
        """Let a job crawl, also one that has not begun yet."""
        job = self.job(name)
        (job.layout.control / "pause").unlink(missing_ok=True)
        context = self._contexts.get(job.layout.root)
        try:
            await ask_command(job.layout.socket, "resume", _SHORT, by=by)
        except NacreError as error:
            alive = context is not None and context.is_alive
            if isinstance(error, NotRunningError) and not alive:
                raise
            # It starts, or is too busy to answer now: theirs does not wait either.
            self._resuming[job.layout.root] = by
        await self._parts.poller.look(job)
        return ""

    async def finish_unpause(self, name: str) -> None:
        """Send an unpause that the job could not take yet, once it answers."""
        job = self.job(name)
        by = self._resuming.pop(job.layout.root, None)
        if by is None:
            return
        try:
            await self._send(job, "resume", by)
        except NacreError as error:
            note(self._parts, job.layout, "SEVERE", f"unpause: {error}")

    async def checkpoint(self, name: str, by: str) -> str:
        """Make a checkpoint; return the message for the user."""
        checkpoint_name = await self._send(self.job(name), "checkpoint", by)
        if not checkpoint_name:
            return "Checkpoint not made -- perhaps no progress since last? (see logs)"
        note(self._parts, self.job(name).layout, "INFO", f"CHECKPOINTED {checkpoint_name}")
        return f"Checkpoint {checkpoint_name} saved"

    async def terminate(self, name: str, by: str) -> str:
        """Stop a job; URIs in process are finished."""
        await self._send(self.job(name), "stop", by)
        return ""

    async def teardown(self, name: str, by: str) -> str:
        """Forget that a job was built; one that runs is stopped, and must end first."""
        job = self.job(name)
        facts = await self.facts(name, "", logs=False)
        if facts.is_running:
            with suppress(JobError):
                await self._send(job, "stop", by)
            (job.layout.control / "pause").unlink(missing_ok=True)
            if not await self._ends(job):
                return "waiting for job to finish"
        if self._contexts.pop(job.layout.root, None) is not None:
            (job.layout.control / "pause").unlink(missing_ok=True)
            note(self._parts, job.layout, "INFO", "Job instance discarded")
        await self._parts.poller.look(job)
        return ""

    async def _ends(self, job: FoundJob) -> bool:
        """Whether a job ends within the time that a teardown waits."""
        context = self._contexts.get(job.layout.root)
        clock = self._parts.clock
        until = clock.monotonic() + _STOP
        while clock.monotonic() < until:
            alive = context is not None and context.is_alive
            if not alive:
                await self._parts.poller.look(job)
                if not self._parts.poller.snapshot(job).running:
                    return True
            await clock.sleep(_LOOK)
        return False

    async def _send(self, job: FoundJob, command: str, by: str) -> str:
        """Send a command; one that comes while the job starts waits until it answers.

        Args:
            job: The job.
            command: The command.
            by: Who asks, for its log.

        Raises:
            JobError: It does not run, or refuses.
        """
        context = self._contexts.get(job.layout.root)
        clock = self._parts.clock
        until = clock.monotonic() + _PATIENCE / 2
        while True:
            try:
                answer = await ask_command(job.layout.socket, command, _PATIENCE, by=by)
            except NotRunningError:
                starts = context is not None and context.is_alive
                if not starts or clock.monotonic() > until:
                    raise
                await clock.sleep(_LOOK)
            else:
                await self._parts.poller.look(job)
                return str(answer.get("name", ""))


class JobDesk:
    """Serves the requests of a user about jobs.

    Args:
        parts: The parts of the console that the port uses.
        jobs: The jobs that there are.
        requester: The user of the request.
    """

    def __init__(self, parts: PortParts, jobs: HeritrixJobs, requester: Requester) -> None:
        self._parts = parts
        self._jobs = jobs
        self._requester = requester


def _state_of(context: _Context, last: str, *, running: bool) -> tuple[str, str]:
    """State of the controller and how its run ended, of a built job."""
    if not context.launched:
        return READY, ""
    if running:  # its last moments are STOPPING: a script reads how it ended once it is over
        return "STOPPING" if last == OVER else last, ""
    if context.is_alive:
        return "PREPARING", ""
    if last == READY:  # it ended before its run began: the log says why
        return READY, ""
    return OVER, last


def _runs(layout: Layout) -> list[str]:
    try:
        return sorted(os.listdir(layout.root / "runs"))  # noqa: PTH208 - names
    except OSError:
        return []


def latest_run(layout: Layout) -> str:
    """Name of the last run of a job; "" before the first."""
    try:
        return layout.latest.readlink().name
    except OSError:
        return ""


def _checkpoint_of(layout: Layout, requested: str) -> str:
    """The name of a checkpoint that is to be gone back to; "" where none is.

    Raises:
        JobError: There is none of that name.
    """
    if not requested:
        return ""
    names = [checkpoint.name for checkpoint in list_checkpoints(layout)]
    name = names[-1] if requested == "latest" and names else requested
    if name not in names:
        raise JobError(f"there is no checkpoint {requested!r}")
    return name


def job_log(layout: Layout) -> list[str]:
    """The lines of the log of a job: the actions on it, and the log of its last run."""
    lines: list[tuple[str, str]] = []
    for path in (layout.root / "job.log", layout.latest / "logs" / "job.log"):
        with suppress(OSError):
            lines += [(line[:24], line) for line in path.read_text("utf-8", "replace").splitlines()]
    return [line for _, line in sorted(lines, key=lambda pair: pair[0])]


async def _with_toes(facts: HeritrixJobFacts, layout: Layout) -> HeritrixJobFacts:
    """The facts with the steps of the fetches and the depths of queues, where the job answers."""
    try:
        toes = await ask_command(layout.socket, "toes", _SHORT)
        status = await ask_command(layout.socket, "status", _SHORT)
    except NacreError:
        return facts
    steps = Counter(str(toe["step"]) for toe in toes["toes"])
    return replace(facts, steps=steps, counts=status.get("counts"))


def _with_logs(facts: HeritrixJobFacts, layout: Layout) -> HeritrixJobFacts:
    lines: tuple[str, ...] = ()
    with suppress(OSError):
        if facts.is_built and not facts.is_launchable:
            lines = page_of(layout.latest / "logs" / "crawl.log", -1, -10).lines
    size = 0
    with suppress(OSError):
        size = sum(file.stat().st_size for file in (layout.latest / "archive").iterdir()
                   if ".warc" in file.name)  # fmt: skip
    return replace(
        facts,
        job_log=tuple(reversed(job_log(layout)[-5:])),
        crawl_log=tuple(reversed(lines)),
        checkpoints=tuple(checkpoint.name for checkpoint in list_checkpoints(layout)),
        on_disk=size,
    )
