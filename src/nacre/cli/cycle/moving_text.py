"""The texts of imports into the tables of a directory, and of exports."""

from typing import TYPE_CHECKING, Any

from nacre.cli import output
from nacre.cli.cycle.texts import refused_text
from nacre.cli.output import count

if TYPE_CHECKING:
    from nacre.rounds.moving.job_import import JobImport
    from nacre.rounds.moving.nutch_import import ImportResult
    from nacre.rounds.moving.nutch_segments import SegmentsResult
    from nacre.rounds.steps.merge import MergeResult
    from nacre.rounds.tables.versions import CycleVersion


def say_import(
    result: "ImportResult | None", segments: "SegmentsResult | None" = None, *, dry: bool = False
) -> None:
    """Print the result of an import; damage goes to stderr."""
    for item in (result, segments):
        for line in item.messages if item is not None else ():
            output.tell(f"left out: {line}")
    if result is not None:
        output.say(import_text(result, dry=dry))
    if segments is not None:
        output.say(segments_text(segments))


def import_text(result: "ImportResult", *, dry: bool = False) -> str:
    """`10 records: 10 URLs, 10 new, 0 newer; 3 links, 2 hosts`."""
    outcome = result.taken
    text = (
        f"{count(result.records, 'record')}: {count(outcome.known, 'URL')}, {outcome.new:,} new, "
    )
    text += (
        f"{outcome.newer:,} newer; {count(result.links, 'link')}, {count(outcome.hosts, 'host')}"
    )
    text += f"; {refused_text(result.refused)}" if result.refused else ""
    text += left_out_text(result.no_urls, result.damaged)
    unknown = ", ".join(f"{number:,} of {name}" for name, number in sorted(result.unknown.items()))
    text += f"; kept as bytes: {unknown}" if unknown else ""
    return text + unchanged_text(outcome.version, dry=dry)


def merge_text(result: "MergeResult", *, dry: bool = False) -> str:
    """`412 URLs: 300 new, 12 newer; 4 refused by scope; 900 links, 3 hosts; 1 WARC file …`."""
    text = f"{count(result.known, 'URL')}: {result.new:,} new, {result.newer:,} newer"
    text += f"; {refused_text(result.refused)}" if result.refused else ""
    text += f"; {count(result.links, 'link')}, {count(result.hosts, 'host')}; "
    captures = count(result.located, "new capture")
    text += f"{count(result.warcs, 'WARC file')} with {captures}"
    return text + unchanged_text(result.version, dry=dry)


def job_text(result: "JobImport", *, dry: bool = False) -> str:
    """`40 URLs visited, 12 wait, 30 with a capture, 1 seed: 52 URLs …; 1 WARC file …`."""
    rows, urls = result.rows, result.taken
    text = (
        f"{count(rows.visited, 'URL')} visited, {rows.waiting:,} wait, {rows.captures:,} with a "
        f"capture, {count(rows.seeds, 'seed')}: {count(urls.known, 'URL')}, {urls.new:,} new, "
        f"{urls.newer:,} newer; {count(result.warcs, 'WARC file')} with "
        f"{count(result.located, 'new capture')}"
    )
    if rows.robots:
        text += f"; left out: {count(rows.robots, 'request')} for robots.txt, made anew by a fetch"
    return text + unchanged_text(urls.version, dry=dry)


def unchanged_text(version: "CycleVersion | None", *, dry: bool) -> str:
    """`; nothing changed` where nothing was committed, though it could have been."""
    return "" if dry or version is not None else "; nothing changed"


def segments_text(result: "SegmentsResult") -> str:
    """`2 segments: 40 pages in the archive, 44 visits, 2,000 links`."""
    earlier = f"; {count(len(result.known), 'segment')} imported before" if result.known else ""
    if result.version is None:
        return f"{count(len(result.segments), 'segment')} to import{earlier}"
    text = f"{count(len(result.segments), 'segment')}: {count(result.pages, 'page')} in the "
    text += f"archive, {count(result.visits, 'visit')}, {count(result.links, 'link')}{earlier}"
    return text + left_out_text(result.no_urls, result.damaged)


def left_out_text(no_urls: int, damaged: int) -> str:
    """Return `; left out: 1 damaged record`; "" if nothing was skipped."""
    text = ""
    counts = [(no_urls, "key without a URL", "keys without a URL")]
    counts.append((damaged, "damaged record", "damaged records"))
    for number, noun, many in counts:
        text += f"; left out: {number:,} {noun if number == 1 else many}" if number else ""
    return text


def import_numbers(
    result: "ImportResult | None", segments: "SegmentsResult | None" = None
) -> dict[str, Any]:
    """The same as plain data."""
    numbers = table_numbers(result) if result is not None else {}
    if segments is not None:
        version = segments.version.number if segments.version is not None else None
        numbers["segments"] = {**segments._asdict(), "version": version}
    return numbers


def table_numbers(result: "ImportResult") -> dict[str, Any]:
    """The numbers of tables."""
    version = result.version.number if result.version is not None else None
    outcome = {**result.taken._asdict(), "version": version}
    return {**result._asdict(), "taken": outcome, "version": version}
