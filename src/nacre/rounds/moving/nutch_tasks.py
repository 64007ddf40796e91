"""Tasks that read a range of a table of Nutch, and write its rows as ours.

Rows get their bucket in our tables. A report of an unreadable record has file, offset and record:
it fails the task, or with `salvage` it is counted and skipped.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nacre.crawldb.hosts import HOST_COLUMNS, host_sql, load_domains
from nacre.crawldb.links import link_adds
from nacre.crawldb.row import COLUMNS, ONE, Status, bucket_of, bucket_of_host
from nacre.crawldb.settings import LinkDbSettings
from nacre.errors import ConfigError, DamageError, URIError
from nacre.rounds.admission import Admission
from nacre.rounds.moving import nutch
from nacre.rounds.moving.hadoop import FileRange, SequenceFile, SequenceRecord, WritableError
from nacre.rounds.moving.hadoop_checksums import BadChunk, bad_chunks, checksum_file
from nacre.rounds.moving.nutch_rows import NutchRow, row_of
from nacre.rounds.steps.judging import RulesOfStep
from nacre.rounds.steps.links import LINKS
from nacre.rounds.steps.taking import files_by_bucket, import_rows_sql
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.tables import FilePlan, TaskPlace, TaskWork
from nacre.rounds.tables.versions import TableFile
from nacre.uri.parse import parse

_MOST_MESSAGES = 20
_BATCH = 10_000
_KINDS = {"BLOB": "binary", "DOUBLE": "float64", "VARCHAR": "string"}
_SITES = 200_000
"""Hosts whose buckets are remembered."""
_SCORE = "score"

Value = TypeVar("Value")


class NutchSpec(NamedTuple):
    """One task: a range of a file.

    Attributes:
        place: The work place of the task.
        within: The file and the range.
        number: Number of the task, so that rows of several keep an order.
        buckets: Number of our buckets.
        version: Number of the version to commit.
        target: Name of the file for the rows.
        rules: Rules for the keys of URLs, and the scope.
        filter: Skip URLs that the scope refuses.
        normalize: Apply the normalizers of the job to URLs.
        salvage: Skip unreadable records.
        clock: The clock of the step, ms.
        has_cash: Pages that were not visited get their score as cash, too.
        links: `cycle.links`.
        dry: Count, and publish nothing.
    """

    place: TaskPlace
    within: FileRange
    number: int
    buckets: int
    version: int
    target: str
    rules: RulesOfStep
    filter: bool = False
    normalize: bool = False
    salvage: bool = False
    clock: int = 0
    has_cash: bool = False
    links: LinkDbSettings = LinkDbSettings()
    dry: bool = False


class NutchCounts(NamedTuple):
    """Counts of the records of a task.

    Attributes:
        records: Records.
        rows: Rows that were made from them.
        no_urls: Keys that are no URLs.
        refused: URLs that the scope refuses, by rule.
        unknown: Metadata of unknown classes, by class.
        damaged: Records that could not be read.
        messages: Messages about the first of them: file, record, offset, reason.
        files: Files of a table, if its rows need no second pass.
    """

    records: int = 0
    rows: int = 0
    no_urls: int = 0
    refused: Mapping[str, int] = {}
    unknown: Mapping[str, int] = {}
    damaged: int = 0
    messages: tuple[str, ...] = ()
    files: tuple[TableFile, ...] = ()


_AFTER_RANGE = 1 << 20


class RangeReader:
    """Reads the records of a range, and counts those that it skips.

    Args:
        spec: The task.
        value_class: Java class that its values must have.

    Attributes:
        records: Records that were read.
        damaged: Records that could not be read.
        messages: Messages about the first of them.
        unknown: Metadata of unknown classes.
    """

    def __init__(self, spec: NutchSpec, value_class: str) -> None:
        self._spec = spec
        self._class = value_class
        self.records = 0
        self.damaged = 0
        self.messages: list[str] = []
        self.unknown: Counter[str] = Counter()

    def read(self, decode: Callable[[bytes], Value]) -> Iterator[tuple[str, Value]]:
        """Yield keys and values.

        Args:
            decode: Converts bytes to a value; raises ValueError for invalid bytes.

        Raises:
            ConfigError: The file has other values.
            DamageError: A record cannot be read; not with `salvage`.
        """
        path, low, high = self._spec.within
        with SequenceFile(path) as file:
            require_class(file, self._class)
            salvage = self._report_damage if self._spec.salvage else None
            bad = self._bad_chunks(file.path)
            for record in whole_records(file.records(low, high, salvage), bad, file.size, salvage):
                try:
                    key, value = nutch.text(record.key), decode(record.value)
                except (WritableError, ValueError) as error:
                    message = f"{path}: record {record.number} at byte {record.offset:,}: {error}"
                    if salvage is None:
                        raise DamageError(f"{message}. `--salvage` leaves it out") from None
                    salvage(message)
                    continue
                self.records += 1
                yield key, value

    def _bad_chunks(self, path: Path) -> list[BadChunk]:
        """Return the chunks of the range that differ from the checksums of Hadoop."""
        _, low, high = self._spec.within
        bad: list[BadChunk] = []
        # The last record of a range may end after it.
        for chunk in bad_chunks(path, low, high and high + _AFTER_RANGE):
            if not self._spec.salvage:
                raise DamageError(
                    f"{path}: bytes {chunk.start:,} to {chunk.end:,}: {chunk.reason} "
                    f"({checksum_file(path).name}). `--salvage` leaves their records out; if the "
                    "checksums are those of another file, remove them"
                )
            bad.append(chunk)
        return bad

    def _report_damage(self, message: str) -> None:
        self.damaged += 1
        if len(self.messages) < _MOST_MESSAGES:
            self.messages.append(message)

    def counts(self, rows: int, urls: "UrlForms | None" = None) -> NutchCounts:
        """Return the counts, with those of the forms of URLs."""
        return NutchCounts(
            self.records, rows, urls.no_urls if urls else 0, dict(urls.refused if urls else {}),
            dict(self.unknown), self.damaged, tuple(self.messages),
        )  # fmt: skip


def whole_records(
    records: Iterator[SequenceRecord],
    bad: Sequence[BadChunk],
    size: int,
    on_damage: Callable[[str], None] | None,
) -> Iterator[SequenceRecord]:
    """Yield the records without a byte of a bad chunk; records of one block have its offset.

    Args:
        records: The records, in the order of the file.
        bad: The bad chunks.
        size: Bytes of the file.
        on_damage: Receives each skipped record; None to skip none.
    """
    if not bad or on_damage is None:
        yield from records
        return
    group: list[SequenceRecord] = []
    for record in records:
        if group and record.offset != group[0].offset:
            yield from _unless_bad(group, record.offset, bad, on_damage)
            group = []
        group.append(record)
    if group:
        yield from _unless_bad(group, size, bad, on_damage)


def _unless_bad(
    group: Sequence[SequenceRecord],
    end: int,
    bad: Sequence[BadChunk],
    on_damage: Callable[[str], None],
) -> Iterator[SequenceRecord]:
    start = group[0].offset
    chunk = next((part for part in bad if part.start < end and part.end > start), None)
    if chunk is None:
        yield from group
        return
    for record in group:
        on_damage(f"record {record.number} at byte {record.offset:,}: {chunk.reason}")


def require_class(file: SequenceFile, value_class: str) -> None:
    """Raise ConfigError if the values of a file are of another class."""
    header = file.header
    if (header.key_class, header.value_class) != (nutch.TEXT, value_class):
        raise ConfigError(
            f"{file.path} has values {header.value_class} with keys {header.key_class}; "
            f"expected {value_class} with keys {nutch.TEXT}"
        )


class UrlForms:
    """The forms of the URLs of another crawl: the requested URL, and its key here.

    Args:
        admission: The rules of the job.
        spec: The task, with the options to filter and to normalize.

    Attributes:
        no_urls: Texts that are no URLs.
        refused: URLs that the scope refuses, by rule.
    """

    def __init__(self, admission: Admission, spec: NutchSpec) -> None:
        self._admission = admission
        self._filter, self._normalize = spec.filter, spec.normalize
        self.no_urls = 0
        self.refused: Counter[str] = Counter()

    def of(self, text: str) -> tuple[str, str] | None:
        """Return the requested form and the key of a URL; None if it is skipped.

        Args:
            text: The URL as the other crawl has it.
        """
        try:
            url: str | None = parse(text)
            if self._normalize and url is not None and self._admission.normalizing is not None:
                url = self._admission.normalizing.link(url, is_redirect=False)
        except URIError:
            url = None
        if url is None:
            self.no_urls += 1
            return None
        if self._filter:
            reason = self._admission.refusal(url, path="L")
            if reason:
                self.refused[reason] += 1
                return None
        return url, self._admission.key(url)


class BucketsBySite:
    """The buckets of keys, each looked up once for a scheme and host.

    Args:
        buckets: Number of buckets.
    """

    def __init__(self, buckets: int) -> None:
        self._buckets = buckets
        self._known: dict[str, int] = {}

    def of(self, key: str) -> int:
        """The bucket of a key."""
        site = key[: key.find("/", 8)]
        bucket = self._known.get(site)
        if bucket is None:
            if len(self._known) >= _SITES:
                self._known.clear()
            bucket = self._known[site] = bucket_of(key, self._buckets)
        return bucket


# ---- the CrawlDb


def crawldb_task(spec: NutchSpec) -> NutchCounts:
    """Write the rows of a range of a CrawlDb, sorted by bucket and key."""
    with spec.place.open() as work:
        urls = UrlForms(spec.rules.admission(work.scratch), spec)
        reader = RangeReader(spec, nutch.CRAWL_DATUM)
        work.kernel.execute(f"create temp table rows as {_no_rows()}")
        rows = 0
        batch: list[tuple[Any, ...]] = []
        start = spec.number << 40
        bucket = BucketsBySite(spec.buckets).of

        def decode(data: bytes) -> NutchRow:
            return row_of(nutch.crawl_datum(data), reader.unknown)

        for text, row in reader.read(decode):
            forms = urls.of(text)
            if forms is None:
                continue
            url, key = forms
            place = start + rows
            batch.append((bucket(key), place, key, url if url != key else None, *row))
            rows += 1
            if len(batch) >= _BATCH:
                _take(work, batch)
        _take(work, batch)
        work.send(_whole_rows(spec), spec.target)
        return reader.counts(rows, urls)


_FIELDS = ("bucket", "place", "key", "url", *NutchRow._fields)
_TYPES = {column.name: column.type for column in COLUMNS} | {
    "bucket": "INTEGER", "place": "BIGINT", _SCORE: "DOUBLE"
}  # fmt: skip


def _no_rows() -> str:
    columns = ", ".join(f'null::{_TYPES[name]} as "{name}"' for name in _FIELDS)
    return f"select {columns} limit 0"


def _take(work: TaskWork, batch: list[tuple[Any, ...]]) -> None:
    """Load a batch of rows into the table `rows`, and clear it."""
    if not batch:
        return
    import pyarrow as pa  # noqa: PLC0415 - an extra

    arrays = []
    for name, values in zip(_FIELDS, zip(*batch, strict=True), strict=True):
        kind = _TYPES[name]
        if kind.startswith("MAP"):
            arrow = pa.map_(pa.string(), pa.string())
        else:
            arrow = getattr(pa, _KINDS.get(kind, "int64"))()
        arrays.append(pa.array(values, arrow))
    work.kernel.load("batch", pa.table(arrays, list(_FIELDS)))
    work.kernel.execute("insert into rows by name select * from batch")
    batch.clear()


def _whole_rows(spec: NutchSpec) -> str:
    """SQL of the rows with all columns of our table."""
    score = f"round(score * {float(ONE)!r})"
    cash = f"case when status = {int(Status.UNFETCHED)} then {score} else 0 end"
    values = {name: f'"{name}"' for name in _FIELDS} | {
        _SCORE: score,
        "cash": cash if spec.has_cash else "0",
        "inlinks": "0",
        "first_seen": str(spec.clock),
    }
    return import_rows_sql(values, "rows")


# ---- links and hosts


def linkdb_task(spec: NutchSpec) -> NutchCounts:
    """Write the links of a range of a LinkDb as files of our table."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    with spec.place.open() as work:
        urls = UrlForms(spec.rules.admission(work.scratch), spec)
        reader = RangeReader(spec, nutch.INLINKS)
        work.kernel.execute(
            "create temp table facts (bucket INTEGER, dst VARCHAR, src VARCHAR, anchor VARCHAR)"
        )
        batch: list[tuple[int, str, str, str]] = []

        def take() -> None:
            if batch:
                columns = [list(values) for values in zip(*batch, strict=True)]
                work.kernel.load("batch", pa.table(columns, ["bucket", "dst", "src", "anchor"]))
                work.kernel.execute("insert into facts select * from batch")
                batch.clear()

        for text, links in reader.read(nutch.inlinks):
            target = urls.of(text)
            if target is None:
                continue
            bucket = bucket_of(target[1], spec.buckets)
            for link in links:
                source = urls.of(link.src)
                if source is not None:
                    batch.append((bucket, target[1], source[1], link.anchor))
            if len(batch) >= _BATCH:
                take()
        take()
        rows, files = _write_links(work, spec)
        return reader.counts(rows, urls)._replace(files=files)


