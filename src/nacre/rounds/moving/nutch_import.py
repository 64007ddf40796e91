"""Import CrawlDb, LinkDb and HostDb of Nutch as rows of our tables.

The newest visit of a URL counts, so that an import into an active crawl adds newer visits, and a
repeated import changes nothing. Nutch and Java are not needed.
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
from nacre.rounds.steps.seed_rows import sync_seeds
from nacre.rounds.steps.taking import OtherRows, TakenRows, buckets_here, import_rows
from nacre.rounds.storage import remove_folder
from nacre.rounds.tables.versions import CycleVersion

RANGE = 64 << 20
"""Bytes of a file that a task reads; larger ones are divided."""

_MESSAGES = 100


class NutchPlaces(NamedTuple):
    """The directories of a crawl of Nutch; None for a missing one.

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
        filter: Skip URLs that the scope refuses.
        normalize: Apply the normalizers of the job to URLs.
        salvage: Skip unreadable records, and resume at the next sync mark.
    """

    filter: bool = False
    normalize: bool = False
    salvage: bool = False


class ImportResult(NamedTuple):
    """The outcome of an import.

    Attributes:
        records: Records that were read.
        taken: The outcomes of the URLs.
        links: Links that were written.
        no_urls: Keys that are no URLs.
        refused: URLs that the scope refuses, by rule.
        unknown: Metadata of unknown classes, stored as bytes, by class.
        damaged: Places of files that could not be read.
        messages: Messages about the first 100 of them.
        version: The version; None if nothing was committed.
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
    """Return the data of Nutch in a directory: a table itself, or `crawldb`, `segments` … in it.

    Raises:
        ConfigError: The directory has no data of Nutch, or files of another kind.
    """
    places = {name: directory / name for name in NutchPlaces._fields if (directory / name).is_dir()}
    if places:
        return NutchPlaces(**places)
    if (directory / "content").is_dir() or any(directory.glob("*/content")):
        return NutchPlaces(segments=directory)
    found_class = value_class(data_files(directory)[0])
    if found_class not in _TABLES:
        raise ConfigError(
            f"{directory} has values {found_class}; a CrawlDb, LinkDb or HostDb of "
            "Nutch is read here"
        )
    return NutchPlaces(**{_TABLES[found_class]: directory})


def require_tables(places: NutchPlaces) -> None:
    """Check that directories have files of their table.

    Raises:
        ConfigError: A directory has no files of Hadoop, or those of another table.
    """
    for expected, name in _TABLES.items():
        place = getattr(places, name)
        if place is not None and (actual := value_class(data_files(place)[0])) != expected:
            raise ConfigError(f"{place} is no {name}: it has values {actual}, and not {expected}")


def import_nutch(
    context: StepContext, places: NutchPlaces, options: NutchOptions, size: int = RANGE
) -> ImportResult:
    """Import tables of Nutch into those of a job.

    Args:
        context: The context of the driver.
        places: The tables.
        options: The options of the import.
        size: Bytes of a file that a task reads.

    Raises:
        ConfigError: A directory or file is not in a format of Nutch.
        DamageError: A record cannot be read, without `salvage`.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = sync_seeds(context)
    folder = f"exchange/import-{version.number + 1}-{secrets.token_hex(6)}"
    storage = context.cycle.storage
    try:
        results: dict[str, list[tuple[NutchSpec, NutchCounts]]] = {}
        for name, task in _TASKS.items():
            place = getattr(places, name)
            specs = [] if place is None else list(_specs(context, place, version, options, size))
            named = [
                spec._replace(target=f"{folder}/{name}-{spec.number}.parquet") for spec in specs
            ]
            results[name] = list(zip(named, context.engine.map(task, named), strict=True))
        rows = OtherRows(
            _targets(results["crawldb"]),
            _targets(results["hostdb"]),
            tuple(file for _, spec in results["linkdb"] for file in spec.files),
            sum(spec.rows for _, spec in results["crawldb"]),
        )
        sources = {name: str(place) for name in _TASKS if (place := getattr(places, name))}
        return _result(import_rows(context, version, rows, "import", sources), results)
    finally:
        remove_folder(storage, folder)


_TASKS: dict[str, Callable[[NutchSpec], NutchCounts]] = {
    "crawldb": crawldb_task,
    "linkdb": linkdb_task,
    "hostdb": hostdb_task,
}


def _targets(results: Sequence[tuple[NutchSpec, NutchCounts]]) -> tuple[str, ...]:
    return tuple(spec.target for spec, counts in results if counts.rows)


def _specs(
    context: StepContext, place: Path, version: CycleVersion, options: NutchOptions, size: int
) -> Iterator[NutchSpec]:
    rules = rules_of_step(context, version)
    settings = context.settings.cycle
    has_cash = any(isinstance(kind, Opic) for kind in settings.scoring)
    for number, within in enumerate(ranges(data_files(place.absolute()), size)):
        yield NutchSpec(
            context.place, within, number, buckets_here(context, version), version.number + 1, "",
            rules, options.filter, options.normalize, options.salvage, context.clock, has_cash,
            settings.links, context.dry,
        )  # fmt: skip


def _result(
    outcome: TakenRows, results: dict[str, list[tuple[NutchSpec, NutchCounts]]]
) -> ImportResult:
    counts = [count for pairs in results.values() for _, count in pairs]
    refused: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for count in counts:
        refused.update(count.refused)
        unknown.update(count.unknown)
    return ImportResult(
        sum(count.records for count in counts),
        outcome,
        sum(count.rows for _, count in results["linkdb"]),
        sum(count.no_urls for count in counts),
        dict(refused),
        dict(unknown),
        sum(count.damaged for count in counts),
        tuple(message for count in counts for message in count.messages)[:_MESSAGES],
        outcome.version,
    )
