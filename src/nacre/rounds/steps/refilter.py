"""Judge all known URLs by the current rules, and normalize them.

Source: Nutch, `inject -filterNormalizeAll` and `updatedb -filter -normalize` (reference N 1.6).
Nutch drops URLs that a filter refuses; here they stay with the file and line of the filter, so that
a later rule can readmit them. A row whose normal form has another key moves: the old key is purged,
sums move as differences, and the row with the newest visit wins.
"""

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from nacre.crawldb.fold import fold_query, merge_query
from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import ADD_COLUMNS, COLUMNS, FoldRule, bucket_of, group_columns
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.inject_rows import write_rows
from nacre.rounds.steps.judging import JUDGED_BY, RulesOfStep, judge_rows, rules_of_step
from nacre.rounds.steps.seed_rows import sync_seeds
from nacre.rounds.steps.update_tasks import local_facts
from nacre.rounds.storage import remove_folder
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    buckets_of,
    in_tasks,
    local_bucket,
    publish,
)
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, TableFile

_PORTION = 20_000
"""Keys to move at a time."""
_MOVED = ("state", "capture", "seed")
"""Groups of columns that move; other groups are made again by their steps."""
_SUMS = tuple(column.name for column in ADD_COLUMNS if column.rule is FoldRule.SUM)
_DISCOVERY = ("url", "via", "path", "source", "md", "first_seen")
_MOVED_TYPES = "(key VARCHAR, to_key VARCHAR, to_url VARCHAR, to_bucket INTEGER)"


class RefilterOptions(NamedTuple):
    """Options of a pass over all known URLs.

    Attributes:
        filter: Apply the scope and its filters.
        normalize: Apply the normalizers of scope `crawldb`.
    """

    filter: bool = True
    normalize: bool = True


class RefilterResult(NamedTuple):
    """Counts of a pass over all known URLs.

    Attributes:
        asked: URLs that other rules had judged last.
        excluded: Refused URLs among them, by file and line or name of the rule.
        readmitted: URLs that are no longer refused.
        moved: URLs that got another key.
        left: URLs that would get another key, and are in a list.
        version: The version; None if nothing was committed.
    """

    asked: int = 0
    excluded: Mapping[str, int] = {}
    readmitted: int = 0
    moved: int = 0
    left: int = 0
    version: CycleVersion | None = None


class RefilterSpec(NamedTuple):
    """The pass over some buckets.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        buckets: The buckets with their files.
        number: Number of buckets of the table.
        rules: The rules.
        options: The options of the step.
        clock: The clock of the step, ms.
        exchange: Name of the file for rows that move.
        dry: Count, and write nothing.
    """

    place: TaskPlace
    version: int
    buckets: tuple[BucketFiles, ...]
    number: int
    rules: RulesOfStep
    options: RefilterOptions
    clock: int
    exchange: str
    dry: bool = False


class RefilteredFiles(NamedTuple):
    """Files and counts of the pass over some buckets.

    Attributes:
        files: The files that it wrote, by table.
        counts: Numbers of URLs: `asked`, `readmitted`, `moved` and `left`.
        excluded: Refused URLs, by file and line or name of the rule.
        exchanged: Buckets that rows move to.
    """

    files: dict[str, list[TableFile]]
    counts: dict[str, int]
    excluded: dict[str, int]
    exchanged: frozenset[int]


def refilter_task(spec: RefilterSpec) -> RefilteredFiles:
    """Judge and normalize the rows of some buckets; moving rows go to an exchanged file."""
    with spec.place.open() as work:
        return _Refiltering(work, spec).run()


