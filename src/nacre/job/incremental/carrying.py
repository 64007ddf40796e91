"""Tables of history as files: JSON Lines, or Parquet where pyarrow is installed."""

import json
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from nacre.errors import JobError
from nacre.history.carrying import TABLES, Table, Taking, table_rows
from nacre.job.configuration.extras import wanting
from nacre.store.store import Store

_LINES, _PARQUET = ".jsonl", ".parquet"
_GROUP = 10_000


def export_tables(store: Store, folder: Path, *, parquet: bool) -> Iterator[tuple[Path, int]]:
    """Write each table into a file; gives the files with their numbers of rows.

    Raises:
        JobError: A file cannot be written, or pyarrow is not installed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for table in TABLES:
            path = folder / (table.name + (_PARQUET if parquet else _LINES))
            rows = table_rows(store, table)
            yield path, (_write_parquet if parquet else _write_lines)(path, rows)
    except OSError as error:
        raise JobError(f"{folder} cannot be written: {error.strerror or error}") from error


def import_tables(store: Store, folder: Path) -> Iterator[tuple[Path, int]]:
    """Take in each table of which the folder has a file; gives them with their numbers of rows.

    Raises:
        JobError: There is none, or a row cannot be read.
    """
    found = False
    for table in TABLES:
        for suffix, read in ((_LINES, _read_lines), (_PARQUET, _read_parquet)):
            path = folder / (table.name + suffix)
            if path.is_file():
                found = True
                yield path, _take(store, table, read(path))
    if not found:
        names = ", ".join(table.name for table in TABLES)
        raise JobError(f"{folder} holds no tables of history ({names}; .jsonl or .parquet)")


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
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
            except ValueError as error:
                raise JobError(f"{path}, line {number} is no JSON: {error}") from error
            if not isinstance(row, dict):
                raise JobError(f"{path}, line {number} is no JSON object")
            yield row


def _write_parquet(path: Path, rows: Iterator[dict[str, Any]]) -> int:
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
        raise JobError(f"{path} is no Parquet file that can be read: {error}") from error


def _arrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise JobError(wanting("Parquet needs", "pyarrow")) from None
