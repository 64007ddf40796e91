"""Convert segments of Nutch: bodies to WARC records, parses to links, fetches to visits.

A Nutch segment becomes an updated segment with one unit, whose parts are those that the tasks
write. Its links, text and captures are then used like those of any other segment.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from nacre import __version__
from nacre.archive.imported import ImportedPage, imported_records, whole_head
from nacre.archive.index import index_line, sort_index
from nacre.archive.record import WarcRecord, warcinfo_record
from nacre.archive.warc_writer import pack
from nacre.crawldb import facts, row
from nacre.crawldb.fold import merge_query
from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import bucket_of
from nacre.engine.counters import RandomIds
from nacre.rounds.moving import nutch
from nacre.rounds.moving.hadoop import FileRange
from nacre.rounds.moving.nutch import CrawlDatum, NutchContent, ProtocolStatus
from nacre.rounds.moving.nutch_rows import CODE, STATUS_KEY
from nacre.rounds.moving.nutch_tasks import NutchCounts, NutchSpec, RangeReader, UrlForms
from nacre.rounds.segments.outside import UNIT
from nacre.rounds.segments.parts import ARCHIVED, PartManifest, UnitPlace, upload_files
from nacre.rounds.steps.taking import files_by_bucket
from nacre.rounds.storage import file_sha256, localize
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    local_bucket,
)
from nacre.rounds.tables.versions import TableFile

HEAD, REQUEST, ADDRESS = "_response.headers_", "_request_", "_ip_"
TRUNCATED, WHY = "http.content.truncated", "http.content.truncated.reason"

_FETCHED = {0x21: 200, 0x22: -2, 0x23: 302, 0x24: 301, 0x25: 404, 0x26: 304}
"""Our fetch status for each status of a fetch in crawl_fetch."""
_MOVED = frozenset({12, 13})
_WITHOUT_BODY = frozenset({0x22, 0x25, 0x26})
_LONGEST_ANCHOR = 100
_BATCH = 20_000


class SegmentSpec(NamedTuple):
    """One task: a part of a segment.

    Attributes:
        read: Its file of bodies, and the options of all imports.
        segment: Our name of the segment.
        fetches: File of fetches of the same part; "" for none.
        parses: File of parses of the same part; "" for none.
        name: First part of the names of its WARC files.
        size: Bytes of a WARC file, after which the next one begins.
        attempt: Number of the attempt to import the segment, from 1.
    """

    read: NutchSpec
    segment: str
    fetches: str
    parses: str
    name: str
    size: int
    attempt: int = 1

    @property
    def part(self) -> str:
        """The folder of its facts."""
        return f"segments/{self.segment}/parts/{UNIT}/{self.attempt}-{self.read.number + 1:03d}"


class CapturesSpec(NamedTuple):
    """One task: write imported captures into the rows of buckets.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        buckets: The buckets, with their files.
        visits: Files of visits of imported segments.
    """

    place: TaskPlace
    version: int
    buckets: tuple[BucketFiles, ...]
    visits: tuple[str, ...]


class SegmentCounts(NamedTuple):
    """Counts of a part.

    Attributes:
        read: Counts of the records.
        pages: Bodies in the archive.
        visits: Visits, including those without a body.
        links: Links.
        archive: Files of the archive.
    """

    read: NutchCounts
    pages: int
    visits: int
    links: int
    archive: tuple[TableFile, ...]


class _Warcs:
    """The WARC files of a task, each with its index."""

    def __init__(self, spec: SegmentSpec, work: TaskWork, ids: RandomIds) -> None:
        self._spec, self._work, self._ids = spec, work, ids
        self._file: BinaryIO | None = None
        self._path = Path()
        self._lines: list[bytes] = []
        self._size = 0
        self._number = 0
        self.files: list[TableFile] = []

    def write(self, records: list[WarcRecord]) -> tuple[str, int]:
        """Append the records of a capture; return the file and the offset of the first record."""
        if self._size >= self._spec.size:
            self.close()
        if self._file is None:
            self._file = self._open(self._spec.read.clock * 1000)
        place = self._path.name, self._size
        for record in records:
            self._append(self._file, record)
        return place

    def _open(self, date: int) -> BinaryIO:
        self._number += 1
        name = f"{self._spec.name}-{self._spec.read.number:05d}-{self._number:05d}.warc.gz"
        self._path = self._work.scratch / name
        file = self._path.open("wb")
        self._size = 0
        fields = [
            ("software", f"Nacre/{__version__}"),
            ("format", "WARC File Format 1.1"),
            ("description", f"imported from a segment of Apache Nutch: {self._spec.segment}"),
        ]
        self._append(file, warcinfo_record(self._ids(), date, name, fields))
        return file

    def _append(self, file: BinaryIO, record: WarcRecord) -> None:
        data = pack(record, 1)
        line = index_line(record, self._path.name, self._size, len(data))
        if line:
            self._lines.append(line)
        file.write(data)
        self._size += len(data)

    def close(self) -> None:
        """Send the current file and its index."""
        if self._file is None:
            return
        self._file.close()
        self._file = None
        index = self._path.with_suffix("").with_suffix(".cdxj")
        index.write_bytes(sort_index(b"".join(self._lines)))
        self._lines.clear()
        for path, kind in ((self._path, "warc"), (index, "cdxj")):
            table_file = TableFile(
                path=f"{ARCHIVED}/{path.name}", bucket=1, kind=kind, group=self._spec.segment,
                size=path.stat().st_size, sha256=file_sha256(path),
            )  # fmt: skip
            self._work.storage.upload(path, table_file.path)
            self.files.append(table_file)


def segment_task(spec: SegmentSpec) -> SegmentCounts:
    """Write the records, visits and links of a part of a segment."""
    with spec.read.place.open() as work:
        urls = UrlForms(spec.read.rules.admission(work.scratch), spec.read)
        fetches = _fetches(spec)
        reader = RangeReader(spec.read, nutch.CONTENT)
        warcs = _Warcs(spec, work, RandomIds())
        ids = RandomIds()
        visits = _FactRows(work, "visits", facts.VISITS)
        pages = 0
        for text, content in reader.read(nutch.content):
            forms = urls.of(text)
            fetch = fetches.get(text)
            if forms is None:
                continue
            page = page_of(forms[0], content, fetch)
            records = imported_records(page, ids)
            name, offset = warcs.write(records)
            visits.add(_visit(spec, forms, fetch, page, (name, offset, records[0])))
            pages += 1
        for text, fetch in fetches.items():
            if spec.read.within.low == 0 and fetch.status in _WITHOUT_BODY:
                forms = urls.of(text)
                if forms is not None:
                    visits.add(_visit(spec, forms, fetch, None, None))
        warcs.close()
        links = _FactRows(work, "links", facts.LINKS)
        if spec.read.within.low == 0:
            for link in _links(spec, urls, fetches):
                links.add(link)
        rows = {"visits": visits.write("bucket, key"), "links": links.write("bucket, dst, src")}
        _create_part(spec, work, rows)
        return SegmentCounts(
            reader.counts(rows["visits"], urls), pages, rows["visits"], rows["links"],
            tuple(warcs.files),
        )  # fmt: skip


def _create_part(spec: SegmentSpec, work: TaskWork, rows: dict[str, int]) -> None:
    """Send the facts, with their manifest."""
    paths = [work.scratch / f"{name}.parquet" for name in rows]
    manifest = PartManifest(
        unit=UNIT,
        attempt=spec.attempt,
        number=spec.read.number + 1,
        files=tuple(upload_files(work.storage, paths, spec.part)),
        rows=rows,
        last=True,
    )
    UnitPlace(work.storage, spec.segment, UNIT).create(manifest)


class _FactRows:
    """Rows of facts for a file, which a kernel sorts."""

    def __init__(self, work: TaskWork, name: str, schema: Any) -> None:  # noqa: ANN401 - pyarrow
        self._work, self._name, self._schema = work, name, schema
        self._rows: list[dict[str, Any]] = []
        work.kernel.load(name, schema.empty_table())

    def add(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        if len(self._rows) >= _BATCH:
            self._take()

    def _take(self) -> None:
        import pyarrow as pa  # noqa: PLC0415 - an extra

        self._work.kernel.load("batch", pa.Table.from_pylist(self._rows, self._schema))
        self._work.kernel.execute(f"insert into {self._name} by name select * from batch")
        self._rows.clear()

    def write(self, order: str) -> int:
        """Write the file `NAME.parquet` of the scratch folder; return the number of its rows."""
        self._take()
        path = str(self._work.scratch / f"{self._name}.parquet")
        query = f"select * from {self._name} order by {order}"
        return self._work.kernel.write(query, path).rows


def _fetches(spec: SegmentSpec) -> dict[str, CrawlDatum]:
    if not spec.fetches:
        return {}
    of_fetches = spec.read._replace(within=FileRange(spec.fetches))
    reader = RangeReader(of_fetches, nutch.CRAWL_DATUM)
    return dict(reader.read(nutch.crawl_datum))


def page_of(url: str, content: NutchContent, fetch: CrawlDatum | None) -> ImportedPage:
    """Return a page from a body of Nutch and its fetch.

    Args:
        url: Its URL, normalised.
        content: The body.
        fetch: The datum in crawl_fetch; None if it has none.
    """
    md = content.md
    date = _date(content, fetch)
    head = _first(md, HEAD).encode("utf-8", "surrogateescape")
    truncated = _first(md, WHY) or "unspecified" if _first(md, TRUNCATED) == "true" else ""
    fields = [(name, value) for name, values in md.items() for value in values]
    return ImportedPage(
        url=url,
        date=date,
        body=content.data,
        media_type=content.media_type,
        head=head,
        request=_first(md, REQUEST).encode("utf-8", "surrogateescape"),
        address=_first(md, ADDRESS),
        truncated=truncated,
        fields=[field for field in fields if field[0] not in {HEAD, REQUEST}],
    )


def _first(md: Mapping[str, tuple[str, ...]], name: str) -> str:
    return next(iter(md.get(name, ())), "")


def _date(content: NutchContent, fetch: CrawlDatum | None) -> int:
    """Return the time of the fetch, µs: that of crawl_fetch, so that links have the same time."""
    if fetch is not None:
        return max(fetch.fetch_time, 0) * 1000
    header = _first(content.md, "nutch.fetch.time")
    return int(header[:15]) * 1000 if header.isdecimal() else 0


def _visit(
    spec: SegmentSpec,
    forms: tuple[str, str],
    fetch: CrawlDatum | None,
    page: ImportedPage | None,
    stored: tuple[str, int, WarcRecord] | None,
) -> dict[str, Any]:
    url, key = forms
    status = _FETCHED.get(fetch.status, 200) if fetch is not None else 200
    if fetch is not None:
        code = fetch.md.get(CODE)
        status = int(code) if isinstance(code, str) and code.isdecimal() else status
    visit: dict[str, Any] = {
        "bucket": bucket_of(key, spec.read.buckets),
        "key": key,
        "url": url if url != key else None,
        "status": min(status, 999),
        "time": page.date if page is not None else (fetch.fetch_time * 1000 if fetch else 0),
        "duration": 0,
        "attempts": 1,
        "modified": max(fetch.modified, 0) if fetch is not None else 0,
        "redirect": _redirect(fetch),
    }
    if page is None or stored is None:
        return visit
    name, offset, record = stored
    digest = record.digest or None
    return visit | {
        "size": len(page.body), "payload_digest": digest, "stored": "novel", "warc_file": name,
        "warc_offset": offset, "address": page.address or None, "digest": digest,
        "framing": "", "record_id": record.id, "warc_date": record.date,
        "length": len(page.body), "mime": page.media_type.partition(";")[0].strip() or None,
        "etag": _header(page, b"etag"), "last_modified": _header(page, b"last-modified"),
    }  # fmt: skip


def _redirect(fetch: CrawlDatum | None) -> str | None:
    status = fetch.md.get(STATUS_KEY) if fetch is not None else None
    if isinstance(status, ProtocolStatus) and status.code in _MOVED and status.args:
        return status.args[0] or None
    return None


def _header(page: ImportedPage, name: bytes) -> bytes | None:
    for line in whole_head(page.head, page.body).split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip() or None
    return None


def _links(
    spec: SegmentSpec, urls: UrlForms, fetches: Mapping[str, CrawlDatum]
) -> Iterator[dict[str, Any]]:
    if not spec.parses:
        return
    of_parses = spec.read._replace(within=FileRange(spec.parses))
    for text, parse in RangeReader(of_parses, nutch.PARSE_DATA).read(nutch.parse_data):
        source = urls.of(text)
        if source is None:
            continue
        fetch = fetches.get(text)
        time = max(fetch.fetch_time, 0) if fetch is not None else spec.read.clock
        for rank, (target, anchor) in enumerate(parse.outlinks, 1):
            forms = urls.of(target)
            if forms is not None:
                yield {
                    "bucket": bucket_of(forms[1], spec.read.buckets), "dst": forms[1],
                    "src": source[1], "hop": "L", "anchor": anchor[:_LONGEST_ANCHOR] or None,
                    "rank": rank, "time": time,
                }  # fmt: skip


def captures_task(spec: CapturesSpec) -> list[TableFile]:
    """Write the latest imported capture of each known URL without a capture or with an older one.

    A capture of the same time and content is the same, from a segment that was dropped and imported
    again.
    """
    with spec.place.open() as work:
        kernel = work.kernel
        paths = [str(localize(work.storage, name, work.scratch)) for name in spec.visits]
        first, last = spec.buckets[0].bucket, spec.buckets[-1].bucket
        names = [column.name for column in row.group_columns("capture")]
        picks = ", ".join(f'"{name}"' for name in names)
        kernel.execute(
            f"create temp table latest as select bucket, key, {picks} from {parquet(paths)} "
            f"where bucket between {first} and {last} and record_id is not null "
            "qualify row_number() over (partition by key order by warc_date desc, record_id) = 1"
        )
        kernel.execute("create temp table changed as from latest limit 0")
        for bucket in spec.buckets:
            local = local_bucket(work.storage, bucket, work.scratch)
            rows = merge_query(
                *local, columns=("key", "warc_date", "digest"), keys="latest", order=False
            )
            kernel.execute(
                f"insert into changed select l.* from latest l join ({rows}) m on m.key = l.key "
                "where m.warc_date is null or m.warc_date < l.warc_date "
                "or (m.warc_date = l.warc_date and m.digest is not distinct from l.digest)"
            )
        plan = FilePlan(CRAWLDB, 0, "set", spec.version, "capture")
        return list(files_by_bucket(work, work.storage, "changed", "key", plan))