def _write_links(work: TaskWork, spec: NutchSpec) -> tuple[int, tuple[TableFile, ...]]:
    kernel = work.kernel
    if spec.links.ignore_internal == "domain":
        ends = f"select {host_sql('dst')} from facts union select {host_sql('src')} from facts"
        load_domains(kernel, "domains", [host for (host,) in kernel.rows(ends)])
    facts = (
        "(select dst, src, nullif(anchor, '') as anchor, null as rel, 'L' as hop, null as context, "
        f"null as score, {spec.clock} as time from facts)"
    )
    kernel.execute(
        "create temp table placed as select l.*, b.bucket from "
        f"({link_adds(facts, spec.links, 'domains')}) l "
        "join (select distinct dst, bucket from facts) b on b.dst = l.dst"
    )
    plan = FilePlan(LINKS, 0, "add", spec.version)
    storage = open_storage(spec.place.storage)
    files = tuple(files_by_bucket(work, storage, "placed", "dst, src", plan, dry=spec.dry))
    return int(kernel.value("select count(*) from placed")), files


_COUNTS = (
    "dns_failures", "connection_failures", "unfetched", "fetched", "not_modified", "redir_temp",
    "redir_perm", "gone",
)  # fmt: skip
"""Our columns of `HostDatum.counts`."""


