"""Lists of URLs that somebody names, in place of those that `generate` chooses.

Source: Nutch, `FreeGenerator`. The lists of the step `sitemaps` are made here, too. They hold no
lease, as their URLs need not be known; `update` looks each of them up.
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
from nacre.engine.seeding.seeds import BadSeed, SeedList
from nacre.errors import JobError
from nacre.rounds.admission import Admission
from nacre.rounds.segments.list_choice import GIVEN, GivenChoice, write_given
from nacre.rounds.segments.segment_files import recorded
from nacre.rounds.steps.context import HostCheck, StepContext, any_hosts
from nacre.rounds.steps.fetch_time import fetch_spacing, packed, time_marks
from nacre.rounds.steps.freezing import freeze_segment
from nacre.rounds.steps.generate import list_name, new_segments
from nacre.rounds.steps.host_rows import HOSTS, host_buckets, load_hosts
from nacre.rounds.steps.inject import InjectOptions, ListReading
from nacre.rounds.steps.list_tasks import ListSpec, list_task
from nacre.rounds.steps.seed_rows import seed_view, synced
from nacre.rounds.steps.update_tasks import local_facts
from nacre.rounds.storage import remove_folder
from nacre.rounds.tables.seedlist import BadMetadata, InjectedSeed, numbered
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    TaskPlace,
    TaskWork,
    buckets_of,
    local_bucket,
)
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, SegmentState
from nacre.uri.parse import host

_TASK = 20_000
"""URLs of a task, as far as they lie in several buckets."""
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
        url: What is asked for.
        via: The page that names it; None for none.
        path: Hop path; None for a seed.
        source: The seed that it comes from; None for none.
    """

    key: str
    url: str
    via: str | None = None
    path: str | None = None
    source: str | None = None


class GivenLists(NamedTuple):
    """The lists of a new segment, which no version names yet.

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
        place: Where the task works.
        urls: Each URL with its unit, from 0, and its place in the list.
        buckets: The files of their rows; none: nothing of what is known goes into the list.
        hosts: The files of their hosts.
        facts: Files of facts of hosts that no step has brought into their table.
        delay: Expected time from one fetch of a host to the next, s.
        exchange: Name of the file for the rows.
        known: Name of the file for what is known of the hosts.
    """

    place: TaskPlace
    urls: tuple[tuple[GivenUrl, int, int], ...]
    buckets: tuple[BucketFiles, ...]
    hosts: tuple[BucketFiles, ...]
    facts: tuple[str, ...]
    delay: float
    exchange: str
    known: str


def given_task(spec: GivenSpec) -> bool:
    """Write the rows of given URLs; whether something is known of their hosts."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    with spec.place.open() as work:
        kernel = work.kernel
        rows = [
            {**one._asdict(), "host": host(one.url), "unit": unit, "n": number}
            for one, unit, number in spec.urls
        ]
        texts = [(name, pa.string()) for name in (*GivenUrl._fields, "host")]
        schema = pa.schema([*texts, ("unit", pa.int64()), ("n", pa.int64())])
        kernel.load("given", pa.Table.from_pylist(rows, schema))
        columns = ", ".join(f'"{column.name}" {column.type}' for column in COLUMNS)
        kernel.execute(f"create temp table whole ({columns})")
        for bucket in spec.buckets:
            if bucket.all:
                local = local_bucket(work.storage, bucket, work.scratch)
                found = fold_query(*local, interval=0, keys="given", order=False)
                kernel.execute(f"insert into whole {found}")
        picks = ", ".join(
            _OWN.get(one.name, f'r."{one.name}"') + f' as "{one.name}"' for one in COLUMNS
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
        known = work.send(
            f"select 0 as segment, g.unit, {_HOST_COLUMNS} from (select distinct host, unit from "
            "given) g join hosts h using (host) where h.time is not null",
            spec.known,
        )
        return bool(known)


def _load_known_hosts(work: TaskWork, spec: GivenSpec) -> None:
    """Make the table `hosts`, with what the facts have."""
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
        version: The version that it is made of.
        urls: The URLs, each key once, in the order of their fetch; at least one.
        units: Units wanted, at least 1.
        fresh: Fetch them as if nothing was known of them, with neither validators nor revisits.
        facts: Files of facts of hosts that no step has brought into their table.
    """
    storage = context.cycle.storage
    packs = _packed(context, urls, units)
    [name] = new_segments(storage, context.clock, 1)
    folder = f"exchange/given-{version.number + 1}-{secrets.token_hex(6)}"
    try:
        specs = list(_specs(context, version, urls, packs, folder, fresh=fresh))
        specs = [spec._replace(facts=tuple(facts)) for spec in specs]
        known = context.engine.map(given_task, specs)
        sources = tuple(spec.exchange for spec in specs)
        hosts = tuple(spec.known for spec, one in zip(specs, known, strict=True) if one)
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


