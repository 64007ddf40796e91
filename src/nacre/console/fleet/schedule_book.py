"""The schedules of runs, in the console's database."""

from collections.abc import Callable
from typing import Literal

import msgspec

from nacre.console.access.database import ConsoleDatabase
from nacre.console.bounds import Moment, ShortText
from nacre.core.clock import Clock
from nacre.errors import ConfigError, Problem
from nacre.job.schedules import RunOverlap, RunSchedule
from nacre.runs.budget import parse_budget

ScheduleMode = Literal["recrawl", "recrawl-full"]


class ScheduleWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A schedule as it is wanted.

    Attributes:
        job: Id of the job.
        at: Cron's five fields, or `@daily` and the like.
        zone: Name of its time zone, such as `Asia/Shanghai`.
        mode: `recrawl` visits what is worth it, `recrawl-full` everything. A job that never ran is
            started, and a run that was stopped is gone on with.
        budget: What a run may spend, as of `nacre recrawl --budget`; "" for no limit.
        keep: What is stored in full.
        overlap: What becomes of a run whose time comes while another one is open.
        paused: Nothing begins.
        until: No run begins after that, seconds since the epoch; null for no end.
    """

    job: ShortText
    at: ShortText
    zone: ShortText = "UTC"
    mode: ScheduleMode = "recrawl"
    budget: ShortText = ""
    keep: Literal["strict", "lean", "delta"] = "strict"
    overlap: RunOverlap = RunOverlap.SKIP
    paused: bool = False
    until: Moment | None = None

    @property
    def times(self) -> RunSchedule:
        """Its times and its rules."""
        return RunSchedule(self.at, self.zone, self.overlap, self.paused, self.until)


class ScheduleNote(msgspec.Struct, frozen=True):
    """The last that became of a schedule.

    Attributes:
        time: When, seconds since the epoch; 0 for never.
        what: `begun`, `skipped`, `waits`, `ended` (the paused run before it), `failed`; "" for
            nothing yet.
        text: More about it, such as why it failed.
        missed: Times that passed before while no console ran, which one run made up for.
    """

    time: float = 0.0
    what: str = ""
    text: str = ""
    missed: int = 0


class KeptSchedule(msgspec.Struct, frozen=True):
    """A schedule that is kept.

    Attributes:
        id: Its number.
        path: Directory of its job.
        wish: As it was set.
        owner: Who set it last.
        seen: Times up to it are dealt with, seconds since the epoch.
        waits: A run waits until the job rests.
        note: The last that became of it.
    """

    id: int
    path: str
    wish: ScheduleWish
    owner: str
    seen: float
    waits: bool
    note: ScheduleNote


def check_schedule(wish: ScheduleWish) -> ScheduleWish:
    """The schedule, if it is one (pure).

    Raises:
        ConfigError: A field of its times, its time zone or its budget is none.
    """
    try:
        parse_budget(wish.budget)
    except ConfigError as error:
        raise ConfigError([Problem("budget", str(error), "", "500")]) from None
    try:
        calendar = wish.times.calendar
    except ValueError as error:
        path = "zone" if "time zone" in str(error) else "at"
        sample = "Asia/Shanghai" if path == "zone" else "30 2 * * 1"
        raise ConfigError([Problem(path, str(error), "", sample)]) from None
    if calendar.after(0.0) is None:
        raise ConfigError([Problem("at", f"{wish.at!r} names no time that ever comes")])
    return wish


class ScheduleBook:
    """The schedules.

    Args:
        database: Keeps them.
        clock: The time.
        tell: Called when a schedule is another one, or its next time.
    """

    def __init__(
        self, database: ConsoleDatabase, clock: Clock, tell: Callable[[], None] = lambda: None
    ) -> None:
        self._database = database
        self._clock = clock
        self._tell = tell

    def all(self) -> list[KeptSchedule]:
        """All schedules, by their numbers."""
        rows = self._database.rows(
            "SELECT id, path, wish, owner, seen, waits, note FROM schedules ORDER BY id"
        )
        return [_kept(row) for row in rows]

    def find(self, number: int) -> KeptSchedule | None:
        """A schedule; None for one that there is not."""
        return next((one for one in self.all() if one.id == number), None)

    def add(self, wish: ScheduleWish, path: str, owner: str) -> int:
        """Keep a schedule; its number.

        Raises:
            ConfigError: It is none.
        """
        rows = self._database.rows(
            "INSERT INTO schedules (path, wish, owner, seen, note) VALUES (?, ?, ?, ?, ?)"
            " RETURNING id",
            path, msgspec.json.encode(check_schedule(wish)), owner, self._clock.now(),
            msgspec.json.encode(ScheduleNote()),
        )  # fmt: skip
        self._tell()
        return int(str(rows[0][0]))

    def change(self, number: int, wish: ScheduleWish, owner: str) -> None:
        """Set a schedule anew; times up to now are dealt with.

        Raises:
            ConfigError: It is none.
        """
        self._database.rows(
            "UPDATE schedules SET wish = ?, owner = ?, seen = ?, waits = 0 WHERE id = ?",
            msgspec.json.encode(check_schedule(wish)), owner, self._clock.now(), number,
        )  # fmt: skip
        self._tell()

    def move(self, before: str, after: str, job: str) -> None:
        """Keep the schedules of a job that has another directory now.

        Args:
            before: Its directory until now.
            after: That of now.
            job: Its id of now.
        """
        for one in self.all():
            if one.path == before:
                wish = msgspec.structs.replace(one.wish, job=job)
                self._database.rows(
                    "UPDATE schedules SET path = ?, wish = ? WHERE id = ?",
                    after, msgspec.json.encode(wish), one.id,
                )  # fmt: skip
        self._tell()

    def remove(self, number: int) -> None:
        """Forget a schedule."""
        self._database.rows("DELETE FROM schedules WHERE id = ?", number)
        self._tell()

    def keep(self, number: int, seen: float, note: ScheduleNote, *, waits: bool) -> None:
        """Keep what became of a schedule."""
        self._database.rows(
            "UPDATE schedules SET seen = ?, waits = ?, note = ? WHERE id = ?",
            seen, int(waits), msgspec.json.encode(note), number,
        )  # fmt: skip
        self._tell()


def _kept(row: tuple[object, ...]) -> KeptSchedule:
    number, path, wish, owner, seen, waits, note = row
    return KeptSchedule(
        int(str(number)), str(path), msgspec.json.decode(bytes(wish), type=ScheduleWish),  # type: ignore[call-overload]
        str(owner), float(str(seen)), bool(waits),
        msgspec.json.decode(bytes(note), type=ScheduleNote),  # type: ignore[call-overload]
    )  # fmt: skip
