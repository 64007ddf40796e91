"""The segments of a cycle: what they hold, their visits, and giving one up.

A segment that is given up before its update is named no more: its URLs are free for the next list.
Its WARC files stay in the archive.
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
from nacre.rounds.segments.segment_files import known_files, recorded
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.update_tasks import facts_of, local_facts
from nacre.rounds.storage import MissingFileError, file_sha256, localized
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
        place: Where the task works.
        lists: Its lists; a digest that is "" is not compared.
        buckets: Buckets of the table.
        version: Number of the version that it is for.
    """

    place: TaskPlace
    lists: tuple[PartFile, ...]
    buckets: int
    version: int


def drop_task(spec: DropSpec) -> list[TableFile] | None:
    """Write the ends of the leases of a segment, by bucket; None where a list is damaged."""
    with spec.place.open() as work:
        by_bucket: dict[int, list[str]] = {}
        try:
            for file in spec.lists:
                path = localized(work.storage, file.name, work.scratch)
                if not path.is_file() or (file.sha256 and file_sha256(path) != file.sha256):
                    return None
                for (key,) in work.kernel.rows(f"select key from {parquet([str(path)])}"):
                    by_bucket.setdefault(bucket_of(key, spec.buckets), []).append(key)
        except (KernelDamageError, MissingFileError):
            return None
        return list(_ended(work, by_bucket, spec.version))


class LeasedSpec(NamedTuple):
    """One task: URLs that a segment has leased are looked for, and their leases end.

    Attributes:
        place: Where it works.
        segment: The segment.
        buckets: Buckets of the table of URLs that it looks into.
        version: Number of the version that it is for.
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
    """Files that say that nobody has leased these URLs."""
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
        files = _free(context, version, name, state)
    changes = CycleChanges(
        step="segments drop",
        clock=context.clock,
        options={"segment": name},
        added={CRAWLDB: files} if files else {},
        segments={name: None, **heir},
    )
    return context.cycle.commit(version, changes)


def _free(
    context: StepContext, version: CycleVersion, name: str, state: SegmentState
) -> list[TableFile]:
    """The ends of its leases: of the URLs of its lists, or where one is damaged, of the table."""
    storage, number = context.cycle.storage, version.number + 1
    folder = f"segments/{name}/lists/"
    known = [one for one in known_files(storage, name, state) if one.name.startswith(folder)]
    names = storage.list(folder.rstrip("/"))
    lists = known or [PartFile(one, 0, "") for one in names if one.endswith(".parquet")]
    if len(lists) == state.units:
        buckets = version.tables[CRAWLDB].buckets
        spec = DropSpec(context.place, tuple(lists), buckets, number)
        [files] = context.engine.map(drop_task, [spec])
        if files is not None:
            return files
    specs = [
        LeasedSpec(context.place, name, group, number, context.interval)
        for group in in_tasks(buckets_of(context.cycle, version, CRAWLDB))
    ]
    return [file for found in context.engine.map(leased_task, specs) for file in found]


def _heir(version: CycleVersion, name: str, state: SegmentState) -> dict[str, SegmentState | None]:
    """The segment that keeps the cash of the virtual page in place of one that goes.

    Raises:
        JobError: There is no other.
    """
    cash = int(state.more.get("virtual", 0)) if state.state == "updated" else 0
    if not cash:
        return {}
    others = (one for one in version.segments if one != name)
    # `parse` may count anew what a segment has that is not updated.
    other = max(others, key=lambda one: (version.segments[one].state == "updated", one), default="")
    if not other:
        raise JobError(f"segment {name} is the only one, and keeps what scores are computed from")
    known = version.segments[other]
    more = {**known.more, "virtual": int(known.more.get("virtual", 0)) + cash}
    return {other: msgspec.structs.replace(known, more=more)}


def set_on_segment(context: StepContext, name: str, paths: Sequence[str]) -> CycleVersion | None:
    """Set settings that do not concern its list on a segment that waits for its fetch.

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
    known = known_files(storage, name, state)
    changed = recorded(context.engine, storage, name, changed, known)
    options = {"segment": name, "settings": list(paths)}
    changes = CycleChanges(
        step="segments set", clock=context.clock, options=options, segments={name: changed}
    )
    return cycle.commit(version, changes)
