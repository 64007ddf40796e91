"""The archive of a merge: the captures of the rows that it takes are found where they are.

The WARC files of the other crawls are named, and stay where they are. A segment of its own has the
visits of these captures, with the links of their pages, in a part for each task; a task reads some
parts of another crawl.
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
from nacre.rounds.segments.segment_files import recorded
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.freezing import freeze_segment
from nacre.rounds.steps.generate import new_segments
from nacre.rounds.steps.links import LINKS, TAKEN
from nacre.rounds.steps.taking import buckets_here
from nacre.rounds.steps.update_tasks import FetchedFacts, facts_of, local_facts
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.tables import TaskPlace, TaskWork, archived_warcs
from nacre.rounds.tables.versions import OUTSIDE, Cycle, CycleVersion, SegmentState, TableFile

_KINDS = ("visits", "links")
_TASK_PARTS = 128
"""Parts of another crawl that a task reads."""


class OtherArchive(NamedTuple):
    """The archive of others, as far as rows that are taken need it.

    Attributes:
        files: Their WARC files that were not named here.
        segments: The segment of the captures; {} where there are none.
        captures: Captures that are found there.
    """

    files: tuple[TableFile, ...] = ()
    segments: Mapping[str, SegmentState] = {}
    captures: int = 0


class ArchiveSpec(NamedTuple):
    """One task: the captures in parts of another crawl that rows were taken for.

    Attributes:
        place: Our place.
        other: Theirs.
        number: Place of the other crawl among all.
        records: Files with the records that are wanted: `place`, `record_id`.
        facts: Some of their segments; of a large one some of its parts.
        warcs: Their WARC files that can be named here: the path of each by its name.
        own: Those that we wrote ourselves, whose visits our own segments have.
        buckets: Number of our buckets.
        segment: Our segment for the visits; "": count, and publish nothing.
    """

    place: TaskPlace
    other: TaskPlace
    number: int
    records: tuple[str, ...]
    facts: tuple[FetchedFacts, ...]
    warcs: Mapping[str, str]
    own: frozenset[str]
    buckets: int
    segment: str = ""


class ArchiveFound(NamedTuple):
    """The captures of a task that were found.

    Attributes:
        captures: Their number.
        warcs: Names of the WARC files that they need.
        part: The folder of their facts; "" where there are none.
        segments: The other segments that they come from.
    """

    captures: int = 0
    warcs: tuple[str, ...] = ()
    part: str = ""
    segments: tuple[str, ...] = ()


def taken_archive(
    context: StepContext,
    version: CycleVersion,
    others: Sequence[tuple[Cycle, CycleVersion]],
    records: Sequence[str],
) -> OtherArchive:
    """Find the captures of the rows that are taken, and write the segment of their visits.

    Args:
        context: The context of the driver.
        version: Our newest version.
        others: The other crawls, with their versions, in order of their places.
        records: Files with the records that are wanted.
    """
    mine = archived_warcs(context.cycle, version)
    named = dict(mine)
    specs = _archive_specs(context, version, others, records, named)
    if not records or not specs:
        return OtherArchive()
    if context.dry:
        return _archive(context.engine.map(archive_task, specs), mine, named, {})
    (segment,) = new_segments(context.cycle.storage, context.clock, 1)
    made = context.engine.map(archive_task, [one._replace(segment=segment) for one in specs])
    if not any(one.part for one in made):
        return OtherArchive()
    write_empty_list(context.place, segment)
    marks = freeze_segment(context, version, segment)
    theirs_taken = all(
        _has_their_links(others[spec.number][1], one.segments)
        for spec, one in zip(specs, made, strict=True)
    )
    state = SegmentState(
        state="updated",
        units=1,
        urls=sum(one.captures for one in made),
        parts={UNIT: [one.part for one in made if one.part]},
        # Without the mark the step `links` takes them; those that came already fold with them.
        more={IMPORTED: OF_ROUNDS, **({TAKEN: True} if theirs_taken else {}), **marks},
    )
    state = recorded(context.engine, context.cycle.storage, segment, state)
    return _archive(made, mine, named, {segment: state})


def _archive_specs(
    context: StepContext,
    version: CycleVersion,
    others: Sequence[tuple[Cycle, CycleVersion]],
    records: Sequence[str],
    named: dict[str, TableFile],
) -> list[ArchiveSpec]:
    """The tasks; the WARC files of others that can be named here are added to `named`."""
    own = frozenset(name for name, file in named.items() if file.kind != OUTSIDE)
    specs = []
    for number, (other, theirs) in enumerate(others):
        found = outside_warcs(
            context.cycle.storage, named, archived_warcs(other, theirs), other.storage.place
        )
        named |= found
        warcs = {name: file.path for name, file in found.items()}
        if not warcs.keys() - own:
            continue
        specs += [
            ArchiveSpec(
                context.place,
                context.place._replace(storage=other.storage.place),
                number,
                tuple(records),
                group,
                warcs,
                own & found.keys(),
                buckets_here(context, version),
            )
            for group in _in_groups(theirs)
        ]
    return specs


def _in_groups(version: CycleVersion) -> Iterator[tuple[FetchedFacts, ...]]:
    """The parts of all segments, as many as a task reads."""
    group: list[FetchedFacts] = []
    room = _TASK_PARTS
    for name, state in version.segments.items():
        whole = facts_of(name, state)
        left = whole.parts
        while left:
            group.append(whole._replace(parts=left[:room]))
            left, room = left[room:], room - len(left[:room])
            if not room:
                yield tuple(group)
                group, room = [], _TASK_PARTS
    if group:
        yield tuple(group)


def _has_their_links(version: CycleVersion, segments: Sequence[str]) -> bool:
    """Whether the table of links of another crawl has all links of some of its segments."""
    states = [version.segments[name] for name in segments]
    taken = all(TAKEN in one.more or SITEMAPS in one.more for one in states)
    return not states or (LINKS in version.tables and taken)


def _archive(
    found: Sequence[ArchiveFound],
    mine: Mapping[str, TableFile],
    named: Mapping[str, TableFile],
    segments: Mapping[str, SegmentState],
) -> OtherArchive:
    names = sorted({name for one in found for name in one.warcs if name not in mine})
    captures = sum(one.captures for one in found)
    return OtherArchive(tuple(named[name] for name in names), segments, captures)


def archive_task(spec: ArchiveSpec) -> ArchiveFound:
    """Find the wanted captures in parts of another crawl, and write their visits and links."""
    with spec.other.open() as work:
        _load_wanted(work, spec)
        segments = _load_visits(work, spec)
        count = int(work.kernel.value("select count(distinct record_id) from visits"))
        if not count:
            return ArchiveFound()
        query = "select distinct warc_file from visits order by 1"
        warcs = [name for (name,) in work.kernel.rows(query)]
        if work.kernel.value("select count(*) from visits where stored = 'delta'"):
            # A difference may be to a record of any of them.
            warcs = sorted(spec.warcs)
        if not spec.segment:
            return ArchiveFound(count, tuple(warcs))
        _load_links(work, [one for one in spec.facts if one.segment in segments])
        for name, key in zip(_KINDS, ("key", "dst"), strict=True):
            _place(work, name, key, spec.buckets)
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
    """Make the table `visits`: those that archived the wanted records, each once.

    Returns:
        The segments that they come from.
    """
    _begin(work, "visits")
    found, before = [], 0
    for one in spec.facts:
        with _facts_for_now(work, one.files("visits")) as files:
            columns = _common(work, files, "visits", "v")
            work.kernel.execute(
                f"insert into visits by name select {columns} from {files} v "
                "semi join wanted w on w.record_id = v.record_id "
                "semi join named n on n.name = v.warc_file "
                "where v.stored in ('novel', 'delta') "
                "and not exists (select 1 from visits o where o.record_id = v.record_id)"
            )
        count = int(work.kernel.value("select count(*) from visits"))
        if count > before:
            found.append(one.segment)
        before = count
    return tuple(found)


def _load_links(work: TaskWork, segments: Sequence[FetchedFacts]) -> None:
    """Make the table `links`: those of the pages of `visits`, as they were then."""
    _begin(work, "links")
    for one in segments:
        with _facts_for_now(work, one.files("links")) as files:
            columns = _common(work, files, "links", "l")
            work.kernel.execute(
                f"insert into links by name select {columns} from {files} l "
                "semi join visits v on v.key = l.src and v.time // 1000 = l.time"
            )


@contextmanager
def _facts_for_now(work: TaskWork, names: Sequence[str]) -> Iterator[str]:
    """SQL of files of facts; copies of those that lie elsewhere are deleted in the end."""
    paths = local_facts(work.storage, names, work)
    yield parquet(paths, by_name=True)
    for path in map(Path, paths):
        if path.is_relative_to(work.scratch):
            path.unlink()


def _begin(work: TaskWork, name: str) -> None:
    """Make an empty table of facts."""
    empty = {"visits": facts.VISITS, "links": facts.LINKS}[name].empty_table()
    work.kernel.load(f"empty_{name}", empty)
    work.kernel.execute(f"create temp table {name} as select * from empty_{name}")


def _common(work: TaskWork, files: str, name: str, row: str) -> str:
    """The columns that files of facts and ours have; those of another Nacre may have others."""
    ours = set(work.kernel.columns(f"from {name}"))
    there = [column for column in work.kernel.columns(f"from {files}") if column in ours]
    return ", ".join(f'{row}."{column}"' for column in there)


def _place(work: TaskWork, name: str, key: str, buckets: int) -> None:
    """Make the table `placed_NAME`, whose rows have the buckets of their keys here."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    host = host_sql(f"r.{key}")
    hosts = [one for (one,) in work.kernel.rows(f"select distinct {host} from {name} r")]
    numbers = [bucket_of_host(one, buckets) for one in hosts]
    table = {"host": pa.array(hosts, pa.string()), "number": pa.array(numbers, pa.int32())}
    work.kernel.load("host_buckets", pa.table(table))
    work.kernel.execute(
        f"create temp table placed_{name} as select b.number as bucket, r.* exclude (bucket) "
        f"from {name} r join host_buckets b on b.host = {host}"
    )
