"""The archive of a merge: find the captures of the merged rows.

Our archive lists the WARC files of the other crawls, which stay where they are. A separate segment
has the visits of these captures, with the links of their pages, in a part for each task; a task
reads some parts of another crawl.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from nacre.crawldb import facts
from nacre.crawldb.hosts import host_sql
from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import bucket_of_host
from nacre.rounds.journal import IMPORTED, OF_ROUNDS, SITEMAPS
from nacre.rounds.segments.outside import UNIT, create_part, outside_warcs, write_empty_list
from nacre.rounds.segments.parts import UnitPlace
from nacre.rounds.segments.segment_files import record_segment
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.generate import new_segments
from nacre.rounds.steps.links import LINKS, TAKEN
from nacre.rounds.steps.seed_rows import freeze_segment
from nacre.rounds.steps.taking import buckets_here
from nacre.rounds.steps.update_tasks import FetchedFacts, facts_of, local_facts
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.tables import TaskPlace, TaskWork, archived_warcs
from nacre.rounds.tables.versions import OUTSIDE, Cycle, CycleVersion, SegmentState, TableFile

_KINDS = ("visits", "links")
_TASK_PARTS = 128
"""Parts of another crawl that a task reads."""


class OtherArchive(NamedTuple):
    """The archives of other crawls, for the merged rows.

    Attributes:
        files: Their WARC files that our archive did not list.
        segments: The segment of the captures; {} for none.
        captures: Captures in these files.
    """

    files: tuple[TableFile, ...] = ()
    segments: Mapping[str, SegmentState] = {}
    captures: int = 0


class ArchiveSpec(NamedTuple):
    """One task: the captures of merged rows in parts of another crawl.

    Attributes:
        place: The work place in our storage.
        source: The work place in the storage of the other crawl.
        number: Number of the other crawl.
        records: Files with the requested records: `place`, `record_id`.
        facts: Some of its segments; of a large one some of its parts.
        warcs: Its WARC files that our archive can list: the path of each by its name.
        own: WARC files that this crawl wrote; its segments already have their visits.
        buckets: Number of our buckets.
        segment: Our segment for the visits; "": count, and publish nothing.
    """

    place: TaskPlace
    source: TaskPlace
    number: int
    records: tuple[str, ...]
    facts: tuple[FetchedFacts, ...]
    warcs: Mapping[str, str]
    own: frozenset[str]
    buckets: int
    segment: str = ""


class ArchiveFound(NamedTuple):
    """The captures that a task found.

    Attributes:
        captures: Their number.
        warcs: Names of the WARC files that they need.
        part: The folder of their facts; "" for none.
        segments: The other segments that they come from.
    """

    captures: int = 0
    warcs: tuple[str, ...] = ()
    part: str = ""
    segments: tuple[str, ...] = ()


def import_captures(
    context: StepContext,
    version: CycleVersion,
    crawls: Sequence[tuple[Cycle, CycleVersion]],
    records: Sequence[str],
) -> OtherArchive:
    """Find the captures of the merged rows, and write the segment of their visits.

    Args:
        context: The context of the driver.
        version: Our newest version.
        crawls: The other crawls, with their versions, in order of their numbers.
        records: Files with the requested records.
    """
    mine = archived_warcs(context.cycle, version)
    named = dict(mine)
    specs = _archive_specs(context, version, crawls, records, named)
    if not records or not specs:
        return OtherArchive()
    if context.dry:
        return _archive(context.engine.map(archive_task, specs), mine, named, {})
    (segment,) = new_segments(context.cycle.storage, context.clock, 1)
    results = context.engine.map(archive_task, [r._replace(segment=segment) for r in specs])
    if not any(r.part for r in results):
        return OtherArchive()
    write_empty_list(context.place, segment)
    marks = freeze_segment(context, version, segment)
    theirs_taken = all(
        _has_their_links(crawls[spec.number][1], r.segments)
        for spec, r in zip(specs, results, strict=True)
    )
    state = SegmentState(
        state="updated",
        units=1,
        urls=sum(r.captures for r in results),
        parts={UNIT: [r.part for r in results if r.part]},
        # Without the mark the step `links` adds them; duplicates fold into one row.
        more={IMPORTED: OF_ROUNDS, **({TAKEN: True} if theirs_taken else {}), **marks},
    )
    state = record_segment(context.engine, context.cycle.storage, segment, state)
    return _archive(results, mine, named, {segment: state})


def _archive_specs(
    context: StepContext,
    version: CycleVersion,
    crawls: Sequence[tuple[Cycle, CycleVersion]],
    records: Sequence[str],
    named: dict[str, TableFile],
) -> list[ArchiveSpec]:
    """Return the tasks; add the WARC files that our archive can list to `named`."""
    own = frozenset(name for name, file in named.items() if file.kind != OUTSIDE)
    specs = []
    for number, (crawl, theirs) in enumerate(crawls):
        listed = outside_warcs(
            context.cycle.storage, named, archived_warcs(crawl, theirs), crawl.storage.place
        )
        named |= listed
        warcs = {name: file.path for name, file in listed.items()}
        if not warcs.keys() - own:
            continue
        specs += [
            ArchiveSpec(
                context.place,
                context.place._replace(storage=crawl.storage.place),
                number,
                tuple(records),
                group,
                warcs,
                own & listed.keys(),
                buckets_here(context, version),
            )
            for group in _in_groups(theirs)
        ]
    return specs


def _in_groups(version: CycleVersion) -> Iterator[tuple[FetchedFacts, ...]]:
    """Divide the parts of all segments into tasks."""
    group: list[FetchedFacts] = []
    room = _TASK_PARTS
    for name, state in version.segments.items():
        whole = facts_of(name, state)
        parts = whole.parts
        while parts:
            group.append(whole._replace(parts=parts[:room]))
            parts, room = parts[room:], room - len(parts[:room])
            if not room:
                yield tuple(group)
                group, room = [], _TASK_PARTS
    if group:
        yield tuple(group)


def _has_their_links(version: CycleVersion, segments: Sequence[str]) -> bool:
    """Return whether the table of links of another crawl has all links of its segments."""
    states = [version.segments[name] for name in segments]
    are_taken = all(TAKEN in state.more or SITEMAPS in state.more for state in states)
    return not states or (LINKS in version.tables and are_taken)


def _archive(
    results: Sequence[ArchiveFound],
    mine: Mapping[str, TableFile],
    named: Mapping[str, TableFile],
    segments: Mapping[str, SegmentState],
) -> OtherArchive:
    names = sorted({name for result in results for name in result.warcs if name not in mine})
    captures = sum(result.captures for result in results)
    return OtherArchive(tuple(named[name] for name in names), segments, captures)


def archive_task(spec: ArchiveSpec) -> ArchiveFound:
    """Find captures in parts of another crawl, and write their visits and links."""
    with spec.source.open() as work:
        _load_wanted(work, spec)
        segments = _load_visits(work, spec)
        count = int(work.kernel.value("select count(distinct record_id) from visits"))
        if not count:
            return ArchiveFound()
        query = "select distinct warc_file from visits order by 1"
        warcs = [name for (name,) in work.kernel.rows(query)]
        if work.kernel.value("select count(*) from visits where stored = 'delta'"):
            # A delta may refer to a record of any file.
            warcs = sorted(spec.warcs)
        if not spec.segment:
            return ArchiveFound(count, tuple(warcs))
        _load_links(
            work,
            [segment_facts for segment_facts in spec.facts if segment_facts.segment in segments],
        )
        for name, key in zip(_KINDS, ("key", "dst"), strict=True):
            _add_buckets(work, name, key, spec.buckets)
        paths = [work.scratch / f"{name}.parquet" for name in _KINDS]
        rows = {
            name: work.kernel.write(f"select * from placed_{name} order by 1, 2", str(path)).rows
            for name, path in zip(_KINDS, paths, strict=True)
        }
        place = UnitPlace(open_storage(spec.place.storage), spec.segment, UNIT)
        part = create_part(place, paths, rows, [spec.warcs[name] for name in warcs])
        return ArchiveFound(count, tuple(warcs), part, segments)


def _load_wanted(work: TaskWork, spec: ArchiveSpec) -> None:
    """Make the table `wanted` of the records, and `named` of the WARC files of others."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    mine = open_storage(spec.place.storage)
    paths = []
    for at, name in enumerate(spec.records):
        path = work.scratch / f"records-{at}.parquet"
        mine.fetch(name, path)
        paths.append(str(path))
    work.kernel.execute(
        f"create temp table wanted as select distinct record_id from {parquet(paths)} "
        f"where place = {spec.number}"
    )
    names = sorted(spec.warcs.keys() - spec.own)
    work.kernel.load("named", pa.table({"name": pa.array(names, pa.string())}))


