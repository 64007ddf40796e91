"""Sorting of more rows than memory should hold: sorted runs in temporary files, then a merge."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from heapq import merge
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, TypeVar

import msgspec

T = TypeVar("T")

IN_MEMORY = 50_000
"""Rows that are sorted in memory."""


def sort_rows(
    rows: Iterable[T],
    kind: type[T],
    key: Callable[[T], Any],
    scratch: Path | None = None,
    in_memory: int = IN_MEMORY,
) -> Iterator[T]:
    """The rows, sorted.

    Args:
        rows: Any number of them.
        kind: Their type, as msgspec writes and reads it.
        key: What to sort by.
        scratch: Directory of the temporary files; None for the system's.
        in_memory: How many rows are held in memory before they go to a file.

    Raises:
        OSError: A temporary file cannot be written.
    """
    remaining = iter(rows)
    decode = msgspec.msgpack.Decoder(kind).decode
    with ExitStack() as stack:
        runs: list[Iterable[T]] = []
        while run := sorted(islice(remaining, in_memory), key=key):
            if len(run) < in_memory:
                runs.append(run)
                break
            file = stack.enter_context(TemporaryFile(dir=scratch))
            _write(file, run)
            runs.append(_read(file, decode))
        yield from merge(*runs, key=key)


def _write(file: IO[bytes], rows: Iterable[object]) -> None:
    encode = msgspec.msgpack.Encoder().encode
    for row in rows:
        data = encode(row)
        file.write(len(data).to_bytes(4, "big") + data)
    file.seek(0)


def _read(file: IO[bytes], decode: Callable[[bytes], T]) -> Iterator[T]:
    while size := file.read(4):
        yield decode(file.read(int.from_bytes(size, "big")))
