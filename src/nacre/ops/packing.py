"""Hand captures on: as a WACZ, or as WARC files of a selection."""

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import msgspec

from nacre.core.clock import Clock
from nacre.errors import ConfigError, JobError
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout, run_name
from nacre.messages import message, plural
from nacre.ops.fields import LineText, ShortTexts, Typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nacre.catalogue.captures import IndexedCapture
    from nacre.catalogue.holdings import Holding
    from nacre.catalogue.rows import CatalogueItem
    from nacre.ops.captures import CapturesQuery
    from nacre.packing.selection import SelectionReport
    from nacre.packing.wacz import PackOptions
    from nacre.rights.vocabulary import Preference


class PackRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a package.

    Attributes:
        wacz: Write a WACZ to FILE.
        warc: Write WARC files to FILE (`NAME.warc.gz`) or into a folder, each with an index.
        also: Pack the captures of this job, WARC or WACZ file, too.
        revisits: Of WARC files and of a selection: `resolve` makes responses of revisits, `keep`
            copies them.
        with_originals: With `--revisits keep`: add the originals of revisits that the filters
            leave out.
        text: Of a WACZ: add the texts of the pages, for a search in them.
        logs: Of a WACZ: add the logs of the runs.
        title: Title of the package; default: that of the job or collection.
        description: Description of the package.
        without: Leave out captures for which this preference held, such as `train-ai=n` or
            `noarchive`; may be repeated.
        unknown: With `--without`: `keep` or `drop` captures of which the preference is not known.
        replace: Replace an existing file.
    """

    wacz: Annotated[Path | None, Typed("FILE")] = None
    warc: Annotated[Path | None, Typed("FILE|FOLDER")] = None
    also: Annotated[tuple[Path, ...], Typed("TARGET", panel="What is packed")] = ()
    revisits: Annotated[Literal["resolve", "keep"], Typed("")] = "resolve"
    with_originals: bool = False
    text: bool = False
    logs: bool = False
    title: Annotated[LineText, Typed("TEXT")] = ""
    description: Annotated[LineText, Typed("TEXT")] = ""
    without: Annotated[ShortTexts, Typed("PREFERENCE", panel="What is packed")] = ()
    unknown: Annotated[Literal["keep", "drop"], Typed("", panel="What is packed")] = "keep"
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
        withheld: Captures that were left out for their preferences.
        unknown: Captures of which the preference is not known.
        unstated: Preferences of `--without` whose key no capture has.
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
    withheld: int = 0
    unknown: int = 0
    unstated: tuple[str, ...] = ()


def pack(
    targets: "Sequence[str | Path]",
    request: PackRequest,
    select: "CapturesQuery | None" = None,
    tell: "Callable[[int, int], None]" = lambda _done, _total: None,
    clock: Clock | None = None,
) -> PackResult:
    """Write a package.

    Args:
        targets: Jobs, collections, WARC and WACZ files.
        request: The options.
        select: The captures that are packed; None, or one without filters, for all.
        tell: Receives bytes done, and bytes in all; 0 if these are not known.
        clock: The time; None for that of the machine.

    Raises:
        ConfigError: An option is missing, or a filter has no meaning.
        JobError: There is nothing to pack, or the file exists.
        StorageError: A file cannot be read or written, or the disk is full.
    """
    from nacre.catalogue.holdings import open_holding
    from nacre.ops.rights import selecting
    from nacre.packing.wacz import NothingToPackError

    _require_target(request)
    unwanted = _unwanted(request)
    holding = open_holding([*targets, *request.also])
    captures = select_captures(holding, select)
    if not unwanted:
        return _pack(holding, captures, request, tell, clock)
    with selecting(holding, unwanted, request.unknown) as selection:
        chosen = selection.select(_every(holding) if captures is None else captures)
        try:
            result = _pack(holding, chosen, request, tell, clock)
        except NothingToPackError as error:
            withheld = selection.left_out
            withheld += selection.unknown if request.unknown == "drop" else 0
            if not withheld:
                raise
            raise _all_withheld(holding.name, withheld) from error
        return msgspec.structs.replace(
            result,
            withheld=selection.left_out,
            unknown=selection.unknown,
            unstated=tuple(preference.text for preference in selection.unstated),
        )


def _all_withheld(name: str, number: int) -> JobError:
    """Return the error of a package from which `--without` leaves out all captures."""
    return JobError(
        plural(
            "ops.pack-all-withheld",
            "nothing of {name} is left to pack: --without left out the only capture. Check the "
            "preference, or pack without the option",
            "nothing of {name} is left to pack: --without left out all {number} captures. Check "
            "the preference, or pack without the option",
            number=number,
            name=name,
        )
    )


def _every(holding: "Holding") -> "Iterable[IndexedCapture]":
    from nacre.packing.sources import all_captures

    return all_captures(holding)


def _unwanted(request: PackRequest) -> "list[Preference]":
    """Return the preferences of `--without`.

    Raises:
        ConfigError: One is none, or originals would come back that were left out.
    """
    from nacre.ops.rights import read_preferences

    unwanted = read_preferences(request.without)
    if unwanted and request.with_originals:
        raise ConfigError(
            message(
                "ops.pack-originals",
                "--with-originals would add captures that --without leaves out. Use "
                "--revisits resolve, which stores their content with the captures that are packed",
            )
        )
    return unwanted


def _pack(
    holding: "Holding",
    captures: "Iterable[IndexedCapture] | None",
    request: PackRequest,
    tell: "Callable[[int, int], None]",
    clock: Clock | None,
) -> PackResult:
    from nacre.packing.wacz import pack_wacz
    from nacre.packing.warc_files import pack_warcs

    options = _options(request, clock or SystemClock())
    if request.wacz is not None:
        package = pack_wacz(holding, request.wacz, captures, options, tell)
        return _result(
            package.selection, files=(str(package.path),), bytes=package.bytes,
            captures=package.captures, warcs=package.warcs, pages=package.pages,
            digest=package.digest, expanded=package.expanded, defects=package.defects,
        )  # fmt: skip
    target = request.warc or Path()
    if captures is None:
        captures = _every(holding)
    warcs = pack_warcs(holding, target, captures, options, tell)
    return _result(
        warcs.selection, files=tuple(map(str, warcs.paths)), bytes=warcs.bytes,
        captures=warcs.selection.captures, warcs=len(warcs.paths),
    )  # fmt: skip


def select_captures(
    holding: "Holding", select: "CapturesQuery | None"
) -> "Iterable[IndexedCapture] | None":
    """Return the captures of a query, for which the catalogues are brought up to date.

    Args:
        holding: The holding.
        select: The query; None for all captures.

    Returns:
        The captures, in no order; None for all.

    Raises:
        ConfigError: A filter has no meaning.
        JobError: It has words, and there is no index of words.
        StorageError: A catalogue cannot be written.
    """
    from nacre.ops.captures import FILTERS, build_catalogues, read_query, selected_captures

    if select is None or not any(getattr(select, name) for name in FILTERS if name != "order"):
        return None
    query = read_query(select)
    build_catalogues(holding)
    return selected_captures(holding, query)


EXPORTS = "exports"
"""The folder of a job with files that were made for others."""


class CaptureFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file with captures of a job.

    Attributes:
        path: Its path below the job.
        bytes: Its size.
        captures: Captures in it; of URLs, their number.
        left_out: Revisits whose original is not in it.
        damaged: Captures that cannot be read and were left out.
        withheld: Captures that were left out for their preferences.
        unknown: Captures of which the preference is not known.
    """

    path: str
    bytes: int
    captures: int
    left_out: int = 0
    damaged: int = 0
    withheld: int = 0
    unknown: int = 0


