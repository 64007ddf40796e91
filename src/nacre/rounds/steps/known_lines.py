"""Find lines of a list that were injected before: tasks look them up in the table of seeds.

A line that has a row, whose URL is in the table of URLs, changes nothing, if the current rules are
those that judged it: `SeedTableState` has their hash, and the versions whose lists they judged.
All other lines are parsed.
"""

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from nacre import __version__
from nacre.crawldb.fold import fold_query
from nacre.crawldb.kernels import parquet
from nacre.crawldb.seeds import FIRST_PREFIX, PAGE, SEEDS
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.seed_rows import host_bucket
from nacre.rounds.storage import localize
from nacre.rounds.tables.exchange_rows import ExchangeFiles
from nacre.rounds.tables.seedlist import PLAIN_LINE, NumberedLines, portions
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    TaskPlace,
    TaskWork,
    buckets_of,
    local_bucket,
    local_file,
)
from nacre.rounds.tables.versions import CycleVersion, SeedTableState
from nacre.scope.seeds import SeedList

_LINES, _UNUSUAL = "lines", "others"
_LEAST_LINES = 2_000
"""Least rows of the table, and least lines of a list, for a look-up."""
_PART = 4_096
"""Lines of each file in memory when all files are read together."""
_LONGEST = 4_096
"""Most characters of a line to look up."""
_CODEC = ("utf-8", "surrogatepass")
"""Lines may contain half of a surrogate pair, which is invalid in UTF-8."""
_MOST = 1_000
"""Most versions and seeds in a state of the table."""


class KnownLines(NamedTuple):
    """The lines that need not be parsed.

    Attributes:
        lines: Number of lines.
        pages: Number of their URLs.
        files: Names of the exchanged files with these URLs, by group of buckets.
    """

    lines: int = 0
    pages: int = 0
    files: dict[int, str] = {}  # noqa: RUF012 - never changed


class LinesSpec(NamedTuple):
    """One task: look up the lines of some buckets.

    Attributes:
        place: The work place of the task.
        lines: Name of the exchanged file with the lines.
        seeds: The buckets of the table of seeds.
        urls: The buckets of the table of URLs, of the same numbers.
        state: The state with the rows of seeds that count (`judged_state`).
        unknown: Name of the file for unknown lines.
        pages: Name of the file for the URLs of known lines.
    """

    place: TaskPlace
    lines: str
    seeds: tuple[BucketFiles, ...]
    urls: tuple[BucketFiles, ...]
    state: SeedTableState
    unknown: str
    pages: str


class LookedUpLines(NamedTuple):
    """The numbers of lines that a task looked up.

    Attributes:
        lines: Known lines.
        pages: Their URLs.
        unknown: Unknown lines.
    """

    lines: int
    pages: int
    unknown: int


