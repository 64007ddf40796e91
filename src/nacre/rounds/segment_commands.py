"""The segments of a cycle: their contents, their visits, and dropping a segment.

Versions no longer list a segment that is dropped before its update: its URLs are free for the next
list. Its WARC files stay in the archive.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.fold import fold_query
from nacre.crawldb.kernels import KernelDamageError, parquet, quoted
from nacre.crawldb.row import bucket_of
from nacre.errors import JobError
from nacre.rounds.segments.frozen_settings import write_changed_settings
from nacre.rounds.segments.parts import ARCHIVED, PartFile
from nacre.rounds.segments.segment_files import known_files, record_segment
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.update_tasks import facts_of, local_facts
from nacre.rounds.storage import MissingFileError, file_sha256, localize
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    buckets_of,
    in_tasks,
    local_bucket,
    publish,
    write_arrow,
)
from nacre.rounds.tables.versions import (
    ARCHIVE,
    Cycle,
    CycleChanges,
    CycleVersion,
    SegmentState,
    TableFile,
    state_of,
)


class SegmentRow(NamedTuple):
    """A segment, for a list of them.

    Attributes:
        name: Its name.
        state: `generated`, `fetched` or `updated`.
        units: Units.
        urls: URLs of its lists.
        parts: Parts of its units.
        until: The end of its leases, ms since the epoch.
    """

    name: str
    state: str
    units: int
    urls: int
    parts: int
    until: int


def segment_rows(version: CycleVersion) -> list[SegmentRow]:
    """Return all segments, the oldest first."""
    return [
        SegmentRow(name, s.state, s.units, s.urls, sum(map(len, s.parts.values())), s.until)
        for name, s in sorted(version.segments.items())
    ]


class SegmentContents(NamedTuple):
    """The contents of a segment, for a list of them. Nutch: `readseg -list`.

    Attributes:
        name: Its name.
        state: `generated`, `fetched` or `updated`.
        listed: URLs of its lists.
        visits: Final visits.
        pages: Visits with a page: status 200 to 299.
        not_attempted: URLs that were not attempted.
        links: Links of its pages that the scope accepts.
        first: Begin of the first visit, ms since the epoch; None without visits.
        last: Begin of the last visit, ms since the epoch; None without visits.
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
    """Return the contents of segments, the oldest first.

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
    contents = SegmentContents(name, state.state, state.urls)
    facts = facts_of(name, state)
    if not facts.parts:
        return contents
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
    return contents._replace(**pages, links=work.kernel.value(f"select count(*) from {links}"))


def index_files(cycle: Cycle, version: CycleVersion, names: Sequence[str] = ()) -> list[str]:
    """Return the names of the existing indexes of the WARCs of segments.

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
    """Yield the visits of segments, in batches of Arrow, by time.

    Args:
        work: A kernel and a folder.
        version: The version.
        names: The segments; none for all that were fetched.
        url: The key of a URL, for its visits alone; "" for all.
        indexes: Names of indexes of WARCs (`index_files`), which have the lengths of records:
            `warc_length`; () for none.

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
    query = f"select * exclude (bucket) replace (coalesce(url, key) as url) from ({rows}) {where}"
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
        place: The work place of the task.
        lists: The lists of the segment; a digest "" is not compared.
        buckets: Number of buckets of the table.
        version: Number of the version to commit.
    """

    place: TaskPlace
    lists: tuple[PartFile, ...]
    buckets: int
    version: int


def drop_task(spec: DropSpec) -> list[TableFile] | None:
    """Write the ends of the leases of a segment, by bucket; None if a list is damaged."""
    with spec.place.open() as work:
        by_bucket: dict[int, list[str]] = {}
        try:
            for file in spec.lists:
                path = localize(work.storage, file.name, work.scratch)
                if not path.is_file() or (file.sha256 and file_sha256(path) != file.sha256):
                    return None
                for (key,) in work.kernel.rows(f"select key from {parquet([str(path)])}"):
                    by_bucket.setdefault(bucket_of(key, spec.buckets), []).append(key)
        except (KernelDamageError, MissingFileError):
            return None
        return list(_ended(work, by_bucket, spec.version))


class LeasedSpec(NamedTuple):
    """One task: find the URLs that a segment has leased, and end their leases.

    Attributes:
        place: The work place of the task.
        segment: The segment.
        buckets: Buckets of the table of URLs to search.
        version: Number of the version to commit.
        interval: Interval of a URL that has none, s.
    """

    place: TaskPlace
    segment: str
    buckets: tuple[BucketFiles, ...]
    version: int
    interval: int


def leased_task(spec: LeasedSpec) -> list[TableFile]:
    """Write the ends of the leases that the table of URLs has of a segment."""
    with spec.place.open() as work:
        by_bucket: dict[int, list[str]] = {}
        for bucket in spec.buckets:
            local = local_bucket(work.storage, bucket, work.scratch)
            columns = ("key", "leased")
            rows = fold_query(*local, interval=spec.interval, columns=columns, order=False)
            query = f"select key from ({rows}) where leased = {quoted(spec.segment)}"
            keys = [str(key) for (key,) in work.kernel.rows(query)]
            if keys:
                by_bucket.setdefault(bucket.bucket, []).extend(keys)
        return list(_ended(work, by_bucket, spec.version))