class ExportOptions(NamedTuple):
    """The options of a file with captures.

    Attributes:
        keep: Of a selection: copy revisits.
        without: Leave out captures for which one of these preferences held.
        unknown: What is done with captures for which one might hold.
    """

    keep: bool = False
    without: "Sequence[str]" = ()
    unknown: Literal["keep", "drop"] = "keep"


def export_file(
    layout: Layout,
    kind: str,
    select: "CapturesQuery",
    tell: "Callable[[int, int], None]",
    options: ExportOptions,
) -> CaptureFile:
    """Write captures of a job to a new file in its folder `exports/`.

    Args:
        layout: The job.
        kind: `wacz`, `warc`, `cdxj`, `cdx11` or `urls`.
        select: The captures.
        tell: Receives steps done, and steps in all; 0 if these are not known.
        options: The options.

    Raises:
        ConfigError: A filter or a preference has no meaning.
        JobError: There are no captures, or no index of words.
        StorageError: A file cannot be read or written, or the disk is full.
    """
    clock = SystemClock()
    stem = f"{layout.root.name}-{run_name(clock.now())}"
    target = layout.root / EXPORTS / f"{stem}{_SUFFIXES[kind]}"
    if kind in ("wacz", "warc"):
        request = PackRequest(
            wacz=target if kind == "wacz" else None,
            warc=target if kind == "warc" else None,
            revisits="keep" if options.keep else "resolve",
            without=tuple(options.without),
            unknown=options.unknown,
        )
        target.parent.mkdir(exist_ok=True)
        package = pack([layout.root], request, select, tell, clock)
        return CaptureFile(
            path=f"{EXPORTS}/{target.name}", bytes=package.bytes, captures=package.captures,
            left_out=package.left_out, damaged=package.damaged,
            withheld=package.withheld, unknown=package.unknown,
        )  # fmt: skip
    return _export_lines(layout, kind, select, target, tell, options)