def _load_visits(work: TaskWork, spec: ArchiveSpec) -> tuple[str, ...]:
    """Make the table `visits` of the requested records, each once.

    Returns:
        The segments that they come from.
    """
    _create_table(work, "visits")
    segments, before = [], 0
    for segment_facts in spec.facts:
        with _temporary_facts(work, segment_facts.files("visits")) as files:
            columns = _common_columns(work, files, "visits", "v")
            work.kernel.execute(
                f"insert into visits by name select {columns} from {files} v "
                "semi join wanted w on w.record_id = v.record_id "
                "semi join named n on n.name = v.warc_file "
                "where v.stored in ('novel', 'delta') "
                "and not exists (select 1 from visits o where o.record_id = v.record_id)"
            )
        count = int(work.kernel.value("select count(*) from visits"))
        if count > before:
            segments.append(segment_facts.segment)
        before = count
    return tuple(segments)


def _load_links(work: TaskWork, segments: Sequence[FetchedFacts]) -> None:
    """Make the table `links` of the pages of `visits`, at the time of the visit."""
    _create_table(work, "links")
    for segment_facts in segments:
        with _temporary_facts(work, segment_facts.files("links")) as files:
            columns = _common_columns(work, files, "links", "l")
            work.kernel.execute(
                f"insert into links by name select {columns} from {files} l "
                "semi join visits v on v.key = l.src and v.time // 1000 = l.time"
            )


