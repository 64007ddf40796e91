"""The import of tables of Nutch: CrawlDb, LinkDb and HostDb become rows of ours.

The newest visit of a URL counts, so that an import into a crawl that goes on takes what is newer,
and one that is done again changes nothing. Nutch and Java are not needed.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.crawldb.scoring import Opic
from nacre.errors import ConfigError
from nacre.rounds.moving import nutch
from nacre.rounds.moving.hadoop import data_files, ranges
from nacre.rounds.moving.nutch_tasks import (
    NutchCounts,
    NutchSpec,
    crawldb_task,
    hostdb_task,
    linkdb_task,
    value_class,
)
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.judging import rules_of_step
from nacre.rounds.steps.seed_rows import synced
from nacre.rounds.steps.taking import OtherRows, TakenRows, buckets_here, take_rows
from nacre.rounds.storage import remove_folder
from nacre.rounds.tables.versions import CycleVersion

RANGE = 64 << 20
"""Bytes of a file that a task reads; larger ones are divided."""

_MESSAGES = 100


class NutchPlaces(NamedTuple):
    """The directories of a crawl of Nutch; None where there is none.

    Attributes:
        crawldb: Its CrawlDb.
        linkdb: Its LinkDb.
        hostdb: Its HostDb.
        segments: Its segments, or one of them.
    """

    crawldb: Path | None = None
    linkdb: Path | None = None
    hostdb: Path | None = None
    segments: Path | None = None


class NutchOptions(NamedTuple):
    """The options of an import.

    Attributes:
        filter: Leave out what the scope refuses.
        normalize: Bring URLs into the form that the job gives them.
        salvage: Leave out what cannot be read, and go on at the next sync mark.
    """

    filter: bool = False
    normalize: bool = False
    salvage: bool = False


class ImportResult(NamedTuple):
    """The outcome of an import.

    Attributes:
        records: Records that were read.
        taken: What became of the URLs.
        links: Links that were written.
        no_urls: Keys that are no URLs.
        refused: URLs that the scope refuses, by rule.
        unknown: Metadata of unknown classes, kept as bytes, by class.
        damaged: Places of files that could not be read.
        messages: The first 100 of them.
        version: The version; None where nothing was committed.
    """

    records: int
    taken: TakenRows
    links: int
    no_urls: int
    refused: dict[str, int]
    unknown: dict[str, int]
    damaged: int
    messages: tuple[str, ...]
    version: CycleVersion | None


_TABLES = {nutch.CRAWL_DATUM: "crawldb", nutch.INLINKS: "linkdb", nutch.HOST_DATUM: "hostdb"}


def nutch_places(directory: Path) -> NutchPlaces:
    """The data of Nutch in a directory: one of them itself, or `crawldb`, `segments` … in it.

    Raises:
        ConfigError: There is none, or its files are of another kind.
    """
    found = {name: directory / name for name in NutchPlaces._fields if (directory / name).is_dir()}
    if found:
        return NutchPlaces(**found)
    if (directory / "content").is_dir() or any(directory.glob("*/content")):
        return NutchPlaces(segments=directory)
    known = value_class(data_files(directory)[0])
    if known not in _TABLES:
        raise ConfigError(
            f"{directory} has values {known}; a CrawlDb, LinkDb or HostDb of Nutch is read here"
        )
    return NutchPlaces(**{_TABLES[known]: directory})


def require_tables(places: NutchPlaces) -> None:
    """Compare the files of directories with what they are said to be.

    Raises:
        ConfigError: One has no files of Hadoop, or those of another table.
    """
    for known, name in _TABLES.items():
        place = getattr(places, name)
        if place is not None and (found := value_class(data_files(place)[0])) != known:
            raise ConfigError(f"{place} is no {name}: it has values {found}, and not {known}")


def import_nutch(
    context: StepContext, places: NutchPlaces, options: NutchOptions, size: int = RANGE
) -> ImportResult:
    """Bring tables of Nutch into those of a job.

    Args:
        context: The context of the driver.
        places: The tables.
        options: What is done with their rows.
        size: Bytes of a file that a task reads.

    Raises:
        ConfigError: A directory or file is none of Nutch's.
        DamageError: A record cannot be read, and nothing is to be salvaged.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = synced(context)
    folder = f"exchange/import-{version.number + 1}-{secrets.token_hex(6)}"
    storage = context.cycle.storage
    try:
        found: dict[str, list[tuple[NutchSpec, NutchCounts]]] = {}
        for name, task in _TASKS.items():
            place = getattr(places, name)
            specs = [] if place is None else list(_specs(context, place, version, options, size))
            named = [one._replace(target=f"{folder}/{name}-{one.number}.parquet") for one in specs]
            found[name] = list(zip(named, context.engine.map(task, named), strict=True))
        rows = OtherRows(
            _targets(found["crawldb"]),
            _targets(found["hostdb"]),
            tuple(file for _, one in found["linkdb"] for file in one.files),
            sum(one.rows for _, one in found["crawldb"]),
        )
        said = {name: str(place) for name in _TASKS if (place := getattr(places, name))}
        return _result(take_rows(context, version, rows, "import", said), found)
    finally:
        remove_folder(storage, folder)


_TASKS: dict[str, Callable[[NutchSpec], NutchCounts]] = {
    "crawldb": crawldb_task,
    "linkdb": linkdb_task,
    "hostdb": hostdb_task,
}


def _targets(found: Sequence[tuple[NutchSpec, NutchCounts]]) -> tuple[str, ...]:
    return tuple(spec.target for spec, one in found if one.rows)


def _specs(
    context: StepContext, place: Path, version: CycleVersion, options: NutchOptions, size: int
) -> Iterator[NutchSpec]:
    rules = rules_of_step(context, version)
    settings = context.settings.cycle
    has_cash = any(isinstance(one, Opic) for one in settings.scoring)
    for number, within in enumerate(ranges(data_files(place.absolute()), size)):
        yield NutchSpec(
            context.place, within, number, buckets_here(context, version), version.number + 1, "",
            rules, options.filter, options.normalize, options.salvage, context.clock, has_cash,
            settings.links, context.dry,
        )  # fmt: skip


def _result(
    taken: TakenRows, found: dict[str, list[tuple[NutchSpec, NutchCounts]]]
) -> ImportResult:
    counts = [one for of in found.values() for _, one in of]
    refused: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for one in counts:
        refused.update(one.refused)
        unknown.update(one.unknown)
    return ImportResult(
        sum(one.records for one in counts),
        taken,
        sum(one.rows for _, one in found["linkdb"]),
        sum(one.no_urls for one in counts),
        dict(refused),
        dict(unknown),
        sum(one.damaged for one in counts),
        tuple(message for one in counts for message in one.messages)[:_MESSAGES],
        taken.version,
    )
