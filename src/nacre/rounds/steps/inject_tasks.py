"""The tasks of `inject` for long lists: seeds come by exchanged files, a bucket at a time.

SQL makes the rows of seeds without score, interval and metadata, as most seeds of long lists are;
other seeds are merged one by one (`inject_rows.merge_seed`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb import row as rows
from nacre.crawldb.fold import fold_query, merge_query
from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import ADD_COLUMNS
from nacre.crawldb.scoring import PageScore, injected
from nacre.rounds.steps.inject_rows import (
    InjectDefaults,
    InjectedFiles,
    InjectOptions,
    MergedSeed,
    NewSeed,
    known_rows,
    merge_seed,
    write_rows,
)
from nacre.rounds.storage import localize
from nacre.rounds.tables.tables import (
    CRAWLDB,
    ROW_GROUP,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    local_bucket,
    publish,
)
from nacre.rounds.tables.versions import TableFile

_BATCH = 20_000
"""Seeds that are merged one by one at a time."""
_PLAIN = "score is null and interval is null and fixed is null and metadata is null"


class ListedSeeds(NamedTuple):
    """One task: some buckets, and the exchanged file with their seeds.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        seeds: The exchanged file.
        buckets: The buckets with their files.
        options: Options of the step.
        defaults: Default values of seeds.
        clock: The clock of the step, ms.
        judged: Hash of the rules.
        known_pages: The exchanged file with the URLs of known, unparsed lines; "" for none.
        dry: Count, and write nothing.
    """

    place: TaskPlace
    version: int
    seeds: str
    buckets: tuple[BucketFiles, ...]
    options: InjectOptions
    defaults: InjectDefaults
    clock: int
    judged: int
    known_pages: str = ""
    dry: bool = False


def seeds_table(seeds: Sequence[NewSeed], buckets: Sequence[int], first: int) -> Any:  # noqa: ANN401
    """Return seeds as an Arrow table for the exchange.

    Args:
        seeds: The seeds.
        buckets: The bucket of each.
        first: Number of the first in the list.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    text = pa.string()
    metadata = [
        msgspec.json.encode(seed.metadata).decode() if seed.metadata else None for seed in seeds
    ]
    columns = {
        "key": pa.array([seed.key for seed in seeds], text),
        "url": pa.array([seed.url for seed in seeds], text),
        "source": pa.array([seed.source for seed in seeds], text),
        # A score may exceed the integers of Parquet.
        "score": pa.array(
            [None if seed.score is None else str(seed.score) for seed in seeds], text
        ),
        "interval": pa.array([seed.interval for seed in seeds], pa.int64()),
        "fixed": pa.array([seed.fixed for seed in seeds], pa.float64()),
        "metadata": pa.array(metadata, text),
        "n": pa.array(range(first, first + len(seeds)), pa.int64()),
        "bucket": pa.array(buckets, pa.int32()),
    }
    return pa.table(columns)


def list_task(spec: ListedSeeds) -> InjectedFiles:
    """Merge the seeds of some buckets with their rows."""
    files: list[TableFile] = []
    counts: Counter[str] = Counter()
    with spec.place.open() as work:
        path = parquet([str(localize(work.storage, spec.seeds, work.scratch))])
        for bucket in spec.buckets:
            files += _ListedBucket(work, spec, bucket, counts).run(path)
    return InjectedFiles({CRAWLDB: files}, {name: n for name, n in counts.items() if n})


