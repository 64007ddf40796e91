"""A new run of a job whose last one is over: what belongs to one run goes, what is known stays."""

from collections.abc import Iterator

import msgspec
from msgspec import structs

from nacre.errors import JobError
from nacre.job.layout import Layout, run_name
from nacre.job.runrow import RunRow
from nacre.job.runs.budget import Ended, Spent, parse_budget, spent_lately
from nacre.job.runs.runs import is_over, read_run, write_run
from nacre.report.stats import totals
from nacre.store.files import FileKind, FileState
from nacre.store.journal import waiting
from nacre.store.store import Store
from nacre.store.table import file_rows, put_row

INCREMENTAL = "incremental"
FULL = "full"
_RUNS = b"runs:"
_FAMILIES = ("seen", "queue", "future", "wake", "hosts", "urls", "outside", "stats")
_SEEDS = (b"seed:", b"directive:")
_LASTING = (b"counter:files", b"counter:epoch", b"counter:warc.serial", b"counter:pages.")
_CHUNK = 5_000


def runs(store: Store) -> Iterator[RunRow]:
    """All runs that are over but the last, and then that one, in their order."""
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
        store: Its store, open for writing and nobody else's.
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
        raise JobError(f"{layout.root} has not run yet; start it by `nacre run {layout.root}`")
    if last.clearing or last.fresh:
        return last
    if not is_over(last):
        raise JobError(
            f"the run {last.name} of {layout.root} is not over ({last.exit}); "
            f"go on with it by `nacre run {layout.root}`"
        )
    count = totals(store)
    replies = max(1, count.urls)
    last = structs.replace(last, spent=spent_by(store, last))
    before = spent_lately(ended(store), now) if daily else (0, 0, 0.0)
    run = RunRow(
        _free_name(last.name, now), last.number + 1, now,
        mode=mode, parent=last.name, budget=budget, keep=keep, fresh=True, clearing=True,
        bytes_each=count.size / replies, seconds_each=last.elapsed / replies, before=before,
    )  # fmt: skip
    store.put("meta", _RUNS + last.number.to_bytes(4, "big"), msgspec.msgpack.encode(last))
    write_run(store, run)
    store.commit()
    return run


def ended(store: Store) -> list[Ended]:
    """The incremental runs that are over, with what they spent."""
    last = read_run(store)
    return [
        Ended(run.ended, spent_by(store, run) if run == last else Spent(*run.spent))
        for run in runs(store)
        if run.mode == INCREMENTAL and is_over(run)
    ]


def spent_by(store: Store, last: RunRow) -> Spent:
    """What the last run has spent."""
    count = totals(store)
    return Spent(count.urls - store.counter("stats.prerequisites"), count.size, last.elapsed)


def _free_name(last: str, now: float) -> str:
    """A name behind that of the last run, which may have begun in the same second."""
    while (name := run_name(now)) <= last:
        now += 1.0
    return name


def clear(store: Store) -> None:
    """Remove what belonged to the run before; may be killed and done again."""
    run = read_run(store)
    if run is None or not run.clearing:
        return
    for family in _FAMILIES:
        _remove(store, family, b"", None)
    for prefix in _SEEDS:
        _remove(store, "scope", prefix, prefix[:-1] + b";")
    _remove(store, "meta", b"counter:", b"counter;", _LASTING)
    store.delete("meta", b"frontier")
    for number, row in list(file_rows(store)):
        if row.kind is not FileKind.LOG or row.state is not FileState.OPEN:
            continue
        if next(waiting(store, number), None) is None:
            put_row(store, number, structs.replace(row, state=FileState.CLOSED))
    write_run(store, structs.replace(run, clearing=False))
    store.commit()


def _remove(
    store: Store, family: str, start: bytes, stop: bytes | None, but: tuple[bytes, ...] = ()
) -> None:
    while found := [key for key, _ in store.scan(family, start, stop, _CHUNK)]:
        for key in found:
            if not (but and key.startswith(but)):
                store.delete(family, key)
        store.commit()
        start = found[-1] + b"\0"
