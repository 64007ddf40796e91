"""The rounds of a batch crawl: which step comes next, and the journal that outlives a kill.

The remaining work of a cycle follows from its newest version: a generated segment has to be
fetched, a fetched one to be merged into the table. The journal adds what versions lack: the
requested number of rounds, the current round, and the clock that a step began with, so that a
repeated step makes the same rows.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from nacre.errors import ConfigError, JobError
from nacre.machine.layout import Layout
from nacre.machine.local_files import replace_file
from nacre.rounds.tables.versions import CycleVersion, SegmentState

GENERATE, FETCH, UPDATE, LINKS, DEDUP = "generate", "fetch", "update", "links", "dedup"
INDEX = "index"
SITEMAPS = "sitemaps"
"""The step that may precede all others; its segments have this mark."""
STEPS = (GENERATE, FETCH, UPDATE)
"""The steps of every round; further steps may follow."""

_MADE = "made"
"""Mark of the version that made a segment of sitemaps."""

_LATE = "late"
"""Mark of a segment of sitemaps with URLs that were not requested: their number."""

IMPORTED, OF_JOB, OF_NUTCH, OF_ROUNDS = "imported", "job", "nutch", "merge"
"""Mark of a segment that was not fetched here, and the kinds of its origin."""

GENERATED, FETCHED, UPDATED = "generated", "fetched", "updated"
"""States of a segment."""


class RoundsJournal(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of the rounds of a command.

    Attributes:
        rounds: Requested rounds; 0: until nothing is due.
        round: The current round, from 1.
        step: The current step; "" between two rounds.
        parent: The version that was the newest when the step began.
        clock: The clock of the step, ms since the epoch; 0: it has not begun, or ended with an
            error that the user has to fix.
        ended: The step is over, even if it had nothing to commit.
        started: When the command began, ms since the epoch.
        options: Options of the steps.
    """

    rounds: int
    round: int = 1
    step: str = ""
    ended: bool = False
    parent: int = 0
    clock: int = 0
    started: int = 0
    options: dict[str, str] = {}


