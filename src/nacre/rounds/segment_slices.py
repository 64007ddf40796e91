"""Divide a segment whose lists are too long into slices, before the fetch.

The best URLs come first: the first slice has the first URLs of every host. URLs keep their units,
so politeness and the length of a unit do not change; the names of units differ between slices,
as the names of WARCs contain them. Source: Nutch, `mergesegs -slice` (reference N 1.1), which
also merges segments: Nacre needs no merge, as versions list the facts of all segments.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import bucket_of
from nacre.errors import JobError
from nacre.rounds.journal import SITEMAPS
from nacre.rounds.segments.frozen_settings import conf_name
from nacre.rounds.segments.segment_files import record_segments
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.generate import list_name, new_segments
from nacre.rounds.storage import Storage, localize
from nacre.rounds.tables.tables import CRAWLDB, FilePlan, TaskPlace, TaskWork, publish, write_arrow
from nacre.rounds.tables.versions import (
    CycleChanges,
    CycleVersion,
    SegmentState,
    TableFile,
    state_of,
)


class SliceSpec(NamedTuple):
    """One task: divide the lists of a segment.

    Attributes:
        place: The work place of the task.
        segment: The segment.
        names: Names of its slices.
        size: URLs of a slice at most.
        buckets: Number of buckets of the table of URLs.
        until: The end of the leases, ms since the epoch; 0 for none.
        version: Number of the version to commit.
        conf: Name of the folder in the segment with its settings.
    """

    place: TaskPlace
    segment: str
    names: tuple[str, ...]
    size: int
    buckets: int
    until: int
    version: int
    conf: str


class SlicedLists(NamedTuple):
    """The slices of a segment.

    Attributes:
        units: Units of each slice.
        urls: URLs of each.
        leases: Files with the leases of their URLs.
    """

    units: tuple[int, ...]
    urls: tuple[int, ...]
    leases: tuple[TableFile, ...]


class SliceResult(NamedTuple):
    """The outcome of a division.

    Attributes:
        slices: The names of slices by their segment; {} if no segment was too long.
        left: Longer segments of sitemaps, which stay whole.
        planned: The number of slices of each segment, in a dry run.
    """

    slices: dict[str, tuple[str, ...]]
    left: tuple[str, ...] = ()
    planned: Mapping[str, int] = {}


def slice_segments(context: StepContext, size: int) -> SliceResult:
    """Divide the segments that wait for their fetch, and have more URLs than a slice.

    Segments of sitemaps stay whole: the step `sitemaps` resumes one segment at a time.

    Args:
        context: The context of the driver.
        size: URLs of a slice at most.

    Raises:
        JobError: The size is below 1, or a segment is being fetched.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    if size < 1:
        raise JobError(f"segments slice {size}: a slice has at least one URL")
    version = context.cycle.newest()
    long, undivided = _too_long(version, size)
    specs: list[SliceSpec] = []
    for name in long:
        _require_not_begun(context.cycle.storage, name)
    numbers = {name: -(-version.segments[name].urls // size) for name in long}
    if context.dry:
        return SliceResult({}, undivided, numbers)
    for name in long:
        state = state_of(version, name)
        clock = int(state.more.get("clock", context.clock))
        names = new_segments(context.cycle.storage, clock, numbers[name])
        specs.append(
            SliceSpec(
                context.place, name, names, size, version.tables[CRAWLDB].buckets, state.until,
                version.number + 1, conf_name(state),
            )
        )  # fmt: skip
    if not specs:
        return SliceResult({}, undivided)
    sliced = context.engine.map(slice_task, specs)
    states = {}
    for spec, lists in zip(specs, sliced, strict=True):
        whole = state_of(version, spec.segment)
        for name, units, urls in zip(spec.names, lists.units, lists.urls, strict=True):
            states[name] = msgspec.structs.replace(whole, units=units, urls=urls)
    segments: dict[str, SegmentState | None] = dict.fromkeys(long)
    segments |= record_segments(context.engine, context.cycle.storage, states, {})
    leases = [file for lists in sliced for file in lists.leases]
    changes = CycleChanges(
        step="segments slice",
        clock=context.clock,
        options={"size": size},
        added={CRAWLDB: leases} if leases else {},
        segments=segments,
    )
    context.cycle.commit(version, changes)
    return SliceResult({spec.segment: spec.names for spec in specs}, undivided)


def _too_long(version: CycleVersion, size: int) -> tuple[list[str], tuple[str, ...]]:
    """Return the segments to divide, and the long ones that stay whole."""
    long = [
        name
        for name, state in sorted(version.segments.items())
        if state.state == "generated" and state.urls > size
    ]
    whole = tuple(name for name in long if SITEMAPS in version.segments[name].more)
    return [name for name in long if name not in whole], whole


def _require_not_begun(storage: Storage, name: str) -> None:
    if storage.walk(f"segments/{name}/units"):
        raise JobError(
            f"segment {name} is being fetched, or was interrupted: end its fetch first "
            "(`nacre cycle DIR fetch`), or drop it"
        )


def slice_task(spec: SliceSpec) -> SlicedLists:
    """Write the lists of the slices of a segment, with the other files of their units."""
    folder = f"segments/{spec.segment}"
    with spec.place.open() as work:
        storage = work.storage
        lists = [name for name in storage.list(f"{folder}/lists") if name.endswith(".parquet")]
        _number(work, lists, spec.size)
        beside = {kind: set(storage.list(f"{folder}/{kind}")) for kind in ("hosts", "fetched")}
        units: list[int] = []
        urls: list[int] = []
        begun = 0
        for number, name in enumerate(spec.names):
            mine = work.kernel.rows(
                f"select unit, count(*) from placed where slice = {number} group by 1 order by 1"
            )
            for at, (unit, _) in enumerate(mine, begun):
                _write_list(work, list_name(name, at), number, unit)
                for kind, files in beside.items():
                    source = lists[unit].replace("/lists/", f"/{kind}/")
                    if source in files:
                        storage.copy(source, list_name(name, at, kind))
            for file in storage.walk(f"{folder}/{spec.conf}"):
                storage.copy(file.name, file.name.replace(folder, f"segments/{name}", 1))
            begun += len(mine)
            units.append(len(mine))
            urls.append(sum(count for _, count in mine))
        return SlicedLists(tuple(units), tuple(urls), tuple(_leases(work, spec)))


def _number(work: TaskWork, lists: Sequence[str], size: int) -> None:
    """Make the table `placed`: unit, place in it and slice of each URL; the best ones first."""
    sources = [
        f'select {unit} as unit, key, "order" from '
        f"{parquet([str(localize(work.storage, name, work.scratch))])}"
        for unit, name in enumerate(lists)
    ]
    work.kernel.execute(
        "create temp table placed as select *, "
        f'(row_number() over (order by "order", unit) - 1) // {size} as slice '
        f"from ({' union all '.join(sources)})"
    )
    for unit, name in enumerate(lists):
        source = parquet([str(localize(work.storage, name, work.scratch))])
        work.kernel.execute(f"create temp view list_{unit} as select * from {source}")


def _write_list(work: TaskWork, name: str, number: int, unit: int) -> None:
    path = work.scratch / "list.parquet"
    work.kernel.write(
        f"select l.* from list_{unit} l join placed p on p.key = l.key and p.unit = {unit} "
        f'where p.slice = {number} order by l."order"',
        str(path),
    )
    work.storage.upload(path, name)
    path.unlink(missing_ok=True)


def _leases(work: TaskWork, spec: SliceSpec) -> Iterator[TableFile]:
    """Yield the leases of all URLs by the name of their slice; none without leases.

    A lease is a row, so a new lease would add an unknown URL to the table.
    """
    if not spec.until:
        return
    import pyarrow as pa  # noqa: PLC0415 - an extra

    from nacre.crawldb.row import GROUPS  # noqa: PLC0415 - made of Arrow

    by_bucket: dict[int, list[dict[str, object]]] = {}
    for key, number in work.kernel.rows("select key, slice from placed"):
        row = {"key": key, "leased": spec.names[number], "leased_until": spec.until}
        by_bucket.setdefault(bucket_of(key, spec.buckets), []).append(row)
    for bucket, rows in sorted(by_bucket.items()):
        path = work.scratch / f"lease-{bucket}.parquet"
        rows.sort(key=lambda row: str(row["key"]).encode())
        write_arrow(pa.Table.from_pylist(rows, GROUPS["lease"]), path)
        plan = FilePlan(CRAWLDB, bucket, "set", spec.version, "lease")
        file = publish(work.storage, path, plan)
        if file is not None:
            yield file
