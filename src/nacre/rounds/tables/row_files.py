"""Write rows for people and programs: Parquet, CSV, JSON Lines."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, time
from math import isfinite
from pathlib import Path
from typing import Any

from nacre.errors import ConfigError


def write_batches(batches: Iterable[Any], target: Path) -> int:
    """Write batches of Arrow into a file by its suffix: `.parquet`, `.csv` or `.jsonl`.

    Returns:
        The number of rows.

    Raises:
        ConfigError: The suffix is another, or the file cannot be written.
    """
    if target.suffix not in _WRITERS:
        raise ConfigError(f"{target}: it ends with {', '.join(_WRITERS)}")
    rows = 0
    temporary = target.with_name(f".{target.name}.new")
    try:
        with _WRITERS[target.suffix](temporary) as write:
            for batch in batches:
                write(batch)
                rows += batch.num_rows
        temporary.replace(target)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        reason = error.strerror or str(error)
        raise ConfigError(f"{target} cannot be written: {reason}") from error
    return rows


@contextmanager
def _parquet_writer(path: Path) -> Iterator[Callable[[Any], None]]:
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    writers: list[Any] = []

    def write(batch: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        if not writers:
            writers.append(pq.ParquetWriter(path, batch.schema, compression="zstd"))
        writers[0].write_batch(batch)

    path.touch()
    yield write
    for writer in writers:
        writer.close()


@contextmanager
def _csv_writer(path: Path) -> Iterator[Callable[[Any], None]]:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)

        def write(batch: Any) -> None:  # noqa: ANN401 - pyarrow has no types
            if not file.tell():
                writer.writerow(batch.schema.names)
            for row in batch.to_pylist():
                writer.writerow([_cell(value) for value in row.values()])

        yield write


@contextmanager
def _jsonl_writer(path: Path) -> Iterator[Callable[[Any], None]]:
    with path.open("w", encoding="utf-8") as file:

        def write(batch: Any) -> None:  # noqa: ANN401 - pyarrow has no types
            for row in batch.to_pylist():
                json.dump(plain_row(row), file, ensure_ascii=False, separators=(",", ":"))
                file.write("\n")

        yield write


_WRITERS = {".parquet": _parquet_writer, ".csv": _csv_writer, ".jsonl": _jsonl_writer}


def _cell(value: object) -> object:
    """Return a value for CSV: `nan` and `inf` stay, an empty cell means null."""
    if isinstance(value, float):
        return value
    plain = _plain(value)
    return json.dumps(plain, ensure_ascii=False) if isinstance(plain, dict | list) else plain


def plain_row(row: Mapping[str, Any], *, finite: bool = True) -> dict[str, Any]:
    """Return a row for JSON: times in ISO 8601, bytes in hexadecimal, null for `nan` and `inf`.

    Args:
        row: The row.
        finite: Replace `nan` and `inf`, which JSON lacks, by null; else they stay, for people.
    """
    return {name: _plain(value, finite=finite) for name, value in row.items()}


def _plain(value: Any, *, finite: bool = True) -> Any:  # noqa: ANN401 - a value of any column
    if value is None or isinstance(value, bool | int | float | str):
        return None if finite and isinstance(value, float) and not isfinite(value) else value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {str(key): _plain(item, finite=finite) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return _plain_list(value, finite=finite)
    return _format_value(value)


def _format_value(value: object) -> str:
    """Return a time in ISO 8601, in UTC; other values as Python formats them."""
    if isinstance(value, datetime):
        moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return f"{moment.isoformat()}Z"
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _plain_list(values: Sequence[Any], *, finite: bool) -> Any:  # noqa: ANN401 - likewise
    """Return a list; a list of pairs, which Arrow uses for maps, becomes a map."""
    if values and all(isinstance(item, tuple) and len(item) == 2 for item in values):
        return {str(key): _plain(item, finite=finite) for key, item in values}
    return [_plain(item, finite=finite) for item in values]
