"""The views of operations on tables: imports, exports, merges, versions, storage."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import typer

from nacre.cli import output
from nacre.cli.cycle.step_commands import StepCall, StepView
from nacre.cli.cycle.texts import refused_text, result_numbers
from nacre.cli.output import count
from nacre.core.states import ExitCode
from nacre.ops.operation import Operation
from nacre.ops.round_tables import (
    COMPACT,
    EXPORT,
    HASH,
    IMPORT,
    MERGE,
    STORAGE,
    VERSIONS,
    HashedTable,
    ImportedJob,
    NutchImport,
    PlannedMerges,
    TablePaths,
    VersionRestore,
    WrittenSeeds,
)
from nacre.report.formatting import size, time_text

if TYPE_CHECKING:
    from nacre.rounds.check import StorageCheck
    from nacre.rounds.moving.job_import import JobImport
    from nacre.rounds.moving.nutch_import import ImportResult
    from nacre.rounds.moving.nutch_segments import SegmentsResult
    from nacre.rounds.segments.compaction import CompactResult
    from nacre.rounds.steps.merge import MergeResult
    from nacre.rounds.tables.versions import CycleVersion


def tell_left_out(result: NutchImport) -> None:
    """Print the records that an import left out, to stderr."""
    for part in result:
        for line in part.messages if part is not None else ():
            output.tell(f"left out: {line}")


def nutch_text(result: NutchImport, *, dry: bool = False) -> str:
    """Return the text of an import from Nutch."""
    lines = [import_text(result.tables, dry=dry)] if result.tables is not None else []
    lines += [segments_text(result.segments)] if result.segments is not None else []
    return "\n".join(lines)


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
        text += f"; left out: {count(rows.robots, 'request')} for robots.txt, repeated by a fetch"
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


def import_numbers(result: NutchImport | ImportedJob) -> dict[str, Any]:
    """Return the result of an import for JSON."""
    if isinstance(result, ImportedJob):
        counts = result.result
        archive = {"warcs": counts.warcs, "located": counts.located}
        return {**counts.rows._asdict(), **archive, "taken": result_numbers(counts.taken)}
    numbers: dict[str, Any] = {}
    if (tables := result.tables) is not None:
        numbers = {**result_numbers(tables), "taken": result_numbers(tables.taken)}
    if result.segments is not None:
        numbers["segments"] = result_numbers(result.segments)
    return numbers


def _tell_import(result: NutchImport | ImportedJob, call: StepCall) -> None:
    if isinstance(result, NutchImport) and not call.as_json:
        tell_left_out(result)


def _import_text(result: NutchImport | ImportedJob, call: StepCall) -> str:
    if isinstance(result, NutchImport):
        return nutch_text(result, dry=call.is_dry)
    text = job_text(result.result, dry=call.is_dry)
    if not result.is_planned:
        return text
    target, source = output.format_path(call.directory), output.format_path(call.request.source)
    return f"{text}\n{target} would be made, with the configuration of {source}"


def _export_text(result: Any, call: StepCall) -> str:  # noqa: ANN401 - of several types
    target = call.request.target
    if isinstance(result, Iterator):
        for line in result:
            typer.echo(line)  # as it is: between its parts are TABs
        return ""
    if isinstance(result, WrittenSeeds):
        return f"{count(result.number, 'seed')} in {output.format_path(target)}"
    if call.request.parquet:
        removed = f", {result.removed:,} removed" if result.removed else ""
        place = output.format_path(target)
        return (
            f"{count(result.rows, 'URL')} of version {result.version} in {place}: "
            f"{count(result.written, 'file')} written, {result.unchanged:,} unchanged{removed}"
        )
    command = "run" if result.waiting else "recrawl"
    return (
        f"{count(result.visited, 'URL')} known, {result.waiting:,} wait\n"
        f"Start: {output.program()} {command} {output.typed(target)}"
    )


def _export_numbers(result: Any) -> object:  # noqa: ANN401 - of several types
    is_text = isinstance(result, Iterator | WrittenSeeds)
    return None if is_text else result_numbers(result)


def _versions_text(
    result: "VersionRestore | TablePaths | list[CycleVersion]", _call: StepCall
) -> str:
    if isinstance(result, TablePaths):
        return "\n".join(result.paths)
    if isinstance(result, VersionRestore):
        if result.version is None:
            return f"version {result.restored} can be restored: its files are whole"
        return f"version {result.restored} restored as version {result.version.number}"
    rows = [(item.number, item.step, time_text(item.clock), item.host) for item in result]
    return output.table(rows) if rows else "no version yet"


def _versions_numbers(result: "VersionRestore | TablePaths | list[CycleVersion]") -> object:
    if isinstance(result, TablePaths):
        return None
    if isinstance(result, VersionRestore):
        return result_numbers(result)
    return [
        {"version": item.number, "step": item.step, "host": item.host, "clock": item.clock,
         "settings": item.settings, "counters": item.counters}
        for item in result
    ]  # fmt: skip


def _hash_text(result: HashedTable, _call: StepCall) -> str:
    return result.sha256


def _compact_text(result: "CompactResult | PlannedMerges", _call: StepCall) -> str:
    if isinstance(result, PlannedMerges):
        return f"buckets to merge: {_merged_text(result.merged)}"
    return (
        f"merged buckets: {_merged_text(result.merged)}; {result.files_before} files "
        f"({size(result.size_before)}) are {result.files_after} ({size(result.size_after)}); "
        f"{count(result.removed, 'file')} removed ({size(result.freed)})"
    )


def _merged_text(merged: Mapping[str, int]) -> str:
    return ", ".join(f"{number} of {name}" for name, number in sorted(merged.items())) or "none"


def _storage_text(result: "StorageCheck", call: StepCall) -> str:
    """Print the check, and return ""."""
    from nacre.cli.cycle.check_text import say_advice, say_check, say_repair

    repair = call.request.repair
    say_check(result)
    if repair:
        say_repair(result, dry=call.is_dry)
    say_advice(result, str(call.directory), repair=repair)
    return ""


def _storage_numbers(result: "StorageCheck") -> dict[str, Any]:
    from nacre.cli.cycle.check_text import check_data

    return check_data(result)


def _storage_code(result: "StorageCheck", _call: StepCall) -> ExitCode:
    return ExitCode.DAMAGED if result.left or result.cash else ExitCode.FINISHED


TABLES: Final[tuple[tuple[Operation[Any, Any], StepView], ...]] = (
    (MERGE, StepView(lambda result, call: merge_text(result, dry=call.is_dry))),
    (EXPORT, StepView(_export_text, _export_numbers)),
    (IMPORT, StepView(_import_text, import_numbers, tell=_tell_import)),
    (VERSIONS, StepView(_versions_text, _versions_numbers)),
    (HASH, StepView(_hash_text)),
    (COMPACT, StepView(_compact_text)),
    (STORAGE, StepView(_storage_text, _storage_numbers, _storage_code)),
)
"""The commands on tables, in the order of the help."""
