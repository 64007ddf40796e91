"""Tables made of what a test says: files of a bucket, and rows read back."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nacre.crawldb import row
from nacre.crawldb.kernels import Kernel

NOW = 1_800_000_000_000
"""Now in the tests, ms since the epoch."""
DAY = 86_400_000

Row = Mapping[str, Any]


def kernel_at(folder: Path) -> Kernel:
    """A kernel that reads and writes in a folder of a test; the tests of a process share one."""
    return Kernel(200_000_000, directories=[str(folder.parent)], again=True)


class Files:
    """Files of a bucket, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base: list[str] = []
        self.sets: list[tuple[str, str]] = []
        self.adds: list[str] = []
        self._number = 0

    def put(self, rows: Iterable[Row], schema: pa.Schema) -> str:
        self._number += 1
        path = str(self.folder / f"{self._number:04d}.parquet")
        table = pa.Table.from_pylist(sorted(rows, key=lambda one: one["key"].encode()), schema)
        pq.write_table(table, path)
        return path

    def add(self, *rows: Row) -> str:
        self.adds.append(self.put(rows, row.ADD_SCHEMA))
        return self.adds[-1]

    def set(self, group: str, *rows: Row) -> str:
        self.sets.append((self.put(rows, row.GROUPS[group]), group))
        return self.sets[-1][0]


def read(kernel: Kernel, query: str) -> list[dict[str, Any]]:
    """The rows of a query, nulls left out."""
    found = kernel.arrow(query).to_pylist()
    return [{name: value for name, value in one.items() if value is not None} for one in found]


def names(rows: Sequence[Row], name: str = "key") -> list[Any]:
    return [one[name] for one in rows]
