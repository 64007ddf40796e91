"""The step `inject`: seeds enter the table of URLs, or change their rows.

Source: Nutch, `Injector` (reference N 1.1). An unknown seed becomes a row that is due now. For a
known URL the table wins; with `overwrite` the seed wins, and with `update` the row keeps its
state and takes metadata, score and interval of the seed. Sums are never set: a changed score is
written as its difference.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nacre.crawldb import row as rows
from nacre.crawldb.fold import fold_query, merge_query
from nacre.crawldb.row import Status
from nacre.crawldb.scoring import PageScore, Scoring, follows_seed, injected
from nacre.rounds.steps.context import StepContext
from nacre.rounds.tables.seedlist import ONE, BadMetadata
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    local_bucket,
    publish,
    write_arrow,
)
from nacre.rounds.tables.versions import CycleVersion, TableFile
from nacre.scope.seeds import BadSeed

_KNOWN = (
    "key", "url", "status", "fetch_time", "interval", "fixed_interval", "retries", "modified",
    "signature", "last_status", "last_time", "last_reason", "evidence", "seed_md", "via",
    "path", "source", "md", "score", "cash", "first_seen",
)  # fmt: skip
"""Columns of a known row that a seed is merged with."""


class InjectOptions(NamedTuple):
    """Options of the step, as Nutch's.

    Attributes:
        overwrite: The seed replaces the row of its URL.
        update: The row keeps its state and takes the values of the seed.
        filter: Apply filters to the seeds.
        normalize: Normalize the seeds first.
    """

    overwrite: bool = False
    update: bool = False
    filter: bool = True
    normalize: bool = True


class InjectDefaults(NamedTuple):
    """Default values of seeds.

    Attributes:
        score: Score of a seed, in 2^-32.
        interval: Time between two fetches, s.
        scoring: Kinds of score, which determine the initial score of a seed.
    """

    score: int = ONE
    interval: int = 2_592_000
    scoring: tuple[Scoring, ...] = ()


class NewSeed(NamedTuple):
    """An accepted seed.

    Attributes:
        key: Its key.
        url: The requested URL.
        source: Its line, without login and options.
        judged: Hash of the rules that let it in.
        score, interval, fixed, metadata: See `InjectedSeed`.
    """

    key: str
    url: str
    source: str
    judged: int
    score: int | None
    interval: int | None
    fixed: float | None
    metadata: dict[str, str]


class InjectSpec(NamedTuple):
    """One task: buckets, and their seeds.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        work: Each bucket with its files and its seeds.
        options, defaults: Those of the step.
        clock: The clock of the step, ms.
        dry: Count, and write nothing.
    """

    place: TaskPlace
    version: int
    work: tuple[tuple[BucketFiles, tuple[NewSeed, ...]], ...]
    options: InjectOptions
    defaults: InjectDefaults
    clock: int
    dry: bool = False


class InjectResult(NamedTuple):
    """Counts of the outcomes of a list.

    Attributes:
        seeds: Lines that are seeds.
        new: New URLs.
        merged: Known URLs that took values from a seed.
        known: Known URLs without a change.
        twice: Lines whose URL was in the list before.
        refused: Seeds that a filter refuses, by file and line.
        outside: Seeds outside of the scope, by the rule; they are fetched nevertheless.
        malformed: Lines that are no seeds, and wrong metadata; the first 1,000.
        malformed_count: Their number.
        version: The newest version; None if nothing was committed.
        scored: New or merged seeds with a score (`nutch.score`).
        scored_in: The columns of such a score by `cycle.scoring`: `cash` with `opic`. () if it has
            no effect, as with `rank`.
    """

    seeds: int = 0
    new: int = 0
    merged: int = 0
    known: int = 0
    twice: int = 0
    refused: Mapping[str, int] = {}
    outside: Mapping[str, int] = {}
    malformed: Sequence[BadSeed | BadMetadata] = ()
    malformed_count: int = 0
    version: CycleVersion | None = None
    scored: int = 0
    scored_in: Sequence[str] = ()


def score_columns(scoring: Sequence[Scoring]) -> tuple[str, ...]:
    """Return the columns that kinds of score put the score of a seed into.

    Args:
        scoring: The kinds in order.
    """
    of_score, of_cash = follows_seed(scoring, PageScore(ONE, depth=1))
    return (*(("score",) if of_score else ()), *(("cash",) if of_cash else ()))


# ---- merging a seed with the known rows (pure)


class MergedSeed(NamedTuple):
    """The rows that a seed writes; None for each kind without a row.

    Attributes:
        outcome: `new`, `merged` or `known`.
        add: Row of an `add` file.
        state: Row of the group `state`.
        seed: Row of the group `seed`.
    """

    outcome: str
    add: dict[str, Any] | None = None
    state: dict[str, Any] | None = None
    seed: dict[str, Any] | None = None


def merge_seed(
    seed: NewSeed,
    row: Mapping[str, Any] | None,
    options: InjectOptions,
    defaults: InjectDefaults,
    clock: int,
) -> MergedSeed:
    """Return the rows that a seed writes into the table. Source: Nutch, `Injector.InjectReducer`.

    Args:
        seed: The seed.
        row: The row of its URL; None for an unknown URL.
        options: How known URLs are treated.
        defaults: Default values of seeds.
        clock: The clock of the step, ms.
    """
    if row is None:
        return _new_row(seed, defaults, clock)
    if options.overwrite:
        return _replace_row(seed, row, defaults, clock)
    if options.update:
        return _update_row(seed, row, defaults)
    return MergedSeed("known")


def _new_row(seed: NewSeed, defaults: InjectDefaults, clock: int) -> MergedSeed:
    begins = _initial_score(seed, defaults)
    add = {
        "key": seed.key,
        "url": None if seed.url == seed.key else seed.url,
        "source": seed.source,
        "judged": seed.judged,
        "score": begins.score,
        "cash": begins.cash,
        "inlinks": 0,
        "depth": begins.depth,
        "first_seen": clock,
    }
    fresh = _new_state(seed, defaults, clock) if seed.interval or seed.fixed else None
    return MergedSeed("new", add, fresh, _metadata(seed, {}))


def _seed_score(seed: NewSeed, defaults: InjectDefaults) -> PageScore:
    score = defaults.score if seed.score is None else seed.score
    return PageScore(score, depth=1, md=seed.metadata)


def _initial_score(seed: NewSeed, defaults: InjectDefaults) -> PageScore:
    return injected(defaults.scoring, _seed_score(seed, defaults))


def _new_state(seed: NewSeed, defaults: InjectDefaults, clock: int) -> dict[str, Any]:
    return {
        "key": seed.key,
        "status": int(Status.UNFETCHED),
        "fetch_time": clock,
        "interval": seed.interval or defaults.interval,
        "fixed_interval": seed.fixed,
        "retries": 0,
        "modified": 0,
    }


def _replace_row(
    seed: NewSeed, row: Mapping[str, Any], defaults: InjectDefaults, clock: int
) -> MergedSeed:
    metadata = {"key": seed.key, "seed_md": list(seed.metadata.items()) or None}
    add = _score_change(row, seed, defaults)
    return MergedSeed("merged", add, _new_state(seed, defaults, clock), metadata)


def _update_row(seed: NewSeed, before: Mapping[str, Any], defaults: InjectDefaults) -> MergedSeed:
    wants_score = seed.score is not None and seed.score != defaults.score
    add = _score_change(before, seed, defaults) if wants_score else None
    state = None
    if (seed.interval is not None and seed.interval != defaults.interval) or seed.fixed:
        state_columns = {name: before.get(name) for name in _names("state")}
        interval = seed.interval or state_columns["interval"]
        state = {**state_columns, "key": seed.key, "interval": interval}
        state["fixed_interval"] = seed.fixed or state_columns["fixed_interval"]
    metadata = _metadata(seed, dict(before.get("seed_md") or ()))
    changes = any(row is not None for row in (add, state, metadata))
    return MergedSeed("merged" if changes else "known", add, state, metadata)


def _score_change(
    row: Mapping[str, Any], seed: NewSeed, defaults: InjectDefaults
) -> dict[str, Any] | None:
    """Return the change of a score; None for no change.

    The columns about the discovery of a URL are repeated, so that they stay. With `opic` the
    distributed score stays: only the cash becomes that of the seed.
    """
    begin = _initial_score(seed, defaults)
    of_score, of_cash = follows_seed(defaults.scoring, _seed_score(seed, defaults))
    # A plug-in may derive either from the metadata of a seed, without a score.
    score = begin.score - int(row.get("score") or 0) if of_score or begin.score else 0
    cash = begin.cash - int(row.get("cash") or 0) if of_cash or begin.cash else 0
    if not cash and not score:
        return None
    again = {name: row.get(name) for name in ("url", "via", "path", "source", "md", "first_seen")}
    return {**again, "key": row["key"], "score": score, "cash": cash, "inlinks": 0}


def _metadata(seed: NewSeed, current: dict[str, str]) -> dict[str, Any] | None:
    merged = {**current, **seed.metadata}
    if merged == current:
        return None
    return {"key": seed.key, "seed_md": list(merged.items())}


def _names(group: str) -> list[str]:
    return [column.name for column in rows.group_columns(group)]


# ---- the task


class InjectedFiles(NamedTuple):
    """The files and counts of a task.

    Attributes:
        files: The files that it wrote, by table.
        counts: Number of seeds that were `new`, `merged` and `known`, and of those with a score
            (`scored`).
    """

    files: dict[str, list[TableFile]]
    counts: dict[str, int]


def inject_task(spec: InjectSpec) -> InjectedFiles:
    """Merge the seeds of some buckets with their rows."""
    files: list[TableFile] = []
    counts: Counter[str] = Counter()
    with spec.place.open() as work:
        for bucket, seeds in spec.work:
            rows_by_key, purged = known_rows(work, bucket, seeds, spec.defaults.interval)
            ordered = sorted(seeds, key=lambda outcome: outcome.key.encode())
            merged = [
                merge_seed(seed, rows_by_key.get(seed.key), spec.options, spec.defaults, spec.clock)
                for seed in ordered
            ]
            counts.update(outcome.outcome for outcome in merged)
            pairs = zip(ordered, merged, strict=True)
            scored = sum(
                seed.score is not None and outcome.add is not None for seed, outcome in pairs
            )
            counts.update({"scored": scored} if scored else {})
            if not spec.dry:
                files += write_seeds(work, bucket.bucket, spec.version, merged, purged)
    return InjectedFiles({CRAWLDB: files}, dict(counts))


def known_rows(
    work: TaskWork, bucket: BucketFiles, seeds: Sequence[NewSeed], interval: int
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the rows of the URLs of seeds by key, and the purged keys.

    Args:
        work: The kernel and folder of the task.
        bucket: The bucket of all seeds.
        seeds: The seeds.
        interval: Interval of a row that has none, s.
    """
    if not bucket.all:
        return {}, []
    import pyarrow as pa  # noqa: PLC0415 - an extra

    local = local_bucket(work.storage, bucket, work.scratch)
    work.kernel.load("wanted", pa.table({"key": [seed.key for seed in seeds]}))
    query = fold_query(*local, interval=interval, columns=_KNOWN, order=False)
    semi = "semi join wanted using (key)"
    url_rows = work.kernel.arrow(f"select * from ({query}) {semi}").to_pylist()
    merged = merge_query(*local, columns=("key", "purged"), order=False)
    gone = work.kernel.rows(f"select key from ({merged}) {semi} where purged is not null")
    return {url_row["key"]: url_row for url_row in url_rows}, sorted(key for (key,) in gone)


