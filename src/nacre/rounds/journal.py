"""The rounds of a batch crawl: which step comes next, and the journal that outlives a kill.

What a cycle still has to do follows from its newest version: a segment that is generated has to be
fetched, one that is fetched goes into the table. The journal adds what no version says: how many
rounds were asked for, in which one the crawl is, and the clock that a step began with, so that a
step that is done again makes the same rows.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from nacre.errors import ConfigError, JobError
from nacre.rounds.tables.versions import CycleVersion, SegmentState
from nacre.store.layout import Layout
from nacre.store.local_files import replace_file

GENERATE, FETCH, UPDATE, LINKS, DEDUP = "generate", "fetch", "update", "links", "dedup"
INDEX = "index"
SITEMAPS = "sitemaps"
"""The step that may come before all others; its segments have this mark."""
STEPS = (GENERATE, FETCH, UPDATE)
"""The steps of every round; others may follow them."""

_MADE = "made"
"""Mark of the version that made a segment of sitemaps."""

_LATE = "late"
"""Mark of a segment of sitemaps with URLs that nobody asked for: their number."""

IMPORTED, OF_JOB, OF_NUTCH, OF_ROUNDS = "imported", "job", "nutch", "merge"
"""Mark of a segment that was not fetched here, and what it is from."""

GENERATED, FETCHED, UPDATED = "generated", "fetched", "updated"
"""States of a segment."""


class RoundsJournal(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of the rounds of a command.

    Attributes:
        rounds: Rounds that were asked for; 0: until nothing is due.
        round: The round that it is in, from 1.
        step: The step that it is in; "" between two rounds.
        parent: The version that was the newest when the step began.
        clock: The clock of the step, ms since the epoch; 0: it has not begun, or ends with an error
            that the user has to mend.
        ended: The step is over, though it may have had nothing to commit.
        started: When the command began, ms since the epoch.
        options: Options of the rounds, as the steps take them.
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
        """The journal that an interrupted command left; None for none.

        Raises:
            JobError: It cannot be read.
        """
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=RoundsJournal)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise JobError(
                f"{self._path} cannot be read ({why}): remove it, and the next round begins anew"
            ) from error

    def write(self, journal: RoundsJournal) -> None:
        """Replace it in one step."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self._path, msgspec.json.encode(journal) + b"\n")

    def remove(self) -> None:
        """The command came to its end."""
        self._path.unlink(missing_ok=True)


def waiting(version: CycleVersion, state: str) -> list[str]:
    """The segments in a state, the oldest first; those of sitemaps have a step of their own."""
    return sorted(
        name
        for name, one in version.segments.items()
        if one.state == state and SITEMAPS not in one.more
    )


def waiting_sitemaps(version: CycleVersion) -> str:
    """The segment of sitemaps that is not read yet; "" for none."""
    left = [
        name
        for name, one in sorted(version.segments.items())
        if SITEMAPS in one.more and one.state != UPDATED
    ]
    return left[0] if left else ""


def late_sitemaps(version: CycleVersion) -> list[str]:
    """The segments of sitemaps with URLs that nobody asked for, as the time was over."""
    return sorted(name for name, one in version.segments.items() if one.more.get(_LATE))


def marked_late(state: SegmentState, number: int) -> SegmentState:
    """A segment of sitemaps with so many URLs that nobody asked for; 0: with none any more."""
    return msgspec.structs.replace(state, more={**state.more, _LATE: number})


def next_step(
    journal: RoundsJournal,
    version: CycleVersion,
    steps: Sequence[str] = STEPS,
    once: Collection[str] = (),
) -> tuple[int, str]:
    """The round and the step that come next.

    Segments have the last word: a version that another command committed counts as well.

    Args:
        journal: The journal.
        version: The newest version.
        steps: The steps of a round, in order: those of `STEPS`, and others before and behind them.
        once: Steps of the first round alone; that of sitemaps comes again for those that it had no
            time for.
    """
    if late_sitemaps(version):
        once = frozenset(once) - {SITEMAPS}
    step, number = journal.step, journal.round
    if left := _left(version):
        return number, left
    if not step:
        return number, _first(steps, number, once)
    if step in steps and step not in (FETCH, UPDATE) and not _done(journal, version):
        return number, step
    behind = steps if step == SITEMAPS else ()
    if step in steps:  # else an option has taken it away meanwhile
        behind = steps[steps.index(step) + 1 :]
    for following in behind:
        if following not in (FETCH, UPDATE, SITEMAPS):
            return number, following
    return number + 1, _first(steps, number + 1, once)


def _left(version: CycleVersion) -> str:
    """The step that a segment waits for; "" for none."""
    if waiting(version, GENERATED):
        return FETCH
    if waiting(version, FETCHED):
        return UPDATE
    return SITEMAPS if waiting_sitemaps(version) else ""


