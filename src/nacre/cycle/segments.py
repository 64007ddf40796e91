"""The segments of a cycle: what they hold, their visits, and giving one up.

A segment that is given up before its update is named no more: its URLs are free for the next list.
Its WARC files stay in the archive.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.row import bucket_of
from nacre.cycle.parts import ARCHIVED
from nacre.cycle.steps.context import StepContext
from nacre.cycle.steps.update_tasks import facts_of, local_facts
from nacre.cycle.storage import localized
from nacre.cycle.tables import CRAWLDB, FilePlan, TaskPlace, TaskWork, publish, write_arrow
from nacre.cycle.versions import (
    ARCHIVE,
    Cycle,
    CycleChanges,
    CycleVersion,
    SegmentState,
    TableFile,
    state_of,
)
from nacre.errors import JobError


class SegmentRow(NamedTuple):
    """A segment, for a list of them.

    Attributes:
        name: Its name.
        state: `generated`, `fetched` or `updated`.
        units: Units.
        urls: URLs of its lists.
        parts: Parts of its units.
        until: When its leases end, ms.
    """

    name: str
    state: str
    units: int
    urls: int
    parts: int
    until: int


def segment_rows(version: CycleVersion) -> list[SegmentRow]:
    """All segments, the oldest first."""
    return [
        SegmentRow(
            name, one.state, one.units, one.urls, sum(map(len, one.parts.values())), one.until
        )
        for name, one in sorted(version.segments.items())
    ]


class SegmentContents(NamedTuple):
    """The contents of a segment, for a list of them. Nutch: `readseg -list`.

    Attributes:
        name: Its name.
        state: `generated`, `fetched` or `updated`.
        listed: URLs of its lists.
        visits: Final visits.
        pages: Of these, those with a page: status 200 to 299.
        not_attempted: URLs that were not attempted.
        links: Links of its pages that the scope accepts.
        first: When the first visit began, ms; None without visits.
        last: When the last one began, ms; None without visits.
    """

    name: str
    state: str
    listed: int
    visits: int = 0
    pages: int = 0
    not_attempted: int = 0
    links: int = 0
    first: int | None = None
    last: int | None = None


def segment_contents(
    work: TaskWork, version: CycleVersion, names: Sequence[str] = ()
) -> list[SegmentContents]:
    """The contents of segments, the oldest first.

    Args:
        work: A kernel and a folder.
        version: The version.
        names: The segments; none for all.

    Raises:
        JobError: There is no such segment.
    """
    return [
        _contents(work, version, name) for name in dict.fromkeys(names or sorted(version.segments))
    ]


def _contents(work: TaskWork, version: CycleVersion, name: str) -> SegmentContents:
    state = state_of(version, name)
    found = SegmentContents(name, state.state, state.urls)
    facts = facts_of(name, state)
    if not facts.parts:
        return found
    visits, links = (
        parquet(local_facts(work.storage, facts.files(kind), work)) for kind in ("visits", "links")
    )
    [counts] = work.kernel.rows(
        "select count(*) filter (reason is null), "
        "count(*) filter (reason is null and status between 200 and 299), "
        "count(*) filter (reason is not null), min(time) filter (reason is null) // 1000, "
        f"max(time) filter (reason is null) // 1000 from {visits}"
    )
    pages = dict(zip(("visits", "pages", "not_attempted", "first", "last"), counts, strict=True))
    return found._replace(**pages, links=work.kernel.value(f"select count(*) from {links}"))


def index_files(cycle: Cycle, version: CycleVersion, names: Sequence[str] = ()) -> list[str]:
    """Names of the indexes of the WARCs of segments, those that are there.

    Args:
        cycle: The versions.
        version: The version.
        names: The segments; none for all.
    """
    there = set(cycle.storage.list(ARCHIVED))
    return [
        file.path
        for file in cycle.files(version, ARCHIVE)
        if file.kind == "cdxj" and file.path in there and (not names or file.group in names)
    ]


def visits_of(
    work: TaskWork,
    version: CycleVersion,
    names: Sequence[str],
    url: str = "",
    indexes: Sequence[str] = (),
) -> Iterator[Any]:
    """The visits of segments, in batches of Arrow, by time.

    Args:
        work: A kernel and a folder.
        version: The version.
        names: The segments; none for all that were fetched.
        url: Only those of this key; "" for all.
        indexes: Names of indexes of WARCs (`index_files`), which have the lengths of records:
            `warc_length`. None: without them.

    Raises:
        JobError: There is no such segment, or none was fetched.
    """
    sources = []
    for name in names or sorted(version.segments):
        files = facts_of(name, state_of(version, name)).files("visits")
        if files:
            source = parquet(local_facts(work.storage, files, work), by_name=True)
            sources.append(f"select {quoted(name)} as segment, * from {source}")
    if not sources:
        raise JobError("no segment was fetched yet")
    where = f"where key = {quoted(url)}" if url else ""
    # Files of an earlier version may lack columns: these are null.
    rows = " union all by name ".join(sources)
    query = f"select * exclude (bucket) from ({rows}) {where}"
    if indexes:
        lengths = _record_lengths(local_facts(work.storage, indexes, work))
        query = (
            f"select v.*, l.warc_length from ({query}) v left join ({lengths}) l "
            "on l.file = v.warc_file and l.place = v.warc_offset"
        )
    query += " order by time"
    yield from work.kernel.batches(query, named=True)


def _record_lengths(indexes: Sequence[str]) -> str:
    """SQL of the records of indexes (CDXJ): `file`, `place`, `warc_length`."""
    lines = (
        f"read_csv([{', '.join(map(quoted, indexes))}], columns = {{'line': 'VARCHAR'}}, "
        "header = false, delim = chr(1), quote = '', escape = '', auto_detect = false)"
    )
    fields = r"try(json_extract_string(regexp_extract(line, '^\S+ \d+ (\{.*)$', 1), '$.%s'))"
    return (
        f"select {fields % 'filename'} as file, try_cast({fields % 'offset'} as BIGINT) as place, "
        f"any_value(try_cast({fields % 'length'} as BIGINT)) as warc_length from {lines} "
        "group by all"
    )


class DropSpec(NamedTuple):
    """The leases of a segment that end.

    Attributes:
        place: Where the task works.
        lists: Its lists.
        buckets: Buckets of the table.
        version: Number of the version that it is for.
    """

    place: TaskPlace
    lists: tuple[str, ...]
    buckets: int
    version: int


def drop_task(spec: DropSpec) -> list[TableFile]:
    """Write the ends of the leases of a segment, by bucket."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    from nacre.crawldb.row import GROUPS  # noqa: PLC0415 - made of Arrow

    found: list[TableFile] = []
    with spec.place.open() as work:
        by_bucket: dict[int, list[str]] = {}
        for name in spec.lists:
            source = parquet([str(localized(work.storage, name, work.scratch))])
            for (key,) in work.kernel.rows(f"select key from {source}"):
                by_bucket.setdefault(bucket_of(key, spec.buckets), []).append(key)
        for bucket, keys in sorted(by_bucket.items()):
            rows = [{"key": key} for key in sorted(keys, key=str.encode)]
            path = work.scratch / f"lease-{bucket}.parquet"
            write_arrow(pa.Table.from_pylist(rows, GROUPS["lease"]), path)
            plan = FilePlan(CRAWLDB, bucket, "set", spec.version, "lease")
            file = publish(work.storage, path, plan)
            found += [file] if file is not None else []
    return found


