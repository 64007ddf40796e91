"""`nacre archive DIR pack|delete`: texts of the results, and the progress."""

import sys
import time
from pathlib import Path
from typing import Final

import typer

from nacre.cli import output
from nacre.cli.installing import Yes, with_words
from nacre.cli.operations import OperationCommand, with_options_of
from nacre.cli.options import AsJson, job_of
from nacre.core.message_data import to_plain
from nacre.ops.captures import FILTERS as ALL_FILTERS
from nacre.ops.captures import CapturesQuery, read_query
from nacre.ops.deletion import DELETE, DeletionRequest, DeletionResult
from nacre.ops.packing import PackRequest, PackResult
from nacre.report.formatting import size

_EACH: Final = 0.5
FILTERS: Final = tuple(name for name in ALL_FILTERS if name != "order")
_SAMPLES: Final = 10


class ByteProgress:
    """A line on the terminal with the bytes that are done; none if there is no terminal."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, done: int, total: int) -> None:
        """Show bytes done, and bytes in all; 0 if these are not known."""
        now = time.monotonic()
        if now < self._next or not sys.stderr.isatty():
            return
        self._next = now + _EACH
        text = f"{size(done)} of {size(total)}" if total else size(done)
        sys.stderr.write(f"\r{text} packed\x1b[K\r")
        sys.stderr.flush()


def describe_package(result: PackResult, request: PackRequest) -> str:
    """Return the lines about a package, after its warnings were printed."""
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[K")
    for line in _warnings(result, request):
        output.tell(f"nacre: warning: {line}")
    warcs = output.count(result.warcs, "WARC")
    facts = [output.count(result.captures, "capture"), warcs, size(result.bytes)]
    if request.wacz is not None:
        facts.insert(1, output.count(result.pages, "page"))
    counts = [
        (result.resolved, "revisit resolved", "revisits resolved"),
        (result.expanded, "difference expanded", "differences expanded"),
        (result.originals, "original added", "originals added"),
        (result.withheld, "capture withheld", "captures withheld"),
    ]
    facts += [output.count(*pair) for pair in counts if pair[0]]
    place = Path(result.files[0])
    target = output.format_path(place if len(result.files) == 1 else place.parent)
    lines = [f"{target}: {', '.join(facts)}"]
    if result.digest:
        lines.append(f"datapackage.json: {result.digest}")
    return "\n".join(lines)


def _warnings(result: PackResult, request: PackRequest) -> list[str]:
    outcome = "left out" if request.unknown == "drop" else "packed"
    lines = [*output.without_warnings(result.unstated, result.unknown, outcome)]
    if result.left_out:
        number = output.count(result.left_out, "revisit refers", "revisits refer")
        more = "" if request.with_originals or request.revisits == "resolve" else (
            "; --with-originals adds those that the archive has"
        )  # fmt: skip
        lines.append(f"{number} to captures that are not in the package{more}")
        lines += [f"  {sample}" for sample in result.left_out_samples[:_SAMPLES]]
    if result.defects:
        number = output.count(max(result.damaged, len(result.defects)), "record")
        lines.append(f"{number} could not be packed; `nacre archive DIR check` examines them")
        lines += [f"  {defect}" for defect in result.defects[:_SAMPLES]]
    return [output.safe(line) for line in lines]


@with_options_of(CapturesQuery, "select", FILTERS, "What is packed")
@with_options_of(PackRequest)
def pack(
    ctx: typer.Context,
    *,
    select: CapturesQuery,
    options: PackRequest,
    as_json: AsJson = False,
    _yes: Yes = False,
) -> None:
    """Pack captures into one file for other archives and programs: WACZ or WARC.

    DIR is the directory of a job, the name of a collection, or a WARC or WACZ file. Without filters
    a WACZ contains the WARCs as they are, with an index and the list of the pages. With filters,
    and with `--warc`, the records of the captures are written into new WARCs, with their request
    and metadata records. The filters are those of `nacre captures`.
    """
    from nacre.ops.packing import pack as pack_captures

    def run() -> PackResult:
        return pack_captures([str(job_of(ctx))], options, select, ByteProgress())

    result = with_words(ctx, read_query(select).words, run)
    if as_json:
        output.say_json(to_plain(result))
    else:
        output.say(describe_package(result, options))


def _deleted(result: DeletionResult, request: DeletionRequest, directory: Path) -> str:
    """Describe a deletion."""
    warcs = output.count(len(result.warcs), "WARC")
    facts = f"{warcs}, {size(result.bytes)}, {output.count(result.captures, 'capture')}"
    lines = [f"{'deleted' if result.is_deleted else 'would delete'} {facts}"]
    if not result.is_deleted:
        lines += [f"  {name}" for name in result.warcs]
    if result.dependents:
        number = output.count(result.dependents, "capture needs", "captures need")
        lines.append(f"{number} records of {'it' if len(result.warcs) == 1 else 'them'}:")
        lines += [f"  {sample}" for sample in result.samples]
    if result.resolved:
        lines.append(f"they were stored in full in {', '.join(result.resolved_in)}")
    if result.is_deleted:
        number = output.count(result.pages, "URL is", "URLs are")
        lines.append(f"{number} stored in full at the next visit")
        lines += _server_lines(result, directory)
    elif result.dependents and not request.resolve_first:
        lines.append("delete with --yes --resolve-first, which stores them in full before")
    else:
        lines.append("delete with --yes")
    return output.safe_lines("\n".join(lines))


def _server_lines(result: DeletionResult, directory: Path) -> list[str]:
    """Describe what the OutbackCDX server was asked to delete."""
    if result.not_withdrawn:
        command = f"{output.program()} archive {output.typed(directory)} push --withdraw"
        return [
            f"the OutbackCDX server may still have their captures ({result.not_withdrawn}): "
            f"`{command}` deletes them there"
        ]
    number = output.count(result.withdrawn, "capture")
    return [f"{number} deleted from the OutbackCDX server"] if result.withdrawn else []


COMMANDS: Final = {
    "pack": pack,
    "delete": OperationCommand(DELETE, _deleted, in_group=True),
}
"""The functions of the commands, by name."""
