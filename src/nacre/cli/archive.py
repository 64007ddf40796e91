"""`nacre archive DIR`: check, index, expand, pack, delete, salvage, push; `nacre links DIR URL`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir, job_of, layout_and_settings
from nacre.cli.program import LateCallback, Program
from nacre.core.states import ExitCode

if TYPE_CHECKING:
    from nacre.archive.check import Checker
    from nacre.archive.findings import CheckFinding

archive = Program()


@archive.callback()
def _job(ctx: typer.Context, directory: JobDir) -> None:
    """The files of the captures: check them, rebuild the index, expand, salvage."""


def _require_runs(directory: Path, instead: str) -> None:
    """Raise JobError for a batch crawl, whose WARC files are committed with their index."""
    from nacre.machine.layout import Layout

    Layout(directory).require_runs(instead)


@archive.command("check")
def check_archive(
    ctx: typer.Context,
    notes: Annotated[
        bool, typer.Option("--notes", help="Print each warning and note, not only errors.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify structure, fields, digests, gzip members, and the index against the content."""
    from nacre.archive.check import Checker
    from nacre.archive.index import index_name
    from nacre.job.warcs import committed_sizes, known_files, missing_files
    from nacre.machine.layout import storage_folder
    from nacre.runs.manifest import rounds_archive, warc_files

    layout, settings = layout_and_settings(job_of(ctx))
    checker = Checker()
    files = known_files(layout, settings)
    sizes = committed_sizes(files)
    command = f"{output.program()} cycle {output.typed(layout.root)} storage check"
    for warc, index in warc_files(layout, settings):
        checker.file(warc, index, sizes.get(str(warc)))
        if index is None and warc.parent == rounds_archive(layout, settings):
            lost = str(warc.with_name(index_name(warc.name)))
            checker.note(lost, 0, "file-missing", f"it is gone; `{command} --repair` makes it")
    checker.finish()
    for file in missing_files(files):
        state = f"{file.size:,} bytes are there" if file.size is not None else "it is gone"
        message = f"{state}; {file.row.size:,} were committed"
        checker.note(file.path, file.size or 0, "file-missing", message)
    if storage_folder(settings.cycle.storage) is None:
        output.tell(
            f"nacre: the WARCs of rounds are in {settings.cycle.storage}/archive: `{command}` "
            "compares them with their digests"
        )
    if as_json:
        output.say_json(_check_data(checker))
    else:
        for line in _check_lines(checker, layout.root, notes=notes):
            output.say(line)
    raise typer.Exit(ExitCode.DAMAGED if checker.damaged else 0)


@archive.command("index")
def rebuild(ctx: typer.Context) -> None:
    """Rebuild the index of every WARC from its content."""
    from nacre.job.warcs import reindex

    _require_runs(job_of(ctx), "storage check --repair")
    damaged = False
    for warc in reindex(*layout_and_settings(job_of(ctx))):
        output.say(f"{output.format_path(warc.index_path)}: {output.count(warc.lines, 'line')}")
        for note in warc.notes:
            output.tell(f"{output.format_path(warc.warc)}:{note}")
        damaged = damaged or bool(warc.notes)
    raise typer.Exit(ExitCode.DAMAGED if damaged else 0)


