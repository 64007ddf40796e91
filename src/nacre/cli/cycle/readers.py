"""The views of readers: rows of tables, segments, hosts, links, pages."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from nacre.cli import output
from nacre.cli.cycle.step_commands import StepCall, StepView
from nacre.cli.cycle.texts import result_numbers
from nacre.core.clock import duration
from nacre.core.states import ExitCode
from nacre.ops.operation import Operation
from nacre.ops.round_readers import (
    EXPLAIN,
    PARSE_CHECK,
    READ_DB,
    READ_HOSTS,
    READ_LINKS,
    READ_SEGMENTS,
    SEGMENTS,
    SQL,
    BestUrls,
    ChangedSegment,
    DroppedSegments,
    LinksOfPage,
    ListedSegments,
    QueryRows,
    WrittenRows,
)
from nacre.report.escape import flat
from nacre.report.formatting import size, time_text

if TYPE_CHECKING:
    from nacre.crawldb.settings import LinkDbSettings
    from nacre.rounds.explain import UrlExplanation
    from nacre.rounds.link_rows import PageLink
    from nacre.rounds.page_check import CheckedPage
    from nacre.rounds.segment_commands import SegmentContents
    from nacre.rounds.segments.orphans import OrphanSalvage
    from nacre.rounds.tables.readers import TableStats

_WIDTH = 60
_COLUMNS = ("segment", "time", "status", "reason", "mime", "size", "duration", "warc_file", "key")
_PAGE_COLUMNS = (
    "status", "error", "mime", "lang", "size", "redirect", "canonical", "noindex", "nofollow",
    "soft_404", "parse_failed", "payload_digest", "outlinks",
)  # fmt: skip
_NO_SEGMENT = "no segment yet: `generate` makes one"


def _written_text(result: WrittenRows) -> str:
    return f"{output.count(result.number, 'row')} in {output.format_path(result.path)}"


def _read_db_text(result: Any, _call: StepCall) -> str:  # noqa: ANN401 - of several types
    if isinstance(result, WrittenRows):
        return _written_text(result)
    if isinstance(result, BestUrls):
        rows = [(f"{score:.6g}", key) for score, key in result.rows]
        return output.table([("score", "url"), *rows], indent="") if rows else ""
    if isinstance(result, dict):
        return output.pairs({name: value for name, value in result.items() if value is not None})
    return _stats_text(result)


def _stats_text(stats: "TableStats") -> str:
    lines = [output.count(stats.total, "URL")]
    if not stats.total:
        return lines[0]
    rows: list[tuple[object, object]] = sorted(stats.statuses.items())
    rows += [(f"retry {number}", urls) for number, urls in sorted(stats.retries.items())]
    lines.append(output.table(rows))
    spans = {
        "fetch time": [time_text(round(time)) for time in stats.fetch_times],
        "interval": [duration(interval) for interval in stats.intervals],
        "score": [f"{score:.6g}" for score in stats.scores],
    }
    head = ("", "least", "mean", "greatest")
    lines.append(output.table([head, *((name, *values) for name, values in spans.items())]))
    quantiles = ", ".join(f"{share:g}: {value:.4g}" for share, value in stats.quantiles.items())
    lines.append(f"  quantiles of the score: {quantiles}")
    for host, counts in sorted(stats.hosts.items()):
        text = ", ".join(f"{number:,} {name}" for name, number in sorted(counts.items()))
        lines.append(f"  {host}: {text}")
    return "\n".join(lines)


def _read_db_numbers(result: Any) -> object:  # noqa: ANN401 - of several types
    if isinstance(result, BestUrls):
        return [{"score": score, "url": key} for score, key in result.rows]
    if isinstance(result, dict):
        return result
    if isinstance(result, WrittenRows):
        return None
    return {name: _plain_keys(value) for name, value in result._asdict().items()}


def _plain_keys(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _plain_keys(inner) for name, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _rows_text(result: QueryRows | WrittenRows, _call: StepCall) -> str:
    from nacre.rounds.tables.row_files import plain_row

    if isinstance(result, WrittenRows):
        return _written_text(result)
    if result.none and not result.rows:
        return result.none
    rows = [plain_row(row, finite=False) for row in result.rows]
    lines = [tuple(_cell(row.get(name)) for name in result.names) for row in rows]
    return output.table([tuple(result.names), *lines], indent="")


def _rows_numbers(result: QueryRows | WrittenRows) -> object:
    from nacre.rounds.tables.row_files import plain_row

    if isinstance(result, WrittenRows):
        return None
    return [plain_row(row) for row in result.rows]


def _cell(value: object) -> object:
    if isinstance(value, int | float):
        return value
    text = "" if value is None else str(value)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _explain_text(result: "UrlExplanation", _call: StepCall) -> str:
    from nacre.cli.cycle.explain_text import explain_lines

    return "\n".join(explain_lines(result))


def _page_text(page: "CheckedPage", _call: StepCall) -> str:
    values = {name: page.visit[name] for name in _PAGE_COLUMNS}
    lines = [
        page.url,
        output.pairs({name: value for name, value in values.items() if value not in (None, False)}),
        f"{output.count(len(page.links), 'link')} that the scope accepts",
    ]
    for link in page.links:
        anchor = f"  {flat(link['anchor'])}" if link["anchor"] else ""
        lines.append(f"  {link['hop']} {link['dst']}{anchor}")
    return "\n".join(lines)


def _page_numbers(page: "CheckedPage") -> dict[str, Any]:
    visit = {name: page.visit[name] for name in _PAGE_COLUMNS}
    return {"url": page.url, **visit, "links": page.links}


def _page_code(page: "CheckedPage", _call: StepCall) -> ExitCode:
    is_page = 200 <= int(page.visit["status"] or 0) < 400
    return ExitCode.FINISHED if is_page else ExitCode.NOTHING_FETCHED


def _visits_text(result: ListedSegments | QueryRows | WrittenRows, _call: StepCall) -> str:
    if isinstance(result, WrittenRows):
        return _written_text(result)
    if isinstance(result, ListedSegments):
        return _contents_text(result.contents)
    return output.table(_columns(result.rows), indent="") if result.rows else result.none


def _contents_text(contents: "Sequence[SegmentContents]") -> str:
    if not contents:
        return _NO_SEGMENT
    head = (
        "segment", "state", "URLs", "visits", "pages", "not attempted", "links", "first", "last",
    )  # fmt: skip
    lines = [
        (*row[:7], *("" if at is None else time_text(at) for at in (row.first, row.last)))
        for row in contents
    ]
    return output.table([head, *lines], indent="")


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[tuple[object, ...]]:
    lines: list[tuple[object, ...]] = [_COLUMNS]
    for row in rows:
        time = time_text(row["time"] // 1000) if row["time"] else ""
        values = {**row, "time": time}
        lines.append(tuple("" if values[name] is None else values[name] for name in _COLUMNS))
    return lines


def _visits_numbers(result: ListedSegments | QueryRows | WrittenRows) -> object:
    if isinstance(result, WrittenRows):
        return None
    if isinstance(result, ListedSegments):
        return [row._asdict() for row in result.contents]
    return result.rows


def _hosts_text(result: QueryRows | WrittenRows, call: StepCall) -> str:
    """The columns of a host that are not null, one a line; a table of several hosts."""
    from nacre.rounds.tables.row_files import plain_row

    if isinstance(result, WrittenRows) or not call.request.host or not result.rows:
        return _rows_text(result, call)
    return "\n".join(
        output.pairs(
            {name: _of_host(name, row[name]) for name in result.names if row[name] is not None},
            indent="",
        )
        for row in (plain_row(row, finite=False) for row in result.rows)
    )


def _of_host(name: str, value: Any) -> str:  # noqa: ANN401 - a value of any column
    """A value of the table of hosts in words."""
    if name == "time":
        return time_text(value)
    if name == "latencies":
        counted = [f"{visits:,} in {2**i:,} ms" for i, visits in enumerate(value) if visits]
        return f"at most: {', '.join(counted)}" if counted else "none"
    if name in _IN_MSGPACK:
        return f"{len(value) // 2:,} bytes, which --json prints"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


_IN_MSGPACK = ("robots", "answer")
"""Columns of the table of hosts that people cannot read."""


def _links_text(result: LinksOfPage, call: StepCall) -> str:
    out = call.request.out
    if result.links:
        rows = [_link_row(link, link.dst if out else link.src) for link in result.links]
        return output.table(rows, indent="")
    left_out = "" if out else _left_out(result.settings)
    return f"no link {'on' if out else 'to'} {result.key} is known{left_out}"


def _left_out(settings: "LinkDbSettings") -> str:
    """Return a text about the links that settings exclude from the table; "" for none."""
    within, ignores_external = settings.ignore_internal, settings.ignore_external
    text = f"; links within a {within} are left out (cycle.links.ignore_internal)"
    internal = text if within != "none" else ""
    return internal + (
        "; those to other hosts, too (cycle.links.ignore_external)" if ignores_external else ""
    )


def _link_row(link: "PageLink", page: str) -> tuple[object, ...]:
    state = f"gone, seen last {time_text(link.last)}" if link.gone else ""
    return page, link.anchor or "", link.rel or "", state


def _segments_text(result: Any, call: StepCall) -> str:  # noqa: ANN401 - of several types
    if isinstance(result, list):
        head = ("segment", "state", "units", "URLs", "parts", "leased until")
        rows = [(*row[:5], time_text(row.until) if row.until else "") for row in result]
        return output.table([head, *rows], indent="") if rows else _NO_SEGMENT
    if isinstance(result, ChangedSegment):
        if result.version is None:
            verb = "would be changed" if call.is_dry else "has these values"
            return f"{result.segment} {verb}"
        paths = ", ".join(result.settings)
        return f"{result.segment} has other settings in version {result.version.number}: {paths}"
    if isinstance(result, DroppedSegments):
        return "\n".join(
            f"{name} would be given up" if version is None
            else f"{name} is given up in version {version.number}"
            for name, version in result.versions.items()
        )  # fmt: skip
    if call.request.action == "salvage":
        return _salvage_text(result, call)
    lines = [
        f"{name} would be {output.count(number, 'segment')}"
        for name, number in result.planned.items()
    ]
    for name, slices in result.slices.items():
        lines.append(f"{name} is now {output.count(len(slices), 'segment')}: {', '.join(slices)}")
    most = output.count(int(call.request.names[0]), "URL")
    return "\n".join(lines) or f"no segment that waits for its fetch has more than {most}"


def _salvage_text(result: "OrphanSalvage", call: StepCall) -> str:
    files = f"{output.count(result.files, 'file')}, {size(result.size)}"
    verb = "to salvage" if call.is_dry else "salvaged"
    text = f"{output.count(result.captures, 'capture')} {verb} ({files})"
    return "\n".join([text, *(f"  {file.name} stays: {file.defect}" for file in result.refused)])


def _segments_numbers(result: Any) -> object:  # noqa: ANN401 - of several types
    if isinstance(result, list):
        return [row._asdict() for row in result]
    if isinstance(result, ChangedSegment):
        return result_numbers(result)
    if isinstance(result, DroppedSegments):
        *_, version = result.versions.values()
        number = version.number if version is not None else None
        return {"dropped": list(result.versions), "version": number}
    if hasattr(result, "planned"):
        return result.planned or result.slices
    refused = [file._asdict() for file in result.refused]
    return {**result_numbers(result), "refused": refused}


def _tell_whole(result: Any, call: StepCall) -> None:  # noqa: ANN401 - of several types
    """Report segments of sitemaps that were not divided."""
    for name in result.left if call.request.action == "slice" else ():
        output.tell(f"nacre: {name} has sitemaps, and stays whole: `nacre cycle DIR sitemaps`")


READERS: Final[tuple[tuple[Operation[Any, Any], StepView], ...]] = (
    (READ_DB, StepView(_read_db_text, _read_db_numbers)),
    (SQL, StepView(_rows_text, _rows_numbers)),
    (EXPLAIN, StepView(
        _explain_text, lambda result: msgspec.to_builtins(result, enc_hook=str))),
    (PARSE_CHECK, StepView(_page_text, _page_numbers, _page_code)),
    (READ_SEGMENTS, StepView(_visits_text, _visits_numbers)),
    (READ_HOSTS, StepView(_hosts_text, _rows_numbers)),
    (READ_LINKS, StepView(_links_text, lambda page: [link._asdict() for link in page.links])),
)  # fmt: skip
"""The commands that read, in the order of the help."""
SEGMENT_CHANGES: Final = (SEGMENTS, StepView(_segments_text, _segments_numbers, tell=_tell_whole))
