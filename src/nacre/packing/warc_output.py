"""The WARC files of a selection: begun with a warcinfo record, closed at a size."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from hashlib import blake2b
from typing import NamedTuple, Protocol

from isal import isal_zlib

from nacre import __version__
from nacre.archive.record import warcinfo_record
from nacre.archive.warc_writer import CONFORMS, GZIP, TRAILER

_LEVEL = 1


class OutputSink(Protocol):
    """Takes the bytes of a file."""

    @property
    def length(self) -> int:
        """Bytes so far."""
        ...

    def write(self, data: bytes) -> None:
        """Append bytes."""
        ...


OpenOutput = Callable[[str], AbstractContextManager[OutputSink]]
"""Opens the file of a name; it is whole once the block ends."""


class OutputPlace(NamedTuple):
    """The place of a record that was written.

    Attributes:
        name: Name of its file.
        offset: Its offset, bytes.
        length: Its bytes.
        digest: `sha256:` and the digest of these bytes.
    """

    name: str
    offset: int
    length: int
    digest: str


class OutputSettings(NamedTuple):
    """The files of a selection.

    Attributes:
        stem: Beginning of their names.
        is_single: All records are in one file, `STEM.warc.gz`.
        max_size: Bytes at which the next file begins.
        date: Date of the warcinfo records, µs since the epoch.
        about: Further fields of the warcinfo records.
    """

    stem: str
    is_single: bool
    max_size: int
    date: int
    about: tuple[tuple[str, str], ...] = ()


class WarcOutput:
    """Writes records, each as a gzip member.

    Args:
        settings: The files.
        open_output: Opens a file.

    Attributes:
        names: Names of the files, the last of which may be open.
    """

    def __init__(self, settings: OutputSettings, open_output: OpenOutput) -> None:
        self._settings = settings
        self._open = open_output
        self._stack = ExitStack()
        self._sink: OutputSink | None = None
        self.names: list[str] = []

    def begin_capture(self) -> None:
        """Begin the next file if the open one is full: records of a capture are in one file.

        Raises:
            OSError: A file cannot be written.
        """
        is_full = self._sink is not None and self._sink.length >= self._settings.max_size
        if is_full and not self._settings.is_single:
            self.close()

    def write(self, pieces: Iterable[bytes], *, is_packed: bool) -> OutputPlace:
        """Write a record.

        Args:
            pieces: Its bytes: a gzip member, or the record without the two CRLF after it.
            is_packed: They are a gzip member.

        Raises:
            OSError: The file cannot be written.
        """
        sink = self._sink or self._begin()
        start, digest = sink.length, hashlib.sha256()
        for data in pieces if is_packed else _packed(pieces):
            digest.update(data)
            sink.write(data)
        length = sink.length - start
        return OutputPlace(self.names[-1], start, length, f"sha256:{digest.hexdigest()}")

    def _begin(self) -> OutputSink:
        settings = self._settings
        number = "" if settings.is_single else f"-{len(self.names) + 1:05d}"
        name = f"{settings.stem}{number}.warc.gz"
        self._sink = sink = self._stack.enter_context(self._open(name))
        self.names.append(name)
        fields = [
            ("software", f"Nacre/{__version__}"),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", CONFORMS),
            *settings.about,
        ]
        raw = blake2b(f"{name} {settings.date} {settings.about}".encode(), digest_size=16).digest()
        info = warcinfo_record(raw, settings.date, name, fields)
        for data in _packed([info.head + info.prefix]):
            sink.write(data)
        return sink

    def close(self) -> None:
        """Close the open file; the next record begins another one.

        Raises:
            OSError: The file cannot be written.
        """
        self._sink = None
        self._stack.close()

    def abandon(self, error: BaseException) -> None:
        """Close the open file because of an error, so that it is removed."""
        self._sink = None
        self._stack.__exit__(type(error), error, error.__traceback__)


def _packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    gzip = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, GZIP)
    for piece in pieces:
        if data := gzip.compress(piece):
            yield data
    yield gzip.compress(TRAILER) + gzip.flush()
