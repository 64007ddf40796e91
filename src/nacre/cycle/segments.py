"""The segments of a cycle: what they hold, their visits, and giving one up.

A segment that is given up before its update is named no more: its URLs are free for the next list.
Its WARC files stay in the archive.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.row import bucket_of
from nacre.cycle.steps.context import StepContext
from nacre.cycle.storage import localized
from nacre.cycle.tables import CRAWLDB, FilePlan, TaskPlace, TaskWork, publish, write_arrow
from nacre.cycle.versions import CycleChanges, CycleVersion, SegmentState, TableFile, state_of
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


def visits_of(
    work: TaskWork, version: CycleVersion, names: Sequence[str], url: str = ""
) -> Iterator[Any]:
    """The visits of segments, in batches of Arrow, by time.

    Args:
        work: A kernel and a folder.
        version: The version.
        names: The segments; none for all that were fetched.
        url: Only those of this key; "" for all.

    Raises:
        JobError: There is no such segment, or none was fetched.
    """
    sources = []
    for name in names or sorted(version.segments):
        parts = [part for found in state_of(version, name).parts.values() for part in found]
        files = [
            str(localized(work.storage, f"{part}/visits.parquet", work.scratch)) for part in parts
        ]
        if files:
            sources.append(f"select {quoted(name)} as segment, * from {parquet(files)}")
    if not sources:
        raise JobError("no segment was fetched yet")
    where = f"where key = {quoted(url)}" if url else ""
    query = f"select * exclude (bucket) from ({' union all '.join(sources)}) {where} order by time"
    yield from work.kernel.batches(query)


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


def drop_segment(context: StepContext, name: str) -> CycleVersion:
    """Give a segment up: its URLs are free, and no version names it any more.

    Raises:
        JobError: There is no such segment.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    state = state_of(version, name)
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
        segments={name: None, **_heir(version, name, state)},
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