def drop_segment(context: StepContext, name: str) -> CycleVersion | None:
    """Give a segment up: its URLs are free, and no version names it any more.

    Args:
        context: The context of the driver.
        name: The segment.

    Returns:
        The version; None where it is dry.

    Raises:
        JobError: There is no such segment.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    state = state_of(version, name)
    heir = _heir(version, name, state)
    if context.dry:
        return None
    files: list[TableFile] = []
    if state.state != "updated" and state.until:  # lists of given URLs hold no leases
        lists = tuple(context.cycle.storage.list(f"segments/{name}/lists"))
        buckets = version.tables[CRAWLDB].buckets
        spec = DropSpec(context.place, lists, buckets, version.number + 1)
        [files] = context.engine.map(drop_task, [spec])
    changes = CycleChanges(
        step="segments drop",
        clock=context.clock,
        options={"segment": name},
        added={CRAWLDB: files} if files else {},
        segments={name: None, **heir},
    )
    return context.cycle.commit(version, changes)


def _heir(version: CycleVersion, name: str, state: SegmentState) -> dict[str, SegmentState | None]:
    """The segment that keeps the cash of the virtual page in place of one that goes.

    Raises:
        JobError: There is no other.
    """
    cash = int(state.more.get("virtual", 0)) if state.state == "updated" else 0
    if not cash:
        return {}
    other = max((one for one in version.segments if one != name), default="")
    if not other:
        raise JobError(f"segment {name} is the only one, and keeps what scores are computed from")
    known = version.segments[other]
    more = {**known.more, "virtual": int(known.more.get("virtual", 0)) + cash}
    return {other: msgspec.structs.replace(known, more=more)}