def write_seeds(
    work: TaskWork, bucket: int, version: int, merged: Sequence[MergedSeed], purged: Sequence[str]
) -> Iterator[TableFile]:
    """Write the rows of seeds; yield the files.

    Args:
        work: The kernel and folder of the task.
        bucket: The bucket of all seeds.
        version: Number of the version to commit.
        merged: The merged seeds, sorted by key.
        purged: Purged keys that are added again.
    """
    kinds = {
        "": [seed.add for seed in merged if seed.add is not None],
        "state": [seed.state for seed in merged if seed.state is not None],
        "seed": [seed.seed for seed in merged if seed.seed is not None],
        "purge": [{"key": key, "purged": None} for key in purged],
    }
    for group, group_rows in kinds.items():
        plan = FilePlan(CRAWLDB, bucket, "set" if group else "add", version, group)
        file = write_rows(work, plan, group_rows)
        if file is not None:
            yield file


def write_rows(
    work: TaskWork, plan: FilePlan, url_rows: Sequence[Mapping[str, Any]]
) -> TableFile | None:
    """Write rows, sorted by key, as a file of the table of URLs; None for no rows."""
    if not url_rows:
        return None
    import pyarrow as pa  # noqa: PLC0415 - an extra

    schema = rows.GROUPS[plan.group] if plan.group else rows.ADD_SCHEMA
    path = work.scratch / f"{plan.kind}-{plan.group}-{plan.bucket}.parquet"
    write_arrow(pa.Table.from_pylist(list(url_rows), schema), path)
    return publish(work.storage, path, plan)


def inject_defaults(context: StepContext) -> InjectDefaults:
    """Return the default values of seeds, by the settings."""
    cycle = context.settings.cycle
    interval = round(cycle.inject.interval) or context.interval
    return InjectDefaults(round(cycle.inject.score * ONE), interval, tuple(cycle.scoring))
