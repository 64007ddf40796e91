"""Delete the WARCs of a run, or a WARC: what depends on them is listed before."""

import asyncio
import os
import shutil
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from nacre.core.clock import iso_millis
from nacre.errors import ConfigError, JobError, StorageError
from nacre.messages import message
from nacre.ops.fields import LineText, ShortText, Typed
from nacre.ops.operation import FINISHED, STOPPED, Operation, OperationContext, Role, requester_of

if TYPE_CHECKING:
    from pathlib import Path

    from nacre.archive.settings import WarcSettings
    from nacre.catalogue.holdings import Holding, WarcPlace
    from nacre.job.deletion import MovedWarc
    from nacre.packing.dependents import Dependent, WarcName

SAMPLES: Final = 20
"""Dependent captures that a result names."""


class DeletionRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a deletion.

    Attributes:
        run: Delete all WARCs of this run.
        warc: Delete this WARC.
        yes: Delete; without it, only list what would be deleted, and what depends on it.
        resolve_first: Captures that depend on the WARCs are stored in full before.
    """

    run: Annotated[ShortText, Typed("RUN")] = ""
    warc: Annotated[LineText, Typed("FILE")] = ""
    yes: bool = False
    resolve_first: bool = False


class DeletionResult(msgspec.Struct, frozen=True, kw_only=True):
    """A deletion, or its preview.

    Attributes:
        warcs: Names of the WARCs.
        bytes: Their size, with that of their indexes.
        captures: Captures in them.
        dependents: Captures of other WARCs that need them: revisits and differences.
        samples: The first of them: time, URL, and the record that they need.
        is_deleted: They were deleted.
        resolved: Dependent captures that were stored in full.
        resolved_in: Names of the WARCs that have these.
        payloads: Payloads that later captures cannot refer to any more.
        pages: URLs whose next visit is stored in full.
        withdrawn: Captures that were deleted from the OutbackCDX server (`archive.outbackcdx`).
        not_withdrawn: Why the server may still have captures of deleted WARCs; "" if it has none.
    """

    warcs: tuple[str, ...]
    bytes: int
    captures: int
    dependents: int
    samples: tuple[str, ...] = ()
    is_deleted: bool = False
    resolved: int = 0
    resolved_in: tuple[str, ...] = ()
    payloads: int = 0
    pages: int = 0
    withdrawn: int = 0
    not_withdrawn: str = ""


def _delete(context: OperationContext, request: DeletionRequest) -> DeletionResult:
    """List what a deletion would do, or do it.

    Raises:
        ConfigError: Neither a run nor a WARC is named, or both are.
        JobError: There is none of this name, the job runs, or captures depend on it.
        StorageError: A file cannot be read, written or removed.
    """
    from nacre.catalogue.holdings import open_holding
    from nacre.job.deletion import require_deletable
    from nacre.packing.dependents import WarcName, find_dependents
    from nacre.packing.sources import read_lines

    layout = context.layout
    layout.require_runs("storage check")
    holding = open_holding([layout.root])
    places = _named_warcs(holding, request)
    require_deletable(layout, {place.run for place in places})
    warcs = {WarcName(0, place.name) for place in places}
    dependents, samples = 0, list[str]()
    for dependent in find_dependents(holding, warcs):
        dependents += 1
        if len(samples) < SAMPLES:
            samples.append(_describe(dependent))
    result = DeletionResult(
        warcs=tuple(place.name for place in places),
        bytes=sum(place.size + _index_size(place) for place in places),
        captures=sum(1 for place in places for _ in read_lines(place)),
        dependents=dependents, samples=tuple(samples),
    )  # fmt: skip
    if not request.yes:
        return result
    if dependents and not request.resolve_first:
        raise JobError(
            message(
                "ops.deletion-dependents",
                "{number} captures of other WARCs need these, such as {sample}. With "
                "--resolve-first they are stored in full before; nothing was deleted",
                number=dependents, sample=samples[0],
            )
        )  # fmt: skip
    return _delete_places(context, holding, places, warcs, result)


def _named_warcs(holding: "Holding", request: DeletionRequest) -> "list[WarcPlace]":
    if bool(request.run) == bool(request.warc):
        raise ConfigError(
            message("ops.deletion-target", "name a run with --run, or a WARC with --warc")
        )
    name = request.warc.rpartition("/")[2].removesuffix(".open")
    places = [
        place for place in holding.members[0].warcs()
        if (place.run == request.run if request.run else place.name == name)
    ]  # fmt: skip
    if not places:
        raise JobError(
            message(
                "ops.deletion-nothing",
                "{job} has no WARC of {name}; `nacre report {job} runs` lists the runs",
                job=holding.members[0].root, name=request.run or name,
            )
        )  # fmt: skip
    return places


def _index_size(place: "WarcPlace") -> int:
    return place.index.stat().st_size if place.index is not None else 0


def _describe(dependent: "Dependent") -> str:
    capture = dependent.capture
    return f"{capture.timestamp} {capture.url} -> {dependent.original or capture.digest}"


def _delete_places(
    context: OperationContext,
    holding: "Holding",
    places: "list[WarcPlace]",
    warcs: "set[WarcName]",
    result: DeletionResult,
) -> DeletionResult:
    from nacre.job.deletion import delete_warcs
    from nacre.runs.runs import append_note, note_line
    from nacre.settings.load import load_job

    layout = context.layout
    scratch = layout.state / "resolved"
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        joining = _resolve(context, holding, warcs, scratch) if result.dependents else []
        settings = load_job(layout).settings
        runs = {place.run for place in places}
        deleted = delete_warcs(layout, settings, [place.path for place in places], runs, joining)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    by = requester_of(context) or f"uid {os.getuid()}"
    text = (
        f"deleted {len(places)} WARCs with {result.captures} captures, {deleted.bytes} bytes, by "
        f"{by}: {', '.join(result.warcs)}; {result.dependents} captures that need them were stored "
        "in full"
    )
    append_note(layout.root, note_line(iso_millis(context.clock.now()), "WARNING", text))
    result = msgspec.structs.replace(
        result, bytes=deleted.bytes, is_deleted=True, resolved=result.dependents,
        resolved_in=tuple(moved.target.name for moved in joining), payloads=deleted.payloads,
        pages=deleted.pages,
    )  # fmt: skip
    return _inform_server(context, settings.archive, result)


def _inform_server(
    context: OperationContext, settings: "WarcSettings", result: DeletionResult
) -> DeletionResult:
    """Delete the captures of deleted WARCs from the OutbackCDX server, if the job has one."""
    from nacre.archive.index import index_name
    from nacre.job.background.outbackcdx import follow_deletion
    from nacre.job.background.webhooks import DeliveryError
    from nacre.runs.runs import append_note, note_line

    if not settings.outbackcdx:
        return result
    deleted, joined = (set(map(index_name, names)) for names in (result.warcs, result.resolved_in))
    try:
        counts = asyncio.run(follow_deletion(context.layout, settings, deleted, joined))
    except (DeliveryError, StorageError, OSError) as error:
        text = (
            f"outbackcdx: the server may still have captures of deleted WARCs: {error}; "
            "`nacre archive DIR push --withdraw` deletes them there"
        )
        append_note(
            context.layout.root, note_line(iso_millis(context.clock.now()), "WARNING", text)
        )
        return msgspec.structs.replace(result, not_withdrawn=str(error))
    return msgspec.structs.replace(result, withdrawn=counts.lines)


def _resolve(
    context: OperationContext, holding: "Holding", warcs: "set[WarcName]", scratch: "Path"
) -> "list[MovedWarc]":
    """Store the dependent captures in full, in WARCs that join the job.

    Raises:
        JobError: Not all of them can be.
    """
    from nacre.job.deletion import MovedWarc
    from nacre.packing.dependents import find_dependents
    from nacre.packing.wacz import PackOptions
    from nacre.packing.warc_files import pack_warcs

    now = context.clock.now()
    options = PackOptions(
        created=now, with_warcinfo=False,
        description="captures that needed deleted records, stored in full",
        stem=f"resolved-{''.join(filter(str.isdigit, iso_millis(now)))}",
    )  # fmt: skip
    captures = (dependent.capture for dependent in find_dependents(holding, warcs))
    packed = pack_warcs(holding, scratch, captures, options, lambda _done, _total: None)
    report = packed.selection
    if report.left_out or report.damaged:
        samples = [*report.left_out_samples, *report.damaged_samples]
        raise JobError(
            message(
                "ops.deletion-unresolved",
                "{number} captures that need these WARCs cannot be stored in full, such as "
                "{sample}. Nothing was deleted",
                number=report.left_out + report.damaged, sample=samples[0],
            )
        )  # fmt: skip
    first = next(iter(islice(find_dependents(holding, warcs), 1))).capture
    place = holding.warc(first.member, first.warc)
    folder = place.path.parent if place is not None else scratch
    return [MovedWarc(path, folder / path.name) for path in packed.paths]


DELETE: Final = Operation(
    "delete",
    "List what the deletion of a run or a WARC would do; with --yes, delete it.",
    DeletionRequest, DeletionResult, _delete, frozenset((STOPPED, FINISHED)), Role.ADMIN,
    detail="Revisits and differences of other WARCs that need the records are counted, and the "
    "first are listed. Nothing is deleted while there are some, unless --resolve-first stores them "
    "in full before. Logs, reports and the history of the URLs stay; the next visit of a URL whose "
    "capture was deleted is stored in full. WARCs of batch rounds cannot be deleted.",
    opens_store=True,
)  # fmt: skip