class _Refiltering:
    """The pass of a task."""

    def __init__(self, work: TaskWork, spec: RefilterSpec) -> None:
        self._work = work
        self._spec = spec
        self._kernel = work.kernel
        self._admission = spec.rules.admission(work.scratch)
        self._files: list[TableFile] = []
        self._counts: Counter[str] = Counter()
        self._excluded: Counter[str] = Counter()

    def run(self) -> RefilteredFiles:
        spec, kernel = self._spec, self._kernel
        columns = ", ".join(f'"{column.name}" {column.type}' for column in COLUMNS)
        moving = columns.replace('"key" VARCHAR', "key VARCHAR")
        more = "to_key VARCHAR, to_url VARCHAR, to_bucket INTEGER"
        kernel.execute(f"create temp table leaving ({moving}, {more})")
        for bucket in spec.buckets:
            if spec.options.filter:
                self._judge(bucket)
            if spec.options.normalize:
                self._normalize(bucket)
        exchanged = {b for (b,) in kernel.rows("select distinct to_bucket from leaving")}
        if exchanged and not spec.dry:
            path = self._work.scratch / "leaving.parquet"
            kernel.write("select * from leaving order by to_bucket, to_key, key", str(path))
            self._work.storage.upload(path, spec.exchange)
        return RefilteredFiles(
            {CRAWLDB: self._files}, dict(self._counts), dict(self._excluded), frozenset(exchanged)
        )

    def _judge(self, bucket: BucketFiles) -> None:
        spec, kernel = self._spec, self._kernel
        local = local_bucket(self._work.storage, bucket, self._work.scratch)
        rows = fold_query(*local, interval=0, columns=JUDGED_BY, order=False)
        kernel.execute(f"create or replace temp table asked as {rows}")
        judged, written = judge_rows(
            kernel, "asked", self._admission, spec.rules.hash, every=spec.rules.changed is not None
        )
        self._counts.update(asked=judged.judged, readmitted=judged.readmitted)
        self._excluded.update(judged.excluded)
        if written and not spec.dry:
            path = self._work.scratch / f"admission-{bucket.bucket}.parquet"
            kernel.write(written, str(path))
            plan = FilePlan(CRAWLDB, bucket.bucket, "set", spec.version, "admission")
            file = publish(self._work.storage, path, plan)
            self._files += [file] if file is not None else []

    def _normalize(self, bucket: BucketFiles) -> None:
        spec, kernel = self._spec, self._kernel
        local = local_bucket(self._work.storage, bucket, self._work.scratch)
        columns = ("key", "url", "leased", "leased_until")
        rows = fold_query(*local, interval=0, columns=columns, order=False)
        kernel.execute(f"create or replace temp table looked as {rows}")
        changed = list(self._find_changed(kernel.batches("select * from looked order by key")))
        if not changed:
            return
        import pyarrow as pa  # noqa: PLC0415 - an extra

        kernel.execute(f"create or replace temp table moved {_MOVED_TYPES}")
        names = ("key", "to_key", "to_url", "to_bucket")
        kernel.load("moving", pa.table(dict(zip(names, zip(*changed, strict=True), strict=True))))
        kernel.execute("insert into moved select * from moving")
        whole = merge_query(*local, keys="moved", order=False)
        kernel.execute(
            "create or replace temp table gone as select w.*, m.to_key, m.to_url, m.to_bucket "
            f"from ({whole}) w join moved m on m.key = w.key"
        )
        kernel.execute("insert into leaving select * from gone")
        self._counts["moved"] += len(changed)
        if not spec.dry:
            self._purge(bucket.bucket)

    def _find_changed(self, batches: Iterable[Any]) -> Iterable[tuple[str, str, str, int]]:
        """Yield keys with other normal forms: the old key, the new key, its URL and bucket."""
        for batch in batches:
            for row in batch.to_pylist():
                url = row["url"] or row["key"]
                form = self._admission.crawldb_form(url)
                key = self._admission.key(form) if form and form != url else row["key"]
                if key == row["key"]:
                    continue
                if row["leased"] and (row["leased_until"] or 0) > self._spec.clock:
                    self._counts["left"] += 1
                    continue
                yield row["key"], key, form, bucket_of(key, self._spec.number)

    def _purge(self, bucket: int) -> None:
        """Purge the old keys, and subtract their sums."""
        # The columns about the discovery of a URL are repeated, so that they stay.
        minus = (f'-"{name}" as "{name}"' for name in _SUMS)
        picks = ", ".join(["key", *(f'"{name}"' for name in _DISCOVERY), *minus, "last_inlink"])
        rows = self._kernel.arrow(f"select {picks} from gone order by key").to_pylist()
        version, clock = self._spec.version, self._spec.clock
        purged = [
            {"key": row["key"], "purged": max(clock, row.pop("last_inlink") or 0)} for row in rows
        ]
        plans = (("purge", "set", purged), ("", "add", rows))
        for group, kind, group_rows in plans:
            file = write_rows(
                self._work, FilePlan(CRAWLDB, bucket, kind, version, group), group_rows
            )
            self._files += [file] if file is not None else []


