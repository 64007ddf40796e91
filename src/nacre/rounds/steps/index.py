"""The step `index`: send documents of changed pages, and deletions, to writers.

The table `indexed` has the documents of a writer; the CrawlDb has the current pages. Tasks read the
difference from the archive, in portions. A portion is written, then the writer commits, then the
table: after a kill in between, the portion is repeated with the same result. Source: Nutch,
`IndexingJob`, `CleaningJob` (reference N 1.14).
"""

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.indexed import indexed_schema
from nacre.crawldb.scoring import BoostRule, boost_rule
from nacre.errors import NacreError
from nacre.indexing.document_choice import OTHERWISE, DocumentChoice
from nacre.indexing.page_document import PageFacts
from nacre.rounds.journal import UPDATED
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.dedup_files import publish_sets
from nacre.rounds.steps.index_tasks import (
    ELSEWHERE,
    INDEXED,
    ChangesSpec,
    DocumentsSpec,
    changes_task,
    documents_task,
    page_of,
)
from nacre.rounds.steps.links import LINKS
from nacre.rounds.steps.update_tasks import FetchedFacts, facts_of
from nacre.rounds.storage import localize, remove_folder
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    TaskWork,
    archived_warcs,
    buckets_of,
    in_range_tasks,
)
from nacre.rounds.tables.versions import Cycle, CycleChanges, CycleVersion, TableFile
from nacre.search.document import SearchDocument, is_cut
from nacre.search.writers import DocumentWriter

_PORTION = 20_000
"""Pages of a portion, which a kill repeats at most."""
_TASK = 250
"""Pages of a task."""
_DELETES = 5_000
_COMPARED = "compared"
"""Option of a version of this step: number of the version that was compared completely."""
_MOST_VERSIONS = 200
"""Versions that are searched for it; without a result, all rows are compared."""


class IndexResult(NamedTuple):
    """The outcome of the step for a writer.

    Attributes:
        writer: Its name.
        added: New documents.
        updated: Replaced documents.
        deleted: Documents that were removed, by reason.
        skipped: Pages without a document, by reason.
        version: The version; None if nothing was committed.
        looked: Keys that were compared with the documents of the writer; for a complete bucket, the
            rows of its files.
        cut: Documents whose text, or its boilerplate, is cut by `max_content`.
        examples: The first skipped page for each reason.
    """

    writer: str
    added: int = 0
    updated: int = 0
    deleted: Mapping[str, int] = {}
    skipped: Mapping[str, int] = {}
    version: CycleVersion | None = None
    looked: int = 0
    cut: int = 0
    examples: Mapping[str, str] = {}


def index(
    context: StepContext, writer: DocumentWriter, *, when: str = "", rebuild: bool = False
) -> IndexResult:
    """Send a writer the changes since its last step.

    Args:
        context: The context of the driver.
        writer: The writer, which this function opens.
        when: Condition on documents; see `DocumentChoice`.
        rebuild: Begin with an empty index, and send all documents.

    Raises:
        CommittedByAnotherError: Another driver committed meanwhile.
        DamageError: A WARC is missing.
        StorageError: The writer cannot write.
        UserSqlError: `when` is no valid condition.
    """
    folder = f"exchange/index-{secrets.token_hex(8)}"
    with DocumentChoice(when, writer.name) as choice:
        anew = rebuild
        if not context.dry:
            anew |= writer.open(rebuild=rebuild)
        try:
            return _Indexing(context, writer, folder, choice, anew=anew).run()
        finally:
            if not context.dry:
                writer.close()
            remove_folder(context.cycle.storage, folder)


def newest_facts(version: CycleVersion) -> tuple[FetchedFacts, ...]:
    """Return the facts of fetched segments, the newest first."""
    return tuple(
        facts_of(name, state)
        for name, state in sorted(version.segments.items(), reverse=True)
        if state.parts
    )


def compared_version(cycle: Cycle, version: CycleVersion, writer: str) -> int | None:
    """Return the number of the version of the last complete comparison; None if unknown.

    Args:
        cycle: The cycle.
        version: The version that must descend from it.
        writer: Name of the writer.
    """
    for _ in range(_MOST_VERSIONS):
        if version.step == "index" and version.options.get("writer") == writer:
            number = version.options.get(_COMPARED)
            if isinstance(number, int):
                return number
        if version.step in {"restore", "repair"} or version.parent <= 0:
            return None
        try:
            version = cycle.version(version.parent)
        except NacreError:
            return None
    return None


