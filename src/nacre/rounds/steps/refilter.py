"""All known URLs under the rules of now: judged again, and brought into their normal form.

Source: Nutch, `inject -filterNormalizeAll` and `updatedb -filter -normalize` (reference N 1.6).
Nutch drops what a filter refuses; here it stays with the file and line that refuse it, so that a
later rule lets it in again. A row whose normal form has another key moves there: the old key is
purged, sums move as differences, and of two rows the one that was visited last counts.
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
from nacre.rounds.steps.seed_rows import synced
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
"""Keys that are moved at a time."""
_MOVED = ("state", "capture", "seed")
"""Groups of columns that move; others are made anew by their steps."""
_SUMS = tuple(column.name for column in ADD_COLUMNS if column.rule is FoldRule.SUM)
_FOUND = ("url", "via", "path", "source", "md", "first_seen")
_MOVED_TYPES = "(key VARCHAR, to_key VARCHAR, to_url VARCHAR, to_bucket INTEGER)"


class RefilterOptions(NamedTuple):
    """Options of a pass over all known URLs.

    Attributes:
        filter: The scope and its filters judge them.
        normalize: Normalizers of scope `crawldb` rewrite them.
    """

    filter: bool = True
    normalize: bool = True


class RefilterResult(NamedTuple):
    """Counts of a pass over all known URLs.

    Attributes:
        asked: URLs that other rules had judged last.
        excluded: Of these, the refused ones, by file and line or name of the rule.
        readmitted: URLs that were refused and are not any more.
        moved: URLs that got another key.
        left: URLs that would get one, and are out in a list.
        version: The version; None where nothing was committed.
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
        place: Where the task works.
        version: Number of the version that it is for.
        buckets: The buckets with their files.
        number: Number of buckets of the table.
        rules: The rules.
        options: What is done.
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
        counts: How many URLs were `asked`, `readmitted`, `moved`, and are `left`.
        excluded: Refused URLs, by file and line or name of the rule.
        exchanged: Buckets that rows move to.
    """

    files: dict[str, list[TableFile]]
    counts: dict[str, int]
    excluded: dict[str, int]
    exchanged: frozenset[int]


def refilter_task(spec: RefilterSpec) -> RefilteredFiles:
    """Judge and normalize the rows of some buckets; what moves goes to an exchanged file."""
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
        exchanged = {one for (one,) in kernel.rows("select distinct to_bucket from leaving")}
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
        found, written = judge_rows(
            kernel, "asked", self._admission, spec.rules.hash, every=spec.rules.changed is not None
        )
        self._counts.update(asked=found.asked, readmitted=found.readmitted)
        self._excluded.update(found.excluded)
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
        found = list(self._changed(kernel.batches("select * from looked order by key")))
        if not found:
            return
        import pyarrow as pa  # noqa: PLC0415 - an extra

        kernel.execute(f"create or replace temp table moved {_MOVED_TYPES}")
        names = ("key", "to_key", "to_url", "to_bucket")
        kernel.load("moving", pa.table(dict(zip(names, zip(*found, strict=True), strict=True))))
        kernel.execute("insert into moved select * from moving")
        whole = merge_query(*local, keys="moved", order=False)
        kernel.execute(
            "create or replace temp table gone as select w.*, m.to_key, m.to_url, m.to_bucket "
            f"from ({whole}) w join moved m on m.key = w.key"
        )
        kernel.execute("insert into leaving select * from gone")
        self._counts["moved"] += len(found)
        if not spec.dry:
            self._purge(bucket.bucket)

    def _changed(self, batches: Iterable[Any]) -> Iterable[tuple[str, str, str, int]]:
        """Keys with other normal forms: the key, the new one, its URL and bucket."""
        for batch in batches:
            for row in batch.to_pylist():
                url = row["url"] or row["key"]
                form = self._admission.known_form(url)
                key = self._admission.key(form) if form and form != url else row["key"]
                if key == row["key"]:
                    continue
                if row["leased"] and (row["leased_until"] or 0) > self._spec.clock:
                    self._counts["left"] += 1
                    continue
                yield row["key"], key, form, bucket_of(key, self._spec.number)

    def _purge(self, bucket: int) -> None:
        """Purge the old keys, and take their sums away."""
        # What says where a URL was found is repeated, so that it stays.
        minus = (f'-"{name}" as "{name}"' for name in _SUMS)
        picks = ", ".join(["key", *(f'"{name}"' for name in _FOUND), *minus, "last_inlink"])
        rows = self._kernel.arrow(f"select {picks} from gone order by key").to_pylist()
        version, clock = self._spec.version, self._spec.clock
        purged = [
            {"key": row["key"], "purged": max(clock, row.pop("last_inlink") or 0)} for row in rows
        ]
        plans = (("purge", "set", purged), ("", "add", rows))
        for group, kind, made in plans:
            file = write_rows(self._work, FilePlan(CRAWLDB, bucket, kind, version, group), made)
            self._files += [file] if file is not None else []


class MoveSpec(NamedTuple):
    """The rows that move to some buckets.

    Attributes:
        place: Where the task works.
        version: Number of the version that it is for.
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
                files += _arrived(work, spec, bucket, start)
    return {CRAWLDB: files}


