"""Segments, hosts and links as commands: `nacre cycle DIR segments|readseg|readhosts|readlinks`."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.cycle.opening import opened, setup_command
from nacre.cli.cycle.readers import ask, looking
from nacre.cli.options import AsJson, job_of
from nacre.rounds.opening import StepSetup, open_versions

if TYPE_CHECKING:
    from nacre.cli.cycle.program import CycleProgram
    from nacre.crawldb.settings import LinkDbSettings
    from nacre.rounds.link_rows import PageLink
    from nacre.rounds.segment_commands import SegmentContents
    from nacre.rounds.steps.context import StepContext
    from nacre.rounds.tables.versions import Cycle

_SHOWN = ("segment", "time", "status", "reason", "mime", "size", "duration", "warc_file", "key")

_NO_SEGMENT = "no segment yet: `generate` makes one"

_WHAT = {
    "list": "`segments list`",
    "drop": "`segments drop SEGMENT…`",
    "set": "`segments set SEGMENT NAME=VALUE…`",
    "slice": "`segments slice N`",
    "salvage": "`segments salvage`",
}


@setup_command("at", "dry_run")
def segments(
    ctx: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[list|drop|set|slice|salvage]",
            help="`drop SEGMENT…` gives segments up; `set SEGMENT NAME=VALUE…` changes settings of "
            "one that waits for its fetch; `slice N` divides those that wait for their "
            "fetch into segments of at most N URLs; `salvage` takes the records of attempts that "
            "lost into the archive.",
        ),
    ] = "list",
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[SEGMENT|N]", show_default=False)
    ] = None,
    *,
    setup: StepSetup,
    as_json: AsJson = False,
) -> None:
    """List the segments, change one, give some up, divide long ones, or salvage records."""
    from nacre.errors import ConfigError

    words = names or []
    valid = {
        "drop": bool(words),
        "set": len(words) > 1,
        "slice": len(words) == 1 and words[0].isdecimal(),
    }
    if action not in _WHAT or not valid.get(action, not words):
        raise ConfigError(f"{' '.join(['segments', action, *words])}: {', '.join(_WHAT.values())}")
    values = tuple(words[1:]) if action == "set" else ()
    setup = setup._replace(assignments=values)
    with opened(job_of(ctx), setup, writes=action != "list") as context:
        if action == "set":
            _set(context, words[0], values, as_json=as_json)
        elif action == "drop":
            _drop(context, words, as_json=as_json)
        elif action == "slice":
            _slice(context, int(words[0]), as_json=as_json)
        elif action == "salvage":
            _salvage(context, as_json=as_json)
        else:
            _list(context, as_json=as_json)


def _list(context: "StepContext", *, as_json: bool) -> None:
    from nacre.cli.cycle.texts import time_text
    from nacre.rounds.segment_commands import segment_rows

    rows = segment_rows(context.cycle.newest())
    if as_json:
        output.say_json([row._asdict() for row in rows])
    elif rows:
        head = ("segment", "state", "units", "URLs", "parts", "leased until")
        lines = [(*row[:5], time_text(row.until) if row.until else "") for row in rows]
        output.say(output.table([head, *lines], indent=""))
    else:
        output.say(_NO_SEGMENT)


def _set(context: "StepContext", name: str, values: Sequence[str], *, as_json: bool) -> None:
    from nacre.errors import ConfigError
    from nacre.rounds.segment_commands import set_on_segment
    from nacre.rounds.segments.frozen_settings import OF_JOB

    paths = [value.partition("=")[0].strip() for value in values]
    for path in paths:
        if path.partition(".")[0] in OF_JOB:
            raise ConfigError(
                f"{path} is a setting of the job, which each step reads: `nacre set {path}=…`"
            )
    version = set_on_segment(context, name, paths)
    number = version.number if version is not None else None
    if as_json:
        output.say_json({"segment": name, "settings": paths, "version": number})
    elif version is None:
        output.say(f"{name} would be changed" if context.dry else f"{name} has these values")
    else:
        output.say(f"{name} has other settings in version {number}: {', '.join(paths)}")


def _drop(context: "StepContext", names: Sequence[str], *, as_json: bool) -> None:
    from nacre.rounds.segment_commands import drop_segment

    version = None
    for name in dict.fromkeys(names):
        version = drop_segment(context, name)
        if not as_json:
            where = "would be given up" if version is None else "is given up in version "
            output.say(f"{name} {where}{'' if version is None else version.number}")
    if as_json:
        number = version.number if version is not None else None
        output.say_json({"dropped": list(dict.fromkeys(names)), "version": number})


def _slice(context: "StepContext", size: int, *, as_json: bool) -> None:
    from nacre.rounds.segment_slices import slice_segments

    sliced, whole, planned = slice_segments(context, size)
    for name in whole:
        output.tell(f"nacre: {name} has sitemaps, and stays whole: `nacre cycle DIR sitemaps`")
    if as_json:
        output.say_json(planned if context.dry else sliced)
        return
    for name, number in planned.items():
        output.say(f"{name} would be {output.count(number, 'segment')}")
    for name, slices in sliced.items():
        output.say(f"{name} is now {output.count(len(slices), 'segment')}: {', '.join(slices)}")
    if not sliced and not planned:
        output.say(f"no segment that waits for its fetch has more than {output.count(size, 'URL')}")


def _salvage(context: "StepContext", *, as_json: bool) -> None:
    from nacre.report.formatting import size
    from nacre.rounds.segments.orphans import salvage_orphans

    result = salvage_orphans(
        context.cycle, context.engine, context.place, context.clock, dry=context.dry
    )
    if as_json:
        version = result.version.number if result.version is not None else None
        refused = [orphan._asdict() for orphan in result.refused]
        output.say_json({**result._asdict(), "refused": refused, "version": version})
        return
    files = f"{output.count(result.files, 'file')}, {size(result.size)}"
    verb = "to salvage" if context.dry else "salvaged"
    output.say(f"{output.count(result.captures, 'capture')} {verb} ({files})")
    for orphan in result.refused:
        output.say(f"  {orphan.name} stays: {orphan.defect}")


def readseg(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SEGMENT", help="Default: all.", show_default=False),
    ] = None,
    *,
    listed: Annotated[
        bool,
        typer.Option(
            "--list", help="Print what each segment has: visits, pages, links, first and last time."
        ),
    ] = False,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Only the visits of this URL.")
    ] = "",
    dump: Annotated[
        Path | None,
        typer.Option(
            "--dump", metavar="FILE", show_default=False,
            help="Write all columns, with the length of each WARC record, to FILE, by its suffix "
            ".jsonl, .csv or .parquet.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Read the visits of segments, also those that an interrupted fetch has so far."""
    from nacre.errors import ConfigError
    from nacre.rounds.segment_commands import index_files, segment_contents, visits_of
    from nacre.rounds.segments.parts_so_far import with_parts_so_far
    from nacre.rounds.tables.row_files import plain_row, write_batches
    from nacre.rounds.typed_keys import key_of

    if listed and (url or dump is not None):
        raise ConfigError("--list prints counts, without --url and --dump")
    with (
        opened(job_of(ctx), writes=False) as context,
        context.place.open() as work,
    ):
        version = with_parts_so_far(work.storage, context.cycle.newest(), names or ())
        if listed:
            contents = segment_contents(work, version, names or ())
            _say_contents(contents, as_json=as_json)
            return
        key = key_of(context.settings, url, context.layout.root)[1] if url else ""
        whole = as_json or dump is not None
        indexes = index_files(context.cycle, version, names or ()) if whole else []
        batches = visits_of(work, version, names or (), key, indexes)
        if dump is not None:
            number = write_batches(batches, dump)
            output.say(f"{output.count(number, 'row')} in {output.shown(dump)}")
            return
        rows = [plain_row(row) for batch in batches for row in batch.to_pylist()]
    if as_json:
        output.say_json(rows)
        return
    output.say(output.table(_columns(rows), indent="") if rows else "no visit")