class MoveSpec(NamedTuple):
    """The rows that move to some buckets.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        sources: The files of the first pass.
        buckets: The buckets with their files.
    """

    place: TaskPlace
    version: int
    sources: tuple[str, ...]
    buckets: tuple[BucketFiles, ...]


def move_task(spec: MoveSpec) -> dict[str, list[TableFile]]:
    """Write the rows that move to some buckets."""
    files: list[TableFile] = []
    with spec.place.open() as work:
        source = parquet(local_facts(work.storage, spec.sources, work))
        for bucket in spec.buckets:
            work.kernel.execute(
                "create or replace temp table arriving as select *, dense_rank() over "
                f"(order by to_key) as n from {source} where to_bucket = {bucket.bucket}"
            )
            most = work.kernel.value("select max(n) from arriving")
            for start in range(0, most, _PORTION):
                files += _write_arrivals(work, spec, bucket, start)
    return {CRAWLDB: files}


def _write_arrivals(
    work: TaskWork, spec: MoveSpec, bucket: BucketFiles, start: int
) -> list[TableFile]:
    kernel = work.kernel
    kernel.execute(
        "create or replace temp table portion as select * exclude (n) from arriving "
        f"where n > {start} and n <= {start + _PORTION}"
    )
    kernel.execute(
        "create or replace temp table wanted as select distinct to_key as key from portion"
    )
    rows_by_key: dict[str, dict[str, Any]] = {}
    purged: set[str] = set()
    if bucket.all:
        local = local_bucket(work.storage, bucket, work.scratch)
        query = merge_query(*local, keys="wanted", order=False)
        rows_by_key = {row["key"]: row for row in kernel.arrow(query).to_pylist()}
        purged = {key for key, row in rows_by_key.items() if not _is_alive(row)}
    rows = kernel.arrow("select * from portion order by to_key, key").to_pylist()
    new_rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ("", "purge", *_MOVED)}
    for key, arrivals in groupby(rows, lambda row: row["to_key"]):
        current = None if key in purged else rows_by_key.get(key)
        for group, row in merge_arrivals(key, list(arrivals), current):
            new_rows[group].append(row)
        if key in purged:
            new_rows["purge"].append({"key": key, "purged": None})
    plans = [
        (
            FilePlan(CRAWLDB, bucket.bucket, "set" if group else "add", spec.version, group),
            group_rows,
        )
        for group, group_rows in new_rows.items()
    ]
    written = [write_rows(work, plan, group_rows) for plan, group_rows in plans]
    return [file for file in written if file is not None]


def _is_alive(row: Mapping[str, Any]) -> bool:
    return row["purged"] is None or (row["last_inlink"] or 0) > row["purged"]