def _arrived(work: TaskWork, spec: MoveSpec, bucket: BucketFiles, start: int) -> list[TableFile]:
    kernel = work.kernel
    kernel.execute(
        "create or replace temp table portion as select * exclude (n) from arriving "
        f"where n > {start} and n <= {start + _PORTION}"
    )
    kernel.execute(
        "create or replace temp table wanted as select distinct to_key as key from portion"
    )
    known: dict[str, dict[str, Any]] = {}
    purged: set[str] = set()
    if bucket.all:
        local = local_bucket(work.storage, bucket, work.scratch)
        query = merge_query(*local, keys="wanted", order=False)
        known = {row["key"]: row for row in kernel.arrow(query).to_pylist()}
        purged = {key for key, row in known.items() if not _is_alive(row)}
    rows = kernel.arrow("select * from portion order by to_key, key").to_pylist()
    made: dict[str, list[dict[str, Any]]] = {name: [] for name in ("", "purge", *_MOVED)}
    for key, arrivals in groupby(rows, lambda row: row["to_key"]):
        there = None if key in purged else known.get(key)
        for group, row in arrived_rows(key, list(arrivals), there):
            made[group].append(row)
        if key in purged:
            made["purge"].append({"key": key, "purged": None})
    plans = [
        (FilePlan(CRAWLDB, bucket.bucket, "set" if group else "add", spec.version, group), found)
        for group, found in made.items()
    ]
    written = [write_rows(work, plan, found) for plan, found in plans]
    return [file for file in written if file is not None]


def _is_alive(row: Mapping[str, Any]) -> bool:
    return row["purged"] is None or (row["last_inlink"] or 0) > row["purged"]


def arrived_rows(
    key: str, arrivals: Sequence[Mapping[str, Any]], known: Mapping[str, Any] | None
) -> list[tuple[str, dict[str, Any]]]:
    """The rows that a key gets from others, each with its group; "" for what is added.

    Args:
        key: The key.
        arrivals: The merged rows of the old keys, with `to_url`.
        known: The merged row of the key itself; None when it is not known.
    """
    first = min(arrivals, key=lambda row: (row["first_seen"] or 0, row["key"]))
    add = {column.name: first[column.name] for column in ADD_COLUMNS}
    url = first["to_url"]
    add |= {"key": key, "url": None if url == key else url}
    for name, pick in _TOTALS.items():
        values = [row[name] for row in arrivals if row[name] is not None]
        add[name] = pick(values) if values else None
    made: list[tuple[str, dict[str, Any]]] = [("", add)]
    last = max(arrivals, key=_newness)
    if known is not None and _newness(known) >= _newness(last):
        return made
    for group in _MOVED:
        names = [column.name for column in group_columns(group)]
        if any(last[name] is not None for name in names):
            made.append((group, {"key": key, **{name: last[name] for name in names}}))
    return made


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
        options: What is done.

    Raises:
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = synced(context)
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
        found = context.engine.map(refilter_task, specs)
        files = [file for one in found for file in one.files[CRAWLDB]]
        sources = tuple(
            spec.exchange for spec, one in zip(specs, found, strict=True) if one.exchanged
        )
        if sources and not context.dry:
            numbers = sorted({bucket for one in found for bucket in one.exchanged})
            known = {one.bucket: one for one in buckets}
            targets = [known.get(number, BucketFiles(number)) for number in numbers]
            moves = [
                MoveSpec(context.place, version.number + 1, sources, group)
                for group in in_tasks(targets, tasks=context.engine.workers)
            ]
            for result in context.engine.map(move_task, moves):
                files += result[CRAWLDB]
    finally:
        remove_folder(context.cycle.storage, folder)
    return _committed(context, version, options, _summed(found), files)


def _summed(found: Sequence[RefilteredFiles]) -> RefilterResult:
    counts: Counter[str] = Counter()
    excluded: Counter[str] = Counter()
    for one in found:
        counts.update(one.counts)
        excluded.update(one.excluded)
    return RefilterResult(
        counts["asked"], dict(excluded), counts["readmitted"], counts["moved"], counts["left"]
    )


def _committed(
    context: StepContext,
    version: CycleVersion,
    options: RefilterOptions,
    found: RefilterResult,
    files: Sequence[TableFile],
) -> RefilterResult:
    if context.dry or not files:
        return found
    changes = CycleChanges(
        step="refilter",
        clock=context.clock,
        options=options._asdict(),
        counters={
            "asked": found.asked, "moved": found.moved, "excluded": dict(found.excluded),
        },
        added={CRAWLDB: list(files)},
    )  # fmt: skip
    return found._replace(version=context.cycle.commit(version, changes))
