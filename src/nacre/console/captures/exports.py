"""`POST /api/v1/jobs/J/exports`: captures of a job as a file in its folder `exports/`."""

from typing import Final, Literal

import msgspec

from nacre.console.call import ActionCall
from nacre.console.task_answers import begin_reading
from nacre.core.message_data import to_builtins
from nacre.machine.layout import Layout
from nacre.ops.captures import CapturesQuery
from nacre.ops.fields import ShortText, ShortTexts
from nacre.ops.packing import CaptureFile, ExportOptions, export_file
from nacre.web.workers.background import HeldTask
from nacre.web.workers.task import PROGRESS, reader_task

ExportKind = Literal["wacz", "warc", "cdxj", "cdx11", "urls"]
_SOON: Final = 2.0
"""Seconds that a program's request waits for the file."""


class CaptureFileRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that is requested.

    Attributes:
        what: Its kind: a WACZ, a WARC with its index, an index (CDXJ, or CDX with eleven fields),
            or the URLs.
        select: The captures; without filters all of them.
        revisits: Of a selection: `resolve` makes responses of revisits, `keep` copies them.
        without: Leave out captures for which one of these preferences held, such as `train-ai=n`.
        unknown: With `without`: `keep` or `drop` captures of which the preference is not known.
    """

    what: ExportKind
    select: CapturesQuery = CapturesQuery()
    revisits: Literal["resolve", "keep"] = "resolve"
    without: ShortTexts = ()
    unknown: Literal["keep", "drop"] = "keep"


class CaptureFileForm(CapturesQuery, frozen=True, kw_only=True):
    """A file that is requested by a form.

    Attributes:
        what: Its kind, as of `CaptureFileRequest`.
        without: Preferences, such as `train-ai=n`, separated by spaces or commas.
        unknown: As of `CaptureFileRequest`.
    """

    what: ExportKind = "wacz"
    without: ShortText = ""
    unknown: Literal["keep", "drop"] = "keep"


@reader_task("export-captures")
def write_export(layout: Layout, request: CaptureFileRequest) -> CaptureFile:
    """Write the file."""
    options = ExportOptions(request.revisits == "keep", request.without, request.unknown)
    return export_file(layout, request.what, request.select, PROGRESS.tell, options)


async def export(call: ActionCall) -> HeldTask:
    """Begin to write a file of captures."""
    request: CaptureFileRequest | CaptureFileForm = call.body
    if isinstance(request, CaptureFileForm):
        fields = {name: getattr(request, name) for name in CapturesQuery.__struct_fields__}
        without = tuple(request.without.replace(",", " ").split())
        request = CaptureFileRequest(
            request.what, CapturesQuery(**fields), without=without, unknown=request.unknown
        )
    task = begin_reading(call, call.job(), write_export.name, **to_builtins(request))
    task.patience = _SOON
    return task