def hostdb_task(spec: NutchSpec) -> NutchCounts:
    """Write the rows of a range of a HostDb."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    with spec.place.open() as work:
        reader = RangeReader(spec, nutch.HOST_DATUM)
        rows: list[dict[str, Any]] = []
        for name, datum in reader.read(nutch.host_datum):
            host = name.strip().lower()
            row = {
                "bucket": bucket_of_host(host, spec.buckets),
                "place": (spec.number << 40) + len(rows),
                "host": host,
                "homepage": datum.homepage or None,
                "time": max(datum.last_check, 0),
            }
            rows.append(row | dict(zip(_COUNTS, datum.counts, strict=True)))
        names = ["bucket", "place", "host", "homepage", "time", *_COUNTS]
        texts = {"host", "homepage"}
        schema = pa.schema(
            [pa.field(name, pa.string() if name in texts else pa.int64()) for name in names]
        )
        work.kernel.load("rows", pa.Table.from_pylist(rows, schema))
        picks = [
            f'"{column.name}"::{column.type} as "{column.name}"' if column.name in names
            else f'null::{column.type} as "{column.name}"'
            for column in HOST_COLUMNS
        ]  # fmt: skip
        query = f"select bucket, place, {', '.join(picks)} from rows order by bucket, host"
        work.send(query, spec.target)
        return reader.counts(len(rows))


def value_class(path: Path) -> str:
    """Return the Java class of the values of a SequenceFile.

    Raises:
        ConfigError: It is no SequenceFile.
        DamageError: Its header is damaged.
    """
    with SequenceFile(path) as file:
        return file.header.value_class
