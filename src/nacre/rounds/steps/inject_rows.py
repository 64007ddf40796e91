"""The step `inject`: seeds enter the table of URLs, or change what it says of them.

Source: Nutch, `Injector` (reference N 1.1). A seed that nobody knows becomes a row that is due now.
Of a known one the table wins; with `overwrite` the seed does, and with `update` the row keeps its
state and takes metadata, score and interval of the seed. Nothing that is summed is set: a changed
score is written as its difference.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nacre.crawldb import row as rows
from nacre.crawldb.fold import fold_query, merge_query
from nacre.crawldb.row import Status
from nacre.crawldb.scoring import PageScore, Scoring, follows_seed, injected
from nacre.engine.seeding.seeds import BadSeed
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

_KNOWN = (
    "key", "url", "status", "fetch_time", "interval", "fixed_interval", "retries", "modified",
    "signature", "last_status", "last_time", "last_reason", "evidence", "seed_md", "via",
    "path", "source", "md", "score", "cash", "first_seen",
)  # fmt: skip
"""Columns of a known row that a seed is merged with."""


class InjectOptions(NamedTuple):
    """Options of the step, as Nutch's.

    Attributes:
        overwrite: The seed replaces what is known of its URL.
        update: The row keeps its state and takes what the seed says.
        filter: Filters judge the seeds.
        normalize: Normalizers rewrite them first.
    """

    overwrite: bool = False
    update: bool = False
    filter: bool = True
    normalize: bool = True


class InjectDefaults(NamedTuple):
    """Values that hold where a seed says nothing.

    Attributes:
        score: Score of a seed, in 2^-32.
        interval: Time between two fetches, s.
        scoring: Kinds of score, which say what a seed begins with.
    """

    score: int = ONE
    interval: int = 2_592_000
    scoring: tuple[Scoring, ...] = ()


class NewSeed(NamedTuple):
    """A seed on its way to the table.

    Attributes:
        key: Its key.
        url: What is asked for.
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
    """One task: buckets, and the seeds that lie in them.

    Attributes:
        place: Where it works.
        version: Number of the version that it is for.
        work: Each bucket with its files and its seeds.
        options, defaults: As the step has them.
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
    """Counts of what became of a list.

    Attributes:
        seeds: Lines that are seeds.
        new: URLs that were not known.
        merged: Known URLs that took something from a seed.
        known: Known URLs that stay as they are.
        twice: Lines whose URL stood in the list before.
        refused: Seeds that a filter refuses, by file and line.
        outside: Seeds out of the scope, by the rule that says so; they are fetched all the same.
        malformed: Lines that are no seeds, and wrong metadata; the first 1,000.
        malformed_count: Their number.
        version: The newest version; None where nothing was committed.
        scored: Seeds that have a score of their own (`nutch.score`), new or merged.
        scored_in: The columns that such a score is put into, as `cycle.scoring` says: `cash` under
            `opic`. None: it has no effect, as under `rank`.
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
    """The columns that kinds of score put the score of a seed into.

    Args:
        scoring: The kinds in order.
    """
    of_score, of_cash = follows_seed(scoring, PageScore(ONE, depth=1))
    return (*(("score",) if of_score else ()), *(("cash",) if of_cash else ()))


# ---- merging a seed with what is known (pure)


