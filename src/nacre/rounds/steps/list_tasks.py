"""The tasks of `generate` that make lists of candidates (`select_tasks`), in four passes.

`look_task` finds where candidates are in the order; `measure_task` counts what is chosen by host,
when it is known where each list ends; `lease_task` writes the leases and the whole rows of what is
chosen, which it folds for those keys alone; `list_task` writes the list of a unit.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.crawldb.fold import fold_query
from nacre.crawldb.hosts import HOST_COLUMNS
from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.row import COLUMNS
from nacre.crawldb.select import (
    NOWHERE,
    Bracket,
    OrderPoints,
    Place,
    SelectOptions,
    number_candidates,
    order_points,
)
from nacre.rounds.steps.fetched_keys import write_fetched_keys, write_unit_keys
from nacre.rounds.steps.host_rows import group_of, load_hosts
from nacre.rounds.steps.select_tasks import CANDIDATE
from nacre.rounds.storage import localized
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    local_bucket,
    publish,
)
from nacre.rounds.tables.versions import TableFile

_COLUMNS = ", ".join(f'"{column.name}"' for column in COLUMNS)
_HOST_COLUMNS = ", ".join(f'h."{column.name}"' for column in HOST_COLUMNS)
_LOOK_ROWS = 1_000_000


class LookSpec(NamedTuple):
    """A look at the candidates of a task.

    Attributes:
        place: Where it works.
        exchange: The files of the candidates; all rows of a host and of a domain are in one.
        options: For the caps.
        buckets: The buckets, with their files as they are now.
        hosts: Their files of hosts.
        interval: Interval of a row that has none, s.
        partition: `host`, `domain` or `address`: what is never in two units.
        ends: Where the lists end that are known.
        between: The bracket to look at.
    """

    place: TaskPlace
    exchange: tuple[str, ...]
    options: SelectOptions
    buckets: tuple[BucketFiles, ...]
    hosts: tuple[BucketFiles, ...]
    interval: int
    partition: str
    ends: tuple[Place | None, ...]
    between: Bracket = NOWHERE


def _load_candidates(work: TaskWork, spec: LookSpec) -> None:
    """Make `candidates` of exchanged files, with their buckets."""
    paths = [str(localized(work.storage, name, work.scratch)) for name in spec.exchange]
    # Caps ask for all columns several times; without them a view reads what is asked for.
    kind = "table" if spec.options.capped else "view"
    work.kernel.execute(
        f"create or replace temp {kind} candidates as select {CANDIDATE}, bucket "
        f"from {parquet(paths)}"
    )


def wide_looks(looks: Sequence[LookSpec], kept: Sequence[int]) -> list[LookSpec]:
    """Look at the candidates of several tasks at once: a kernel takes longer to open than to look.

    Args:
        looks: Those of the tasks.
        kept: Their candidates.
    """
    found: list[LookSpec] = []
    size = _LOOK_ROWS
    for look, rows in zip(looks, kept, strict=True):
        if size + rows > _LOOK_ROWS:
            found.append(look._replace(buckets=(), hosts=()))
            size = rows
        else:
            found[-1] = found[-1]._replace(exchange=found[-1].exchange + look.exchange)
            size += rows
    return found


def look_task(spec: LookSpec) -> OrderPoints:
    """The places of the candidates of a task."""
    with spec.place.open() as work:
        _load_candidates(work, spec)
        table = number_candidates(work.kernel, spec.options, spec.ends)
        return order_points(work.kernel, table, spec.between)


class MeasuredHost(NamedTuple):
    """A host with its URLs in a list.

    Attributes:
        segment: The list, from 0.
        host: The host.
        urls: Its URLs there.
        delay: The politeness delay that was learned, s; 0: none.
        latency: Time of a fetch of it, s; 0: not known.
        group: Hosts of a group are in one unit; "" for none.
    """

    segment: int
    host: str
    urls: int
    delay: float
    latency: float
    group: str


def measure_task(spec: LookSpec) -> list[MeasuredHost]:
    """The URLs of each host in each list, counted."""
    with spec.place.open() as work:
        _load_candidates(work, spec)
        number_candidates(work.kernel, spec.options, spec.ends)
        load_hosts(work, spec.hosts, among="chosen")
        rows = work.kernel.rows(
            "select c.segment, c.host, c.urls, coalesce(h.delay, 0), "
            "coalesce(h.latency, 0) / 1000, h.answer from "
            "(select segment, host, count(*) as urls from chosen group by all) c "
            "left join hosts h using (host) order by 1, 2"
        )
        kind = spec.partition
        return [
            MeasuredHost(segment, host, urls, delay, latency, group_of(host, kind, answer))
            for segment, host, urls, delay, latency, answer in rows
        ]


class HostPlan(NamedTuple):
    """The place of a host in a list.

    Attributes:
        segment: The list, from 0.
        host: The host.
        unit: Its unit, from 0.
        delay: Expected time from one fetch to the next, s.
        most: URLs that are kept, the best first; 0: all.
    """

    segment: int
    host: str
    unit: int
    delay: float
    most: int = 0


class LeaseSpec(NamedTuple):
    """The third pass over the candidates of a task.

    Attributes:
        look: The candidates, and where each list ends.
        plans: What becomes of their hosts.
        segments: Names of the segments.
        until: When the leases end, ms.
        version: Number of the version that it is for.
        exchange: Name of the file for what goes to units.
        hosts: Name of the file for what is known of their hosts.
        fetched: Name of the file for what is fetched already of these hosts; "" for none.
    """

    look: LookSpec
    plans: tuple[HostPlan, ...]
    segments: tuple[str, ...]
    until: int
    version: int
    exchange: str
    hosts: str
    fetched: str = ""


class LeasedFiles(NamedTuple):
    """The leases of a task.

    Attributes:
        leases: Their files.
        hosts: Something is known of its hosts.
        chosen: Of each list that has some: its number from 0, its candidates of the task, and the
            place of the last of them.
        fetched: There is a file of what is fetched already.
    """

    leases: tuple[TableFile, ...]
    hosts: bool
    chosen: tuple[tuple[int, int, Place], ...] = ()
    fetched: bool = False


def lease_task(spec: LeaseSpec) -> LeasedFiles:
    """Write leases by bucket, and the rows of the lists for their units."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    with spec.look.place.open() as work:
        kernel = work.kernel
        _load_candidates(work, spec.look)
        number_candidates(kernel, spec.look.options, spec.look.ends)
        columns = zip(*spec.plans, strict=True)
        kernel.load("plans", pa.table(dict(zip(HostPlan._fields, map(list, columns), strict=True))))
        own = _own(spec.look.buckets)
        # The turn of a URL counts those of its host in all ranges of keys.
        kernel.execute(
            "create temp table listed as select * from (select c.key, c.sort, c.tie, c.segment, "
            "c.bucket, p.unit, p.delay, row_number() over (partition by c.segment, c.host "
            "order by c.sort desc, c.tie desc) as turn from chosen c join plans p "
            f"using (segment, host) qualify p.most = 0 or turn <= p.most) where {own}"
        )
        path = work.scratch / "listed.parquet"
        kernel.write(_listed_rows(work, spec), str(path))
        work.storage.upload(path, spec.exchange)
        load_hosts(work, spec.look.hosts, among="plans")
        known = work.send(
            f"select p.segment, p.unit, {_HOST_COLUMNS} from plans p join hosts h using (host) "
            "where h.time is not null",
            spec.hosts,
        )
        chosen = kernel.rows(
            "select segment, count(*), min((sort, tie)) from chosen "
            f"where {own} group by 1 order by 1"
        )
        last = ((number, rows, Place(*end)) for number, rows, end in chosen)
        fetched = bool(spec.fetched) and write_fetched_keys(work, spec.look.buckets, spec.fetched)
        return LeasedFiles(tuple(_leases(work, spec)), bool(known), tuple(last), fetched)


