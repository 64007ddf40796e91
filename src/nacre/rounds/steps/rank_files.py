"""Files of a graph: numbered batches of Arrow, so that a task reads only its part.

Texts are compressed; numbers are not, so that they can be mapped into memory.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nacre.rounds.storage import localize
from nacre.rounds.tables.tables import TaskWork

_TEXT, _INT, _LONG = "string", "int32", "int64"

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "own": {"bucket": _INT, "node": _TEXT},
    "targets": {"number": _INT, "node": _TEXT},
    "sources": {"links": _INT, "node": _TEXT},
    "pairs": {"place": _INT, "target": _INT},
    "ids": {"id": _INT},
    "out": {"id": _INT, "num_out": _INT},
    "pure": {"num_out": _INT, "node": _TEXT},
    "in": {"target": _INT, "source": _INT},
    "counts": {"num_in": _LONG, "num_out": _LONG},
    "rank": {"rank": _LONG, "share": _LONG},
}
"""The columns of each kind of file."""


class BatchWriter:
    """Writes a file of batches, and uploads it at the end, unless there was an error.

    Args:
        work: The kernel and folder of the task.
        kind: A key of `COLUMNS`.
        name: Name of the file in the storage.
    """

    def __init__(self, work: TaskWork, kind: str, name: str) -> None:
        import pyarrow as pa  # noqa: PLC0415 - an extra

        columns = COLUMNS[kind]
        self._work, self._name = work, name
        self._path = work.scratch / f"sent-{name.rpartition('/')[2]}"
        types = {key: getattr(pa, type_of)() for key, type_of in columns.items()}
        self._schema = pa.schema(types)
        packed = "zstd" if _TEXT in columns.values() else None
        options = pa.ipc.IpcWriteOptions(compression=packed)
        self._writer = pa.ipc.new_file(str(self._path), self._schema, options=options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()
        if kind is None:
            self._work.storage.upload(self._path, self._name)

    def add(self, *columns: Any) -> None:  # noqa: ANN401 - arrays of Arrow or numpy
        """Write a batch of these columns."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        arrays = [
            column if isinstance(column, pa.Array) else pa.array(column, field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))


class BatchReader:
    """Reads the batches of a file by their numbers.

    Args:
        work: The kernel and folder of the task.
        name: Name of the file in the storage.
    """

    def __init__(self, work: TaskWork, name: str) -> None:
        import pyarrow as pa  # noqa: PLC0415 - an extra

        path: Path = localize(work.storage, name, work.scratch)
        self._source = pa.memory_map(str(path))
        self._file = pa.ipc.open_file(self._source)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._source.close()

    def __len__(self) -> int:
        return int(self._file.num_record_batches)

    def batch(self, number: int) -> Any:  # noqa: ANN401 - pyarrow has no types
        """A batch of Arrow."""
        return self._file.get_batch(number)

    def arrays(self, number: int, columns: Sequence[str]) -> list[Any]:
        """Columns of a batch as arrays of numpy, which are valid while the file is open."""
        batch = self._file.get_batch(number)
        return [batch.column(name).to_numpy(zero_copy_only=False) for name in columns]
