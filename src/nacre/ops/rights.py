"""The preferences of sites that a job recorded: of a URL at a time, and all rows of the ledger."""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from nacre.errors import ConfigError, JobError
from nacre.messages import message

if TYPE_CHECKING:
    from nacre.catalogue.captures import IndexedCapture
    from nacre.catalogue.holdings import Holding
    from nacre.inspect.rights import LedgerRow, UrlRights
    from nacre.job.rights_rebuild import RebuiltRights
    from nacre.machine.layout import Layout
    from nacre.packing.capture_rights import RightsSelection
    from nacre.rights.ledger import HeldPreferences
    from nacre.rights.vocabulary import Preference
    from nacre.store.store import Store


def rights_of_url(layout: "Layout", url: str, at: str = "") -> "UrlRights":
    """Return the preferences that hold for a URL.

    Args:
        layout: The job, running or not.
        url: The URL, as typed.
        at: A time, such as `2026-11-29` or up to 14 digits: its last second counts; "" for now.

    Raises:
        ConfigError: That is no time.
        JobError: The job never ran.
        URIError: That is no URL.
    """
    from nacre.catalogue.filters import time_of
    from nacre.inspect.rights import url_rights, url_rights_after
    from nacre.inspect.stored_job import reading_store
    from nacre.inspect.view import stored_clock

    seconds = time_of(at, "--at", is_end=True)
    with reading_store(layout) as store:
        name = known_url(store, url)
        if seconds is None:
            return url_rights(store, name, round(stored_clock(store).now() * 1e6))
        time = seconds * 1_000_000 + 999_999
        return url_rights_after(store, name, time, _last_capture(layout, name, time))


def _last_capture(layout: "Layout", url: str, time: int) -> int:
    """Return the time of the last capture of a URL until a time, both µs; 0 if there is none."""
    from nacre.catalogue.holdings import open_holding
    from nacre.catalogue.lookup import open_index
    from nacre.packing.capture_rights import capture_time
    from nacre.uri.surt import index_key

    index = open_index(open_holding([layout.root]))
    captures = (capture for capture in index.exact(index_key(url)) if capture.url == url)
    times = (capture_time(capture.timestamp) for capture in captures)
    return max((moment for moment in times if moment <= time), default=0)


def known_url(store: "Store", text: str) -> str:
    """Return the URL that a typed text means, in the spelling that the job knows."""
    from nacre.history.dedup import History
    from nacre.inspect.typed_urls import typed_spellings

    names = list(typed_spellings(store, text))
    history = History(store)
    return next((name for name in names if history.get(name) is not None), names[0])


def rights_history(layout: "Layout", url: str) -> "list[LedgerRow]":
    """Return all signals that ever held for a URL; see `inspect.rights.url_versions`."""
    from nacre.inspect.rights import url_versions
    from nacre.inspect.stored_job import reading_store

    with reading_store(layout) as store:
        return list(url_versions(store, known_url(store, url)))


def all_rights(layout: "Layout") -> "Iterator[LedgerRow]":
    """Yield all rows of the ledger of a job.

    Raises:
        JobError: The job never ran.
    """
    from nacre.inspect.rights import ledger_rows
    from nacre.inspect.stored_job import reading_store

    with reading_store(layout) as store:
        yield from ledger_rows(store)


def rebuild_ledger(layout: "Layout") -> "RebuiltRights":
    """Fill the ledger of a job at rest from its WARCs.

    Raises:
        JobError: The job never ran.
        StorageError: The store is in use, or a file cannot be read or written.
    """
    import tempfile

    from nacre.inspect.stored_job import require_store
    from nacre.job.rights_rebuild import rebuild_rights
    from nacre.settings.load import load_job
    from nacre.store.store import Store

    settings = load_job(layout).settings
    require_store(layout)
    with (
        Store.open(str(layout.store), memory=settings.store.memory) as store,
        tempfile.TemporaryDirectory(prefix="nacre-rights-") as scratch,
    ):
        return rebuild_rights(layout.root, store, settings, Path(scratch))