def _own(buckets: Sequence[BucketFiles]) -> str:
    """SQL that is true for the candidates whose rows and leases are those of a task."""
    return " or ".join(
        "true" if one.within is None else f"(bucket = {one.bucket} and {one.within.condition()})"
        for one in buckets
    )


def _listed_rows(work: TaskWork, spec: LeaseSpec) -> str:
    """SQL of the whole rows of what is listed, with their units."""
    kernel = work.kernel
    columns = ", ".join(f'"{column.name}" {column.type}' for column in COLUMNS)
    kernel.execute(f"create temp table whole ({columns})")
    for bucket in spec.look.buckets:
        kernel.execute(
            "create or replace temp table wanted as select key from listed "
            f"where bucket = {bucket.bucket}"
        )
        if kernel.value("select count(*) from wanted"):
            local = local_bucket(work.storage, bucket, work.scratch)
            rows = fold_query(*local, interval=spec.look.interval, keys="wanted", order=False)
            kernel.execute(f"insert into whole {rows}")
    return (
        "select l.segment, l.unit, l.delay, l.turn, l.sort, l.tie, r.* from whole r "
        "join listed l using (key)"
    )


def _leases(work: TaskWork, spec: LeaseSpec) -> list[TableFile]:
    names = " ".join(
        f"when {number} then {quoted(name)}" for number, name in enumerate(spec.segments)
    )
    found = []
    for (bucket,) in work.kernel.rows("select distinct bucket from listed order by 1"):
        path = work.scratch / f"lease-{bucket}.parquet"
        work.kernel.write(
            f"select key, case segment {names} end as leased, {spec.until}::BIGINT as "
            f"leased_until from listed where bucket = {bucket} order by key",
            str(path),
        )
        plan = FilePlan(CRAWLDB, int(bucket), "set", spec.version, "lease")
        file = publish(work.storage, path, plan)
        found += [file] if file is not None else []
    return found


class ListSpec(NamedTuple):
    """The list of one unit.

    Attributes:
        place: Where it works.
        sources: The files of the third pass.
        hosts: Its files of hosts.
        segment: The segment, from 0.
        unit: The unit, from 0.
        name: Name of the list.
        known: Name of the file of what is known of its hosts.
        fetched: The files of what is fetched already of hosts.
        keys: Name of the file of those of its own hosts.
    """

    place: TaskPlace
    sources: tuple[str, ...]
    hosts: tuple[str, ...]
    segment: int
    unit: int
    name: str
    known: str
    fetched: tuple[str, ...] = ()
    keys: str = ""


def list_task(spec: ListSpec) -> int:
    """Write the list of a unit, in rounds over its hosts by sort value; how many URLs it has."""
    with spec.place.open() as work:
        paths = [str(localized(work.storage, name, work.scratch)) for name in spec.sources]
        path = work.scratch / "list.parquet"
        mine = f"segment = {spec.segment} and unit = {spec.unit}"
        # Whole rows are wide: they are sorted once, and numbered as they come.
        written = work.kernel.write(
            f'select {_COLUMNS}, row_number() over () - 1 as "order", delay from (select * from '
            f"{parquet(paths)} where {mine} order by turn, sort desc, tie desc)",
            str(path),
        )
        work.storage.upload(path, spec.name)
        write_unit_keys(work, spec.fetched, mine, spec.keys)
        if spec.hosts:
            paths = [str(localized(work.storage, name, work.scratch)) for name in spec.hosts]
            work.send(
                f"select {_HOST_COLUMNS} from {parquet(paths)} h where {mine} order by host",
                spec.known,
            )
        return written.rows
