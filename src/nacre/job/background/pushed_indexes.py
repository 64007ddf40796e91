"""The record of what OutbackCDX servers have: `state/pushed/`, a folder for each collection.

A folder has a line for each index that was taken whole, and of each index the CDX lines that the
server may have, compressed. What is deleted there later is known by these, when the index itself
is gone. Nothing is forgotten by a kill: lines are noted before they are sent.
"""

import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import zstandard

from nacre.archive.index import cdx11_line
from nacre.machine.layout import Layout
from nacre.machine.local_files import make_private, replace_file
from nacre.runs.runs import run_archives

PORTION = 5_000
"""Lines of one request."""
_TAKEN = "taken"
_SERVER = "server"
_SUFFIX = ".cdx.zst"


class ClosedIndex(NamedTuple):
    """The index of a closed WARC.

    Attributes:
        name: Its name, by which it is remembered.
        mark: What differs where its content differs: size and time of the file, or a digest.
        bring: Gives the local file with its lines of CDXJ; it blocks.
    """

    name: str
    mark: str
    bring: Callable[[], Path]


class _TakenLine(msgspec.Struct, frozen=True):
    """A line of the record.

    Attributes:
        name: Name of the index.
        mark: Its mark; "" where the server has it no more.
    """

    name: str
    mark: str


class PushedIndexes:
    """The record of one collection; it blocks.

    Args:
        layout: The job.
        url: The collection.
    """

    def __init__(self, layout: Layout, url: str) -> None:
        self._layout = layout
        self._url = url
        self._folder = layout.state / "pushed" / hashlib.sha256(url.encode()).hexdigest()[:16]
        self._taken: dict[str, str] = {}
        data = b""
        with suppress(OSError):
            data = (self._folder / _TAKEN).read_bytes()
        for line in data.splitlines():
            with suppress(msgspec.DecodeError):  # the last one, after a loss of power
                receipt = msgspec.json.decode(line, type=_TakenLine)
                self._taken[receipt.name] = receipt.mark

    def has(self, index: ClosedIndex) -> bool:
        """Whether the server has all lines of an index as it is now."""
        return self._taken.get(index.name) == index.mark

    def names(self) -> frozenset[str]:
        """The indexes that the server has, as far as is known."""
        return frozenset(name for name, mark in self._taken.items() if mark)

    def possible_names(self) -> Sequence[str]:
        """The indexes of which the server may have lines, by their names."""
        if not self._folder.is_dir():
            return []
        file_names = (path.name for path in self._folder.iterdir() if path.name.endswith(_SUFFIX))
        return sorted(name.removesuffix(_SUFFIX) for name in file_names)

    def lines(self, name: str) -> Iterator[str]:
        """The CDX lines of an index that the server may have; none where nothing was kept.

        Raises:
            OSError: The file cannot be read.
        """
        path = self._folder / f"{name}{_SUFFIX}"
        if not path.is_file():
            return
        with path.open("rb") as file:
            reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            for line in io.TextIOWrapper(reader, "utf-8", "replace", newline="\n"):
                yield line.rstrip("\n")

    def keep(self, name: str, lines: Iterable[str]) -> None:
        """Note the lines that the server may have from now on.

        Args:
            name: The index.
            lines: Its lines.

        Raises:
            OSError: The file cannot be written.
        """
        make_private(self._layout.state)
        make_private(self._folder.parent)
        make_private(self._folder)
        if not (self._folder / _SERVER).exists():
            replace_file(self._folder / _SERVER, f"{self._url}\n".encode(), 0o600)
        path = self._folder / f"{name}{_SUFFIX}"
        fresh = self._folder / f"{name}.new"
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        packer = zstandard.ZstdCompressor()
        with os.fdopen(handle, "wb") as file, packer.stream_writer(file) as out:
            for line in lines:
                out.write(f"{line}\n".encode())
        fresh.replace(path)

    def add(self, index: ClosedIndex) -> None:
        """Note that the server has all of an index.

        Raises:
            OSError: The file cannot be written.
        """
        self._note(_TakenLine(index.name, index.mark))

    def forget(self, name: str) -> None:
        """Note that the server has nothing of an index.

        Raises:
            OSError: The file cannot be written.
        """
        self._note(_TakenLine(name, ""))
        (self._folder / f"{name}{_SUFFIX}").unlink(missing_ok=True)

    def _note(self, line: _TakenLine) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        with os.fdopen(os.open(self._folder / _TAKEN, flags, 0o600), "ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")
        self._taken[line.name] = line.mark


def closed_indexes(layout: Layout, directories: tuple[str, ...]) -> list[ClosedIndex]:
    """The indexes of all closed WARCs of the runs of a job, by their names; it blocks.

    Args:
        layout: The job.
        directories: `archive.directories`.
    """
    folders = {layout.root / folder for folder in run_archives(layout, directories)}
    folders |= {Path(directory) for directory in shared_directories(directories)}
    indexes = [
        ClosedIndex(path.name, f"{facts.st_size}-{facts.st_mtime_ns}", path.absolute)
        for folder in folders
        if folder.is_dir()
        for path in folder.glob("*.cdxj")
        for facts in (path.stat(),)
    ]
    return sorted(indexes, key=lambda index: index.name)


def shared_directories(directories: tuple[str, ...]) -> list[str]:
    """Directories of WARCs outside a job, as its settings name them."""
    return [
        directory
        for directory in directories
        if Path(directory).is_absolute() and "$" not in directory
    ]


def cdx_lines(path: Path) -> Iterator[str]:
    """The CDX lines of an index of CDXJ.

    Raises:
        OSError: It cannot be read.
    """
    with path.open(encoding="utf-8", errors="replace") as file:
        yield from filter(None, map(cdx11_line, file))


def portions(lines: Iterable[str]) -> Iterator[list[str]]:
    """Lines in the portions of requests."""
    every = iter(lines)
    while portion := list(islice(every, PORTION)):
        yield portion
