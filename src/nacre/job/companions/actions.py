"""The action directory: files put into `JOB/action` are taken in while the job runs.

How far a file is taken in is a row of the store, written in the same commit group as what came of
its lines. So after a crash it goes on with the next line: each is taken once. The report is a log
of the store, too. Source: Heritrix 3, `ActionDirectory`.
"""

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import suppress
from math import inf
from pathlib import Path

import msgspec

from nacre.config.documents import document
from nacre.core.clock import Clock
from nacre.core.stamp import digits17
from nacre.errors import NacreError
from nacre.job.companions.actionfiles import Action, Scanner
from nacre.job.events import ActionTaken, Events
from nacre.job.intake.edits import PORTION, breathe
from nacre.job.intake.intake import Intake, Rejected, Tally
from nacre.job.intake.linefile import DamagedError, LineFile
from nacre.job.session import Session
from nacre.job.states import ExitStatus
from nacre.report.escape import flat
from nacre.store.private import close_to_others
from nacre.store.seam import Disk
from nacre.store.table import delete_row

_FIRST = 10.0
"""Seconds before the first look."""

_TICK = 1.0
"""Between two looks at the clock, seconds: the setting may change, and the crawl may end."""

_NO_SCRIPTS = (
    "scripts are not run: what they do in Heritrix is done by commands (`nacre set`, `nacre "
    "sheet`, `nacre frontier`), by the Python API, or by files of lines in this directory"
)


class Progress(msgspec.Struct):
    """How far a file is taken in; a row of the store.

    Attributes:
        size: Its size when it was begun, bytes.
        changed: When it had been changed by then, nanoseconds since the epoch.
        done_as: Its name among those that are done.
        turn: Number of the pass.
        position: Where the next line begins.
        number: Lines before that.
        tally: What became of the lines.
        over: It is taken in, and has only to be put away.
    """

    size: int
    changed: int
    done_as: str
    turn: int = 0
    position: int = 0
    number: int = 0
    tally: Tally = msgspec.field(default_factory=Tally)
    over: bool = False

    def is_of(self, action: Action) -> bool:
        """Whether it is about this very file, not another of its name."""
        return (self.size, self.changed) == (action.size, action.changed)


