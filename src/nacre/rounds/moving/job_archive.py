"""The archive of an imported job: its WARC files, and the place of each capture in them.

The files stay where they are. A separate segment has the visits of the imported captures, so that
`readseg`, `index` and `parse` find them like the visits of rounds.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nacre.crawldb import facts
from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import group_columns
from nacre.inspect.archived_replies import ArchivedReplies
from nacre.rounds.journal import IMPORTED, OF_JOB, UPDATED
from nacre.rounds.segments.outside import UNIT, create_part, write_empty_list
from nacre.rounds.segments.parts import UnitPlace
from nacre.rounds.segments.segment_files import record_segment
from nacre.rounds.steps.generate import new_segments
from nacre.rounds.steps.seed_rows import freeze_segment
from nacre.rounds.steps.update_tasks import facts_of, local_facts
from nacre.rounds.tables.tables import write_arrow
from nacre.rounds.tables.versions import ARCHIVE, OUTSIDE, CycleVersion, SegmentState, TableFile

if TYPE_CHECKING:
    from nacre.rounds.steps.context import StepContext
    from nacre.rounds.tables.tables import TaskWork
    from nacre.store.store import Store

REPLIES = {
    "url": "VARCHAR", "digest": "VARCHAR", "second": "BIGINT", "mime": "VARCHAR", "file": "VARCHAR",
    "place": "BIGINT",
}  # fmt: skip
"""Columns of the table of replies: the place of each reply, by the data of the history."""
_OPEN = ".open"


class JobArchive(NamedTuple):
    """The archive of an imported job.

    Attributes:
        files: Its WARC files that our archive did not list before.
        segments: The segment of its captures; {} if no capture is new.
        captures: Captures whose place was unknown before.
    """

    files: tuple[TableFile, ...] = ()
    segments: Mapping[str, SegmentState] = {}
    captures: int = 0


def reply_rows(root: Path, store: "Store") -> Iterator[tuple[str, str, int, str, str, int]]:
    """Yield the replies with content in the archive of a job, with the columns of `REPLIES`.

    Args:
        root: The directory of the job.
        store: Its store.
    """
    archive = ArchivedReplies(root.resolve(), store)
    for index in archive.indexes():
        for reply in archive.replies(index):
            if reply.is_revisit or not reply.file:
                continue
            second = round(datetime.fromisoformat(reply.date).replace(tzinfo=UTC).timestamp())
            # An open file has its final name soon; readers look for both.
            file = str(root.resolve() / reply.file.removesuffix(_OPEN))
            yield reply.url, reply.digest, second, reply.mime, file, reply.offset


def located_sql() -> str:
    """SQL of `captured` with the places of captures: `mime`, `file`, `place`, null if unknown.

    A duplicate of a capture of another URL has the place of that capture.
    """
    return (
        "select c.*, r.mime, r.file, r.place from captured c left join "
        "(select url, digest, second, any_value(mime) as mime, any_value(file) as file, "
        "min(place) as place from replies group by url, digest, second) r "
        "on r.url = c.original and r.digest = c.digest and r.second = c.warc_date // 1000000"
    )


def name_archive(context: "StepContext", version: CycleVersion, work: "TaskWork") -> JobArchive:
    """Write the segment of the imported captures, from `located`, `visited` and `waiting`.

    Args:
        context: The context of the driver.
        version: The newest version.
        work: The kernel with the tables.
    """
    _delete_located(context, version, work)
    placed = "from located where file is not null"
    captures = int(work.kernel.value(f"select count(*) {placed}"))
    warcs = [str(file) for (file,) in work.kernel.rows(f"select distinct file {placed} order by 1")]
    listed = {archived.path for archived in context.cycle.files(version, ARCHIVE)}
    files = tuple(_to_table_file(Path(name)) for name in warcs if name not in listed)
    if context.dry or not captures:
        return JobArchive(files, {}, captures)
    storage = context.cycle.storage
    (segment,) = new_segments(storage, context.clock, 1)
    rows = work.kernel.write(_visits_sql(), str(work.scratch / "visits.parquet")).rows
    write_arrow(facts.LINKS.empty_table(), work.scratch / "links.parquet")
    paths = [work.scratch / f"{name}.parquet" for name in ("visits", "links")]
    counts = {"visits": rows, "links": 0}
    part = create_part(UnitPlace(storage, segment, UNIT), paths, counts, warcs)
    write_empty_list(context.place, segment)
    marks = freeze_segment(context, version, segment)
    state = SegmentState(
        state=UPDATED, units=1, urls=rows, parts={UNIT: [part]}, more={IMPORTED: OF_JOB, **marks}
    )
    state = record_segment(context.engine, storage, segment, state)
    return JobArchive(files, {segment: state}, captures)


def _delete_located(context: "StepContext", version: CycleVersion, work: "TaskWork") -> None:
    """Delete the captures whose places an earlier import has written."""
    for name, state in version.segments.items():
        if IMPORTED in state.more and state.parts:
            files = facts_of(name, state).files("visits")
            visits = parquet(local_facts(context.cycle.storage, files, work))
            work.kernel.execute(
                "update located set file = null "
                f"where record_id in (select record_id from {visits})"
            )


def _to_table_file(path: Path) -> TableFile:
    existing = next(
        (candidate for candidate in (path, Path(f"{path}{_OPEN}")) if candidate.is_file()), None
    )
    return TableFile(path=str(path), kind=OUTSIDE, size=existing.stat().st_size if existing else 0)


def _visits_sql() -> str:
    """SQL of the visits, sorted as facts are."""
    values = {
        "bucket": "l.bucket", "key": "l.key", "url": "nullif(l.url, l.key)", "status": "l.code",
        "via": "nullif(v.via, '')", "path": "v.path", "time": "l.time", "duration": "0",
        "first_byte": "0",
        "size": "l.length", "payload_digest": "l.digest", "stored": "'novel'",
        "warc_file": "regexp_extract(l.file, '[^/]*$')", "warc_offset": "l.place",
        "attempts": "1", "modified": "0", "mime": "l.mime",
    }  # fmt: skip
    values |= {col.name: f"l.{col.name}" for col in group_columns("capture") if col.name in _OWN}
    kinds = {"int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "float64": "DOUBLE",
             "binary": "BLOB", "bool_": "BOOLEAN"}  # fmt: skip
    picks = [
        f'({values.get(col.name, "null")})::{kinds.get(col.type, "VARCHAR")} as "{col.name}"'
        for col in facts.VISIT_COLUMNS
    ]
    picks += [
        f'({values.get(col.name, "null")})::{col.type} as "{col.name}"'
        for col in group_columns("capture")
    ]
    return (
        f"select {', '.join(picks)} from located l left join visited v on v.key = l.key "
        "where l.file is not null order by 1, 2"
    )


_OWN = frozenset({
    "digest", "framing", "record_id", "warc_date", "etag", "last_modified", "length",
})  # fmt: skip