def _say_contents(contents: "Sequence[SegmentContents]", *, as_json: bool) -> None:
    from nacre.cli.cycle.texts import time_text

    if as_json:
        output.say_json([c._asdict() for c in contents])
    elif contents:
        head = (
            "segment",
            "state",
            "URLs",
            "visits",
            "pages",
            "not attempted",
            "links",
            "first",
            "last",
        )
        lines = [
            (*c[:7], *("" if at is None else time_text(at) for at in (c.first, c.last)))
            for c in contents
        ]
        output.say(output.table([head, *lines], indent=""))
    else:
        output.say(_NO_SEGMENT)


def _columns(rows: Sequence[dict[str, Any]]) -> list[tuple[object, ...]]:
    from nacre.cli.cycle.texts import time_text

    lines: list[tuple[object, ...]] = [_SHOWN]
    for row in rows:
        row["time"] = time_text(row["time"] // 1000) if row["time"] else ""
        lines.append(tuple("" if row[name] is None else row[name] for name in _SHOWN))
    return lines


def readhosts(
    ctx: typer.Context,
    *,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="Only this host, with all columns.")
    ] = "",
    where: Annotated[
        str, typer.Option("--where", metavar="SQL", help="Only hosts for which this is true.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Read the table of hosts; URLs by status are counted as they are now."""
    from nacre.crawldb.hosts import RANK, add_functions
    from nacre.crawldb.kernels import Kernel, quoted
    from nacre.crawldb.select import check_hosts, true_sql
    from nacre.crawldb.user_sql import names_in
    from nacre.errors import JobError

    ranked = bool(host) or as_json
    if where:
        with Kernel() as kernel:
            add_functions(kernel)
            check_hosts(kernel, where)
            ranked = ranked or RANK.name in names_in(kernel, where)
    columns = "*" if host or as_json else "host, fetched, unfetched, gone, visits, delay"
    host = host.strip().lower()
    conditions = [f"host = {quoted(host)}"] if host else []
    conditions += [true_sql(where)] if where else []
    condition = f" where {' and '.join(conditions)}" if conditions else ""
    _, _, cycle = open_versions(job_of(ctx))
    tables = cycle.newest().tables
    if "hosts" not in tables:
        raise JobError("there is no table of hosts yet: `update` makes it")
    source = _with_ranks(tables) if ranked else "hosts"
    query = f"select {columns} from {source}{condition} order by host"  # noqa: S608 - it only reads
    recount = host if _is_counted_before(cycle) else None
    none = "no host that is known fulfils the condition" if where else ""
    none = f"the host {host} is not known" if host and not where else none
    render = _host_text if host else None
    ask(ctx, query, recount=recount, none=none, shown=render, as_json=as_json)


def _host_text(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the columns of a host that are not null, one a line."""
    return "\n".join(
        output.pairs(
            {name: _of_host(name, row[name]) for name in names if row.get(name) is not None},
            indent="",
        )
        for row in rows
    )


def _of_host(name: str, value: Any) -> str:  # noqa: ANN401 - a value of any column
    """A value of the table of hosts in words."""
    from nacre.cli.cycle.texts import time_text

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


def _with_ranks(tables: "Collection[str]") -> str:
    """Return SQL after `from` for the hosts with their ranks, if any."""
    from nacre.crawldb.hosts import RANK, ranked_hosts
    from nacre.crawldb.rank import rank_table

    if rank_table("host") not in tables:
        return f'(select *, null::{RANK.type} as "{RANK.name}" from hosts)'  # noqa: S608 - names of ours
    return f"({ranked_hosts('hosts', rank_table('host'), add_hosts=False)})"


def _is_counted_before(cycle: "Cycle") -> bool:
    """Whether a step has changed rows since `generate` counted the URLs of hosts."""
    return cycle.newest().step != "generate"


@setup_command("engine", "master", "tasks")
def readlinks(
    ctx: typer.Context,
    *,
    url: Annotated[str, typer.Option("--url", metavar="URL", help="The page.")] = "",
    out: Annotated[
        bool, typer.Option("--out", help="Print the links on the page instead of those to it.")
    ] = False,
    setup: StepSetup,
    as_json: AsJson = False,
) -> None:
    """Read the links to a page with their texts, or those on it.

    Links that the newest version of their page lacks come last, with the time of their last sight.
    """
    from nacre.errors import ConfigError
    from nacre.rounds.link_rows import in_links, out_links
    from nacre.rounds.typed_keys import key_of
    from nacre.settings.load import load_job

    if not url:
        raise ConfigError("name the page: `readlinks --url URL`")
    with looking(ctx, setup) as (layout, view):
        every = load_job(layout).settings
        key, settings = key_of(every, url, layout.root)[1], every.cycle.links
        page_links = out_links(view, key) if out else in_links(view, key, settings)
    if as_json:
        output.say_json([link_item._asdict() for link_item in page_links])
    elif page_links:
        rows = [_link_row(link, link.dst if out else link.src) for link in page_links]
        output.say(output.table(rows, indent=""))
    else:
        output.say(
            f"no link {'on' if out else 'to'} {key} is known{'' if out else _left_out(settings)}"
        )


def _left_out(settings: "LinkDbSettings") -> str:
    """Return a text about the links that settings exclude from the table; "" for none."""
    within, ignores_external = settings.ignore_internal, settings.ignore_external
    text = f"; links within a {within} are left out (cycle.links.ignore_internal)"
    internal = text if within != "none" else ""
    return internal + (
        "; those to other hosts, too (cycle.links.ignore_external)" if ignores_external else ""
    )


def _link_row(link: "PageLink", page: str) -> tuple[object, ...]:
    from nacre.cli.cycle.texts import time_text

    state = f"gone, seen last {time_text(link.last)}" if link.gone else ""
    return page, link.anchor or "", link.rel or "", state


def register(program: "CycleProgram") -> None:
    """Add the commands."""
    program.command("readseg", rich_help_panel="Look")(readseg)
    program.command("readhosts", rich_help_panel="Look")(readhosts)
    program.command("readlinks", rich_help_panel="Look")(readlinks)
    program.command("segments", rich_help_panel="Tables")(segments)
