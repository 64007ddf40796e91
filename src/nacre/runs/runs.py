"""The runs of a job: the current one, the end of the last one, and the begin of a new one.

A new run deletes the rows of the run before; the history of pages stays. Changes of a job that does
not run are kept for the log of its next run, `JOB/latest/logs/job.log`, which is written by the
process that crawls and by no other. Lines about a job itself are added to `JOB/job.log`, which
travels with it. A run may not begin before the last time of the history.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from pathlib import Path

import msgspec
from msgspec import structs

from nacre.core.clock import Clock, duration, iso
from nacre.core.events import Events
from nacre.core.states import ExitStatus
from nacre.engine.observer import Supervisor
from nacre.errors import JobError
from nacre.machine.layout import Layout, run_name
from nacre.machine.local_files import append_lines, make_private
from nacre.messages import message
from nacre.report.statistics import totals
from nacre.runs.budget import EndedRun, Spent, parse_budget, spent_lately
from nacre.store.disk import failure
from nacre.store.file_table import file_rows, journal_rows, put_row
from nacre.store.files import FileKind, FileState
from nacre.store.store import Store

_KEY = b"run"
_ARCHIVE = "archive"
INCREMENTAL = "incremental"
FULL = "full"
_RUNS = b"runs:"
_FAMILIES = ("seen", "queue", "future", "wake", "hosts", "urls", "outside", "stats")
_SEEDS = (b"seed:", b"directive:", b"surt:", b"page:", b"own:")
_LASTING = (b"counter:files", b"counter:epoch", b"counter:warc.serial", b"counter:pages.")
_LEARNED = (b"pt", b"ph", b"pl")
"""Rows of hosts that later runs get: signs of pages that need a browser, requests of their scripts.
They forget old entries by themselves."""
_CHUNK = 5_000
NOTES = "changes.jsonl"
_JOB_LOG = "job.log"
_SET_BACK = 60.0
"""A clock that is slow by more than this, seconds, was set back and not just corrected."""


class RunRow(msgspec.Struct, frozen=True):
    """The current or last run.

    Attributes:
        name: Its directory under `runs/`.
        number: Number of the run, from 1.
        started: Epoch seconds of its first start.
        exit: `RUNNING` until it ends; only FINISHED runs are over, all others can be resumed.
        ended: Epoch seconds of its last end; 0 while it runs.
        elapsed: Seconds that it ran, pauses left out, up to the last commit.
        mode: `full`, or `incremental`: visits the URLs that the planner chooses.
        parent: Name of the run before; "" for none.
        budget: Its budget as requested; "" for no limit.
        keep: `strict`, `lean` or `delta`: which of its visits are stored in full.
        fresh: Its seeds were not entered yet.
        clearing: The rows of the run before are still to be removed.
        bytes_each: Mean bytes of a reply in the run before; 0 when unknown.
        seconds_each: Mean time for a reply in the run before; 0 when unknown.
        before: Requests, bytes and seconds that count in its budget beside its own: of the runs
            of the 24 hours before, where the budget is one for the day.
        spent: The same of the run itself; kept from when the next one was planned.
        closed: The operator closed it: it is over, and cannot be resumed.
    """

    name: str
    number: int
    started: float
    exit: ExitStatus = ExitStatus.NONE
    ended: float = 0.0
    elapsed: float = 0.0
    mode: str = "full"
    parent: str = ""
    budget: str = ""
    keep: str = "strict"
    fresh: bool = False
    clearing: bool = False
    bytes_each: float = 0.0
    seconds_each: float = 0.0
    before: tuple[int, int, float] = (0, 0, 0.0)
    spent: tuple[int, int, float] = (0, 0, 0.0)
    closed: bool = False

    @property
    def needs_bodies(self) -> bool:
        """A full run beside others: pages that did not change are fetched too, for their links."""
        return self.mode == "full" and self.number > 1

    @property
    def title(self) -> str:
        """The title for people: `incremental run NAME after NAME, at most 2GB`."""
        if not self.parent:
            return f"run {self.name}"
        budget = f", at most {self.budget}" if self.budget else ""
        return f"{self.mode} run {self.name} after {self.parent}{budget}"


@dataclass(frozen=True)
class RunContext:
    """The directories, clock and listeners that a run is given.

    Attributes:
        layout: The job's directories.
        run: The run.
        clock: The time.
        events: Who listens.
        supervisor: Decides over the crawl.
        record_ids: Returns 16 fresh bytes for the id of a WARC record; None for random bytes.
        max_wait: Longest wait that a server may request, seconds; 0: no limit.
    """

    layout: Layout
    run: RunRow
    clock: Clock
    events: Events
    supervisor: Supervisor
    record_ids: Callable[[], bytes] | None = None
    max_wait: float = 0.0


def is_over(run: RunRow) -> bool:
    """Return whether a run reached its end or a limit, or was closed; others can be resumed."""
    return run.closed or (run.exit.startswith("FINISHED") and run.exit is not ExitStatus.ABNORMAL)


def end_of(run: RunRow) -> float:
    """The latest time that is known of a run, seconds since the epoch; pauses may be left out."""
    return max(run.started + run.elapsed, run.ended)


def read_run(store: Store) -> RunRow | None:
    """Return the current or last run; None before the first."""
    row = store.get("meta", _KEY)
    return None if row is None else msgspec.msgpack.decode(row, type=RunRow)


def write_run(store: Store, run: RunRow) -> None:
    """Keep it; joins the open commit group."""
    store.put("meta", _KEY, msgspec.msgpack.encode(run))


def begin_run(store: Store, layout: Layout, now: float) -> tuple[RunRow, bool]:
    """Return the run to resume, or a new run; True for a new run.

    Raises:
        StorageError: Its directories cannot be made.
    """
    run = read_run(store)
    if run is not None and not run.fresh:
        return structs.replace(run, exit=ExitStatus.NONE, ended=0.0), False
    run = structs.replace(run or RunRow(run_name(now), 1, now), fresh=False)
    directory = layout.run(run.name)
    try:
        for name in ("logs", "reports"):
            (directory / name).mkdir(parents=True, exist_ok=True)
        _link(layout.latest, Path("runs", run.name))
    except OSError as error:
        raise failure("mkdir", str(directory), error) from error
    write_run(store, run)
    return run, True


def link_as_heritrix(directory: Path, archives: tuple[str, ...]) -> None:
    """Let `warcs` and `job.log`, where Heritrix's scripts look, be other names in a run.

    Nothing happens where there is something called so, or where no link can be made.
    """
    links = {"job.log": "logs/job.log"}
    if _ARCHIVE in archives:
        links["warcs"] = _ARCHIVE
    for name, target in links.items():
        with suppress(OSError):
            (directory / name).symlink_to(target)


def _link(link: Path, target: Path) -> None:
    """Point a link at a target, in one step."""
    fresh = link.with_name(link.name + ".new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)


def run_archives(layout: Layout, directories: tuple[str, ...]) -> tuple[str, ...]:
    """Return directories that may contain WARCs without a row, relative to the job."""
    runs = layout.root / "runs"
    if not runs.is_dir():
        return ()
    return tuple(
        str(Path("runs", run.name, directory.replace("${launchId}", run.name)))
        for run in sorted(runs.iterdir())
        for directory in directories
        if not Path(directory).is_absolute()
        and (run / directory.replace("${launchId}", run.name)).is_dir()
    )


def all_runs(store: Store) -> Iterator[RunRow]:
    """Yield all runs that are over but the last, and then that one, in their order."""
    for _, value in store.scan("meta", _RUNS, b"runs;"):
        yield msgspec.msgpack.decode(value, type=RunRow)
    last = read_run(store)
    if last is not None:
        yield last


def plan_run(
    store: Store, layout: Layout, now: float, *, mode: str, budget: str = "", keep: str = "strict"
) -> RunRow:
    """Make the next run of a job; the job begins it when it is run.

    Args:
        store: Its store, open for writing, by this process alone.
        layout: Its directories.
        now: Seconds since the epoch.
        mode: `full` or `incremental`.
        budget: See `parse_budget`; "" for none.
        keep: `strict`, `lean` or `delta`.

    Raises:
        JobError: It never ran, or its run is not over.
        ConfigError: The budget is none.
    """
    daily = parse_budget(budget).daily
    last = read_run(store)
    if last is None:
        raise layout.never_ran()
    if last.clearing or last.fresh:
        return last
    if not is_over(last):
        raise JobError(
            message(
                "runs.run-of-is-not-over",
                "the run {name} of {root} is not over ({exit}); resume it with `nacre run {root}`, "
                "or end it for good with `nacre end {root}`",
                name=last.name,
                root=layout.root,
                exit=last.exit,
            )
        )
    count = totals(store)
    replies = max(1, count.urls)
    last = structs.replace(last, spent=spent_by(store, last))
    before = spent_lately(ended_runs(store), now) if daily else (0, 0, 0.0)
    run = RunRow(
        _free_name(last.name, now), last.number + 1, now,
        mode=mode, parent=last.name, budget=budget, keep=keep, fresh=True, clearing=True,
        bytes_each=count.size / replies, seconds_each=last.elapsed / replies, before=before,
    )  # fmt: skip
    store.put("meta", _RUNS + last.number.to_bytes(4, "big"), msgspec.msgpack.encode(last))
    write_run(store, run)
    store.commit()
    return run


def close_run(store: Store, layout: Layout, now: float) -> RunRow:
    """End a run for good that was stopped or cut off; its queue is dropped with the next run.

    Args:
        store: The store of the job, open for writing, by this process alone.
        layout: Its directories.
        now: Seconds since the epoch.

    Returns:
        The run; a run that was over is unchanged.

    Raises:
        JobError: It never ran, or its next run is planned and has not begun.
    """
    run = read_run(store)
    if run is None:
        raise layout.never_ran()
    if run.fresh:
        raise JobError(
            message(
                "runs.run-of-is-planned",
                "the run {name} of {root} is planned and has not begun; `nacre run {root}` begins "
                "it",
                name=run.name,
                root=layout.root,
            )
        )
    if is_over(run):
        return run
    exit_ = ExitStatus.ABORTED if run.exit is ExitStatus.NONE else run.exit
    closed = structs.replace(run, closed=True, exit=exit_, ended=run.ended or max(now, end_of(run)))
    write_run(store, closed)
    store.commit()
    return closed


def ended_runs(store: Store) -> list[EndedRun]:
    """Return the incremental runs that are over, with their costs."""
    last = read_run(store)
    return [
        EndedRun(run.ended, spent_by(store, run) if run == last else Spent(*run.spent))
        for run in all_runs(store)
        if run.mode == INCREMENTAL and is_over(run)
    ]


def spent_by(store: Store, last: RunRow) -> Spent:
    """Return the amount that the last run has spent."""
    count = totals(store)
    return Spent(count.urls - store.counter("stats.prerequisites"), count.size, last.elapsed)


def _free_name(last: str, now: float) -> str:
    """Return a name after that of the last run, which may have begun in the same second."""
    name = run_name(now)
    return name if name > last else run_name(datetime.fromisoformat(last).timestamp() + 1.0)


def clear_previous_run(store: Store) -> None:
    """Remove the data of the run before; it may be interrupted and repeated."""
    run = read_run(store)
    if run is None or not run.clearing:
        return
    for family in _FAMILIES:
        _remove(store, family, b"", None, _LEARNED if family == "hosts" else ())
    for prefix in _SEEDS:
        _remove(store, "scope", prefix, prefix[:-1] + b";")
    _remove(store, "meta", b"counter:", b"counter;", _LASTING)
    store.delete("meta", b"frontier")
    for number, row in list(file_rows(store)):
        if row.kind is not FileKind.LOG or row.state is not FileState.OPEN:
            continue
        if next(journal_rows(store, number), None) is None:
            put_row(store, number, structs.replace(row, state=FileState.CLOSED))
    write_run(store, structs.replace(run, clearing=False))
    store.commit()


def _remove(
    store: Store, family: str, start: bytes, stop: bytes | None, but: tuple[bytes, ...] = ()
) -> None:
    while keys := [key for key, _ in store.scan(family, start, stop, _CHUNK)]:
        for key in keys:
            if not (but and key.startswith(but)):
                store.delete(family, key)
        store.commit()
        start = keys[-1] + b"\0"


def keep_notes(layout: Layout, notes: Sequence[str]) -> None:
    """Keep lines for the next start."""
    make_private(layout.state)
    with (layout.state / NOTES).open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(text) + "\n" for text in notes)


def take_notes(layout: Layout) -> list[str]:
    """Return the lines; they are forgotten by this."""
    path = layout.state / NOTES
    try:
        lines = path.read_text("utf-8").splitlines()
        path.unlink()
    except OSError:
        return []
    return [str(json.loads(line)) for line in lines if line]


def note_line(time: str, level: str, text: str) -> str:
    """A line of the log of a job (pure).

    Args:
        time: RFC 3339 with milliseconds.
        level: `INFO`, `WARNING` or `SEVERE`.
        text: What is said; line feeds become blanks.
    """
    return f"{time} {level} {' '.join(text.split())}"


def append_note(root: Path, line: str) -> None:
    """Add a line to the log of a job; a job whose directory cannot be written has none.

    Args:
        root: Directory of the job.
        line: Without its end.
    """
    with suppress(OSError):
        if root.is_dir():
            append_lines(root / _JOB_LOG, f"{line}\n".encode("utf-8", "backslashreplace"))


def start_time_error(now: float, latest: float, job: str) -> str:
    """Return why a time of `--now` is refused; "" if it is not before the end of the last run.

    Args:
        now: The time, seconds since the epoch.
        latest: The end of the last run, seconds since the epoch; 0 if there is none.
        job: The directory of the job, for the message.
    """
    if now >= latest:
        return ""
    return message(
        "runs.start-before-last-end",
        "--now is {time} before the end of the last run of {job}: its history would go back in "
        "time. Use a time from {earliest} on, or a new job",
        time=duration(latest - now),
        job=job,
        earliest=iso(ceil(latest)),
    )


def set_back_warning(now: float, latest: float, job: str) -> str:
    """Return the warning that the machine's clock is before the last run; "" if it is not.

    Args:
        now: The time of the machine, seconds since the epoch.
        latest: See `start_time_error`.
        job: See `start_time_error`.
    """
    behind = latest - now
    if behind <= _SET_BACK:
        return ""
    return message(
        "runs.clock-set-back",
        "the last run of {job} ended {time} after the present: the machine's clock was set back, "
        "or the run had --now. Intervals between visits will be wrong; use --now with a time from "
        "{earliest} on",
        job=job,
        time=duration(behind),
        earliest=iso(ceil(latest)),
    )
