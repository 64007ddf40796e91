"""Hand captures on: as a WACZ, or as WARC files of a selection."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from nacre.errors import ConfigError
from nacre.messages import message
from nacre.ops.fields import LineText, Typed
from nacre.ops.operation import GROUPS, Operation, OperationContext

if TYPE_CHECKING:
    from nacre.packing.selection import SelectionReport
    from nacre.packing.wacz import PackOptions

_WHAT: Final = "What is packed"


class PackRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a package.

    Attributes:
        wacz: Write a WACZ to FILE.
        warc: Write WARC files to FILE (`NAME.warc.gz`) or into a folder, each with an index.
        also: Pack the captures of this job, WARC or WACZ file, too.
        revisits: Of WARC files: `resolve` makes responses of revisits, `keep` copies them.
        with_originals: With `--revisits keep`: add the originals of revisits that are left out.
        text: Of a WACZ: add the texts of the pages, for a search in them.
        logs: Of a WACZ: add the logs of the runs.
        title: Title of the package; default: that of the job or collection.
        description: Description of the package.
        replace: Replace an existing file.
    """

    wacz: Annotated[Path | None, Typed("FILE")] = None
    warc: Annotated[Path | None, Typed("FILE|FOLDER")] = None
    also: Annotated[tuple[Path, ...], Typed("TARGET", panel=_WHAT)] = ()
    revisits: Annotated[Literal["resolve", "keep"], Typed("")] = "resolve"
    with_originals: bool = False
    text: bool = False
    logs: bool = False
    title: Annotated[LineText, Typed("TEXT")] = ""
    description: Annotated[LineText, Typed("TEXT")] = ""
    replace: bool = False


class PackResult(msgspec.Struct, frozen=True, kw_only=True):
    """A package that was made.

    Attributes:
        files: The files.
        bytes: Their size.
        captures: Captures in it.
        warcs: WARCs in it.
        pages: Pages in the list of a WACZ.
        digest: Digest of a WACZ: `sha256:` and that of its `datapackage.json`; "" for WARC files.
        expanded: Records that were made of differences.
        resolved: Revisits that became responses.
        originals: Captures that were added because a revisit refers to them.
        left_out: Revisits whose original is not in the package.
        left_out_samples: The first of them: time, URL, and the original.
        damaged: Captures that cannot be read and were left out.
        defects: The first of them, and lines of indexes without a record.
    """

    files: tuple[str, ...]
    bytes: int
    captures: int
    warcs: int
    pages: int = 0
    digest: str = ""
    expanded: int = 0
    resolved: int = 0
    originals: int = 0
    left_out: int = 0
    left_out_samples: tuple[str, ...] = ()
    damaged: int = 0
    defects: tuple[str, ...] = ()


def pack(context: OperationContext, request: PackRequest) -> PackResult:
    """Write a package.

    Raises:
        ConfigError: An option is missing, or a filter has no meaning.
        JobError: There is nothing to pack, or the file exists.
        StorageError: A file cannot be read or written, or the disk is full.
    """
    from nacre.catalogue.holdings import open_holding
    from nacre.packing.sources import all_captures
    from nacre.packing.wacz import pack_wacz
    from nacre.packing.warc_files import pack_warcs

    _require_target(request)
    holding = open_holding([context.layout.root, *request.also])
    options = _options(context, request)
    if request.wacz is not None:
        package = pack_wacz(holding, request.wacz, None, options, context.tell)
        return _result(
            package.selection, files=(str(package.path),), bytes=package.bytes,
            captures=package.captures, warcs=package.warcs, pages=package.pages,
            digest=package.digest, expanded=package.expanded, defects=package.defects,
        )  # fmt: skip
    target = request.warc or Path()
    warcs = pack_warcs(holding, target, all_captures(holding), options, context.tell)
    return _result(
        warcs.selection, files=tuple(map(str, warcs.paths)), bytes=warcs.bytes,
        captures=warcs.selection.captures, warcs=len(warcs.paths),
    )  # fmt: skip


def _require_target(request: PackRequest) -> None:
    if (request.wacz is None) == (request.warc is None):
        raise ConfigError(
            message(
                "ops.pack-target",
                "name the file of the package: --wacz FILE, or --warc FILE or FOLDER",
            )
        )
    if request.wacz is not None and request.wacz.suffix != ".wacz":
        raise ConfigError(
            message(
                "ops.pack-suffix",
                "{path} is no name of a WACZ: it has to end with .wacz",
                path=request.wacz,
            )
        )


def _options(context: OperationContext, request: PackRequest) -> "PackOptions":
    from nacre.packing.wacz import PackOptions

    return PackOptions(
        created=context.clock.now(), title=request.title, description=request.description,
        text=request.text, logs=request.logs, resolve=request.revisits == "resolve",
        with_originals=request.with_originals, replace=request.replace,
    )  # fmt: skip


def _result(selection: "SelectionReport | None", **facts: object) -> PackResult:
    """Return the result, with what is known of a selection."""
    if selection is None:
        return msgspec.convert(facts, PackResult)
    defects = (*facts.pop("defects", ()), *selection.damaged_samples)  # type: ignore[misc]
    return msgspec.convert(
        facts | {
            "expanded": selection.expanded, "resolved": selection.resolved,
            "originals": selection.originals, "left_out": selection.left_out,
            "left_out_samples": selection.left_out_samples, "damaged": selection.damaged,
            "defects": defects,
        },
        PackResult,
    )  # fmt: skip


PACK: Final = Operation(
    "pack",
    "Pack captures into one file for other archives and programs: WACZ or WARC.",
    PackRequest, PackResult, pack, frozenset(GROUPS.values()),
    detail="A WACZ contains the WARCs as they are, with an index and the list of the pages. With "
    "`--warc` the records of the captures are written into new WARCs, with their request and "
    "metadata records.",
)  # fmt: skip