def _packed(context: StepContext, urls: Sequence[GivenUrl], units: int) -> PackedUnits:
    """The hosts of given URLs in units; what is known of them is read later, by tasks."""
    spacing = fetch_spacing(context.settings.politeness)
    counts = Counter(host(one.url) for one in urls)
    works = [HostWork(name, number, spacing) for name, number in counts.items()]
    return packed(context, works, units)


def _specs(
    context: StepContext,
    version: CycleVersion,
    urls: Sequence[GivenUrl],
    packs: PackedUnits,
    folder: str,
    *,
    fresh: bool,
) -> Iterable[GivenSpec]:
    """The URLs in tasks, by bucket."""
    table = version.tables.get(CRAWLDB)
    number = table.buckets if table is not None else context.settings.cycle.buckets
    files = {one.bucket: one for one in buckets_of(context.cycle, version, CRAWLDB)}
    hosts: Mapping[int, BucketFiles] = host_buckets(context.cycle, version)
    by_bucket: dict[int, list[tuple[GivenUrl, int, int]]] = {}
    for place, one in enumerate(urls):
        entry = (one, packs.unit_of[host(one.url)], place)
        by_bucket.setdefault(bucket_of(one.key, number), []).append(entry)
    group: list[int] = []
    size = 0
    for count, (bucket, listed) in enumerate(sorted(by_bucket.items()), 1):
        group.append(bucket)
        size += len(listed)
        if size >= _TASK or count == len(by_bucket):
            yield GivenSpec(
                context.place,
                tuple(entry for one in group for entry in by_bucket[one]),
                () if fresh else tuple(files[one] for one in group if one in files),
                tuple(hosts[one] for one in group if one in hosts),
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
        filter: Filters judge the URLs.
        normalize: Normalizers rewrite them first.
    """

    units: int = 1
    filter: bool = False
    normalize: bool = False


class GivenResult(NamedTuple):
    """Counts of a generate of given URLs.

    Attributes:
        urls: Lines that are URLs.
        twice: Lines whose URL stood in the list before.
        refused: URLs that a filter refuses, by file and line.
        malformed: Lines that are no URLs; the first 1,000.
        malformed_count: Their number.
        selected: URLs of the lists.
        units: Units.
        longest: Expected time of the fetch, s.
        segments: The name of the segment; () where there is none.
        version: The version; None where nothing was committed.
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
        seeds = (
            entry for entry in reading.entries(numbered(lists)) if isinstance(entry, InjectedSeed)
        )
        return reading, [GivenUrl(seed.key, seed.url) for seed in reading.accepted(seeds)]


def generate_given(
    context: StepContext,
    lists: Sequence[SeedList],
    options: GivenOptions,
    check_hosts: HostCheck = any_hosts,
) -> GivenResult:
    """Make a segment of the URLs of files, whatever is known of them.

    Args:
        context: The context of the driver.
        lists: The URLs, a line each, as `inject` takes them.
        options: Whether they are filtered and normalized, and in how many units they are.
        check_hosts: Is called with the hosts of the list before it is written.

    Raises:
        ConfigError: Of `check_hosts`.
        JobError: Nothing was injected yet.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    root = context.layout.root
    if CRAWLDB not in version.tables:
        raise JobError(f"{root} knows no URLs yet: `nacre cycle {root} -s URL` brings seeds in")
    version = synced(context)
    reading, accepted = _accepted_urls(context, version, lists, options)
    urls = list({one.key: one for one in reversed(accepted)}.values())[::-1]
    found = GivenResult(
        reading.seeds, len(accepted) - len(urls), dict(reading.refused), reading.malformed,
        reading.malformed_count, len(urls),
    )  # fmt: skip
    if not urls:
        return found
    check_hosts(dict.fromkeys(host(one.url or one.key) for one in urls))
    if context.dry:
        packs = _packed(context, urls, options.units)
        return found._replace(units=len(packs.seconds), longest=packs.whole)
    made = list_given(context, version, urls, options.units)
    choice = GivenChoice(
        files=[one.file for one in lists], urls=len(urls),
        refused=reading.refused_keys, refused_count=reading.refused.total(),
    )  # fmt: skip
    write_given(context.cycle.storage, choice, made.segment)
    marks = {**made.state.more, GIVEN: version.number + 1}
    state = msgspec.structs.replace(made.state, more=marks)
    state = recorded(context.engine, context.cycle.storage, made.segment, state)
    changes = CycleChanges(
        step="generate",
        clock=context.clock,
        options={"urls": len(urls), "filter": options.filter, "normalize": options.normalize},
        counters={"selected": made.state.urls, "refused": dict(reading.refused)},
        segments={made.segment: state},
    )
    return found._replace(
        units=made.state.units,
        longest=made.packs.whole,
        segments=(made.segment,),
        version=context.cycle.commit(version, changes),
    )
