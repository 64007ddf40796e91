"""The tasks of `generate` that make lists of candidates (`select_tasks`), in four passes.

`probe_task` finds places of candidates in the order; `measure_task` counts the chosen URLs by host,
once the end of each list is known; `lease_task` writes the leases and the rows of the chosen URLs,
which it folds for those keys alone; `list_task` writes the list of a unit.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nacre.crawldb.fold import fold_query
from nacre.crawldb.hosts import HOST_COLUMNS, host_sql
from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.row import COLUMNS, Status
from nacre.crawldb.select import (
    NOWHERE,
    Bracket,
    OrderPoints,
    Place,
    SelectOptions,
    number_candidates,
    order_points,
)
from nacre.rounds.steps.host_rows import group_of, load_hosts
from nacre.rounds.steps.select_tasks import CANDIDATE
from nacre.rounds.storage import localize
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
    """A pass over the candidates of a task.

    Attributes:
        place: The work place of the task.
        exchange: The files of the candidates; all rows of a host or domain are in one file.
        options: The options with the caps.
        buckets: The buckets, with their current files.
        hosts: Their buckets of hosts.
        interval: Interval of a row that has none, s.
        partition: `host`, `domain` or `address`: the group that is never divided.
        ends: The known ends of lists.
        between: The bracket to probe.
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
    """Make `candidates` from exchanged files, with their buckets."""
    paths = [str(localize(work.storage, name, work.scratch)) for name in spec.exchange]
    # Caps read all columns several times; without caps a view reads only some columns.
    kind = "table" if spec.options.capped else "view"
    work.kernel.execute(
        f"create or replace temp {kind} candidates as select {CANDIDATE}, bucket "
        f"from {parquet(paths)}"
    )


def merge_looks(looks: Sequence[LookSpec], counts: Sequence[int]) -> list[LookSpec]:
    """Merge the passes of several tasks, as opening a kernel takes longer than a pass.

    Args:
        looks: The passes of the tasks.
        counts: The numbers of their candidates.
    """
    wide: list[LookSpec] = []
    size = _LOOK_ROWS
    for look, rows in zip(looks, counts, strict=True):
        if size + rows > _LOOK_ROWS:
            wide.append(look._replace(buckets=(), hosts=()))
            size = rows
        else:
            wide[-1] = wide[-1]._replace(exchange=wide[-1].exchange + look.exchange)
            size += rows
    return wide


def probe_task(spec: LookSpec) -> OrderPoints:
    """Return places of the candidates of a task."""
    with spec.place.open() as work:
        _load_candidates(work, spec)
        table = number_candidates(work.kernel, spec.options, spec.ends)
        return order_points(work.kernel, table, spec.between)


class MeasuredHost(NamedTuple):
    """A host with its URLs in a list.

    Attributes:
        segment: The list, from 0.
        host: The host.
        urls: Its URLs in the list.
        delay: The learned politeness delay, s; 0 for none.
        latency: Time of a fetch, s; 0 if unknown.
        group: Hosts of a group are in one unit; "" for none.
    """

    segment: int
    host: str
    urls: int
    delay: float
    latency: float
    group: str