@archive.command("expand")
def expand_archive(
    ctx: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FOLDER", show_default=False,
            help="Directory for the WARCs; default: `expanded/` in the job.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Expand records that `recrawl --keep delta` or `lean` stored in a short form.

    A difference becomes a response, and a metadata record that refers to outlinks contains them.
    The records are written to separate WARCs with an index each. Together with the WARCs of the
    runs any software can read them. The job does not change, and the result is the same each time.
    """
    from nacre.cli.summary import collection
    from nacre.packing.expand_warcs import expand
    from nacre.runs.manifest import warc_files

    layout, settings = layout_and_settings(job_of(ctx))
    warcs = [warc for warc, _ in warc_files(layout, settings)]
    defects = count = 0
    for expanded in expand(warcs, folder or layout.root / "expanded"):
        count += 1
        defects += len(expanded.defects)
        output.say(
            f"{output.format_path(expanded.path)}: {output.count(expanded.responses, 'response')}, "
            f"{output.count(expanded.revisits, 'revisit')}, "
            f"{output.count(expanded.metadata, 'metadata record')}"
        )
        for defect in expanded.defects:
            output.tell(f"{output.format_path(expanded.source)}:{defect}")
    if not count:
        output.say("nothing to expand: this job has neither differences nor references to outlinks")
    else:
        runs = output.typed(layout.root / "runs/*/archive/*.warc.gz")
        others_glob = output.typed((folder or layout.root / "expanded") / "*.warc.gz")
        output.say(f"Browse: wb-manager add {collection(layout.root.name)} {runs} {others_glob}")
    raise typer.Exit(ExitCode.DAMAGED if defects else 0)


@archive.command("digests")
def list_digests(
    ctx: typer.Context,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Digest the bytes as transferred: chunked replies with their chunk sizes, as "
            "Heritrix over HTTP/1.1 and warcio do.",
        ),
    ] = False,
) -> None:
    """Print payload digest, date and URL of every capture, one per line."""
    from nacre.archive.block import PayloadDigests
    from nacre.runs.manifest import warc_files

    digests = PayloadDigests(raw=raw)
    for warc, _ in warc_files(*layout_and_settings(job_of(ctx))):
        for capture in digests.of(warc):
            output.say(f"{capture.digest} {capture.date} {capture.url}")


@archive.command("salvage")
def salvage_archive(ctx: typer.Context) -> None:
    """Register captures that are missing in the store, after it was restored or damaged."""
    from nacre.job.stopped_job import salvage

    _require_runs(job_of(ctx), "storage check")
    layout, settings = layout_and_settings(job_of(ctx))
    saved = salvage(layout, settings)
    for path in saved.moved:
        output.tell(f"moved aside: {output.format_path(Path(path))}")
    output.say(
        f"registered {output.count(saved.captures, 'capture')} in "
        f"{output.count(saved.files, 'file')}"
    )


@archive.command("push")
def push_indexes(
    ctx: typer.Context,
    gone: Annotated[
        bool,
        typer.Option(
            "--withdraw",
            help="Delete from the server the lines of WARCs that are no longer in the archive.",
        ),
    ] = False,
) -> None:
    """Post the missing indexes to the OutbackCDX server of the job (archive.outbackcdx).

    A running job posts the index of each closed WARC itself, and batch rounds do so after each
    fetch. Use this command if the server was unreachable, for another server, and for older WARCs.
    """
    import asyncio

    from nacre.errors import StorageError
    from nacre.job.background.outbackcdx import gone_indexes, push_missing, withdraw
    from nacre.job.background.webhooks import DeliveryError
    from nacre.machine.layout import Layout
    from nacre.rounds.pushing import archived_indexes
    from nacre.settings.load import load_job

    layout = Layout(job_of(ctx))
    settings = load_job(layout).settings
    url = settings.archive.collection_url()
    try:
        with archived_indexes(layout, settings) as indexes:
            if gone:
                withdrawn = asyncio.run(withdraw(indexes, layout, settings.archive, output.say))
                output.say(f"{output.count(withdrawn.files, 'index', 'indexes')} withdrawn")
            posted = asyncio.run(push_missing(indexes, layout, url, output.say))
            stale = gone_indexes(indexes, layout, url)
    except (DeliveryError, OSError) as error:
        raise StorageError(f"{error}; the next push goes on from there") from error
    output.say(
        f"{output.count(posted.files, 'index', 'indexes')} with {posted.lines:,} captures posted"
    )
    if stale:
        output.tell(
            f"nacre: the server has {output.count(len(stale), 'index', 'indexes')} whose WARCs are "
            "not here any more; `--withdraw` deletes them there"
        )


def _check_data(checker: "Checker") -> dict[str, Any]:
    """All findings and counts."""
    summary = checker.summary
    return {
        "damaged": checker.damaged,
        "files": summary.files,
        "bytes": summary.bytes,
        "records": dict(summary.records),
        "digests": summary.digests,
        "rebuilt": summary.rebuilt,
        "links": summary.links,
        "counts": dict(summary.findings),
        "findings": [
            {**finding._asdict(), "severity": str(finding.severity)} for finding in checker.findings
        ],
    }


def _check_lines(checker: "Checker", root: Path, *, notes: bool) -> Iterator[str]:
    """Findings, then a summary."""
    from nacre.archive.findings import Severity
    from nacre.config.extras import document
    from nacre.report.formatting import size

    for finding in checker.findings:
        if notes or finding.severity is Severity.ERROR:
            yield _line(finding, root)
    summary = checker.summary
    records = sum(summary.records.values())
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in summary.records.most_common())
    yield (
        f"{output.count(summary.files, 'file')}, {size(summary.bytes)}, "
        f"{output.count(records, 'record')}" + (f": {kinds}" if kinds else "")
    )
    yield f"{output.count(summary.digests, 'digest')} compared"
    if summary.decoded or summary.wire:
        yield (
            f"chunked bodies: {summary.decoded:,} digests over the decoded payload (the standard), "
            f"{summary.wire:,} over the bytes as sent"
        )
    if summary.rebuilt:
        yield f"{output.count(summary.rebuilt, 'reply', 'replies')} rebuilt from differences"
    if summary.links:
        yield f"{output.count(summary.links, 'reference')} to outlinks of other records followed"
    yield from _counts(checker)
    if checker.damaged:
        page = output.format_path(Path(document("howto.md")))
        yield f"damaged; see {page}, section Repair"
    else:
        yield (
            "nothing damaged" if summary.files else "nothing to check: there are no WARCs here yet"
        )


def _counts(checker: "Checker") -> Iterator[str]:
    from nacre.archive.findings import CODES

    findings = checker.summary.findings
    if findings:
        yield output.table(
            [
                (number, str(CODES[code][0]), code, CODES[code][1])
                for code, number in sorted(findings.items())
            ]
        )


def _line(finding: "CheckFinding", root: Path) -> str:
    path = Path(finding.file)
    name = path.relative_to(root) if path.is_relative_to(root) else path
    return f"{name}:{finding.offset}: {finding.severity} {finding.code}: {finding.message}"


def links(
    directory: JobDir,
    url: Annotated[str, typer.Argument(metavar="URL", help="URL of the page.", show_default=False)],
    *,
    out: Annotated[
        bool, typer.Option("--out", help="Print the links on the page instead.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the pages that link to URL, the newest first; with --out, the links on it.

    The links are read from the WARC files of the job, which takes a while for a large archive. They
    have no anchors (texts of links).
    """
    from nacre.job.archived_links import archived_links

    archived = archived_links(*layout_and_settings(directory), url)
    if archived.lost:
        check = f"{output.program()} archive {output.typed(directory)} check"
        output.tell(
            f"nacre: the links of {output.count(archived.lost, 'capture')} cannot be read, because "
            f"the record that has them is gone or damaged; `{check}` prints its name"
        )
    chosen = archived.on_it if out else archived.to_it
    if as_json:
        output.say_json([link._asdict() for link in chosen])
    elif chosen:
        rows = [(link.dst if out else link.src, link.hop, link.context) for link in chosen]
        output.say(output.table(rows, indent=""))
    else:
        output.say("no links on it" if out else "no page of the archive links to it")


def register(app: typer.Typer) -> None:
    """Add `links` and `archive`."""
    app.command(rich_help_panel="Look")(links)
    for name in ("pack", "delete"):
        archive.command(name)(LateCallback(name, "", "nacre.cli.packing:COMMANDS"))
    for name in ("evidence", "verify-evidence"):
        archive.command(name)(LateCallback(name, "", "nacre.cli.evidence:COMMANDS"))
    app.add_typer(archive, name="archive", rich_help_panel="Look")