class ActionDirectory:
    """Takes the files of one job in, one after the other.

    Args:
        session: The running session.
        disk: For the durability of names.
        clock: For the time between two looks.
        events: Who is told.
    """

    name = "actions"

    def __init__(self, session: Session, disk: Disk, clock: Clock, events: Events) -> None:
        self._session = session
        self._clock = clock
        self._disk = disk
        self._events = events
        self._scanner = Scanner(session.layout.action)
        self._hurry = False
        self._working = False
        self._stuck: set[tuple[str, int, int]] = set()

    # ---- a companion of the session

    @property
    def busy(self) -> bool:
        """Files are being taken in, or wait for it: the crawl is not over yet."""
        if not self._working and self._session.settings.action.interval and self._waiting():
            self._hurry = True
            return True
        return self._working

    async def run(self) -> None:
        """Look the directory through until cancelled."""
        with suppress(OSError):
            self._session.layout.action.mkdir(exist_ok=True)
            self.bring_back()
        clock, looked, first = self._clock, self._clock.monotonic(), _FIRST
        while True:
            await clock.sleep(_TICK)
            interval = self._session.settings.action.interval
            due = looked + min(interval, first) <= clock.monotonic()
            if interval and (due or self._hurry):
                self._hurry, first = False, inf
                await self.look()
                looked = clock.monotonic()

    async def ending(self, how: ExitStatus) -> None:
        """What is not taken in waits for the next start."""

    def _waiting(self) -> bool:
        with suppress(OSError):
            ready, more = self._scanner.look(self._session.parts.clock.now())
            return more or any(self._identity(each) not in self._stuck for each in ready)
        return False

    def _identity(self, action: Action) -> tuple[str, int, int]:
        return action.path.name, action.size, action.changed

    # ---- the work

    async def look(self) -> None:
        """Take in all files that are there, in the order of their names."""
        logs = self._session.parts.logs
        try:
            for name in self._scanner.odd():
                logs.job(
                    f"action/{name}: left alone; the endings it may have: {document('running.md')}"
                )
            ready, _ = self._scanner.look(self._session.parts.clock.now())
        except OSError as error:
            logs.alert(f"the action directory cannot be read: {error}")
            return
        for action in ready:
            if self._identity(action) in self._stuck:
                continue
            self._working = True
            try:
                await self._take_in(action)
            finally:
                self._working = False

    async def _take_in(self, action: Action) -> None:
        progress = self._progress(action)
        trouble = ""
        if not progress.over:
            try:
                trouble = await self._read(action, progress)
            except NacreError:
                raise
            except Exception as error:  # noqa: BLE001 - a bug here is not the end of a crawl
                self._session.parts.logs.command_error(f"action/{action.path.name}", error)
                trouble = f"a fault of the crawler: {type(error).__name__}: {error}"
            await self._finish(action, progress, trouble)
        await self._put_away(action, progress)

    def _progress(self, action: Action) -> Progress:
        """Where an earlier process left off, or a new beginning."""
        store = self._session.parts.store
        row = store.get("meta", self._key(action.path.name))
        known = _read_row(row) if row is not None else None
        if known is not None and known.is_of(action):
            return known
        stamp = digits17(self._session.parts.clock.now())
        progress = Progress(action.size, action.changed, f"{stamp}-{action.path.name}")
        self._note(action, progress)
        return progress

    def _note(self, action: Action, progress: Progress) -> None:
        row = msgspec.msgpack.encode(progress)
        self._session.parts.store.put("meta", self._key(action.path.name), row)

    def _key(self, name: str) -> bytes:
        """Another run takes a file in from its beginning."""
        return f"action:{self._session.run_row.name}:{name}".encode()

    def bring_back(self) -> None:
        """Of what a restored checkpoint has only begun, the file may be among those done."""
        layout, start = self._session.layout, self._key("")
        for key, row in self._session.parts.store.scan("meta", start, start[:-1] + b";"):
            progress = _read_row(row)
            name = key.removeprefix(start).decode()
            if progress is None or progress.over:
                continue
            done = layout.root / self._folder / progress.done_as
            if done.exists() and not (layout.action / name).exists():
                shutil.move(done, layout.action / name)
                self._session.parts.logs.job(f"action/{name}: goes on as of the checkpoint")

    async def _read(self, action: Action, progress: Progress) -> str:
        """Take the lines in, pass by pass; what kept it from going to the end."""
        if action.is_script:
            return _NO_SCRIPTS
        try:
            while progress.turn < len(action.passes):
                await self._pass(action, progress)
                progress.turn += 1
                progress.position = progress.number = 0
                self._note(action, progress)
        except OSError as error:
            return f"it cannot be read: {error.strerror or error}"
        except DamagedError as error:
            return f"it is damaged after line {progress.number}: {error}"
        return ""

    async def _pass(self, action: Action, progress: Progress) -> None:
        parts = self._session.parts
        intake = Intake(parts, action.passes[progress.turn], progress.tally)
        place, number = progress.position, progress.number
        with LineFile(action.path, place, number) as file:
            await asyncio.to_thread(file.go)
            while lines := file.portion(PORTION):
                # One step without an await: the URIs, the report, and how far it is.
                self._report(progress, intake.take(lines))
                progress.position, progress.number = file.position, file.number
                self._note(action, progress)
                parts.engine.wake()
                await breathe(parts)

    def _report(self, progress: Progress, rejected: Sequence[Rejected]) -> None:
        for number, text, why in rejected:
            self._say(progress, f"line {number}: {why}: {flat(text)}")

    def _say(self, progress: Progress, text: str) -> None:
        commit = self._session.parts.commit
        report = commit.log(f"{self._folder}/{progress.done_as}.report")
        commit.line(report, f"{text}\n".encode("utf-8", "backslashreplace"))

    @property
    def _folder(self) -> str:
        return f"runs/{self._session.run_row.name}/actions-done"

    async def _finish(self, action: Action, progress: Progress, trouble: str) -> None:
        """Report, and let all of it become durable."""
        parts = self._session.parts
        told = _summary(progress.tally)
        if trouble:
            told = f"{trouble}; {told}" if progress.tally.lines else trouble
        self._say(progress, told)
        report = parts.commit.log(f"{self._folder}/{progress.done_as}.report")
        parts.commit.close_file(report)
        progress.over = True
        self._note(action, progress)
        message = f"action/{action.path.name}: {told}; {self._folder}/{progress.done_as}.report"
        if trouble or progress.tally.rejected:
            parts.logs.alert(message)
        else:
            parts.logs.job(message)
        self._events.emit(ActionTaken(action.path.name, told))
        await parts.commit.flush()  # the lines, and the end of the report
        await parts.commit.flush()  # that it is closed
        # From now on the report is the operator's, who may remove it.
        delete_row(parts.store, report)

    async def _put_away(self, action: Action, progress: Progress) -> None:
        """Move it to those that are done; where it cannot be moved it is not read again."""
        store, layout = self._session.parts.store, self._session.layout
        target = layout.root / self._folder / progress.done_as
        try:
            await asyncio.to_thread(self._move, action.path, target)
        except (OSError, NacreError) as error:
            self._stuck.add(self._identity(action))
            told = f"{action.path} is taken in, but cannot be moved to {target}: {error}"
            self._session.parts.logs.alert(told)
            return
        store.delete("meta", self._key(action.path.name))

    def _move(self, old: Path, new: Path) -> None:
        self._disk.makedirs(str(new.parent))
        with suppress(OSError):  # a line may hold a password; another's file stays as it is
            close_to_others(old)
        shutil.move(old, new)
        self._disk.fsync_dir(str(new.parent))
        self._disk.fsync_dir(str(old.parent))


def _read_row(row: bytes) -> Progress | None:
    """None for one of another version of Nacre: the file begins anew."""
    try:
        return msgspec.msgpack.decode(row, type=Progress)
    except msgspec.DecodeError:
        return None


def _summary(tally: Tally) -> str:
    """The counts in words, those that are 0 left out."""
    words = (
        (tally.scheduled, "scheduled"),
        (tally.done, "marked as seen, or directives"),
        (tally.known, "known already"),
        (tally.passed, "of no account"),
        (tally.rejected, "rejected"),
    )
    said = ", ".join(f"{number:,} {what}" for number, what in words if number)
    return f"{tally.lines:,} lines" + (f": {said}" if said else "")