def measure_task(spec: LookSpec) -> list[MeasuredHost]:
    """Count the URLs of each host in each list."""
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
        most: Most URLs, the best first; 0: all.
    """

    segment: int
    host: str
    unit: int
    delay: float
    most: int = 0


class LeaseSpec(NamedTuple):
    """The third pass over the candidates of a task.

    Attributes:
        look: The candidates, and the end of each list.
        plans: The plans of their hosts.
        segments: Names of the segments.
        until: End of the leases, ms since the epoch.
        version: Number of the version to commit.
        exchange: Name of the file for the rows of units.
        hosts: Name of the file for the rows of their hosts.
        fetched: Name of the file for fetched keys of these hosts; "" for none.
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
        leases: The files of leases.
        hosts: There are rows of its hosts.
        chosen: For each list with candidates of the task: its number from 0, the number of these
            candidates, and the place of the last.
        fetched: There is a file of fetched keys.
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
        own = _own_sql(spec.look.buckets)
        # The turn of a URL counts those of its host in all ranges of keys.
        kernel.execute(
            "create temp table listed as select * from (select c.key, c.sort, c.tie, c.segment, "
            "c.bucket, p.unit, p.delay, row_number() over (partition by c.segment, c.host "
            "order by c.sort desc, c.tie desc) as turn from chosen c join plans p "
            f"using (segment, host) qualify p.most = 0 or turn <= p.most) where {own}"
        )
        path = work.scratch / "listed.parquet"
        kernel.write(_listed_rows_sql(work, spec), str(path))
        work.storage.upload(path, spec.exchange)
        load_hosts(work, spec.look.hosts, among="plans")
        host_rows = work.send(
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
        return LeasedFiles(tuple(_write_leases(work, spec)), bool(host_rows), tuple(last), fetched)


def _own_sql(buckets: Sequence[BucketFiles]) -> str:
    """Return an SQL condition for the candidates whose rows and leases the task writes."""
    return " or ".join(
        "true" if b.within is None else f"(bucket = {b.bucket} and {b.within.condition()})"
        for b in buckets
    )


def _listed_rows_sql(work: TaskWork, spec: LeaseSpec) -> str:
    """Return SQL of the rows of listed URLs, with their units."""
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


def _write_leases(work: TaskWork, spec: LeaseSpec) -> list[TableFile]:
    names = " ".join(
        f"when {number} then {quoted(name)}" for number, name in enumerate(spec.segments)
    )
    files = []
    for (bucket,) in work.kernel.rows("select distinct bucket from listed order by 1"):
        path = work.scratch / f"lease-{bucket}.parquet"
        work.kernel.write(
            f"select key, case segment {names} end as leased, {spec.until}::BIGINT as "
            f"leased_until from listed where bucket = {bucket} order by key",
            str(path),
        )
        plan = FilePlan(CRAWLDB, int(bucket), "set", spec.version, "lease")
        file = publish(work.storage, path, plan)
        files += [file] if file is not None else []
    return files


class ListSpec(NamedTuple):
    """The list of one unit.

    Attributes:
        place: The work place of the task.
        sources: The files of the third pass.
        hosts: Its files of hosts.
        segment: The segment, from 0.
        unit: The unit, from 0.
        name: Name of the list.
        host_rows: Name of the file for the rows of its hosts.
        fetched: The files of fetched keys of hosts.
        keys: Name of the file for fetched keys of the hosts of the unit.
    """

    place: TaskPlace
    sources: tuple[str, ...]
    hosts: tuple[str, ...]
    segment: int
    unit: int
    name: str
    host_rows: str
    fetched: tuple[str, ...] = ()
    keys: str = ""


def list_task(spec: ListSpec) -> int:
    """Write the list of a unit, in rounds over its hosts by sort value; return its URL count."""
    with spec.place.open() as work:
        paths = [str(localize(work.storage, name, work.scratch)) for name in spec.sources]
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
            paths = [str(localize(work.storage, name, work.scratch)) for name in spec.hosts]
            work.send(
                f"select {_HOST_COLUMNS} from {parquet(paths)} h where {mine} order by host",
                spec.host_rows,
            )
        return written.rows


def write_fetched_keys(work: TaskWork, buckets: Iterable[BucketFiles], name: str) -> bool:
    """Write the keys of the hosts of all units of a task; return False if there are none.

    Args:
        work: The work of the task, whose kernel has the tables `plans` and `listed`.
        buckets: The buckets of the task.
        name: Name of the file.
    """
    kernel = work.kernel
    kernel.execute("create temp table fetched (segment BIGINT, unit BIGINT, key VARCHAR)")
    for bucket in buckets:
        if not bucket.all:
            continue
        local = local_bucket(work.storage, bucket, work.scratch)
        rows = fold_query(*local, interval=0, columns=("status",), order=False)
        kernel.execute(
            f"insert into fetched select p.segment, p.unit, f.key from ({rows}) f "
            f"join plans p on p.host = {host_sql('f.key')} "
            f"where f.status <> {int(Status.UNFETCHED)} and not exists "
            "(select 1 from listed l where l.key = f.key and l.segment = p.segment)"
        )
    return bool(work.send("select * from fetched", name))


def write_unit_keys(work: TaskWork, sources: Sequence[str], mine: str, name: str) -> None:
    """Write the keys of one unit; nothing without sources.

    Args:
        work: The work of the task.
        sources: The files of all tasks.
        mine: Condition for the rows of the unit, in SQL.
        name: Name of the file.
    """
    if not sources:
        return
    paths = [str(localize(work.storage, source, work.scratch)) for source in sources]
    work.send(f"select distinct key from {parquet(paths)} where {mine} order by key", name)