@contextmanager
def _temporary_facts(work: TaskWork, names: Sequence[str]) -> Iterator[str]:
    """Yield SQL of files of facts; local copies of remote files are deleted at the end."""
    paths = local_facts(work.storage, names, work)
    yield parquet(paths, by_name=True)
    for path in map(Path, paths):
        if path.is_relative_to(work.scratch):
            path.unlink()


def _create_table(work: TaskWork, name: str) -> None:
    """Make an empty table of facts."""
    empty = {"visits": facts.VISITS, "links": facts.LINKS}[name].empty_table()
    work.kernel.load(f"empty_{name}", empty)
    work.kernel.execute(f"create temp table {name} as select * from empty_{name}")


def _common_columns(work: TaskWork, files: str, name: str, row: str) -> str:
    """Return the common columns of files of facts and ours; another Nacre may have others."""
    ours = set(work.kernel.columns(f"from {name}"))
    there = [column for column in work.kernel.columns(f"from {files}") if column in ours]
    return ", ".join(f'{row}."{column}"' for column in there)


def _add_buckets(work: TaskWork, name: str, key: str, buckets: int) -> None:
    """Make the table `placed_NAME`, whose rows have the buckets of their keys here."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    host = host_sql(f"r.{key}")
    hosts = [n for (n,) in work.kernel.rows(f"select distinct {host} from {name} r")]
    numbers = [bucket_of_host(n, buckets) for n in hosts]
    table = {"host": pa.array(hosts, pa.string()), "number": pa.array(numbers, pa.int32())}
    work.kernel.load("host_buckets", pa.table(table))
    work.kernel.execute(
        f"create temp table placed_{name} as select b.number as bucket, r.* exclude (bucket) "
        f"from {name} r join host_buckets b on b.host = {host}"
    )
