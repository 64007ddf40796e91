"""`nacre archive DIR pack`: texts of the result, and the progress."""

import sys
import time
from pathlib import Path
from typing import Final

from nacre.cli import output
from nacre.cli.operations import OperationCommand
from nacre.ops.packing import PACK, PackRequest, PackResult
from nacre.report.formatting import size

_EACH: Final = 0.5
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


def _packed(result: PackResult, request: PackRequest, _: Path) -> str:
    """Describe a package."""
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
    ]
    facts += [output.count(*each) for each in counts if each[0]]
    place = Path(result.files[0])
    target = output.shown(place if len(result.files) == 1 else place.parent)
    lines = [f"{target}: {', '.join(facts)}"]
    if result.digest:
        lines.append(f"datapackage.json: {result.digest}")
    return "\n".join(lines)


def _warnings(result: PackResult, request: PackRequest) -> list[str]:
    lines = []
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


COMMANDS: Final = {
    "pack": OperationCommand(PACK, _packed, in_group=True, tell=ByteProgress()),
}
"""The functions of the commands, by name."""