class _ListedBucket:
    """The seeds of one bucket.

    Args:
        work: The kernel and folder of the task.
        spec: The task.
        bucket: The bucket.
        counts: Counts the outcomes of the seeds.
    """

    def __init__(
        self, work: TaskWork, spec: ListedSeeds, bucket: BucketFiles, counts: Counter[str]
    ) -> None:
        self._work, self._spec, self._bucket, self._counts = work, spec, bucket, counts
        self._kernel = work.kernel
        self._purged: list[str] = []

    def run(self, path: str) -> list[TableFile]:
        """Merge the seeds; return the files, none in a dry run.

        Args:
            path: The exchanged file, as a source in SQL.
        """
        kernel, number = self._kernel, self._bucket.bucket
        total = int(kernel.value(f"select count(*) from {path} where bucket = {number}"))
        if not total:
            return []
        kernel.execute(
            f"create or replace temp table listed as select * exclude (bucket) from {path} "
            f"where bucket = {number} qualify row_number() over (partition by key order by n desc)"
            " = 1"
        )
        if self._spec.known_pages:
            known_path = localize(self._work.storage, self._spec.known_pages, self._work.scratch)
            kernel.execute(
                f"delete from listed using {parquet([str(known_path)])} known "
                f"where known.key = listed.key and known.bucket = {number}"
            )
        self._counts["twice"] += total - int(kernel.value("select count(*) from listed"))
        self._split()
        merged = [m for b in self._read_others() for m in self._merge(b)]
        if self._spec.dry:
            return []
        return list(self._write(merged))

    def _split(self) -> None:
        """Remove known seeds without a change from the list; divide it into two views."""
        kernel, options, bucket = self._kernel, self._spec.options, self._bucket
        if options.overwrite or options.update:
            self._part("false")
            return
        if bucket.all:
            local = local_bucket(self._work.storage, bucket, self._work.scratch)
            merged = merge_query(*local, columns=("key", "purged"), keys="listed", order=False)
            gone = kernel.rows(f"select key from ({merged}) where purged is not null")
            fold = fold_query(
                *local, interval=self._spec.defaults.interval, columns=("key",), keys="listed",
                order=False,
            )  # fmt: skip
            kernel.execute(f"create or replace temp table known as select key from ({fold})")
            known_count = int(
                kernel.value("select count(*) from known semi join listed using (key)")
            )
            self._counts["known"] += known_count
            kernel.execute("delete from listed using known where known.key = listed.key")
            self._purged += sorted(str(key) for (key,) in gone)
        self._part(_PLAIN)
        self._counts["new"] += int(kernel.value("select count(*) from plain"))

    def _part(self, condition: str) -> None:
        """Make the views `plain` of seeds for which a condition is true, and `others`."""
        for name, test in (("plain", condition), ("others", f"not ({condition})")):
            self._kernel.execute(
                f"create or replace temp view {name} as select * from listed where {test}"
            )

    def _read_others(self) -> Iterator[list[NewSeed]]:
        """Yield the seeds to merge one by one, in batches."""
        rows_left = int(self._kernel.value("select count(*) from others"))
        for at in range(0, rows_left, _BATCH):
            query = f"select * from others order by key limit {_BATCH} offset {at}"
            yield [self._seed(row) for row in self._kernel.arrow(query).to_pylist()]

    def _seed(self, row: Mapping[str, Any]) -> NewSeed:
        metadata: dict[str, str] = msgspec.json.decode(row["metadata"] or "{}")
        score = None if row["score"] is None else int(row["score"])
        return NewSeed(
            row["key"], row["url"], row["source"], self._spec.judged, score, row["interval"],
            row["fixed"], metadata,
        )  # fmt: skip

    def _merge(self, seeds: Sequence[NewSeed]) -> Iterator[MergedSeed]:
        spec = self._spec
        known_by_key: Mapping[str, Mapping[str, Any]] = {}
        if spec.options.overwrite or spec.options.update:
            interval = spec.defaults.interval
            known_by_key, purged = known_rows(self._work, self._bucket, seeds, interval)
            self._purged += purged
        for seed in seeds:
            merged_seed = merge_seed(
                seed, known_by_key.get(seed.key), spec.options, spec.defaults, spec.clock
            )
            self._counts[merged_seed.outcome] += 1
            self._counts["scored"] += seed.score is not None and merged_seed.add is not None
            yield merged_seed

    def _write(self, merged: Sequence[MergedSeed]) -> Iterator[TableFile]:
        work, version, number = self._work, self._spec.version, self._bucket.bucket
        kinds = {
            "state": [seed.state for seed in merged if seed.state is not None],
            "seed": [seed.seed for seed in merged if seed.seed is not None],
            "purge": [{"key": key, "purged": None} for key in sorted(self._purged)],
        }
        added = self._write_adds([seed.add for seed in merged if seed.add is not None])
        if added is not None:
            yield added
        for group, group_rows in kinds.items():
            file = write_rows(work, FilePlan(CRAWLDB, number, "set", version, group), group_rows)
            if file is not None:
                yield file

    def _write_adds(self, more: Sequence[Mapping[str, Any]]) -> TableFile | None:
        """Write the new rows, and rows with a changed score."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        spec, kernel = self._spec, self._kernel
        begins = injected(spec.defaults.scoring, PageScore(spec.defaults.score, depth=1, md={}))
        values = {
            "key": "key",
            "url": "nullif(url, key)",
            "source": "source",
            "judged": str(spec.judged),
            "score": str(begins.score),
            "cash": str(begins.cash),
            "inlinks": "0",
            "depth": str(begins.depth),
            "first_seen": str(spec.clock),
        }
        columns = ", ".join(
            f'({values.get(c.name, "null")})::{c.type} as "{c.name}"' for c in ADD_COLUMNS
        )
        kernel.load("more", pa.Table.from_pylist(list(more), rows.ADD_SCHEMA))
        names = ", ".join(f'"{c.name}"' for c in ADD_COLUMNS)
        path = self._work.scratch / f"listed-{self._bucket.bucket}.parquet"
        kernel.write(
            f"select * from (select {columns} from plain union all select {names} from more) "
            "order by key",
            str(path),
            row_group=ROW_GROUP,
        )
        plan = FilePlan(CRAWLDB, self._bucket.bucket, "add", spec.version)
        return publish(self._work.storage, path, plan)
