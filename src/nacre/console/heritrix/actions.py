"""The actions of Heritrix's interface on jobs: create, build, launch, pause, and so on.

A job is built by a check, and remembered as built until it is torn down; a launch is a process of
its own (`nacre run`), which outlives the console.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from nacre.console.actions import require_quota
from nacre.console.fleet.forgetting import require_never_ran
from nacre.console.fleet.launch import StartedProcess, lay_pause, start_process
from nacre.console.fleet.places import FoundJob
from nacre.console.heritrix.files import launch_of, page_of
from nacre.console.heritrix.model import OVER, READY, UNBUILT, HeritrixJobFacts
from nacre.console.job_notes import append_note, note_line
from nacre.console.live.snapshot import UNREADABLE
from nacre.console.problems import not_found
from nacre.console.readers.beans import CXML, PROFILE, TEMPLATE, config_of
from nacre.console.services import ConsoleServices
from nacre.core.clock import iso_millis
from nacre.errors import JobError, NacreError
from nacre.job.control import NotRunningError, ask_command
from nacre.job.overview import JobOverview
from nacre.store.layout import Layout
from nacre.store.local_files import replace_file

_PATIENCE: Final = 60.0
_SHORT: Final = 5.0
"""Seconds that a job may take to begin what is asked, and to tell its numbers."""
_STOP: Final = 3.0
"""Seconds that a teardown waits for the end of a run, as theirs does."""
_LOOK: Final = 0.1
_NAME: Final = 100
"""Characters of a job's name."""


class PortOptions(NamedTuple):
    """The options of Heritrix's port.

    Attributes:
        port: The port; 0 for a free one.
        basic: Basic in place of Digest.
        runs_at_once: A launched job crawls; otherwise it waits for unpause, as theirs does.
        resumes: A launch goes on with a run that was terminated; otherwise it begins a new one.
    """

    port: int
    basic: bool = False
    runs_at_once: bool = False
    resumes: bool = False


class _Context:
    """A built job: its process, whether it was launched since, and how it was seen last."""

    def __init__(self) -> None:
        self.launched = False
        self.seen = ""
        self.overview: JobOverview | None = None
        self.process: StartedProcess | None = None

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.code() is None