class MergedSeed(NamedTuple):
    """The rows that a seed writes; None where it writes none of a kind.

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
    known: Mapping[str, Any] | None,
    options: InjectOptions,
    defaults: InjectDefaults,
    clock: int,
) -> MergedSeed:
    """The rows that a seed writes into the table. Source: Nutch, `Injector.InjectReducer`.

    Args:
        seed: The seed.
        known: The row of its URL; None for a URL that is not known.
        options: How known URLs are treated.
        defaults: What holds where the seed says nothing.
        clock: The clock of the step, ms.
    """
    if known is None:
        return _new_row(seed, defaults, clock)
    if options.overwrite:
        return _replaced(seed, known, defaults, clock)
    if options.update:
        return _updated(seed, known, defaults)
    return MergedSeed("known")


def _new_row(seed: NewSeed, defaults: InjectDefaults, clock: int) -> MergedSeed:
    begins = _begins(seed, defaults)
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
    fresh = _fresh_state(seed, defaults, clock) if seed.interval or seed.fixed else None
    return MergedSeed("new", add, fresh, _metadata(seed, {}))


def _said(seed: NewSeed, defaults: InjectDefaults) -> PageScore:
    score = defaults.score if seed.score is None else seed.score
    return PageScore(score, depth=1, md=seed.metadata)


def _begins(seed: NewSeed, defaults: InjectDefaults) -> PageScore:
    return injected(defaults.scoring, _said(seed, defaults))


def _fresh_state(seed: NewSeed, defaults: InjectDefaults, clock: int) -> dict[str, Any]:
    return {
        "key": seed.key,
        "status": int(Status.UNFETCHED),
        "fetch_time": clock,
        "interval": seed.interval or defaults.interval,
        "fixed_interval": seed.fixed,
        "retries": 0,
        "modified": 0,
    }


def _replaced(
    seed: NewSeed, known: Mapping[str, Any], defaults: InjectDefaults, clock: int
) -> MergedSeed:
    metadata = {"key": seed.key, "seed_md": list(seed.metadata.items()) or None}
    add = _score_change(known, seed, defaults)
    return MergedSeed("merged", add, _fresh_state(seed, defaults, clock), metadata)


def _updated(seed: NewSeed, known: Mapping[str, Any], defaults: InjectDefaults) -> MergedSeed:
    wants_score = seed.score is not None and seed.score != defaults.score
    add = _score_change(known, seed, defaults) if wants_score else None
    state = None
    if (seed.interval is not None and seed.interval != defaults.interval) or seed.fixed:
        kept = {name: known.get(name) for name in _names("state")}
        interval = seed.interval or kept["interval"]
        state = {**kept, "key": seed.key, "interval": interval}
        state["fixed_interval"] = seed.fixed or kept["fixed_interval"]
    metadata = _metadata(seed, dict(known.get("seed_md") or ()))
    changes = any(row is not None for row in (add, state, metadata))
    return MergedSeed("merged" if changes else "known", add, state, metadata)


def _score_change(
    known: Mapping[str, Any], seed: NewSeed, defaults: InjectDefaults
) -> dict[str, Any] | None:
    """The difference to a score. What says where a URL was found is repeated, so that it stays.

    What a page has handed out under `opic` stays: only its cash is that of the seed.
    """
    wanted = _begins(seed, defaults)
    of_score, of_cash = follows_seed(defaults.scoring, _said(seed, defaults))
    # A plug-in may make either of the metadata of a seed, whatever its score is.
    score = wanted.score - int(known.get("score") or 0) if of_score or wanted.score else 0
    cash = wanted.cash - int(known.get("cash") or 0) if of_cash or wanted.cash else 0
    if not cash and not score:
        return None
    again = {name: known.get(name) for name in ("url", "via", "path", "source", "md", "first_seen")}
    return {**again, "key": known["key"], "score": score, "cash": cash, "inlinks": 0}


def _metadata(seed: NewSeed, known: dict[str, str]) -> dict[str, Any] | None:
    merged = {**known, **seed.metadata}
    if merged == known:
        return None
    return {"key": seed.key, "seed_md": list(merged.items())}


def _names(group: str) -> list[str]:
    return [column.name for column in rows.group_columns(group)]


# ---- the task


class InjectedFiles(NamedTuple):
    """The files and counts of a task.

    Attributes:
        files: The files that it wrote, by table.
        counts: How many seeds were `new`, `merged` and `known`, and how many have a score of their
            own (`scored`).
    """

    files: dict[str, list[TableFile]]
    counts: dict[str, int]


def inject_task(spec: InjectSpec) -> InjectedFiles:
    """Merge the seeds of some buckets with their rows."""
    files: list[TableFile] = []
    counts: Counter[str] = Counter()
    with spec.place.open() as work:
        for bucket, seeds in spec.work:
            known, purged = known_rows(work, bucket, seeds, spec.defaults.interval)
            ordered = sorted(seeds, key=lambda one: one.key.encode())
            merged = [
                merge_seed(seed, known.get(seed.key), spec.options, spec.defaults, spec.clock)
                for seed in ordered
            ]
            counts.update(one.outcome for one in merged)
            pairs = zip(ordered, merged, strict=True)
            scored = sum(seed.score is not None and one.add is not None for seed, one in pairs)
            counts.update({"scored": scored} if scored else {})
            if not spec.dry:
                files += write_seeds(work, bucket.bucket, spec.version, merged, purged)
    return InjectedFiles({CRAWLDB: files}, dict(counts))


def known_rows(
    work: TaskWork, bucket: BucketFiles, seeds: Sequence[NewSeed], interval: int
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The rows of the URLs of seeds, by key, and which of them were purged.

    Args:
        work: What the task works with.
        bucket: The bucket of all of them.
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
    found = work.kernel.arrow(f"select * from ({query}) {semi}").to_pylist()
    merged = merge_query(*local, columns=("key", "purged"), order=False)
    gone = work.kernel.rows(f"select key from ({merged}) {semi} where purged is not null")
    return {one["key"]: one for one in found}, sorted(key for (key,) in gone)


def write_seeds(
    work: TaskWork, bucket: int, version: int, merged: Sequence[MergedSeed], purged: Sequence[str]
) -> Iterator[TableFile]:
    """Write the rows of seeds; the files.

    Args:
        work: What the task works with.
        bucket: The bucket of all of them.
        version: Number of the version that it is for.
        merged: What the seeds write, sorted by key.
        purged: Keys that were purged and come back.
    """
    kinds = {
        "": [one.add for one in merged if one.add is not None],
        "state": [one.state for one in merged if one.state is not None],
        "seed": [one.seed for one in merged if one.seed is not None],
        "purge": [{"key": key, "purged": None} for key in purged],
    }
    for group, made in kinds.items():
        plan = FilePlan(CRAWLDB, bucket, "set" if group else "add", version, group)
        file = write_rows(work, plan, made)
        if file is not None:
            yield file


def write_rows(
    work: TaskWork, plan: FilePlan, made: Sequence[Mapping[str, Any]]
) -> TableFile | None:
    """Write rows, sorted by key, as a file of the table of URLs; None for no rows."""
    if not made:
        return None
    import pyarrow as pa  # noqa: PLC0415 - an extra

    schema = rows.GROUPS[plan.group] if plan.group else rows.ADD_SCHEMA
    path = work.scratch / f"{plan.kind}-{plan.group}-{plan.bucket}.parquet"
    write_arrow(pa.Table.from_pylist(list(made), schema), path)
    return publish(work.storage, path, plan)


def inject_defaults(context: StepContext) -> InjectDefaults:
    """The values of seeds that say nothing, by the settings."""
    cycle = context.settings.cycle
    interval = round(cycle.inject.interval) or context.interval
    return InjectDefaults(round(cycle.inject.score * ONE), interval, tuple(cycle.scoring))
