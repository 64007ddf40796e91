"""Lists of given URLs, in place of those that `generate` chooses.

Source: Nutch, `FreeGenerator`. The lists of the step `sitemaps` are made here, too. They hold no
lease, as their URLs may be unknown; `update` looks each URL up.
"""

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from nacre.crawldb.fold import fold_query
from nacre.crawldb.hosts import HOST_COLUMNS, visited_hosts
from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import COLUMNS, Status, bucket_of
from nacre.crawldb.units import HostWork, PackedUnits
from nacre.errors import JobError
from nacre.rounds.admission import Admission
from nacre.rounds.segments.segment_files import record_segment
from nacre.rounds.segments.unit_list import GIVEN, GivenChoice, write_given
from nacre.rounds.steps.context import HostCheck, StepContext, any_hosts
from nacre.rounds.steps.generate import list_name, new_segments
from nacre.rounds.steps.host_rows import HOSTS, host_buckets, load_hosts
from nacre.rounds.steps.inject import InjectOptions, ListReading
from nacre.rounds.steps.limits import fetch_spacing, pack_hosts, time_marks
from nacre.rounds.steps.list_tasks import ListSpec, list_task
from nacre.rounds.steps.seed_rows import freeze_segment, seed_view, sync_seeds
from nacre.rounds.steps.update_tasks import local_facts
from nacre.rounds.storage import remove_folder
from nacre.rounds.tables.seedlist import BadMetadata, InjectedSeed, number_lines
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    TaskPlace,
    TaskWork,
    buckets_of,
    local_bucket,
)
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, SegmentState
from nacre.scope.seeds import BadSeed, SeedList
from nacre.uri.parse import host

_TASK = 20_000
"""URLs of a task with several buckets."""
_HOST_COLUMNS = ", ".join(f'h."{column.name}"' for column in HOST_COLUMNS)
_OWN = {
    "key": "g.key",
    "url": "nullif(g.url, g.key)",
    "status": f"coalesce(r.status, {int(Status.UNFETCHED)})::UTINYINT",
    "via": "coalesce(r.via, g.via)",
    "path": "coalesce(r.path, g.path)",
    "source": "coalesce(r.source, g.source)",
}


class GivenUrl(NamedTuple):
    """A URL of a list.

    Attributes:
        key: Its key.
        url: The requested URL.
        via: The page with the link; None for none.
        path: Hop path; None for a seed.
        source: The seed that it comes from; None for none.
    """

    key: str
    url: str
    via: str | None = None
    path: str | None = None
    source: str | None = None


class GivenLists(NamedTuple):
    """The lists of a new segment, which no version lists yet.

    Attributes:
        segment: Its name.
        state: Its state.
        packs: Its hosts in units.
    """

    segment: str
    state: SegmentState
    packs: PackedUnits


class GivenSpec(NamedTuple):
    """Some buckets of given URLs.

    Attributes:
        place: The work place of the task.
        urls: Each URL with its unit, from 0, and its place in the list.
        buckets: The files of their rows; (): the list has no known data.
        hosts: The files of their hosts.
        facts: Files of facts of hosts that are not in their table yet.
        delay: Expected time from one fetch of a host to the next, s.
        exchange: Name of the file for the rows.
        host_rows: Name of the file for the rows of the hosts.
    """

    place: TaskPlace
    urls: tuple[tuple[GivenUrl, int, int], ...]
    buckets: tuple[BucketFiles, ...]
    hosts: tuple[BucketFiles, ...]
    facts: tuple[str, ...]
    delay: float
    exchange: str
    host_rows: str


