"""Lines of a list that were injected before: they are found in the table of seeds, unparsed.

A line that has a row, whose URL is in the table of URLs, changes nothing. That holds as long as the
rules are those that judged it then: `SeedTableState` has their hash, and the versions whose lists
they judged. What is not found so is read as any line.
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
from nacre.cycle.exchange_rows import ExchangeFiles
from nacre.cycle.seedlist import PLAIN_LINE, NumberedLines, portions
from nacre.cycle.steps.context import StepContext
from nacre.cycle.steps.seed_rows import host_bucket
from nacre.cycle.storage import localized
from nacre.cycle.tables import (
    CRAWLDB,
    BucketFiles,
    TaskPlace,
    TaskWork,
    buckets_of,
    local_bucket,
    local_file,
)
from nacre.cycle.versions import CycleVersion, SeedTableState
from nacre.engine.seeding.seeds import SeedList

_LINES, _OTHERS = "lines", "others"
_FEWEST = 2_000
"""Rows of the table, and lines of a list, with fewer of which lines are parsed at once."""
_PART = 4_096
"""Lines of each file that are in memory when all files are read together."""
_LONGEST = 4_096
"""Characters of a line that is looked up."""
_CODEC = ("utf-8", "surrogatepass")
"""Lines may have what is no text in UTF-8: half of a surrogate pair."""
_MOST = 1_000
"""Versions and seeds that a state of the table names."""


class KnownLines(NamedTuple):
    """The lines that need not be read.

    Attributes:
        lines: Their number.
        pages: The number of URLs that they are of.
        files: The exchanged files with these URLs, by group of buckets.
    """

    lines: int = 0
    pages: int = 0
    files: dict[int, str] = {}  # noqa: RUF012 - never changed


class LinesSpec(NamedTuple):
    """One task: lines that may be known, in some buckets.

    Attributes:
        place: Where it works.
        lines: The exchanged file with them.
        seeds: The buckets of the table of seeds.
        urls: Those of the table of URLs, of the same numbers.
        state: Which rows of seeds count.
        rest: Name of the file for lines that are not known.
        pages: Name of the file for the URLs of those that are.
    """

    place: TaskPlace
    lines: str
    seeds: tuple[BucketFiles, ...]
    urls: tuple[BucketFiles, ...]
    state: SeedTableState
    rest: str
    pages: str


class FoundLines(NamedTuple):
    """The lines that a task found.

    Attributes:
        lines: Lines that are known.
        pages: URLs that they are of.
        rest: Lines that are not.
    """

    lines: int
    pages: int
    rest: int


def find_lines_task(spec: LinesSpec) -> FoundLines:
    """Tell lines that are known from others."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    lines = pages = 0
    with spec.place.open() as work:
        kernel = work.kernel
        path = localized(work.storage, spec.lines, work.scratch)
        kernel.load("outside", pa.table({"text": pa.array(spec.state.outside, pa.string())}))
        kernel.execute("create temp table rest (line VARCHAR, n BIGINT)")
        kernel.execute('create temp table pages ("key" VARCHAR, bucket INTEGER)')
        for seeds, urls in zip(spec.seeds, spec.urls, strict=True):
            kernel.execute(
                f"create or replace temp table lines as select line, n from {parquet([str(path)])} "
                f"where bucket = {seeds.bucket}"
            )
            _find(work, spec.state, seeds, urls)
            kernel.execute("insert into rest select line, n from lines anti join hits using (n)")
            kernel.execute(
                f"insert into pages select distinct page, {seeds.bucket}::INTEGER from hits"
            )
            lines += int(kernel.value("select count(*) from hits"))
        pages = work.send("select * from pages", spec.pages)
        rest = work.scratch / "rest.parquet"
        left = kernel.write("select n, line from rest order by n", str(rest), row_group=_PART).rows
        if left:
            work.storage.upload(rest, spec.rest)
        return FoundLines(lines, pages, left)


def _find(work: TaskWork, state: SeedTableState, seeds: BucketFiles, urls: BucketFiles) -> None:
    """Make the table `hits` of the lines of a bucket that are known."""
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
    known = fold_query(*local, interval=0, columns=("key",), keys="injected", order=False)
    kernel.execute(
        "create or replace temp table hits as select l.n, i.key as page from lines l "
        f"join injected i on l.line = i.text semi join ({known}) k on k.key = i.key"
    )


