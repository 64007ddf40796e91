"""The data of pages as tables, which can be exported from a job and imported into another.

Each table has named columns; bytes and nested values become text, so that JSON Lines and Parquet
(where pyarrow is installed) hold the same.
"""

import json
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.config.extras import MissingExtraError
from nacre.core.changes import ChangeRow
from nacre.core.history import FetchRow, HistoryRecord
from nacre.core.pagerow import DiscoveryRow, PageRow, TimingRow, VersionRow
from nacre.errors import JobError
from nacre.history.rendered import JUDGED, RenderedRow
from nacre.messages import message
from nacre.planner.change_detection.deletion import ErrorModel
from nacre.planner.change_detection.returning import PastVersions
from nacre.planner.change_detection.template import Template
from nacre.planner.change_rate.rates import EVIDENCE_BYTES, RECENT_BYTES
from nacre.planner.discovery.hints import MapRow, ReplyAudit
from nacre.planner.discovery.link_rules import RuleRow
from nacre.planner.discovery.traps import TrapRow
from nacre.planner.sites import ShownRow, SiteRow
from nacre.recrawl.pagestore import (
    AUDITS,
    CHANGES,
    ERRORS,
    FAMILY,
    LISTS,
    MAPS,
    PAST,
    RULES,
    SITES,
    TEMPLATES,
    TIMINGS,
    TRAPS,
)
from nacre.store.store import Store

_CHUNK = 512
_ROWS = 5_000
KEY = "key"


class Table(NamedTuple):
    """One table.

    Attributes:
        name: Its name, and that of its file.
        kind: What a row is.
        family: Where its rows are.
        prefix: First byte of their keys; b"" for none.
        binary: Keys are not text: they are written in base 16.
    """

    name: str
    kind: type[msgspec.Struct]
    family: str = FAMILY
    prefix: bytes = b""
    binary: bool = False


TABLES = (
    Table("pages", PageRow, prefix=b"p"),
    Table("ways", DiscoveryRow, prefix=b"w"),
    Table("versions", VersionRow, prefix=b"v"),
    Table("visits", FetchRow, prefix=b"f", binary=True),
    Table("changes", ChangeRow, prefix=CHANGES, binary=True),
    Table("sites", SiteRow, prefix=SITES),
    Table("rules", RuleRow, prefix=RULES),
    Table("traps", TrapRow, prefix=TRAPS),
    Table("sitemaps", MapRow, prefix=MAPS),
    Table("lists", ShownRow, prefix=LISTS),
    Table("templates", Template, prefix=TEMPLATES),
    Table("errors", ErrorModel, prefix=ERRORS),
    Table("past", PastVersions, prefix=PAST),
    Table("audits", ReplyAudit, prefix=AUDITS),
    Table("timings", TimingRow, prefix=TIMINGS),
    Table("rendered", RenderedRow, prefix=JUDGED),
    Table("captures", HistoryRecord, family="history"),
)


def table_rows(store: Store, table: Table) -> Iterator[dict[str, Any]]:
    """The rows of a table: their key and their columns, as numbers and texts."""
    decode = msgspec.msgpack.Decoder(table.kind).decode
    start = table.prefix
    stop = bytes([start[0] + 1]) if start else None
    while rows := list(store.scan(table.family, start, stop, _CHUNK)):
        for key, value in rows:
            name = key[len(table.prefix) :]
            columns = {KEY: name.hex() if table.binary else name.decode("utf-8", "replace")}
            columns.update(_columns(decode(value)))
            yield columns
        start = rows[-1][0] + b"\0"


def _columns(row: msgspec.Struct) -> dict[str, Any]:
    return {name: _plain(value) for name, value in msgspec.structs.asdict(row).items()}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field may hold anything
    plain = msgspec.to_builtins(value)
    return plain if isinstance(plain, str | int | float) else msgspec.json.encode(plain).decode()


def _check_lengths(row: PageRow) -> None:
    """Check that the learned rates can be read; else the planner would fail later."""
    sizes = {"evidence": EVIDENCE_BYTES, "arrivals": EVIDENCE_BYTES, "recent": RECENT_BYTES}
    for name, size in sizes.items():
        length = len(getattr(row, name))
        if length not in {0, size}:
            raise ValueError(
                message(
                    "recrawl.has-bytes",
                    "{name} has {number} bytes; expected {size}, or none",
                    name=name,
                    number=length,
                    size=size,
                )
            )