class HeritrixJobs:
    """The jobs of the console as Heritrix's interface sees and steers them.

    Args:
        services: The parts of the console.
        options: The options of the port.
    """

    def __init__(self, services: ConsoleServices, options: PortOptions) -> None:
        self._services = services
        self._options = options
        self._contexts: dict[Path, _Context] = {}
        self._resuming: dict[Path, str] = {}
        """Who asked for each unpause that is still to be sent."""

    # ---- which jobs there are

    @property
    def directory(self) -> Path:
        """The directory in which jobs are made.

        Raises:
            JobError: There is none: the console shows single jobs only.
        """
        places = [place.root for place in self._services.fleet.places if not place.job]
        if not places:
            raise JobError("no directory for new jobs: start `nacre console DIR` with one")
        return places[0]

    def all(self) -> dict[str, FoundJob]:
        """The jobs by their short names: the name of the directory, or the id where two share it.

        A batch crawl has no runs that could be launched, and is left out.
        """
        jobs = [job for job in self._services.fleet.jobs if not job.layout.in_rounds]
        names = [job.name for job in jobs]
        return {job.name if names.count(job.name) == 1 else job.id: job for job in jobs}

    def job(self, name: str) -> FoundJob:
        """The job of a short name.

        Raises:
            RefusedRequestError: There is none (404).
        """
        found = self.all().get(name)
        if found is None:
            raise not_found(f"job {name}")
        return found

    async def rescan(self) -> None:
        """Look for jobs."""
        await self._services.fleet.scan()

    async def facts(self, name: str, base: str, *, logs: bool = True) -> HeritrixJobFacts:
        """The facts about a job.

        Args:
            name: Its short name.
            base: URL of the engine.
            logs: With the ends of its logs, and the size of its archive.
        """
        job = self.job(name)
        snapshot = await self._services.poller.fresh(job)
        root, layout = job.layout.root, job.layout
        context = self._contexts.get(root)
        if snapshot.running and (context is None or not context.launched):
            context = self._contexts.setdefault(root, _Context())
            context.launched = True
        state, ended, overview = UNBUILT, "", snapshot.overview
        if context is not None:
            if snapshot.state != UNREADABLE:
                context.seen, context.overview = snapshot.state, overview
            # A job that is too busy to answer is as it was: clients know no other states.
            seen, overview = context.seen or "RUNNING", context.overview
            state, ended = _state_of(context, seen, running=snapshot.running)
        runs = _runs(layout)
        run = latest_run(layout)
        config = config_of(root)
        facts = HeritrixJobFacts(
            name, str(root), base, config, config == PROFILE or _is_profile(root), state, ended,
            launch_of(run), str(layout.run(run)) if run else "", len(runs),
            overview.started if overview is not None else 0.0,
            overview, snapshot.rate, snapshot.bytes_rate,
        )  # fmt: skip
        if not logs:
            return facts
        if snapshot.running and facts.is_running:
            facts = await _with_toes(facts, layout)
        return await asyncio.to_thread(_with_logs, facts, layout)

    # ---- new jobs

    async def create(self, name: str, profile: str = "") -> str:
        """Make a job from a profile, or an empty one; what is said about it.

        Raises:
            JobError: The name is none, taken, or the profile is not known.
        """
        _require_name(name)
        if profile and profile in self.all() and _is_profile(self.job(profile).layout.root):
            return await self.copy(profile, name, as_profile=False)
        if profile not in {"", "default", "defaults"}:
            raise JobError(f"there is no profile {profile!r}")
        root = self._new_directory(name)
        (root / CXML).write_text(TEMPLATE, "utf-8")
        await self._convert(Layout(root), CXML)
        await self.rescan()
        return f"Created new crawl job: {name}"

    def _new_directory(self, name: str) -> Path:
        root = self.directory / name
        try:
            root.mkdir(parents=True)  # the place itself is made with its first job
        except FileExistsError:
            raise JobError(f"Directory exists: {name}") from None
        except OSError as error:
            raise JobError(f"{root} cannot be made: {error.strerror}") from error
        self._services.removals.drop(root)  # it was of another job, whose directory is gone
        return root

    async def add(self, path: str) -> str:
        """Take a directory of Heritrix, or of Nacre, below a place; what is said about it.

        Raises:
            JobError: It is none, another user's, or lies below no place.
        """
        places = [place.root for place in self._services.fleet.places]
        root = await asyncio.to_thread(_directory_below, path, places)
        layout, config = Layout(root), config_of(root)
        if config != layout.config.name:
            await self._convert(layout, config)
        self._services.removals.drop(root)
        await self.rescan()
        if root not in {job.layout.root for job in self._services.fleet.jobs}:
            raise JobError(f"Could not add job: {path!r} holds neither crawl.yaml nor {CXML}")
        return f"Added crawl job: {path!r}"

    async def copy(self, name: str, to: str, *, as_profile: bool) -> str:
        """Copy the files of a job, but no logs and nothing that was crawled.

        Raises:
            JobError: The name is none, or taken.
        """
        _require_name(to)
        source = self.job(name).layout.root
        if as_profile and not any((source / one).is_file() for one in (CXML, PROFILE)):
            raise JobError(f"{name} has no {CXML}, so that it cannot become a profile")
        root = self._new_directory(to)
        for file in source.iterdir():
            if file.is_symlink() or file.name.startswith((".", "job.log")):
                continue
            if file.is_file():
                shutil.copy2(file, root / file.name)
            elif file.name in {"resources", "logins"}:
                shutil.copytree(file, root / file.name, symlinks=True)
        for old, new in ((CXML, PROFILE), (PROFILE, CXML)):
            if as_profile == (new == PROFILE) and (root / old).is_file():
                (root / old).rename(root / new)
                break
        await self.rescan()
        return f"Copied {name} to {to}"

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

    # ---- life of a job

    async def build(self, name: str) -> str:
        """Check a job; what is said about it, "" where it is built.

        Raises:
            JobError: It has problems, which are in its log.
        """
        layout = self.job(name).layout
        if layout.root in self._contexts:
            return ""
        config = config_of(layout.root)
        if config == PROFILE or _is_profile(layout.root):
            raise JobError(f"{name} is a profile: copy it")
        problems: list[str] = []
        if config != layout.config.name:
            problems = await self._convert(layout, config)
        if not problems:
            found = await self._ask(layout, "check")
            problems = list(found["problems"])
            for warning in found["warnings"]:
                self.note(layout, "WARNING", warning)
        for problem in problems:
            self.note(layout, "SEVERE", problem)
        if problems:
            raise JobError(f"{len(problems)} problems keep {name} from starting: {problems[0]}")
        self._contexts[layout.root] = _Context()
        self.note(layout, "INFO", "Job instantiated")
        return ""

    async def _convert(self, layout: Layout, config: str) -> list[str]:
        """Convert the beans of a job; the problems."""
        found = await self._ask(layout, "convert-beans", file=config)
        for line in found["advice"]:
            self.note(layout, "WARNING", line)
        return list(found["problems"])

    async def _ask(self, layout: Layout, task: str, **arguments: object) -> dict[str, list[str]]:
        found: dict[str, list[str]] = await self._services.readers.ask(
            task, layout.root, _PATIENCE, **arguments
        )
        return found

    async def launch(self, name: str, by: str, checkpoint: str = "") -> str:
        """Start a job, paused; what is said about it.

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
        await require_quota(self._services, job)
        await self.build(name)
        arguments = await self._next_run(job, checkpoint)
        if not self._options.runs_at_once:
            lay_pause(layout)
        context = self._contexts[layout.root]
        words = [*arguments, "--quiet", "--by", by]
        context.process = await asyncio.to_thread(start_process, layout.root, words)
        context.launched = True
        await self._services.poller.look(job)
        return f"Launched {name}"

    async def _next_run(self, job: FoundJob, checkpoint: str) -> list[str]:
        """The command that starts the next run of a job."""
        layout = job.layout
        if checkpoint:
            known = [path.name for path in _checkpoints(layout)]
            if checkpoint != "latest" and checkpoint not in known:
                raise JobError(f"there is no checkpoint {checkpoint!r}")
            return ["run", str(layout.root), "--checkpoint", checkpoint]
        if not layout.has_store:
            return ["run", str(layout.root)]
        await self._services.poller.look(job)
        state = self._services.poller.snapshot(job).state
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
        await self._services.poller.look(job)
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
            self.note(job.layout, "SEVERE", f"unpause: {error}")

    async def checkpoint(self, name: str, by: str) -> str:
        """Make a checkpoint; what is said about it."""
        made = await self._send(self.job(name), "checkpoint", by)
        if not made:
            return "Checkpoint not made -- perhaps no progress since last? (see logs)"
        self.note(self.job(name).layout, "INFO", f"CHECKPOINTED {made}")
        return f"Checkpoint {made} saved"

    async def terminate(self, name: str, by: str) -> str:
        """Stop a job; what is in process is finished."""
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
            self.note(job.layout, "INFO", "Job instance discarded")
        await self._services.poller.look(job)
        return ""

    async def _ends(self, job: FoundJob) -> bool:
        """Whether a job ends within the time that a teardown waits."""
        context = self._contexts.get(job.layout.root)
        clock = self._services.clock
        until = clock.monotonic() + _STOP
        while clock.monotonic() < until:
            alive = context is not None and context.is_alive
            if not alive:
                await self._services.poller.look(job)
                if not self._services.poller.snapshot(job).running:
                    return True
            await clock.sleep(_LOOK)
        return False

    async def _send(self, job: FoundJob, command: str, by: str) -> str:
        """Send a command; one that comes while the job starts waits until it answers.

        Args:
            job: The job.
            command: It.
            by: Who asks, for its log.

        Raises:
            JobError: It does not run, or refuses.
        """
        context = self._contexts.get(job.layout.root)
        clock = self._services.clock
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
                await self._services.poller.look(job)
                return str(answer.get("name", ""))

    async def write(self, layout: Layout, parts: Sequence[str], data: bytes) -> bool:
        """Write a file of a job; True for a new one. Beans become the settings of the job.

        Raises:
            JobError: It cannot be written.
        """
        path = layout.root.joinpath(*parts)
        created = not path.exists()
        try:
            path.parent.mkdir(exist_ok=True)
            if path.is_symlink() or path.parent.is_symlink():
                raise JobError(f"{path.name} is a link")
            await asyncio.to_thread(replace_file, path, data)
        except OSError as error:
            raise JobError(f"{path.name} cannot be written: {error.strerror}") from error
        if path.name == CXML:
            for problem in await self._convert(layout, CXML):
                self.note(layout, "SEVERE", problem)
        return created

    def note(self, layout: Layout, level: str, text: str) -> None:
        """Add a line to the log of a job."""
        append_note(layout.root, note_line(iso_millis(self._services.clock.now()), level, text))


def _state_of(context: _Context, seen: str, *, running: bool) -> tuple[str, str]:
    """State of the controller and how its run ended, of a built job."""
    if not context.launched:
        return READY, ""
    if running:  # its last moments are STOPPING: a script reads how it ended once it is over
        return "STOPPING" if seen == OVER else seen, ""
    if context.is_alive:
        return "PREPARING", ""
    if seen == READY:  # it ended before its run began: the log says why
        return READY, ""
    return OVER, seen


def _directory_below(path: str, places: Sequence[Path]) -> Path:
    """The directory of a path.

    Raises:
        JobError: It is none, another user's, or lies below none of the places.
    """
    root = Path(os.path.realpath(path))
    real = [Path(os.path.realpath(place)) for place in places]
    if not any(root.is_relative_to(place) and root != place for place in real):
        raise JobError(f"{path!r} lies below no directory of this console")
    if not root.is_dir() or root.stat().st_uid != os.getuid():
        raise JobError(f"Cannot add non-directory, or one of another user: {path!r}")
    return root


def _require_name(name: str) -> None:
    if "/" in name:
        raise JobError(f"Sub-directories disallowed: {name!r}")
    if not name or name.startswith((".", "-", "~")) or "~" in name or not name.isprintable():
        raise JobError(f"{name!r} is no name of a job")
    if len(name) > _NAME or "\\" in name or name == "latest":
        raise JobError(f"{name!r} is no name of a job")


def _is_profile(root: Path) -> bool:
    return (root / PROFILE).is_file()


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


def _checkpoints(layout: Layout) -> list[Path]:
    try:
        return sorted(path for path in layout.checkpoints.iterdir() if path.is_dir())
    except OSError:
        return []


def job_log(layout: Layout) -> list[str]:
    """The lines of the log of a job: what was done here, and what its last run says."""
    found: list[tuple[str, str]] = []
    for path in (layout.root / "job.log", layout.latest / "logs" / "job.log"):
        with suppress(OSError):
            found += [(line[:24], line) for line in path.read_text("utf-8", "replace").splitlines()]
    return [line for _, line in sorted(found, key=lambda one: one[0])]


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
        size = sum(one.stat().st_size for one in (layout.latest / "archive").iterdir()
                   if ".warc" in one.name)  # fmt: skip
    return replace(
        facts,
        job_log=tuple(reversed(job_log(layout)[-5:])),
        crawl_log=tuple(reversed(lines)),
        checkpoints=tuple(path.name for path in _checkpoints(layout)),
        on_disk=size,
    )
