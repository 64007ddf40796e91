"""Rows on their way from a driver to tasks: files by groups of buckets, in bounded memory."""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from nacre.machine.local_files import HeldFolder
from nacre.rounds.storage import Storage, remove_folder

_GROUPS = 64
"""Files at most, whatever the number of buckets."""
_HELD = 8 << 20
"""Bytes of rows that wait before they are written."""
_ROWS = 32_768
"""Rows of a part of a file that is sent."""


class ExchangeFiles:
    """Writes rows with a column `bucket` into a file for each group of buckets.

    The files are streams of Arrow until they are sent: a writer of Parquet holds the metadata of
    all row groups in memory until it is closed.

    Args:
        storage: Where the files go.
        folder: Folder of the storage for them.
        buckets: Number of buckets.
    """

    def __init__(self, storage: Storage, folder: str, buckets: int) -> None:
        self._storage, self._folder = storage, folder
        self._width = max(1, buckets // _GROUPS)
        self._held = HeldFolder("exchange-")
        self._writers: dict[tuple[str, int], tuple[Path, Any]] = {}
        self._waiting: dict[str, list[Any]] = {}
        self._size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for _, writer in self._writers.values():
            writer.close()
        self._held.close()

    def group(self, bucket: int) -> int:
        """Return the group of a bucket."""
        return bucket // self._width

    def add(self, name: str, table: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        """Add rows, an Arrow table with a column `bucket`, to the files of a name."""
        self._waiting.setdefault(name, []).append(table)
        self._size += table.nbytes
        if self._size >= _HELD:
            for pending in list(self._waiting):
                self._write(pending)
            self._size = 0

    def _write(self, name: str) -> None:
        """Write the rows of a name that wait."""
        tables = self._waiting.pop(name, None)
        if not tables:
            return
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.compute as pc  # noqa: PLC0415 - likewise

        table = pa.concat_tables(tables).sort_by("bucket")
        groups = pc.divide(table.column("bucket"), self._width)
        begin = 0
        for counted in pc.value_counts(groups):
            number, count = counted["values"].as_py(), counted["counts"].as_py()
            self._writer(name, number, table.schema).write_table(table.slice(begin, count))
            begin += count

    def send(self, name: str) -> Mapping[int, str]:
        """Send the files of a name to the storage; their names there, by group."""
        self._write(name)
        sent: dict[int, str] = {}
        for (kind, group), (path, writer) in self._writers.items():
            if kind == name:
                writer.close()
                target = f"{self._folder}/{name}-{group}-{secrets.token_hex(4)}.parquet"
                self._storage.upload(_as_parquet(path), target)
                path.unlink()
                sent[group] = target
        return sent

    def remove(self) -> None:
        """Delete the sent files from the storage."""
        remove_folder(self._storage, self._folder)

    def _writer(self, name: str, group: int, schema: Any) -> Any:  # noqa: ANN401 - pyarrow
        import pyarrow as pa  # noqa: PLC0415 - an extra

        open_file = self._writers.get((name, group))
        if open_file is None:
            path = self._held.path / f"{name}-{group}.arrows"
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            writer = pa.ipc.new_stream(str(path), schema, options=options)
            open_file = self._writers[name, group] = (path, writer)
        return open_file[1]


def _as_parquet(path: Path) -> Path:
    """Write the rows of a stream of Arrow as a file of Parquet; return its path."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415 - likewise

    target = path.with_suffix(".parquet")
    with (
        pa.OSFile(str(path)) as source,
        pa.ipc.open_stream(source) as rows,
        pq.ParquetWriter(target, rows.schema, compression="zstd", use_dictionary=False) as file,
    ):
        waiting: list[Any] = []
        for batch in rows:
            waiting.append(batch)
            part = pa.Table.from_batches(waiting)
            if part.num_rows >= _ROWS or part.nbytes >= _HELD:
                file.write_table(part)
                waiting.clear()
        if waiting:
            file.write_table(pa.Table.from_batches(waiting))
    return target