class JournalFile:
    """The journal in the directory of a job.

    Args:
        layout: The directory of the job.
    """

    def __init__(self, layout: Layout) -> None:
        self._path = layout.cycle / "journal.json"

    def read(self) -> RoundsJournal | None:
        """Return the journal of an interrupted command; None for none.

        Raises:
            JobError: It cannot be read.
        """
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=RoundsJournal)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise JobError(
                f"{self._path} cannot be read ({reason}). Remove it to start a new round."
            ) from error

    def write(self, journal: RoundsJournal) -> None:
        """Replace the journal atomically."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self._path, msgspec.json.encode(journal) + b"\n")

    def remove(self) -> None:
        """Remove the journal: the command has ended."""
        self._path.unlink(missing_ok=True)


def waiting(version: CycleVersion, state: str) -> list[str]:
    """Return the segments in a state, the oldest first, without those of sitemaps."""
    return sorted(
        name
        for name, segment in version.segments.items()
        if segment.state == state and SITEMAPS not in segment.more
    )


def waiting_sitemaps(version: CycleVersion) -> str:
    """Return the segment of sitemaps that is not read yet; "" for none."""
    names = [
        name
        for name, segment in sorted(version.segments.items())
        if SITEMAPS in segment.more and segment.state != UPDATED
    ]
    return names[0] if names else ""


def late_sitemaps(version: CycleVersion) -> list[str]:
    """Return the segments of sitemaps with URLs that were not requested for lack of time."""
    return sorted(name for name, segment in version.segments.items() if segment.more.get(_LATE))


def marked_late(state: SegmentState, number: int) -> SegmentState:
    """Return a segment of sitemaps with the number of URLs that were not requested."""
    return msgspec.structs.replace(state, more={**state.more, _LATE: number})


def next_step(
    journal: RoundsJournal,
    version: CycleVersion,
    steps: Sequence[str] = STEPS,
    once: Collection[str] = (),
) -> tuple[int, str]:
    """Return the next round and step.

    The states of segments decide: a version that another command committed counts as well.

    Args:
        journal: The journal.
        version: The newest version.
        steps: The steps of a round, in order: those of `STEPS`, and further steps before and after
            them.
        once: Steps of the first round alone; `sitemaps` is repeated for URLs that it had no time
            for.
    """
    if late_sitemaps(version):
        once = frozenset(once) - {SITEMAPS}
    step, number = journal.step, journal.round
    if waiting_for := _waiting_step(version):
        return number, waiting_for
    if not step:
        return number, _first_step(steps, number, once)
    if step in steps and step not in (FETCH, UPDATE) and not _is_done(journal, version):
        return number, step
    behind = steps if step == SITEMAPS else ()
    if step in steps:  # else an option has removed it meanwhile
        behind = steps[steps.index(step) + 1 :]
    for following in behind:
        if following not in (FETCH, UPDATE, SITEMAPS):
            return number, following
    return number + 1, _first_step(steps, number + 1, once)


def _waiting_step(version: CycleVersion) -> str:
    """Return the step that a segment waits for; "" for none."""
    if waiting(version, GENERATED):
        return FETCH
    if waiting(version, FETCHED):
        return UPDATE
    return SITEMAPS if waiting_sitemaps(version) else ""


def _first_step(steps: Sequence[str], number: int, once: Collection[str]) -> str:
    """Return the first step of a round."""
    return next(step for step in steps if number == 1 or step not in once)


def _is_done(journal: RoundsJournal, version: CycleVersion) -> bool:
    """Return whether the step of the journal is over, by its mark or by the segments.

    A newer version alone proves nothing: another command may have made it.
    """
    step, states = journal.step, version.segments.values()
    if not step or journal.ended:
        return bool(step)
    if step in (GENERATE, SITEMAPS):
        mark = "version" if step == GENERATE else _MADE
        return any(int(s.more.get(mark, 0)) > journal.parent for s in states)
    return not any(
        s.state == UPDATED and step not in s.more and SITEMAPS not in s.more for s in states
    )


def _resumes(journal: RoundsJournal, version: CycleVersion, number: int, step: str) -> bool:
    """Return whether the step is that of the journal and begins at the same version.

    Its clock is then still valid: rows that another command wrote meanwhile are later than that
    clock. A waiting segment of sitemaps was made by the step itself.
    """
    if journal.ended or (journal.round, journal.step) != (number, step):
        return False
    own = step == SITEMAPS and bool(waiting_sitemaps(version))
    return own or journal.parent == version.number


def begin(
    interrupted: RoundsJournal | None, rounds: int, started: int, options: Mapping[str, str]
) -> RoundsJournal:
    """Return the journal of a command.

    An interrupted command with the same number of rounds is resumed, with its round and clock. If
    the number differs, its round is finished as the first of this command.

    Args:
        interrupted: The journal of an interrupted command; None for none.
        rounds: Requested rounds; 0: until nothing is due.
        started: Now, ms since the epoch.
        options: Options of this command.
    """
    fresh = RoundsJournal(rounds=rounds, started=started, options=dict(options))
    if interrupted is None:
        return fresh
    again = interrupted.round if interrupted.rounds == rounds else 1
    return msgspec.structs.replace(interrupted, rounds=rounds, round=again, options=dict(options))


class RoundsEnd(NamedTuple):
    """The end of rounds, and its reason.

    Attributes:
        reason: `done`, `nothing due`, `interrupted`, `stopped` (by `control/stop`) or `dry run`.
        rounds: Rounds that were finished.
        version: The newest version.
    """

    reason: str
    rounds: int
    version: CycleVersion


class StopSignal:
    """A request to end the rounds: a signal, or the file `control/stop`.

    Args:
        layout: The directory of the job.
    """

    def __init__(self, layout: Layout) -> None:
        self._file = layout.control / "stop"
        self.signals = 0

    def note_signal(self) -> None:
        """Count a signal; the running step ends cleanly."""
        self.signals += 1

    @property
    def reason(self) -> str:
        """`interrupted`, `stopped`, or "" without a request."""
        if self.signals:
            return "interrupted"
        return "stopped" if self._file.exists() else ""


class StepRunner(Protocol):
    """Runs the steps of rounds and reports them; each method returns after the commit."""

    def newest(self) -> CycleVersion:
        """The newest version."""
        ...

    def now(self) -> int:
        """The time, ms since the epoch."""
        ...

    def step(self, name: str, journal: RoundsJournal) -> bool:
        """Run a step with the clock of the journal; return whether there was anything to do."""
        ...


def run_rounds(
    runner: StepRunner,
    file: JournalFile,
    journal: RoundsJournal,
    stop: StopSignal,
    steps: Sequence[str] = STEPS,
    once: Collection[str] = (),
) -> RoundsEnd:
    """Run rounds until the requested number is done, nothing is due, or a stop is requested.

    The journal is written before each step and removed at the end, unless a step was interrupted:
        then the next command resumes it.
    """
    finished = 0
    while True:
        version = runner.newest()
        number, step = next_step(journal, version, steps, once)
        finished += number - journal.round
        if journal.rounds and number > journal.rounds:
            file.remove()
            return RoundsEnd("done", finished, version)
        again = _resumes(journal, version, number, step)
        clock = journal.clock if again else 0
        parent = journal.parent if again else version.number
        journal = msgspec.structs.replace(
            journal, round=number, step=step, ended=False, parent=parent, clock=clock
        )
        if reason := stop.reason:
            file.write(journal)
            return RoundsEnd(reason, finished, version)
        journal = msgspec.structs.replace(journal, clock=clock or runner.now())
        file.write(journal)
        try:
            worked = runner.step(step, journal)
        except (ConfigError, JobError):
            # The user changes something first; the next attempt selects by its own clock.
            file.write(msgspec.structs.replace(journal, clock=0))
            raise
        if step == GENERATE and not worked:
            file.remove()
            return RoundsEnd("nothing due", finished, runner.newest())
        if step not in STEPS and not waiting_sitemaps(runner.newest()):
            # The states of segments say whether the other steps are done.
            journal = msgspec.structs.replace(journal, ended=True)
            file.write(journal)