def given_task(spec: GivenSpec) -> bool:
    """Write the rows of given URLs; return whether there are rows of their hosts."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    with spec.place.open() as work:
        kernel = work.kernel
        rows = [
            {**url._asdict(), "host": host(url.url), "unit": unit, "n": number}
            for url, unit, number in spec.urls
        ]
        texts = [(name, pa.string()) for name in (*GivenUrl._fields, "host")]
        schema = pa.schema([*texts, ("unit", pa.int64()), ("n", pa.int64())])
        kernel.load("given", pa.Table.from_pylist(rows, schema))
        columns = ", ".join(f'"{column.name}" {column.type}' for column in COLUMNS)
        kernel.execute(f"create temp table whole ({columns})")
        for bucket in spec.buckets:
            if bucket.all:
                local = local_bucket(work.storage, bucket, work.scratch)
                fold = fold_query(*local, interval=0, keys="given", order=False)
                kernel.execute(f"insert into whole {fold}")
        picks = ", ".join(
            _OWN.get(url.name, f'r."{url.name}"') + f' as "{url.name}"' for url in COLUMNS
        )
        path = work.scratch / "given.parquet"
        kernel.write(
            f"select 0 as segment, g.unit, {spec.delay}::DOUBLE as delay, "
            "row_number() over (partition by g.host order by g.n) as turn, 0.0::DOUBLE as sort, "
            f"-g.n as tie, {picks} from given g left join whole r on r.key = g.key",
            str(path),
        )
        work.storage.upload(path, spec.exchange)
        _load_known_hosts(work, spec)
        hosts_written = work.send(
            f"select 0 as segment, g.unit, {_HOST_COLUMNS} from (select distinct host, unit from "
            "given) g join hosts h using (host) where h.time is not null",
            spec.host_rows,
        )
        return bool(hosts_written)


def _load_known_hosts(work: TaskWork, spec: GivenSpec) -> None:
    """Make the table `hosts`, with the rows of the facts."""
    load_hosts(work, spec.hosts)
    if not spec.facts:
        return
    facts = f"(select * from {parquet(local_facts(work.storage, spec.facts, work))})"
    columns = ", ".join(f'"{column.name}"' for column in HOST_COLUMNS)
    work.kernel.execute(
        f"create temp table met as select {columns} from ({visited_hosts('hosts', facts)})"
    )
    work.kernel.execute("delete from hosts where host in (select host from met)")
    work.kernel.execute(f"insert into hosts select {columns} from met")


def list_given(
    context: StepContext,
    version: CycleVersion,
    urls: Sequence[GivenUrl],
    units: int,
    *,
    fresh: bool = False,
    facts: Sequence[str] = (),
) -> GivenLists:
    """Write the lists of given URLs; the caller commits the segment.

    Args:
        context: The context of the driver.
        version: The version that it is based on.
        urls: The URLs, each key once, in the order of their fetch; at least one.
        units: Number of units, at least 1.
        fresh: Fetch them like unknown URLs, with neither validators nor revisits.
        facts: Files of facts of hosts that are not in their table yet.
    """
    storage = context.cycle.storage
    packs = _pack(context, urls, units)
    [name] = new_segments(storage, context.clock, 1)
    folder = f"exchange/given-{version.number + 1}-{secrets.token_hex(6)}"
    try:
        specs = list(_specs(context, version, urls, packs, folder, fresh=fresh))
        specs = [spec._replace(facts=tuple(facts)) for spec in specs]
        have_hosts = context.engine.map(given_task, specs)
        sources = tuple(spec.exchange for spec in specs)
        hosts = tuple(spec.host_rows for spec, h in zip(specs, have_hosts, strict=True) if h)
        lists = [
            ListSpec(
                context.place, sources, hosts, 0, unit,
                list_name(name, unit), list_name(name, unit, HOSTS),
            )
            for unit in range(len(packs.seconds))
        ]  # fmt: skip
        rows = sum(context.engine.map(list_task, lists))
    finally:
        remove_folder(storage, folder)
    more = {**time_marks(context, packs), **freeze_segment(context, version, name)}
    state = SegmentState(state="generated", units=len(packs.seconds), urls=rows, more=more)
    return GivenLists(name, state, packs)


def _pack(context: StepContext, urls: Sequence[GivenUrl], units: int) -> PackedUnits:
    """Pack the hosts of given URLs into units; tasks read their rows later."""
    spacing = fetch_spacing(context.settings.politeness)
    counts = Counter(host(url.url) for url in urls)
    works = [HostWork(name, number, spacing) for name, number in counts.items()]
    return pack_hosts(context, works, units)


def _specs(
    context: StepContext,
    version: CycleVersion,
    urls: Sequence[GivenUrl],
    packs: PackedUnits,
    folder: str,
    *,
    fresh: bool,
) -> Iterable[GivenSpec]:
    """Divide the URLs into tasks, by bucket."""
    table = version.tables.get(CRAWLDB)
    number = table.buckets if table is not None else context.settings.cycle.buckets
    files = {url.bucket: url for url in buckets_of(context.cycle, version, CRAWLDB)}
    hosts: Mapping[int, BucketFiles] = host_buckets(context.cycle, version)
    by_bucket: dict[int, list[tuple[GivenUrl, int, int]]] = {}
    for place, url in enumerate(urls):
        entry = (url, packs.unit_of[host(url.url)], place)
        by_bucket.setdefault(bucket_of(url.key, number), []).append(entry)
    group: list[int] = []
    size = 0
    for count, (bucket, listed) in enumerate(sorted(by_bucket.items()), 1):
        group.append(bucket)
        size += len(listed)
        if size >= _TASK or count == len(by_bucket):
            yield GivenSpec(
                context.place,
                tuple(entry for url in group for entry in by_bucket[url]),
                () if fresh else tuple(files[url] for url in group if url in files),
                tuple(hosts[url] for url in group if url in hosts),
                (),
                fetch_spacing(context.settings.politeness),
                f"{folder}/given-{bucket}.parquet",
                f"{folder}/hosts-{bucket}.parquet",
            )
            group, size = [], 0


class GivenOptions(NamedTuple):
    """Options of a generate of given URLs.

    Attributes:
        units: Units, at least 1.
        filter: Apply filters to the URLs.
        normalize: Normalize the URLs first.
    """

    units: int = 1
    filter: bool = False
    normalize: bool = False


class GivenResult(NamedTuple):
    """Counts of a generate of given URLs.

    Attributes:
        urls: Lines that are URLs.
        twice: Lines whose URL was in the list before.
        refused: URLs that a filter refuses, by file and line.
        malformed: Lines that are no URLs; the first 1,000.
        malformed_count: Their number.
        selected: URLs of the lists.
        units: Units.
        longest: Expected time of the fetch, s.
        segments: The name of the segment; () for none.
        version: The version; None if nothing was committed.
    """

    urls: int = 0
    twice: int = 0
    refused: Mapping[str, int] = {}
    malformed: Sequence[BadSeed | BadMetadata] = ()
    malformed_count: int = 0
    selected: int = 0
    units: int = 0
    longest: float = 0.0
    segments: Sequence[str] = ()
    version: CycleVersion | None = None


def _accepted_urls(
    context: StepContext, version: CycleVersion, lists: Sequence[SeedList], options: GivenOptions
) -> tuple[ListReading, list[GivenUrl]]:
    """Read the lists; return the reading with its counts, and the URLs that the rules accept."""
    view = seed_view(context, version)
    with context.place.open() as work:
        index = view.open(work.scratch)
        admission = Admission(context.settings, context.layout.root, view.lines, index)
        rules = InjectOptions(filter=options.filter, normalize=options.normalize)
        reading = ListReading(admission, rules)
        seeds = (e for e in reading.entries(number_lines(lists)) if isinstance(e, InjectedSeed))
        return reading, [GivenUrl(seed.key, seed.url) for seed in reading.accepted(seeds)]


def generate_given(
    context: StepContext,
    lists: Sequence[SeedList],
    options: GivenOptions,
    check_hosts: HostCheck = any_hosts,
) -> GivenResult:
    """Make a segment from the URLs of files, whether they are due or not.

    Args:
        context: The context of the driver.
        lists: The URLs, a line each, as `inject` takes them.
        options: The options of the list.
        check_hosts: Called with the hosts of the list before it is written.

    Raises:
        ConfigError: From `check_hosts`.
        JobError: Nothing was injected yet.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    root = context.layout.root
    if CRAWLDB not in version.tables:
        raise JobError(f"{root} knows no URLs yet: `nacre cycle {root} -s URL` brings seeds in")
    version = sync_seeds(context)
    reading, accepted = _accepted_urls(context, version, lists, options)
    urls = list({url.key: url for url in reversed(accepted)}.values())[::-1]
    result = GivenResult(
        reading.seeds, len(accepted) - len(urls), dict(reading.refused), reading.malformed,
        reading.malformed_count, len(urls),
    )  # fmt: skip
    if not urls:
        return result
    check_hosts(dict.fromkeys(host(url.url or url.key) for url in urls))
    if context.dry:
        packs = _pack(context, urls, options.units)
        return result._replace(units=len(packs.seconds), longest=packs.whole)
    listed = list_given(context, version, urls, options.units)
    choice = GivenChoice(
        files=[url.file for url in lists], urls=len(urls),
        refused=reading.refused_keys, refused_count=reading.refused.total(),
    )  # fmt: skip
    write_given(context.cycle.storage, choice, listed.segment)
    marks = {**listed.state.more, GIVEN: version.number + 1}
    state = msgspec.structs.replace(listed.state, more=marks)
    state = record_segment(context.engine, context.cycle.storage, listed.segment, state)
    changes = CycleChanges(
        step="generate",
        clock=context.clock,
        options={"urls": len(urls), "filter": options.filter, "normalize": options.normalize},
        counters={"selected": listed.state.urls, "refused": dict(reading.refused)},
        segments={listed.segment: state},
    )
    return result._replace(
        units=listed.state.units,
        longest=listed.packs.whole,
        segments=(listed.segment,),
        version=context.cycle.commit(version, changes),
    )