def look_lines_up_task(spec: LinesSpec) -> LookedUpLines:
    """Write the unknown lines, and the URLs of known lines."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    lines = pages = 0
    with spec.place.open() as work:
        kernel = work.kernel
        path = localize(work.storage, spec.lines, work.scratch)
        kernel.load("outside", pa.table({"text": pa.array(spec.state.outside, pa.string())}))
        kernel.execute("create temp table rest (line VARCHAR, n BIGINT)")
        kernel.execute('create temp table pages ("key" VARCHAR, bucket INTEGER)')
        for seeds, urls in zip(spec.seeds, spec.urls, strict=True):
            kernel.execute(
                f"create or replace temp table lines as select line, n from {parquet([str(path)])} "
                f"where bucket = {seeds.bucket}"
            )
            _look_up(work, spec.state, seeds, urls)
            kernel.execute("insert into rest select line, n from lines anti join hits using (n)")
            kernel.execute(
                f"insert into pages select distinct page, {seeds.bucket}::INTEGER from hits"
            )
            lines += int(kernel.value("select count(*) from hits"))
        pages = work.send("select * from pages", spec.pages)
        unknown_path = work.scratch / "rest.parquet"
        unknown = kernel.write(
            "select n, line from rest order by n", str(unknown_path), row_group=_PART
        ).rows
        if unknown:
            work.storage.upload(unknown_path, spec.unknown)
        return LookedUpLines(lines, pages, unknown)


def _look_up(work: TaskWork, state: SeedTableState, seeds: BucketFiles, urls: BucketFiles) -> None:
    """Make the table `hits` of the known lines of a bucket, with their URLs."""
    kernel = work.kernel
    if not (seeds.all and urls.all):
        kernel.execute("create or replace temp table hits (n BIGINT, page VARCHAR)")
        return
    paths = [local_file(work.storage, file, work.scratch) for file in seeds.all]
    versions = ", ".join(map(str, state.judged_lists))
    kernel.execute(
        "create or replace temp table injected as select distinct text, page as key from "
        f"(select * from {parquet(paths)} where origin is null and page is not null and "
        f"key >= '{FIRST_PREFIX}' and key < '{PAGE}' and since in ({versions})) s "
        "semi join lines on lines.line = s.text anti join outside on outside.text = s.text"
    )
    local = local_bucket(work.storage, urls, work.scratch)
    rows = fold_query(*local, interval=0, columns=("key",), keys="injected", order=False)
    kernel.execute(
        "create or replace temp table hits as select l.n, i.key as page from lines l "
        f"join injected i on l.line = i.text semi join ({rows}) k on k.key = i.key"
    )


class KnownLinesFilter:
    """Removes known lines from lists.

    Args:
        context: The context of the step.
        version: The version that the step begins with.
        state: The state with the rows of seeds that count (`judged_state`).
        exchange: Sends lines to tasks.
        folder: Folder of the storage for the results of tasks.

    Attributes:
        known: The known lines, after `rest` has returned its first line.
    """

    def __init__(
        self,
        context: StepContext,
        version: CycleVersion,
        state: SeedTableState,
        exchange: ExchangeFiles,
        folder: str,
    ) -> None:
        self._context, self._version, self._state = context, version, state
        self._exchange, self._folder = exchange, folder
        self._buckets = version.tables[SEEDS].buckets
        self._starts: list[tuple[int, str]] = []
        self.known = KnownLines()

    def unknown_lines(self, lists: Iterable[SeedList]) -> Iterator[NumberedLines]:
        """Yield the unknown lines, in their order; `known` counts the others."""
        numbers = self._number(lists)
        first = list(islice(numbers, _LEAST_LINES))
        if len(first) < _LEAST_LINES:
            yield from self._group_by_file(iter(first))
            return
        self._send(first)
        for portion in portions(numbers, _line_size):
            self._send(portion)
        names = self._look_up()
        with self._context.place.open() as work:
            yield from self._group_by_file(_read(work, names))

    def _number(self, lists: Iterable[SeedList]) -> Iterator[tuple[int, str]]:
        """Yield all lines, numbered over all lists."""
        number = 0
        for seed_list in lists:
            self._starts.append((number, seed_list.file))
            for line in seed_list.lines:
                number += 1
                yield number, line

    def _group_by_file(self, unknown: Iterator[tuple[int, str]]) -> Iterator[NumberedLines]:
        """Yield lines by list, with their numbers in it."""
        starts = [start for start, _ in self._starts]

        def place(numbered: tuple[int, str]) -> int:
            return bisect_left(starts, numbered[0]) - 1

        for at, lines in groupby(unknown, key=place):
            start, file = self._starts[at]
            yield NumberedLines(file, ((number - start, line) for number, line in lines))

    def _send(self, portion: Sequence[tuple[int, str]]) -> None:
        """Exchange a portion; the table of seeds has other texts for lines that are not plain."""
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.compute as pc  # noqa: PLC0415 - likewise

        numbers, lines = zip(*portion, strict=True)
        short = [line if len(line) <= _LONGEST and line.isascii() else None for line in lines]
        texts = pa.array(short, pa.string())
        is_plain = pc.fill_null(pc.match_substring_regex(texts, PLAIN_LINE), fill_value=False)
        table = pa.table({"line": texts, "n": pa.array(numbers, pa.int64())}).filter(is_plain)
        if table.num_rows:
            hosts = pc.list_element(pc.split_pattern(table.column(0), "/", max_splits=3), 2)
            hosts = hosts.combine_chunks().dictionary_encode()
            buckets = [host_bucket(name, self._buckets) for name in hosts.dictionary.to_pylist()]
            column = pa.array(buckets, pa.int32()).take(hosts.indices)
            self._exchange.add(_LINES, table.append_column("bucket", column))
        unusual = [
            (line, number)
            for (number, line), plain in zip(portion, is_plain.to_pylist(), strict=True)
            if not plain
        ]
        if unusual:
            self._exchange.add(_UNUSUAL, _unusual_table(unusual))

    def _look_up(self) -> list[str]:
        """Run the tasks; return the names of the files with the lines to parse."""
        context, version = self._context, self._version
        seeds = {files.bucket: files for files in buckets_of(context.cycle, version, SEEDS)}
        urls = {files.bucket: files for files in buckets_of(context.cycle, version, CRAWLDB)}
        groups: dict[int, list[int]] = {}
        for bucket in range(self._buckets):
            groups.setdefault(self._exchange.group(bucket), []).append(bucket)
        specs = {
            group: LinesSpec(
                context.shared_place, name,
                tuple(seeds.get(bucket, BucketFiles(bucket)) for bucket in groups[group]),
                tuple(urls.get(bucket, BucketFiles(bucket)) for bucket in groups[group]),
                self._state, f"{self._folder}/rest-{group}.parquet",
                f"{self._folder}/pages-{group}.parquet",
            )
            for group, name in self._exchange.send(_LINES).items()
        }  # fmt: skip
        results = context.engine.map(look_lines_up_task, list(specs.values()))
        pairs = list(zip(specs.items(), results, strict=True))
        self.known = KnownLines(
            sum(result.lines for result in results),
            sum(result.pages for result in results),
            {group: spec.pages for (group, spec), result in pairs if result.pages},
        )
        unknown = [spec.unknown for (_, spec), result in pairs if result.unknown]
        return [*unknown, *self._exchange.send(_UNUSUAL).values()]


def _line_size(numbered: tuple[int, str]) -> int:
    return len(numbered[1])


def _unusual_table(unusual: Sequence[tuple[str, int]]) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - an extra

    lines = [line.encode(*_CODEC) for line, _ in unusual]
    return pa.table(
        {
            "line": pa.array(lines, pa.binary()),
            "n": pa.array([number for _, number in unusual], pa.int64()),
            "bucket": pa.array([0] * len(unusual), pa.int32()),
        }
    )


def _read(work: TaskWork, names: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield exchanged lines in the order of all; each file has its lines in this order."""
    paths = (localize(work.storage, name, work.scratch) for name in names)
    yield from heapq.merge(*map(_lines_of, paths))