class KnownLinesFilter:
    """Takes the lines out of lists that are known.

    Args:
        context: What the step works with.
        version: The version that it begins with.
        state: Which rows of seeds count (`judged_state`).
        exchange: Takes lines to tasks.
        folder: Folder of the storage for what comes back.
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

    def rest(self, lists: Iterable[SeedList]) -> Iterator[NumberedLines]:
        """Return the lines that are not known, in their order; `known` counts the others."""
        numbers = self._all(lists)
        first = list(islice(numbers, _FEWEST))
        if len(first) < _FEWEST:
            yield from self._by_file(iter(first))
            return
        self._send(first)
        for portion in portions(numbers, _line_size):
            self._send(portion)
        names = self._asked()
        with self._context.place.open() as work:
            yield from self._by_file(_read(work, names))

    def _all(self, lists: Iterable[SeedList]) -> Iterator[tuple[int, str]]:
        """All lines, numbered over all lists."""
        number = 0
        for one in lists:
            self._starts.append((number, one.file))
            for line in one.lines:
                number += 1
                yield number, line

    def _by_file(self, rest: Iterator[tuple[int, str]]) -> Iterator[NumberedLines]:
        """The lines by list, with their numbers there."""
        starts = [start for start, _ in self._starts]

        def place(numbered: tuple[int, str]) -> int:
            return bisect_left(starts, numbered[0]) - 1

        for at, lines in groupby(rest, key=place):
            start, file = self._starts[at]
            yield NumberedLines(file, ((number - start, line) for number, line in lines))

    def _send(self, portion: Sequence[tuple[int, str]]) -> None:
        """Send a portion on its way; lines that are not plain are no rows of the same text."""
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
        others = [
            (line, number)
            for (number, line), plain in zip(portion, is_plain.to_pylist(), strict=True)
            if not plain
        ]
        if others:
            self._exchange.add(_OTHERS, _others_table(others))

    def _asked(self) -> list[str]:
        """Ask tasks; the files with the lines that are left."""
        context, version = self._context, self._version
        seeds = {one.bucket: one for one in buckets_of(context.cycle, version, SEEDS)}
        urls = {one.bucket: one for one in buckets_of(context.cycle, version, CRAWLDB)}
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
        found = dict(
            zip(specs, context.engine.map(find_lines_task, list(specs.values())), strict=True)
        )
        self.known = KnownLines(
            sum(one.lines for one in found.values()),
            sum(one.pages for one in found.values()),
            {group: specs[group].pages for group, one in found.items() if one.pages},
        )
        rest = [specs[group].rest for group, one in found.items() if one.rest]
        return [*rest, *self._exchange.send(_OTHERS).values()]


def _line_size(numbered: tuple[int, str]) -> int:
    return len(numbered[1])


def _others_table(others: Sequence[tuple[str, int]]) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - an extra

    lines = [line.encode(*_CODEC) for line, _ in others]
    return pa.table(
        {
            "line": pa.array(lines, pa.binary()),
            "n": pa.array([number for _, number in others], pa.int64()),
            "bucket": pa.array([0] * len(others), pa.int32()),
        }
    )


def _read(work: TaskWork, names: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Read exchanged lines, each file of which has them in their order, in the order of all."""
    paths = (localized(work.storage, name, work.scratch) for name in names)
    yield from heapq.merge(*map(_lines_of, paths))


def _lines_of(path: Path) -> Iterator[tuple[int, str]]:
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(_PART, columns=["n", "line"], use_threads=False):
            for number, line in zip(*(one.to_pylist() for one in batch.columns), strict=True):
                yield number, line if isinstance(line, str) else line.decode(*_CODEC)


def judged_state(version: CycleVersion, rules: int) -> SeedTableState | None:
    """Return the state of the table of seeds with the lists that rules judged; None for none.

    Args:
        version: The version, whose seeds are all rows.
        rules: Hash of the rules.
    """
    tables, state = version.tables, version.seed_state
    same = {SEEDS, CRAWLDB} <= tables.keys() and tables[SEEDS].buckets == tables[CRAWLDB].buckets
    same = same and tables[SEEDS].rows >= _FEWEST
    lists = _still_judged(state, rules)
    return structs.replace(state, judged_lists=lists) if same and lists else None


def _still_judged(state: SeedTableState, rules: int) -> tuple[int, ...]:
    """The lists that these rules judged, since lines with + or - changed last."""
    if state.judged_by != _judging(rules):
        return ()
    return tuple(number for number in state.judged_lists if number > state.directives_at)


def _judging(rules: int) -> str:
    """The rules and the version of Nacre that applied them."""
    return f"{__version__} {rules}"


def with_judged(
    state: SeedTableState, number: int, rules: int, outside: Sequence[str]
) -> SeedTableState:
    """Return a state that says by which rules the rows of an inject were judged.

    Args:
        state: The state of the new version.
        number: Its number; 0 where no row is new.
        rules: Hash of the rules.
        outside: The seeds that the scope refuses.
    """
    before = _still_judged(state, rules)
    lists = tuple(one for one in (*before, number) if one > state.directives_at)[-_MOST:]
    texts = {*(state.outside if before else ()), *outside}
    if len(texts) > _MOST:
        return structs.replace(state, judged_by="", judged_lists=(), outside=())
    return structs.replace(
        state, judged_by=_judging(rules), judged_lists=lists, outside=tuple(sorted(texts))
    )
