"""Writers of files: each commit atomically makes one file in the writer's folder.

A changed document is in a later file again, and the last version counts. Ids that were removed are
listed in `deleted-NNNNNN.txt`, of the number of the commit that removed them.
"""

import csv
import io
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nacre.config.extras import wanting
from nacre.errors import ConfigError, StorageError
from nacre.search.document import SearchDocument, plain_document

_PART = re.compile(r"(?:documents|deleted)-(\d{6})\.\w+")
_NEW = ".new"

FieldMapping = Callable[[dict[str, Any]], dict[str, Any]]
"""Renames, copies and removes fields."""

FileEncoder = Callable[[Sequence[Mapping[str, Any]]], bytes]
"""Makes the content of a file of documents."""


class FilesWriter:
    """A writer of files.

    Args:
        folder: Where they lie.
        name: See `DocumentWriter`.
        suffix: End of the names of the files of documents.
        encode: Makes the content of one.
        mapping: Applied to each document.
    """

    def __init__(
        self, folder: Path, name: str, suffix: str, encode: FileEncoder, mapping: FieldMapping
    ) -> None:
        self.name = name
        self._folder = folder
        self._target = folder
        self._suffix = suffix
        self._encode = encode
        self._mapping = mapping
        self._rows: dict[str, dict[str, Any]] = {}
        self._deleted: list[str] = []
        self._number = 0

    def open(self, *, rebuild: bool = False) -> bool:
        """See `DocumentWriter.open`."""
        self._target = self._folder.with_name(self._folder.name + _NEW) if rebuild else self._folder
        try:
            if rebuild:
                shutil.rmtree(self._target, ignore_errors=True)
            self._target.mkdir(parents=True, exist_ok=True)
            numbers = [
                int(match[1])
                for path in self._target.iterdir()
                if (match := _PART.fullmatch(path.name))
            ]
        except OSError as error:
            raise StorageError(f"{self._target}: {error.strerror}") from error
        self._number = max(numbers, default=0)
        return not numbers

    def write(self, batch: Sequence[SearchDocument]) -> None:
        """See `DocumentWriter.write`."""
        for document in batch:
            self._rows[document.id] = self._mapping(plain_document(document))

    def delete(self, ids: Sequence[str]) -> None:
        """See `DocumentWriter.delete`."""
        for key in ids:
            self._rows.pop(key, None)
        self._deleted += ids

    def commit(self) -> None:
        """See `DocumentWriter.commit`."""
        number = f"{self._number + 1:06d}"
        try:
            if self._deleted:
                lines = "".join(f"{key}\n" for key in self._deleted)
                self._put(f"deleted-{number}.txt", lines.encode("utf-8", "replace"))
            if self._rows:
                data = self._encode(list(self._rows.values()))
                self._put(f"documents-{number}.{self._suffix}", data)
            if self._target != self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._target.rename(self._folder)
                self._target = self._folder
        except OSError as error:
            raise StorageError(f"{self._target}: {error.strerror or error}") from error
        if self._deleted or self._rows:
            self._number += 1
        self._rows, self._deleted = {}, []

    def close(self) -> None:
        """See `DocumentWriter.close`."""
        self._rows, self._deleted = {}, []

    def _put(self, name: str, data: bytes) -> None:
        """A file, durable, that is there as a whole or not at all."""
        path = self._target / f"{name}.part"
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        path.rename(self._target / name)


def json_lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Documents as JSON Lines, in UTF-8."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode(
        "utf-8", "replace"
    )


def csv_encoder(fields: Sequence[str], separator: str) -> FileEncoder:
    """Return the encoder of CSV as RFC 4180 has it, with a line of names.

    Args:
        fields: The columns.
        separator: Between them.
    """

    def encode(rows: Sequence[Mapping[str, Any]]) -> bytes:
        target = io.StringIO(newline="")
        writer = csv.writer(target, delimiter=separator)
        writer.writerow(fields)
        writer.writerows([_cell(row.get(name)) for name in fields] for row in rows)
        return target.getvalue().encode("utf-8", "replace")

    return encode


_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def _cell(value: object) -> object:
    """Return a value as a cell; a text that a spreadsheet would compute is quoted."""
    if isinstance(value, list):
        value = "|".join(map(str, value))
    if isinstance(value, str) and value.startswith(_FORMULAS):
        return f"'{value}"
    return "" if value is None else value


_MORE = "more"


def parquet_encoder(name: str, types: Mapping[str, Any]) -> FileEncoder:
    """The encoder of Parquet: all its files have the same columns, whatever documents they have.

    What a document has besides is in the last column, `more`: lists of texts by name.

    Args:
        name: Name of the writer, for messages.
        types: The Python types of the columns by name, as in `FIELD_TYPES`.

    Raises:
        ConfigError: pyarrow is not installed, or a column is called `more`. The encoder raises it
            where a value is not of the type of its column.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415 - likewise
    except ImportError:
        raise ConfigError(wanting("the writer `parquet` needs", "pyarrow")) from None
    if _MORE in types:
        raise ConfigError(
            f"cycle.index.writers: `{name}`: a field is called `{_MORE}` by `rename` or "
            "`copy_fields`, and the fields of filters are in the column of this name: "
            "choose another"
        )
    kinds = {str: pa.string(), list[str]: pa.list_(pa.string()), int: pa.int64()}
    kinds[float] = pa.float64()
    columns = {column: kinds[kind] for column, kind in types.items()}
    schema = pa.schema({**columns, _MORE: pa.map_(pa.string(), pa.list_(pa.string()))})

    def encode(rows: Sequence[Mapping[str, Any]]) -> bytes:
        arrays = []
        for column in schema:
            values = [
                _other_fields(row, columns)
                if column.name == _MORE
                else _encodable(row.get(column.name))
                for row in rows
            ]
            try:
                arrays.append(pa.array(values, column.type))
            except (pa.ArrowException, TypeError) as error:
                raise ConfigError(
                    f"cycle.index.writers: `{name}`: the column `{column.name}` is of the type "
                    f"{column.type}, and a filter or `rename` gave it another value ({error}): "
                    "give that field another name"
                ) from None
        target = io.BytesIO()
        pq.write_table(pa.table(arrays, schema=schema), target, compression="zstd")
        return target.getvalue()

    return encode


def _other_fields(
    row: Mapping[str, Any], columns: Mapping[str, Any]
) -> list[tuple[object, object]] | None:
    """Return the fields of a document that have no column, by name; None if there are none."""
    pairs = [(_encodable(k), _encodable(v)) for k, v in sorted(row.items()) if k not in columns]
    return pairs or None


def _encodable(value: object) -> object:
    """Return the value, with `?` for lone surrogates, which UTF-8 cannot encode."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_encodable(item) for item in value] if isinstance(value, list) else value
