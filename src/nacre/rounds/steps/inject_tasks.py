"""The tasks of `inject` for long lists: seeds come by exchanged files, a bucket at a time.

What a seed that says nothing of its score, interval and metadata writes is made in SQL, as most
seeds of long lists are so; the others are merged one by one (`inject_rows.merge_seed`).
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
from nacre.rounds.storage import localized
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
        place: Where it works.
        version: Number of the version that it is for.
        seeds: The exchanged file.
        buckets: The buckets with their files.
        options: Options of the step.
        defaults: Values of seeds that say nothing.
        clock: The clock of the step, ms.
        judged: Hash of the rules.
        known: The exchanged file with the URLs of lines that were known unread; "" for none.
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
    known: str = ""
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
        msgspec.json.encode(one.metadata).decode() if one.metadata else None for one in seeds
    ]
    columns = {
        "key": pa.array([one.key for one in seeds], text),
        "url": pa.array([one.url for one in seeds], text),
        "source": pa.array([one.source for one in seeds], text),
        # Larger than any number of Parquet.
        "score": pa.array([None if one.score is None else str(one.score) for one in seeds], text),
        "interval": pa.array([one.interval for one in seeds], pa.int64()),
        "fixed": pa.array([one.fixed for one in seeds], pa.float64()),
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
        path = parquet([str(localized(work.storage, spec.seeds, work.scratch))])
        for bucket in spec.buckets:
            files += _Listed(work, spec, bucket, counts).run(path)
    return InjectedFiles({CRAWLDB: files}, {name: n for name, n in counts.items() if n})


class _Listed:
    """The seeds of one bucket.

    Args:
        work: What the task works with.
        spec: The task.
        bucket: The bucket.
        counts: Gets what became of the seeds.
    """

    def __init__(
        self, work: TaskWork, spec: ListedSeeds, bucket: BucketFiles, counts: Counter[str]
    ) -> None:
        self._work, self._spec, self._bucket, self._counts = work, spec, bucket, counts
        self._kernel = work.kernel
        self._purged: list[str] = []

    def run(self, path: str) -> list[TableFile]:
        """Merge them; the files, none where the step is dry.

        Args:
            path: The exchanged file, behind `from`.
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
        if self._spec.known:
            known = localized(self._work.storage, self._spec.known, self._work.scratch)
            kernel.execute(
                f"delete from listed using {parquet([str(known)])} known "
                f"where known.key = listed.key and known.bucket = {number}"
            )
        self._counts["twice"] += total - int(kernel.value("select count(*) from listed"))
        self._split()
        merged = [one for batch in self._others() for one in self._merged(batch)]
        if self._spec.dry:
            return []
        return list(self._written(merged))

    def _split(self) -> None:
        """Remove known seeds that change nothing from the list; part it into two views."""
        kernel, options, bucket = self._kernel, self._spec.options, self._bucket
        if options.overwrite or options.update:
            self._part("false")
            return
        if bucket.all:
            local = local_bucket(self._work.storage, bucket, self._work.scratch)
            merged = merge_query(*local, columns=("key", "purged"), keys="listed", order=False)
            gone = kernel.rows(f"select key from ({merged}) where purged is not null")
            found = fold_query(
                *local, interval=self._spec.defaults.interval, columns=("key",), keys="listed",
                order=False,
            )  # fmt: skip
            kernel.execute(f"create or replace temp table known as select key from ({found})")
            known = int(kernel.value("select count(*) from known semi join listed using (key)"))
            self._counts["known"] += known
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

    def _others(self) -> Iterator[list[NewSeed]]:
        """The seeds that are merged one by one."""
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

    def _merged(self, seeds: Sequence[NewSeed]) -> Iterator[MergedSeed]:
        spec = self._spec
        known: Mapping[str, Mapping[str, Any]] = {}
        if spec.options.overwrite or spec.options.update:
            interval = spec.defaults.interval
            known, purged = known_rows(self._work, self._bucket, seeds, interval)
            self._purged += purged
        for seed in seeds:
            one = merge_seed(seed, known.get(seed.key), spec.options, spec.defaults, spec.clock)
            self._counts[one.outcome] += 1
            self._counts["scored"] += seed.score is not None and one.add is not None
            yield one

    def _written(self, merged: Sequence[MergedSeed]) -> Iterator[TableFile]:
        work, version, number = self._work, self._spec.version, self._bucket.bucket
        kinds = {
            "state": [one.state for one in merged if one.state is not None],
            "seed": [one.seed for one in merged if one.seed is not None],
            "purge": [{"key": key, "purged": None} for key in sorted(self._purged)],
        }
        added = self._adds([one.add for one in merged if one.add is not None])
        if added is not None:
            yield added
        for group, made in kinds.items():
            file = write_rows(work, FilePlan(CRAWLDB, number, "set", version, group), made)
            if file is not None:
                yield file

    def _adds(self, more: Sequence[Mapping[str, Any]]) -> TableFile | None:
        """Write the rows that are new or get another score."""
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
            f'({values.get(one.name, "null")})::{one.type} as "{one.name}"' for one in ADD_COLUMNS
        )
        kernel.load("more", pa.Table.from_pylist(list(more), rows.ADD_SCHEMA))
        names = ", ".join(f'"{one.name}"' for one in ADD_COLUMNS)
        path = self._work.scratch / f"listed-{self._bucket.bucket}.parquet"
        kernel.write(
            f"select * from (select {columns} from plain union all select {names} from more) "
            "order by key",
            str(path),
            row_group=ROW_GROUP,
        )
        plan = FilePlan(CRAWLDB, self._bucket.bucket, "add", spec.version)
        return publish(self._work.storage, path, plan)