def _first(steps: Sequence[str], number: int, once: Collection[str]) -> str:
    """The first step of a round."""
    return next(one for one in steps if number == 1 or one not in once)


def _done(journal: RoundsJournal, version: CycleVersion) -> bool:
    """The step of the journal is over: it said so, or the segments have what it commits.

    A newer version alone says nothing: another command may have made it.
    """
    step, states = journal.step, version.segments.values()
    if not step or journal.ended:
        return bool(step)
    if step in (GENERATE, SITEMAPS):
        made = "version" if step == GENERATE else _MADE
        return any(int(one.more.get(made, 0)) > journal.parent for one in states)
    return not any(
        one.state == UPDATED and step not in one.more and SITEMAPS not in one.more for one in states
    )


def _goes_on(journal: RoundsJournal, version: CycleVersion, number: int, step: str) -> bool:
    """The step is that of the journal and begins where it began, so that its clock still holds.

    Rows that another command wrote meanwhile are later than that clock. A segment of sitemaps that
    waits was made by the step itself.
    """
    if journal.ended or (journal.round, journal.step) != (number, step):
        return False
    own = step == SITEMAPS and bool(waiting_sitemaps(version))
    return own or journal.parent == version.number


def begin(
    left: RoundsJournal | None, rounds: int, started: int, options: Mapping[str, str]
) -> RoundsJournal:
    """The journal of a command.

    An interrupted command that asked for as many rounds is continued, its round and clock
    included. With another number its round is finished as the first of this command.

    Args:
        left: What an interrupted command left.
        rounds: Rounds asked for; 0: until nothing is due.
        started: Now, ms since the epoch.
        options: Options of this command.
    """
    fresh = RoundsJournal(rounds=rounds, started=started, options=dict(options))
    if left is None:
        return fresh
    again = left.round if left.rounds == rounds else 1
    return msgspec.structs.replace(left, rounds=rounds, round=again, options=dict(options))


class RoundsEnd(NamedTuple):
    """The end of rounds, and its reason.

    Attributes:
        why: `done`, `nothing due`, `interrupted`, `stopped` (by a file `control/stop`), `dry run`.
        rounds: Rounds that were finished.
        version: The newest version.
    """

    why: str
    rounds: int
    version: CycleVersion


class StopWish:
    """Whether somebody wants the rounds to end: a signal, or the file `control/stop`.

    Args:
        layout: The directory of the job.
    """

    def __init__(self, layout: Layout) -> None:
        self._file = layout.control / "stop"
        self.signals = 0

    def signalled(self) -> None:
        """Note a signal; the step that runs comes to a clean end."""
        self.signals += 1

    @property
    def why(self) -> str:
        """`interrupted`, `stopped`, or "" when nobody wants it."""
        if self.signals:
            return "interrupted"
        return "stopped" if self._file.exists() else ""


class StepRunner(Protocol):
    """Does the steps of rounds and shows them; every method returns when its step is committed."""

    def newest(self) -> CycleVersion:
        """The newest version."""
        ...

    def now(self) -> int:
        """The time, ms since the epoch."""
        ...

    def step(self, name: str, journal: RoundsJournal) -> bool:
        """Do a step with the clock of the journal; whether there was anything to do."""
        ...


def run_rounds(
    runner: StepRunner,
    file: JournalFile,
    journal: RoundsJournal,
    stop: StopWish,
    steps: Sequence[str] = STEPS,
    once: Collection[str] = (),
) -> RoundsEnd:
    """Do rounds until there are as many as asked for, nothing is due, or somebody ends them.

    The journal is written before each step and removed at the end, unless a step was interrupted:
    then the next command goes on with it.
    """
    finished = 0
    while True:
        version = runner.newest()
        number, step = next_step(journal, version, steps, once)
        finished += number - journal.round
        if journal.rounds and number > journal.rounds:
            file.remove()
            return RoundsEnd("done", finished, version)
        again = _goes_on(journal, version, number, step)
        clock = journal.clock if again else 0
        parent = journal.parent if again else version.number
        journal = msgspec.structs.replace(
            journal, round=number, step=step, ended=False, parent=parent, clock=clock
        )
        if why := stop.why:
            file.write(journal)
            return RoundsEnd(why, finished, version)
        journal = msgspec.structs.replace(journal, clock=clock or runner.now())
        file.write(journal)
        try:
            worked = runner.step(step, journal)
        except (ConfigError, JobError):
            # The user changes something first, and what is due then counts.
            file.write(msgspec.structs.replace(journal, clock=0))
            raise
        if step == GENERATE and not worked:
            file.remove()
            return RoundsEnd("nothing due", finished, runner.newest())
        if step not in STEPS and not waiting_sitemaps(runner.newest()):
            # Of the others segments say what is done.
            journal = msgspec.structs.replace(journal, ended=True)
            file.write(journal)
