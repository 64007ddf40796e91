"""The tasks of `index`: which pages changed and where their captures are, and their documents."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.archive.delta import Delta, DeltaError
from nacre.archive.restoring import BaseFiles
from nacre.core.capture import Capture
from nacre.crawldb.fold import fold_query
from nacre.crawldb.indexed import WANTED_COLUMNS, TextTypes, index_changes
from nacre.crawldb.kernels import parquet
from nacre.cycle.steps.update_tasks import FetchedFacts, local_facts
from nacre.cycle.storage import localized
from nacre.cycle.tables import (
    BucketFiles,
    TaskPlace,
    TaskWork,
    local_bucket,
    table_kind,
)
from nacre.cycle.versions import TableFile
from nacre.engine.readback import read_at
from nacre.engine.text_process import TextProcess
from nacre.errors import DamageError
from nacre.extract.document import stored_document
from nacre.extract.fulltext.job import (
    ENDINGS,
    TYPES,
    UNKNOWN,
    PageText,
    TextJob,
    text_type,
)
from nacre.search.document import SearchDocument, placed
from nacre.search.settings import IndexSettings

INDEXED = "indexed"
"""The name of the table of what indexes have."""

_MOST = 64_000_000
"""Bytes of a record; a longer one has no body."""


class ChangesSpec(NamedTuple):
    """One task: what changed in some buckets since a writer was given them.

    Attributes:
        place: Where it works.
        buckets: The buckets of the CrawlDb.
        indexed: Of each the files of `indexed`, by number.
        facts: The segments, whose visits tell where captures are; the newest first.
        writer: The name of the writer.
        anew: It has nothing: all documents are wanted.
        exchange: Name of the file of changes.
    """

    place: TaskPlace
    buckets: tuple[BucketFiles, ...]
    indexed: Mapping[int, BucketFiles]
    facts: tuple[FetchedFacts, ...]
    writer: str
    anew: bool
    exchange: str


class ChangesFound(NamedTuple):
    """The numbers of what a task found.

    Attributes:
        given: Pages whose documents are wanted.
        removed: Pages whose documents are to be removed.
        nowhere: Pages whose captures no visit tells of.
    """

    given: int
    removed: int
    nowhere: int


def changes_task(spec: ChangesSpec) -> ChangesFound:
    """Write what changed, sorted by the place in the archive."""
    types = TextTypes(sorted(TYPES), sorted(UNKNOWN), sorted(ENDINGS))
    with spec.place.open() as work:
        kernel = work.kernel
        made = False
        for bucket in spec.buckets:
            local = local_bucket(work.storage, bucket, work.scratch)
            rows = fold_query(*local, interval=0, columns=WANTED_COLUMNS, order=False)
            query = index_changes(f"({rows})", _indexed(work, spec, bucket), types, bucket.bucket)
            how = "insert into changes" if made else "create temp table changes as"
            kernel.execute(f"{how} {query}")
            made = True
        if not made:
            return ChangesFound(0, 0, 0)
        _locate(work, spec)
        work.send(
            "select c.*, p.segment, p.warc_file, p.warc_offset from changes c "
            "left join places p on p.key = c.key where c.reason is not null or p.key is not null "
            "order by c.reason is null, p.warc_file, p.warc_offset, c.key",
            spec.exchange,
        )
        removed = int(kernel.value("select count(*) from changes where reason is not null"))
        wanted = int(kernel.value("select count(*) from changes where reason is null"))
        there = int(kernel.value("select count(*) from places"))
        return ChangesFound(there, removed, wanted - there)


def _indexed(work: TaskWork, spec: ChangesSpec, bucket: BucketFiles) -> str:
    """SQL of what the writer has of a bucket; "" for nothing."""
    known = spec.indexed.get(bucket.bucket)
    if known is None:
        return ""
    merged = table_kind(INDEXED).merge(local_bucket(work.storage, known, work.scratch))
    # What is wanted anew is as if it had another content; what went is still told to the table.
    digest = "null::VARCHAR" if spec.anew else "digest"
    writer = spec.writer.replace("'", "''")
    within = f" and {bucket.within.condition()}" if bucket.within is not None else ""
    which = f"writer = '{writer}'{within}"
    return f"(select key, {digest} as digest, reason from ({merged}) where {which})"


def _locate(work: TaskWork, spec: ChangesSpec) -> None:
    """Make the table `places`: where the capture of each page lies, by the record of its content.

    The newest segments come first: most of what changed is there.
    """
    kernel = work.kernel
    kernel.execute(
        "create temp table places (key VARCHAR, segment VARCHAR, warc_file VARCHAR, "
        "warc_offset BIGINT)"
    )
    for one in spec.facts:
        if not one.parts:
            continue
        visits = parquet(local_facts(work.storage, one.files("visits"), work))
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
            [one.segment],
        )


# ---- documents


class PagePlace(msgspec.Struct, frozen=True):
    """A page that is to be indexed, and the place of its capture: a row of the changes.

    Attributes:
        key, url, modified, digest, length, mime, lang, score: Of its row in the CrawlDb.
        time: When it was fetched, ms since the epoch.
        bucket: Its bucket.
        segment: Its segment.
        warc_file: Name of the WARC.
        warc_offset: Offset of the record there.
    """

    key: str
    url: str
    modified: int
    digest: str
    length: int
    mime: str
    lang: str
    score: float
    time: int
    bucket: int
    segment: str
    warc_file: str
    warc_offset: int


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
    pages: tuple[PagePlace, ...]
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
    """Read captures, and make documents of them."""
    skipped: list[tuple[str, str]] = []
    made: list[SearchDocument] = []
    with spec.place.open() as work:
        archive = _Archive(work, spec.archive)
        texts = TextProcess()
        try:
            for page in spec.pages:
                found = _document(archive.capture(page), page, spec, texts)
                if isinstance(found, str):
                    skipped.append((page.key, found))
                else:
                    made.append(found)
        finally:
            texts.close()
        work.storage.put(spec.exchange, msgspec.msgpack.encode(made))
    return DocumentsMade(spec.exchange, skipped)


def _document(
    capture: Capture | None, page: PagePlace, spec: DocumentsSpec, texts: TextProcess
) -> SearchDocument | str:
    """The document of a page, or why it has none."""
    if capture is None:
        return "capture"
    settings = spec.settings
    document = stored_document(capture, settings.max_document)
    document = msgspec.structs.replace(document, mime=page.mime or document.mime)
    if not text_type(document.mime, document.url):
        return "type"
    job = TextJob(document, settings.main_content, settings.max_content, agent=spec.agent)
    text = texts.text(job)
    if text.problem:
        return text.problem
    if settings.noindex and not {"noindex", "none"}.isdisjoint(text.robots):
        return "noindex"
    return placed(made_document(page, text, settings.score_power))


def made_document(page: PagePlace, text: PageText, power: float) -> SearchDocument:
    """The document of a page and its text.

    Args:
        page: The page.
        text: Its text.
        power: See `cycle.index.score_power`.
    """
    return SearchDocument(
        id=page.key,
        url=page.url or page.key,
        title=text.title,
        content=text.text,
        rest=text.rest,
        type=text.type,
        lang=text.lang or page.lang.lower(),
        tstamp=page.time,
        modified=page.modified,
        boost=max(page.score, 0.0) ** power,
        digest=page.digest,
        segment=page.segment,
        cache="noarchive" if "noarchive" in text.robots else "",
        length=page.length,
        warc_filename=page.warc_file,
        warc_offset=page.warc_offset,
    )


def page_of(row: Mapping[str, Any]) -> PagePlace:
    """The page of a row of the changes."""
    return PagePlace(
        row["key"], row["url"] or "", row["modified"] or 0, row["digest"] or "", row["length"] or 0,
        row["mime"] or "", row["lang"] or "", row["score"] or 0.0, (row["last_time"] or 0) // 1000,
        row["bucket"], row["segment"] or "", row["warc_file"] or "", row["warc_offset"] or 0,
    )  # fmt: skip


class _Archive:
    """The WARCs of the cycle, brought here when they are asked for."""

    def __init__(self, work: TaskWork, files: Mapping[str, TableFile]) -> None:
        self._work = work
        self._files = files
        self._bases: BaseFiles | None = None

    def capture(self, page: PagePlace) -> Capture | None:
        """The capture of a page; None when its record cannot be read.

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
        return localized(self._work.storage, file.path, self._work.scratch)

    def _block(self, delta: Delta) -> bytes:
        """What a difference was made from: then all WARCs are looked at."""
        if self._bases is None:
            self._bases = BaseFiles(map(self._path, self._files))
        try:
            return self._bases.block(delta)
        except OSError as error:
            raise DeltaError("delta-unresolved", str(error)) from error