def _lines_of(path: Path) -> Iterator[tuple[int, str]]:
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(_PART, columns=["n", "line"], use_threads=False):
            columns = (column.to_pylist() for column in batch.columns)
            for number, line in zip(*columns, strict=True):
                yield number, line if isinstance(line, str) else line.decode(*_CODEC)


def judged_state(version: CycleVersion, rules: int) -> SeedTableState | None:
    """Return the state of the table of seeds with the lists that rules judged; None for none.

    Args:
        version: The version, whose seeds are all rows.
        rules: Hash of the rules.
    """
    tables, state = version.tables, version.seed_state
    if not {SEEDS, CRAWLDB} <= tables.keys() or tables[SEEDS].rows < _LEAST_LINES:
        return None
    lists = _still_judged(state, rules)
    is_alike = tables[SEEDS].buckets == tables[CRAWLDB].buckets
    return structs.replace(state, judged_lists=lists) if is_alike and lists else None


def _still_judged(state: SeedTableState, rules: int) -> tuple[int, ...]:
    """Return the lists that these rules judged since lines with + or - changed last."""
    if state.judged_by != _rules_name(rules):
        return ()
    return tuple(number for number in state.judged_lists if number > state.directives_at)


def _rules_name(rules: int) -> str:
    """Return a name of rules and of the version of Nacre that applied them."""
    return f"{__version__} {rules}"


def add_judged_list(
    state: SeedTableState, number: int, rules: int, outside: Sequence[str]
) -> SeedTableState:
    """Return a state with the rules that judged the rows of an inject.

    Args:
        state: The state of the new version.
        number: Its number; 0 if no row is new.
        rules: Hash of the rules.
        outside: The seeds that the scope refuses.
    """
    before = _still_judged(state, rules)
    lists = tuple(
        list_number for list_number in (*before, number) if list_number > state.directives_at
    )[-_MOST:]
    texts = {*(state.outside if before else ()), *outside}
    if len(texts) > _MOST:
        return structs.replace(state, judged_by="", judged_lists=(), outside=())
    return structs.replace(
        state, judged_by=_rules_name(rules), judged_lists=lists, outside=tuple(sorted(texts))
    )