def merge_arrivals(
    key: str, arrivals: Sequence[Mapping[str, Any]], current: Mapping[str, Any] | None
) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows that a key gets from others, each with its group; "" for an `add` row.

    Args:
        key: The key.
        arrivals: The merged rows of the old keys, with `to_url`.
        current: The merged row of the key itself; None for an unknown key.
    """
    first = min(arrivals, key=lambda row: (row["first_seen"] or 0, row["key"]))
    add = {column.name: first[column.name] for column in ADD_COLUMNS}
    url = first["to_url"]
    add |= {"key": key, "url": None if url == key else url}
    for name, pick in _TOTALS.items():
        values = [row[name] for row in arrivals if row[name] is not None]
        add[name] = pick(values) if values else None
    rows: list[tuple[str, dict[str, Any]]] = [("", add)]
    last = max(arrivals, key=_newness)
    if current is not None and _newness(current) >= _newness(last):
        return rows
    for group in _MOVED:
        names = [column.name for column in group_columns(group)]
        if any(last[name] is not None for name in names):
            rows.append((group, {"key": key, **{name: last[name] for name in names}}))
    return rows


_PICKS = {FoldRule.SUM: sum, FoldRule.MIN: min, FoldRule.MAX: max}
_TOTALS: dict[str, Any] = {
    column.name: _PICKS[column.rule] for column in ADD_COLUMNS if column.rule in _PICKS
}


def _newness(row: Mapping[str, Any]) -> tuple[int, int, str]:
    return row["last_time"] or 0, row["fetch_time"] or 0, row["key"]


# ---- the driver


def refilter(context: StepContext, options: RefilterOptions) -> RefilterResult:
    """Judge and normalize all known URLs.

    Args:
        context: The context of the driver.
        options: The options of the step.

    Raises:
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = sync_seeds(context)
    if CRAWLDB not in version.tables:
        return RefilterResult()
    buckets = buckets_of(context.cycle, version, CRAWLDB)
    folder = f"exchange/refilter-{version.number + 1}-{secrets.token_hex(6)}"
    rules = rules_of_step(context, version)
    specs = [
        RefilterSpec(
            context.place, version.number + 1, group, version.tables[CRAWLDB].buckets, rules,
            options, context.clock, f"{folder}/leaving-{number}.parquet", context.dry,
        )
        for number, group in enumerate(in_tasks(buckets, tasks=context.engine.workers))
    ]  # fmt: skip
    try:
        results = context.engine.map(refilter_task, specs)
        files = [file for judged in results for file in judged.files[CRAWLDB]]
        sources = tuple(
            spec.exchange for spec, judged in zip(specs, results, strict=True) if judged.exchanged
        )
        if sources and not context.dry:
            numbers = sorted({bucket for judged in results for bucket in judged.exchanged})
            by_number = {judged.bucket: judged for judged in buckets}
            targets = [by_number.get(number, BucketFiles(number)) for number in numbers]
            moves = [
                MoveSpec(context.place, version.number + 1, sources, group)
                for group in in_tasks(targets, tasks=context.engine.workers)
            ]
            for result in context.engine.map(move_task, moves):
                files += result[CRAWLDB]
    finally:
        remove_folder(context.cycle.storage, folder)
    return _commit(context, version, options, _sum_results(results), files)


def _sum_results(results: Sequence[RefilteredFiles]) -> RefilterResult:
    counts: Counter[str] = Counter()
    excluded: Counter[str] = Counter()
    for result in results:
        counts.update(result.counts)
        excluded.update(result.excluded)
    return RefilterResult(
        counts["asked"], dict(excluded), counts["readmitted"], counts["moved"], counts["left"]
    )


def _commit(
    context: StepContext,
    version: CycleVersion,
    options: RefilterOptions,
    result: RefilterResult,
    files: Sequence[TableFile],
) -> RefilterResult:
    if context.dry or not files:
        return result
    changes = CycleChanges(
        step="refilter",
        clock=context.clock,
        options=options._asdict(),
        counters={
            "asked": result.asked, "moved": result.moved, "excluded": dict(result.excluded),
        },
        added={CRAWLDB: list(files)},
    )  # fmt: skip
    return result._replace(version=context.cycle.commit(version, changes))