class Taking:
    """Writes rows of a table into a store, and commits regularly.

    Args:
        store: The store, open for writing by this process alone.
        table: The table.

    Attributes:
        count: Rows so far.
    """

    def __init__(self, store: Store, table: Table) -> None:
        self._store = store
        self._table = table
        self._fields = {field.name: field.type for field in msgspec.structs.fields(table.kind)}
        self._encode = msgspec.msgpack.Encoder().encode
        self.count = 0

    def take(self, columns: dict[str, Any]) -> None:
        """Write a row, which replaces a row of the same key.

        Raises:
            JobError: The row does not belong to this table.
        """
        try:
            key = columns[KEY]
            name = bytes.fromhex(key) if self._table.binary else key.encode("utf-8", "replace")
            fields = {
                name: _value(columns[name], kind)
                for name, kind in self._fields.items()
                if name in columns
            }
            row = self._table.kind(**fields)
            if isinstance(row, PageRow):
                _check_lengths(row)
            if isinstance(row, HistoryRecord):
                row = msgspec.structs.replace(row, links=None)  # of a file of the other job
            value = self._encode(row)
        except _UNREADABLE as error:
            number = self.count + 1
            raise JobError(
                message(
                    "recrawl.row-of-cannot-be-read",
                    "row {number} of {name} cannot be read: {error}",
                    number=number,
                    name=self._table.name,
                    error=error,
                )
            ) from error
        self._store.put(self._table.family, self._table.prefix + name, value)
        self.count += 1
        if not self.count % _ROWS:
            self._store.commit()


def _value(value: Any, kind: Any) -> Any:  # noqa: ANN401 - a field may hold anything
    if isinstance(value, str) and kind is not str:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError:
            return msgspec.json.decode(value, type=kind)
    return msgspec.convert(value, kind)


_UNREADABLE = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    msgspec.MsgspecError,
)
"""Errors of a row that does not belong to its table."""
_LINES, _PARQUET = ".jsonl", ".parquet"
_GROUP = 10_000


def export_tables(store: Store, folder: Path, *, parquet: bool) -> Iterator[tuple[Path, int]]:
    """Write each table into a file; return the files with their numbers of rows.

    Raises:
        JobError: A file cannot be written.
        MissingExtraError: pyarrow is not installed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for table in TABLES:
            path = folder / (table.name + (_PARQUET if parquet else _LINES))
            rows = table_rows(store, table)
            yield path, (write_parquet if parquet else _write_lines)(path, rows)
    except OSError as error:
        raise JobError(
            message(
                "recrawl.cannot-be-written",
                "{folder} cannot be written: {strerror}",
                folder=folder,
                strerror=error.strerror or error,
            )
        ) from error


def import_tables(store: Store, folder: Path) -> Iterator[tuple[Path, int]]:
    """Import each table with a file in the folder; return them with their numbers of rows.

    Raises:
        JobError: There is no file, or a row cannot be read.
    """
    has_table = False
    for table in TABLES:
        for suffix, read in ((_LINES, _read_lines), (_PARQUET, _read_parquet)):
            path = folder / (table.name + suffix)
            if path.is_file():
                has_table = True
                yield path, _take(store, table, read(path))
    if not has_table:
        names = ", ".join(table.name for table in TABLES)
        raise JobError(
            message(
                "recrawl.holds-no-tables-of-history",
                "{folder} holds no tables of history ({names}; .jsonl or .parquet)",
                folder=folder,
                names=names,
            )
        )


def _take(store: Store, table: Table, rows: Iterator[dict[str, Any]]) -> int:
    taking = Taking(store, table)
    for row in rows:
        taking.take(row)
    store.commit()
    return taking.count


def _write_lines(path: Path, rows: Iterator[dict[str, Any]]) -> int:
    count = 0
    with path.open("w", encoding="ascii") as file:
        for row in rows:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
            count += 1
    return count


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                yield _read_row(path, number, line)
    except UnicodeDecodeError as error:
        raise JobError(
            message(
                "recrawl.table-is-not-utf-8",
                "{path} is not UTF-8: {error}. Export the tables again, or convert the file",
                path=path,
                error=error,
            )
        ) from error


def _read_row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise JobError(
            message(
                "recrawl.line-is-not-json",
                "{path}, line {number} is not JSON: {error}",
                path=path,
                number=number,
                error=error,
            )
        ) from error
    if not isinstance(row, dict):
        raise JobError(
            message(
                "recrawl.line-is-not-json-object",
                "{path}, line {number} is not a JSON object",
                path=path,
                number=number,
            )
        )
    return row


def write_parquet(path: Path, rows: Iterator[dict[str, Any]]) -> int:
    """Write rows into a Parquet file; return their number.

    Raises:
        MissingExtraError: pyarrow is not installed.
        OSError: The file cannot be written.
    """
    arrow, parquet = _arrow()
    count, writer = 0, None
    try:
        while group := list(islice(rows, _GROUP)):
            batch = arrow.Table.from_pylist(group, schema=writer.schema if writer else None)
            if writer is None:
                writer = parquet.ParquetWriter(path, batch.schema, compression="zstd")
            writer.write_table(batch)
            count += len(group)
        if writer is None:
            parquet.write_table(arrow.table({"key": arrow.array([], arrow.string())}), path)
    finally:
        if writer is not None:
            writer.close()
    return count


def _read_parquet(path: Path) -> Iterator[dict[str, Any]]:
    arrow, parquet = _arrow()
    try:
        for batch in parquet.ParquetFile(path).iter_batches(_GROUP):
            yield from batch.to_pylist()
    except (OSError, arrow.ArrowException) as error:
        raise JobError(
            message(
                "recrawl.not-parquet",
                "{path} is not a Parquet file that can be read: {error}",
                path=path,
                error=error,
            )
        ) from error


def _arrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError("Parquet needs", "parquet") from None