def _ended(work: TaskWork, by_bucket: Mapping[int, list[str]], version: int) -> Iterator[TableFile]:
    """Yield files with the ends of the leases of URLs."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    from nacre.crawldb.row import GROUPS  # noqa: PLC0415 - made of Arrow

    for bucket, keys in sorted(by_bucket.items()):
        rows = [{"key": key} for key in sorted(keys, key=str.encode)]
        path = work.scratch / f"lease-{bucket}.parquet"
        write_arrow(pa.Table.from_pylist(rows, GROUPS["lease"]), path)
        file = publish(work.storage, path, FilePlan(CRAWLDB, bucket, "set", version, "lease"))
        if file is not None:
            yield file


def drop_segment(context: StepContext, name: str) -> CycleVersion | None:
    """Drop a segment: its URLs are free, and no new version lists it.

    Args:
        context: The context of the driver.
        name: The segment.

    Returns:
        The version; None in a dry run.

    Raises:
        JobError: There is no such segment.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    state = state_of(version, name)
    heir = _find_heir(version, name, state)
    if context.dry:
        return None
    files: list[TableFile] = []
    if state.state != "updated" and state.until:  # lists of given URLs hold no leases
        files = _end_leases(context, version, name, state)
    changes = CycleChanges(
        step="segments drop",
        clock=context.clock,
        options={"segment": name},
        added={CRAWLDB: files} if files else {},
        segments={name: None, **heir},
    )
    return context.cycle.commit(version, changes)


def _end_leases(
    context: StepContext, version: CycleVersion, name: str, state: SegmentState
) -> list[TableFile]:
    """Write the ends of its leases, by its lists, or by the table if a list is damaged."""
    storage, number = context.cycle.storage, version.number + 1
    folder = f"segments/{name}/lists/"
    lists_known = [
        list_name
        for list_name in known_files(storage, name, state)
        if list_name.name.startswith(folder)
    ]
    names = storage.list(folder.rstrip("/"))
    lists = lists_known or [
        PartFile(list_name, 0, "") for list_name in names if list_name.endswith(".parquet")
    ]
    if len(lists) == state.units:
        buckets = version.tables[CRAWLDB].buckets
        spec = DropSpec(context.place, tuple(lists), buckets, number)
        [files] = context.engine.map(drop_task, [spec])
        if files is not None:
            return files
    specs = [
        LeasedSpec(context.place, name, g, number, context.interval)
        for g in in_tasks(buckets_of(context.cycle, version, CRAWLDB))
    ]
    return [file for b in context.engine.map(leased_task, specs) for file in b]


def _find_heir(
    version: CycleVersion, name: str, state: SegmentState
) -> dict[str, SegmentState | None]:
    """Return the segment that takes over the cash of the virtual page.

    Raises:
        JobError: There is no other segment.
    """
    cash = int(state.more.get("virtual", 0)) if state.state == "updated" else 0
    if not cash:
        return {}
    names = (segment for segment in version.segments if segment != name)
    # `parse` may count the cash of a segment that is not updated again.
    heir = max(
        names,
        key=lambda segment: (version.segments[segment].state == "updated", segment),
        default="",
    )
    if not heir:
        raise JobError(f"segment {name} is the only one, and keeps what scores are computed from")
    heir_state = version.segments[heir]
    more = {**heir_state.more, "virtual": int(heir_state.more.get("virtual", 0)) + cash}
    return {heir: msgspec.structs.replace(heir_state, more=more)}


def set_on_segment(context: StepContext, name: str, paths: Sequence[str]) -> CycleVersion | None:
    """Change settings of a segment that waits for its fetch, except those of its list.

    Args:
        context: The context of the driver, whose settings have the new values.
        name: The segment.
        paths: Dotted paths of the settings.

    Returns:
        The version; None if the segment has these values, or the step is dry.

    Raises:
        JobError: There is no such segment, or it was fetched.
        ConfigError: A setting concerns the list, or units do not use it.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    cycle, storage = context.cycle, context.cycle.storage
    version = cycle.newest()
    state = state_of(version, name)
    if state.state != "generated":
        raise JobError(f"segment {name} is {state.state}: its settings have been used")
    if context.dry:
        return None
    changed = write_changed_settings(context.layout, context.loaded, storage, (name, state), paths)
    if changed is None:
        return None
    files = known_files(storage, name, state)
    changed = record_segment(context.engine, storage, name, changed, files)
    options = {"segment": name, "settings": list(paths)}
    changes = CycleChanges(
        step="segments set", clock=context.clock, options=options, segments={name: changed}
    )
    return cycle.commit(version, changes)
