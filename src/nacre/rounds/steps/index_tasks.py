"""The tasks of `index`: which pages changed and where their captures are, and their documents."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.archive.delta import Delta, DeltaError
from nacre.archive.restoring import BaseFiles
from nacre.core.capture import Capture
from nacre.crawldb.fold import fold_query
from nacre.crawldb.indexed import WANTED_COLUMNS, TextTypes, index_changes, noindex_changes
from nacre.crawldb.kernels import parquet
from nacre.crawldb.scoring import BoostRule
from nacre.engine.readback import read_at
from nacre.errors import DamageError
from nacre.extract.fulltext.job import ENDINGS, TYPES, UNKNOWN
from nacre.indexing.page_document import DocumentMaker, PageFacts
from nacre.indexing.text_process import shared_texts
from nacre.rounds.steps.links import LINKS
from nacre.rounds.steps.update_tasks import FetchedFacts, local_facts
from nacre.rounds.tables.tables import (
    BucketFiles,
    TaskPlace,
    TaskWork,
    local_bucket,
    local_file,
    local_warc,
    table_kind,
)
from nacre.rounds.tables.versions import TableFile
from nacre.search.document import SearchDocument
from nacre.search.settings import IndexSettings

_ANCHORS = 100
"""Most texts of links of a document, the newest first."""

INDEXED = "indexed"
"""The name of the table of the rows of writers."""
_IRRELEVANT = frozenset(("lease", "seed"))
"""Groups of columns that do not change documents."""
ELSEWHERE = "elsewhere"
"""The reason of pages whose captures are not in the archive of the rounds."""

_MOST = 64_000_000
"""Bytes of a record; a longer one has no body."""


class ChangesSpec(NamedTuple):
    """One task: the changes in some buckets since the last step of a writer.

    Attributes:
        place: The work place of the task.
        buckets: The buckets of the CrawlDb.
        indexed: The buckets of `indexed`, by number.
        facts: The segments, whose visits contain the places of captures; the newest first.
        writer: The name of the writer.
        anew: The index is empty: all documents are written.
        exchange: Name of the file of changes.
        boost: The rule of the boost of documents.
        links: The buckets of the table of links with the links to the pages; () for none.
        since: Number of the version of the last comparison: if the base of a bucket is not newer,
            only rows that were set since then are compared. None: all rows.
        news: The segments whose visits are checked for `noindex`, which may change without the
            content.
        key: The only page to compare; "" for all.
    """

    place: TaskPlace
    buckets: tuple[BucketFiles, ...]
    indexed: Mapping[int, BucketFiles]
    facts: tuple[FetchedFacts, ...]
    writer: str
    anew: bool
    exchange: str
    boost: BoostRule
    links: tuple[BucketFiles, ...] = ()
    since: int | None = None
    news: tuple[FetchedFacts, ...] = ()
    key: str = ""


class ChangesFound(NamedTuple):
    """The numbers of a task.

    Attributes:
        written: Pages whose documents are to be written.
        removed: Pages whose documents are to be deleted.
        compared: Keys that were compared with the documents of the writer; for a complete bucket,
            the rows of its files.
    """

    written: int
    removed: int
    compared: int


def changes_task(spec: ChangesSpec) -> ChangesFound:
    """Write the changes, sorted by the place in the archive."""
    with spec.place.open() as work:
        kernel = work.kernel
        compared = _compare(work, spec)
        if compared is None:
            return ChangesFound(0, 0, 0)
        _apply_noindex(work, spec)
        if not kernel.value("select count(*) from changes"):
            return ChangesFound(0, 0, compared)
        _locate(work, spec)
        _load_anchors(work, spec)
        kernel.execute(
            "update changes c set reason = ? where reason is null "
            "and not exists (select 1 from places p where p.key = c.key)",
            [ELSEWHERE],
        )
        removed = int(kernel.value("select count(*) from changes where reason is not null"))
        documents = int(kernel.value("select count(*) from changes where reason is null"))
        work.send(
            "select c.*, p.segment, p.warc_file, p.warc_offset, a.anchors from changes c "
            "left join places p on p.key = c.key left join anchors a on a.key = c.key "
            "order by c.reason is null, p.warc_file, p.warc_offset, c.key",
            spec.exchange,
        )
        return ChangesFound(documents, removed, compared)


def _compare(work: TaskWork, spec: ChangesSpec) -> int | None:
    """Make the table `changes`; return the number of compared keys, None without a table."""
    types = TextTypes(sorted(TYPES), sorted(UNKNOWN), sorted(ENDINGS))
    kernel = work.kernel
    has_table, compared = False, 0
    for bucket in spec.buckets:
        keys = ""
        if spec.key:
            keys, compared = "only_key", 1
            kernel.execute("create or replace temp table only_key as select ? as key", [spec.key])
        elif spec.since is not None and all(file.seq <= spec.since for file in bucket.base):
            keys = _set_since(work, bucket, spec.since)
            if not keys:
                continue
            compared += int(kernel.value(f"select count(*) from {keys}"))
        else:
            compared += sum(file.rows for file in (*bucket.base, *bucket.sets))
        local = local_bucket(work.storage, bucket, work.scratch)
        columns = {*WANTED_COLUMNS, *spec.boost.columns}
        rows = fold_query(*local, interval=0, columns=columns, keys=keys, order=False)
        has = _indexed_sql(work, spec, bucket, keys)
        query = index_changes(
            f"({rows})", has, types, bucket.bucket, spec.boost, news=bool(spec.news)
        )
        how = "insert into changes" if has_table else "create temp table changes as"
        kernel.execute(f"{how} {query}")
        has_table = True
    return compared if has_table else None


def _set_since(work: TaskWork, bucket: BucketFiles, since: int) -> str:
    """Make the table of keys whose rows were set after a version; return its name, "" for none.

    Additions since then (links, cash) change no document.
    """
    sets = [
        local_file(work.storage, file, work.scratch)
        for file in bucket.sets
        if file.seq > since and file.group not in _IRRELEVANT
    ]
    if not sets:
        return ""
    work.kernel.execute(
        f"create or replace temp table since as select distinct key from {parquet(sets)}"
    )
    return "since"


def _indexed_sql(work: TaskWork, spec: ChangesSpec, bucket: BucketFiles, keys: str) -> str:
    """Return SQL of the rows of the writer in a bucket, for the keys of a table or all; or ""."""
    indexed = spec.indexed.get(bucket.bucket)
    if indexed is None:
        return ""
    merged = table_kind(INDEXED).merge(local_bucket(work.storage, indexed, work.scratch))
    # For a rebuild each page has another content; the table still records deletions.
    digest = "null::VARCHAR" if spec.anew else "digest"
    writer = spec.writer.replace("'", "''")
    within = f" and {bucket.within.condition()}" if bucket.within is not None else ""
    within += f" and key in (select key from {keys})" if keys else ""
    which = f"writer = '{writer}'{within}"
    return f"(select key, {digest} as digest, reason from ({merged}) where {which})"


def _apply_noindex(work: TaskWork, spec: ChangesSpec) -> None:
    """Exclude pages with `noindex` in their newest reply, also in its header."""
    files = [name for segment_facts in spec.news for name in segment_facts.files("visits")]
    if files and work.kernel.value("select count(*) from changes where reason is null"):
        visits = parquet(local_facts(work.storage, files, work))
        for statement in noindex_changes("changes", visits):
            work.kernel.execute(statement)


def _locate(work: TaskWork, spec: ChangesSpec) -> None:
    """Make the table `places`: the place of the capture of each page, by the record of its content.

    The newest segments come first: they have most changed pages.
    """
    kernel = work.kernel
    kernel.execute(
        "create temp table places (key VARCHAR, segment VARCHAR, warc_file VARCHAR, "
        "warc_offset BIGINT)"
    )
    for segment_facts in spec.facts:
        if not segment_facts.parts:
            continue
        visits = parquet(local_facts(work.storage, segment_facts.files("visits"), work))
        kernel.execute(
            "create or replace temp table wanted as select key, record_id from changes c where "
            "reason is null and not exists (select 1 from places p where p.key = c.key)"
        )
        if not kernel.value("select count(*) from wanted"):
            return
        kernel.execute(
            f"insert into places select w.key, ?, any_value(v.warc_file), any_value(v.warc_offset) "
            f"from wanted w join {visits} v on v.record_id = w.record_id "
            "where v.stored in ('novel', 'delta') and v.warc_file is not null group by w.key",
            [segment_facts.segment],
        )


def _load_anchors(work: TaskWork, spec: ChangesSpec) -> None:
    """Make the table `anchors`: the texts of links to each page, each once, the newest first.

    Source: Nutch, `AnchorIndexingFilter`.
    """
    kernel = work.kernel
    kernel.execute("create temp table texts (key VARCHAR, text VARCHAR, last BIGINT)")
    for bucket in spec.links:
        rows = table_kind(LINKS).merge(local_bucket(work.storage, bucket, work.scratch))
        kernel.execute(
            "insert into texts select l.dst, trim(l.anchor) as text, max(l.last) "
            f"from ({rows}) l semi join changes c on c.key = l.dst and c.reason is null "
            "where trim(l.anchor) <> '' group by l.dst, text"
        )
    kernel.execute(
        "create temp table anchors as select key, list(text order by last desc, text)"
        f"[1:{_ANCHORS}] as anchors from texts group by key"
    )


# ---- documents


class DocumentsSpec(NamedTuple):
    """One task: the documents of some pages.

    Attributes:
        place: Where it works.
        pages: The pages, sorted by their places.
        archive: The WARCs of the cycle, by name.
        settings: `cycle.index`.
        agent: Product token that directives for robots may name.
        exchange: Name of the file of documents.
    """

    place: TaskPlace
    pages: tuple[PageFacts, ...]
    archive: Mapping[str, TableFile]
    settings: IndexSettings
    agent: str
    exchange: str


class DocumentsMade(NamedTuple):
    """The documents of a task.

    Attributes:
        exchange: Name of their file, a list in msgpack.
        skipped: Keys without a document, with the reason.
    """

    exchange: str
    skipped: list[tuple[str, str]]


def documents_task(spec: DocumentsSpec) -> DocumentsMade:
    """Read captures, and make documents from them."""
    skipped: list[tuple[str, str]] = []
    documents: list[SearchDocument] = []
    with spec.place.open() as work:
        archive = _Archive(work, spec.archive)
        with DocumentMaker(spec.settings, spec.agent, shared_texts()) as maker:
            results = maker.documents(spec.pages, archive.capture)
            for page, result in zip(spec.pages, results, strict=True):
                if isinstance(result, str):
                    skipped.append((page.key, result))
                else:
                    documents.append(result)
        work.storage.put(spec.exchange, msgspec.msgpack.encode(documents))
    return DocumentsMade(spec.exchange, skipped)


def page_of(row: Mapping[str, Any]) -> PageFacts:
    """Return the facts of a page in a row of the changes."""
    return PageFacts(
        key=row["key"],
        url=row["url"] or "",
        modified=row["modified"] or 0,
        digest=row["digest"] or "",
        length=row["length"] or 0,
        mime=row["mime"] or "",
        lang=row["lang"] or "",
        boost=row["boost"],
        time=(row["last_time"] or 0) // 1000,
        segment=row["segment"] or "",
        warc_file=row["warc_file"] or "",
        warc_offset=row["warc_offset"] or 0,
        anchors=tuple(row["anchors"] or ()),
        noindex=bool(row["refused"]),
        lifted=bool(row["lifted"]),
    )


class _Archive:
    """The WARCs of the cycle, which are localized on demand."""

    def __init__(self, work: TaskWork, files: Mapping[str, TableFile]) -> None:
        self._work = work
        self._files = files
        self._bases: BaseFiles | None = None

    def capture(self, page: PageFacts) -> Capture | None:
        """Return the capture of a page; None if its record cannot be read.

        Raises:
            DamageError: The archive has no such WARC.
        """
        return read_at(self._path(page.warc_file), page.warc_offset, self._block, _MOST)

    def _path(self, name: str) -> Path:
        file = self._files.get(name)
        if file is None:
            raise DamageError(
                f"{self._work.storage.place}: the archive has no {name}, which visits name; "
                "`storage check` lists all that is missing"
            )
        return local_warc(self._work.storage, file, self._work.scratch)

    def _block(self, delta: Delta) -> bytes:
        """Return the bytes that a delta was made from; searches all WARCs."""
        if self._bases is None:
            self._bases = BaseFiles(map(self._path, self._files))
        try:
            return self._bases.block(delta)
        except OSError as error:
            raise DeltaError("delta-unresolved", str(error)) from error