def read_preferences(texts: "Sequence[str]") -> "list[Preference]":
    """Return preferences that a user wrote.

    Raises:
        ConfigError: One of the texts is none.
    """
    from nacre.rights.vocabulary import read_preference

    preferences = []
    for text in texts:
        preference = read_preference(text)
        if preference is None:
            raise ConfigError(
                message(
                    "ops.no-preference",
                    "{text!r} is no preference. Write a directive such as noarchive, or a use with "
                    "y or n such as train-ai=n",
                    text=text,
                )
            )
        preferences.append(preference)
    return preferences


@contextmanager
def selecting(
    holding: "Holding", without: "Sequence[Preference]", unknown: Literal["keep", "drop"]
) -> "Iterator[RightsSelection]":
    """Select captures by the preferences that held for them; see `RightsSelection`."""
    from nacre.packing.capture_rights import CaptureRights, RightsSelection

    with CaptureRights(holding) as rights:
        yield RightsSelection(rights, without, unknown)


class CaptureRightsRow(msgspec.Struct, frozen=True):
    """A capture with the preferences that held for it.

    Attributes:
        time: When it was captured, 14 digits, UTC.
        url: Its URL.
        status: HTTP status; 0 if it has none.
        mime: Media type; `warc/revisit` for a reference to an earlier capture.
        warc: Name of its WARC.
        offset: Offset of its record there, bytes.
        rights: The preferences, such as `noarchive, train-ai=n`.
        not_collected: Sources that were not collected.
    """

    time: str
    url: str
    status: int
    mime: str
    warc: str
    offset: int
    rights: str
    not_collected: str


class CaptureRightsList(NamedTuple):
    """The captures of a job with their preferences.

    Attributes:
        rows: The captures, index by index; to be read once.
        selection: What was left out; complete after the last row.
    """

    rows: Iterator[CaptureRightsRow]
    selection: "RightsSelection"


@contextmanager
def capture_rights(
    layout: "Layout",
    url: str,
    without: "Sequence[Preference]",
    unknown: Literal["keep", "drop"],
) -> "Iterator[CaptureRightsList]":
    """List the captures of a job with the preferences that held for them.

    Args:
        layout: The job.
        url: Only captures of this URL, as typed; "" for all.
        without: Captures for which one of these holds are left out.
        unknown: What is done with captures for which one might hold.
    """
    from nacre.catalogue.holdings import open_holding
    from nacre.inspect.stored_job import reading_store
    from nacre.packing.capture_rights import CaptureRights, RightsSelection
    from nacre.packing.sources import all_captures

    holding = open_holding([layout.root])
    captures = all_captures(holding)
    if url:
        with reading_store(layout) as store:
            name = known_url(store, url)
        captures = (capture for capture in captures if capture.url == name)
    with CaptureRights(holding) as rights:
        selection = RightsSelection(rights, without, unknown)
        rows = (_row(capture, rights.of(capture)) for capture in selection.select(captures))
        yield CaptureRightsList(rows, selection)


def _row(capture: "IndexedCapture", held: "HeldPreferences") -> CaptureRightsRow:
    return CaptureRightsRow(
        capture.timestamp, capture.url, capture.status, capture.mime, capture.warc,
        capture.offset, held.text(), ", ".join(held.missing),
    )  # fmt: skip


def rights_csv(rows: Iterator[CaptureRightsRow]) -> Iterator[str]:
    """Yield captures as CSV, with a head."""
    from nacre.ops.captures import spreadsheet_cell

    target = io.StringIO(newline="")
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        writer.writerow(map(spreadsheet_cell, msgspec.structs.astuple(row)))
        yield target.getvalue()
        target.seek(0)
        target.truncate()
    yield target.getvalue()


def write_rights_parquet(path: Path, rows: Iterator[CaptureRightsRow]) -> int:
    """Write captures into a Parquet file; return their number.

    Raises:
        JobError: The file cannot be written.
        MissingExtraError: pyarrow is not installed.
    """
    from nacre.recrawl.tables import write_parquet

    try:
        return write_parquet(path, (msgspec.structs.asdict(row) for row in rows))
    except OSError as error:
        raise JobError(
            message(
                "ops.rights-not-written",
                "{path} cannot be written: {reason}. Name a file in another folder",
                path=path,
                reason=error.strerror or error,
            )
        ) from error


_COLUMNS: Final = tuple(field.name for field in msgspec.structs.fields(CaptureRightsRow))