def _updated_since(
    cycle: Cycle, facts: Sequence[FetchedFacts], since: int | None
) -> tuple[FetchedFacts, ...]:
    """Return the segments that were not updated yet at a version; all if it is unknown."""
    try:
        then = cycle.version(since).segments if since is not None else {}
    except NacreError:
        then = {}
    updated = {name for name, state in then.items() if state.state == UPDATED}
    return tuple(segment_facts for segment_facts in facts if segment_facts.segment not in updated)


def boost_of(context: StepContext) -> BoostRule:
    """Return the rule of the boost of documents, by the settings."""
    cycle = context.settings.cycle
    return boost_rule(cycle.scoring, cycle.index.score_power)


def links_to(
    cycle: Cycle, version: CycleVersion, group: Sequence[BucketFiles]
) -> tuple[BucketFiles, ...]:
    """Return the buckets of the table of links with the links to pages of some buckets."""
    if LINKS not in version.tables:
        return ()
    buckets = buckets_of(cycle, version, LINKS)
    if version.tables[LINKS].buckets != version.tables[CRAWLDB].buckets:
        return tuple(buckets)
    numbers = {bucket.bucket for bucket in group}
    return tuple(bucket for bucket in buckets if bucket.bucket in numbers)


class _Indexing:
    """The work of the driver for a writer."""

    def __init__(
        self,
        context: StepContext,
        writer: DocumentWriter,
        folder: str,
        choice: DocumentChoice,
        *,
        anew: bool,
    ) -> None:
        self._context = context
        self._cycle = context.cycle
        self._writer = writer
        self._folder = folder
        self._choice = choice
        self._anew = anew
        self._version = context.cycle.newest()
        self._added = self._updated = 0
        self._deleted: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._cut = self._looked = 0
        self._compared = self._version.number
        self._committed: CycleVersion | None = None
        self._archive = archived_warcs(context.cycle, self._version)

    def run(self) -> IndexResult:
        if CRAWLDB not in self._version.tables:
            return IndexResult(self._writer.name)
        names = self._find_changes()
        with self._context.place.open() as work:
            rows = self._rows(work, names)
            # A rebuilt index takes the place of the old one when it is whole.
            size = _PORTION if not self._anew else 2**62
            portion = list(islice(rows, size))
            while portion:
                following = list(islice(rows, size))
                self._write_portion(work, portion, last=not following)
                portion = following
        return IndexResult(
            self._writer.name, self._added, self._updated, dict(self._deleted),
            dict(self._skipped), self._committed, self._looked, self._cut, self._examples,
        )  # fmt: skip

    def _find_changes(self) -> list[str]:
        """Find the changed pages; return the names of the files with them."""
        context, version = self._context, self._version
        facts = newest_facts(version)
        indexed = {b.bucket: b for b in buckets_of(self._cycle, version, INDEXED)}
        groups = in_range_tasks(
            buckets_of(self._cycle, version, CRAWLDB), tasks=context.engine.workers
        )
        name = self._writer.name
        since = None if self._anew else compared_version(self._cycle, version, name)
        noindex = context.settings.cycle.index.noindex
        news = _updated_since(self._cycle, facts, since) if noindex else ()
        specs = [
            ChangesSpec(
                context.place,
                g,
                {b.bucket: indexed[b.bucket] for b in g if b.bucket in indexed},
                facts,
                name,
                self._anew,
                f"{self._folder}/changes-{n}.parquet",
                boost_of(context),
                links_to(self._cycle, version, g),
                since,
                news,
            )
            for n, g in enumerate(groups)
        ]
        results = context.engine.map(changes_task, specs)
        self._looked = sum(b.compared for b in results)
        self._context.tell("index", {"pages": sum(b.written for b in results)})
        return [
            spec.exchange for spec, b in zip(specs, results, strict=True) if b.written or b.removed
        ]

    def _rows(self, work: TaskWork, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

        for name in names:
            path = localize(work.storage, name, work.scratch)
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(5_000):
                    yield from batch.to_pylist()

    def _write_portion(self, work: TaskWork, rows: Sequence[dict[str, Any]], *, last: bool) -> None:
        """Send a portion to the writer, and commit it."""
        removed = [row for row in rows if row["reason"] is not None]
        pages = [page_of(row) for row in rows if row["reason"] is None]
        had = {row["key"] for row in rows if row["reason"] is None and row["had_it"]}
        # A page of another archive is not checked again until its content changes.
        elsewhere = {row["key"] for row in removed if row["reason"] == ELSEWHERE}
        for row in removed:
            if row["had_it"]:
                self._deleted[row["reason"]] += 1
            else:
                self._skip(row["key"], row["reason"])
        if self._context.dry:
            self._updated += len(had)
            self._added += len(pages) - len(had)
            return
        gone = [row["key"] for row in removed if row["had_it"]]
        for at in range(0, len(gone), _DELETES):
            self._writer.delete(gone[at : at + _DELETES])
        reasons = self._write_documents(work, pages, had)
        self._writer.commit()
        indexed_rows = [
            self._row(
                row,
                None if row["reason"] and row["key"] not in elsewhere else row["digest"],
                row["reason"] or reasons.get(row["key"], ""),
            )
            for row in rows
        ]
        self._commit(work, indexed_rows, last=last)

    def _skip(self, key: str, reason: str) -> None:
        self._skipped[reason] += 1
        self._examples.setdefault(reason, key)

    def _row(self, row: Mapping[str, Any], digest: str | None, reason: str) -> dict[str, Any]:
        return {
            "key": row["key"], "writer": self._writer.name, "digest": digest, "reason": reason,
            "time": self._context.clock, "bucket": row["bucket"],
        }  # fmt: skip

    def _write_documents(
        self, work: TaskWork, pages: Sequence[PageFacts], had: set[str]
    ) -> dict[str, str]:
        """Write the documents of pages; return why pages have none, by key."""
        reasons: dict[str, str] = {}
        wave = _TASK * max(self._context.engine.workers * 4, 8)
        for at in range(0, len(pages), wave):
            specs = self._specs(pages[at : at + wave], at)
            for result in self._context.engine.map(documents_task, specs):
                data = work.storage.read(result.exchange)
                made_here = msgspec.msgpack.decode(data, type=list[SearchDocument])
                documents, excluded = self._choice.parted(made_here)
                self._writer.write(documents)
                updated = sum(document.id in had for document in documents)
                self._updated += updated
                self._added += len(documents) - updated
                work.storage.delete(result.exchange)
                skipped = [*result.skipped, *((key, OTHERWISE) for key in excluded)]
                lost = [key for key, _ in skipped if key in had]
                if lost:
                    self._writer.delete(lost)
                self._deleted.update(reason for key, reason in skipped if key in had)
                for key, reason in skipped:
                    if key not in had:
                        self._skip(key, reason)
                most = self._context.settings.cycle.index.max_content
                self._cut += sum(is_cut(document, most) for document in documents)
                reasons.update(skipped)
            self._context.tell("index", {"done": min(at + wave, len(pages)), "of": len(pages)})
        return reasons

    def _specs(self, pages: Sequence[PageFacts], number: int) -> list[DocumentsSpec]:
        """Return tasks for pages in the order of the archive."""
        settings = self._context.settings
        specs = []
        for at in range(0, len(pages), _TASK):
            share = tuple(pages[at : at + _TASK])
            specs.append(
                DocumentsSpec(
                    self._context.place,
                    share,
                    self._archive,
                    settings.cycle.index,
                    settings.extract.robots_agent or settings.robots.agent,
                    f"{self._folder}/documents-{number + at}.msgpack",
                )
            )
        return specs

    def _commit(self, work: TaskWork, rows: Sequence[Mapping[str, Any]], *, last: bool) -> None:
        """Commit the rows of the writer; the last portion notes a complete comparison."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        schema = indexed_schema().append(pa.field("bucket", pa.int32()))
        work.kernel.load("done", pa.Table.from_pylist(list(rows), schema))
        columns = ", ".join(indexed_schema().names)
        files: list[TableFile] = publish_sets(
            work, "done", columns, "key, writer", (INDEXED, self._version.number + 1)
        )
        buckets = {}
        if INDEXED not in self._version.tables:
            buckets = {INDEXED: self._version.tables[CRAWLDB].buckets}
        changes = CycleChanges(
            step="index",
            clock=self._context.clock,
            options={"writer": self._writer.name} | ({_COMPARED: self._compared} if last else {}),
            counters={
                "added": self._added,
                "updated": self._updated,
                "deleted": sum(self._deleted.values()),
                "skipped": sum(self._skipped.values()),
            },
            added={INDEXED: files},
            buckets=buckets,
        )
        self._version = self._committed = self._cycle.commit(self._version, changes)