_SUFFIXES = {
    "wacz": ".wacz", "warc": ".warc.gz", "cdxj": ".cdxj", "cdx11": ".cdx", "urls": ".txt",
}  # fmt: skip


def _export_lines(
    layout: Layout, kind: str, select: "CapturesQuery", target: Path,
    tell: "Callable[[int, int], None]", options: ExportOptions,
) -> CaptureFile:  # fmt: skip
    from nacre.catalogue.holdings import open_holding
    from nacre.ops.captures import build_catalogues, iterate_captures, read_query
    from nacre.ops.rights import read_preferences, selecting
    from nacre.packing.container import whole_file

    unwanted = read_preferences(options.without)
    holding = open_holding([layout.root])
    query = msgspec.structs.replace(read_query(select), order="" if select.q else "url")
    build_catalogues(holding)
    items = iterate_captures(holding, query)
    count = 0
    with selecting(holding, unwanted, options.unknown) as selection, whole_file(target) as file:
        if unwanted:
            items = (item for item in items if selection.accepts(item.capture))
        lines = _lines(holding, kind, items)
        if kind == "cdx11":
            file.write(b" CDX N b a m s k r M S V g\n")
        for count, line in enumerate(lines, 1):
            file.write(line.encode("utf-8", "backslashreplace"))
            tell(count, 0)
        size = file.tell()
    return CaptureFile(
        path=f"{EXPORTS}/{target.name}", bytes=size, captures=count, withheld=selection.left_out,
        unknown=selection.unknown,
    )  # fmt: skip


def _lines(holding: "Holding", kind: str, items: "Iterable[CatalogueItem]") -> "Iterable[str]":
    """Return the lines of an index or of a list of URLs."""
    from nacre.archive.index import cdx11_line
    from nacre.ops.captures import WRITERS

    if kind == "urls":
        return (f"{url}\n" for url, _ in groupby(item.capture.url for item in items))
    lines = WRITERS["cdxj"](holding, items)
    if kind == "cdx11":
        return (f"{line}\n" for line in map(cdx11_line, lines) if line)
    return lines


def _require_target(request: PackRequest) -> None:
    if request.wacz is not None and request.warc is not None:
        raise ConfigError(
            message("ops.pack-targets", "--wacz and --warc exclude each other: name only one")
        )
    if request.wacz is None and request.warc is None:
        raise ConfigError(
            message(
                "ops.pack-target",
                "name the file of the package: --wacz FILE, or --warc FILE or FOLDER",
            )
        )
    if request.wacz is not None:
        require_wacz_name(request.wacz)


def require_wacz_name(path: Path) -> None:
    """Refuse a file whose name is not that of a WACZ.

    Raises:
        ConfigError: It does not end with `.wacz`.
    """
    if path.suffix != ".wacz":
        raise ConfigError(
            message(
                "ops.pack-suffix",
                "{path} is no name of a WACZ: it has to end with .wacz",
                path=path,
            )
        )


def _options(request: PackRequest, clock: Clock) -> "PackOptions":
    from nacre.packing.wacz import PackOptions

    return PackOptions(
        created=clock.now(), title=request.title, description=request.description,
        text=request.text, logs=request.logs, resolve=request.revisits == "resolve",
        with_originals=request.with_originals, replace=request.replace,
    )  # fmt: skip


def _result(selection: "SelectionReport | None", **facts: object) -> PackResult:
    """Return the result, with the facts of a selection."""
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
