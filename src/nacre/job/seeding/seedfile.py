"""Where seed lines come from: the configuration itself, or a file of any length, plain or gzip."""

import errno
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from nacre.config.ordinary import open_ordinary
from nacre.errors import ConfigError, Problem
from nacre.job.seeding.seedcoding import coding_of, decoded_lines


def seed_lines(named: str | Sequence[str], root: Path) -> Iterator[str]:
    """The lines of a seed list, one at a time.

    Args:
        named: The setting `seeds`: a file, relative to the job (`.gz`: compressed), or the lines.
        root: The job's directory.

    Raises:
        ConfigError: The file cannot be read.
    """
    if isinstance(named, str):
        yield from file_lines(root / Path(named).expanduser(), named)
    else:
        yield from named


def file_lines(path: Path, named: str) -> Iterator[str]:
    """The lines of a seed file, in whatever encoding it is written.

    Args:
        path: The file.
        named: How the operator named it.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        codec = file_coding(path)
        with open_bytes(path) as file:
            yield from of_a_text(decoded_lines(file, codec))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise unreadable(named, f"it is damaged ({error})") from error
    except OSError as error:
        raise unreadable(named, error.strerror or str(error)) from error


def of_a_text(lines: Iterator[str]) -> Iterator[str]:
    """The lines, as long as they are of a text.

    Raises:
        OSError: There is a NUL in one.
    """
    for line in lines:
        if "\0" in line:
            raise OSError(errno.EINVAL, "it is no text: there are NUL bytes in it")
        yield line


def file_coding(path: Path) -> str:
    """The codec of a seed file.

    Raises:
        OSError: It cannot be read, or is no file: a device never ends.
        EOFError, zlib.error: It is compressed, and damaged.
    """
    with open_bytes(path) as file:
        return coding_of(file)


def open_bytes(path: Path) -> io.BufferedReader | gzip.GzipFile:
    """A file, or what is in it where its name says that it is compressed (`.gz`)."""
    file = open_ordinary(path)
    return _Unpacked(file) if path.suffix == ".gz" else file


class _Unpacked(gzip.GzipFile):
    """What is in a compressed file; closing it closes the file, too."""

    def __init__(self, packed: io.BufferedReader) -> None:
        self._packed = packed
        super().__init__(fileobj=packed, mode="rb")

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._packed.close()


def unreadable(named: str, why: str) -> ConfigError:
    """A seed list that cannot be read, and why."""
    problem = Problem("seeds", f"{named} cannot be read: {why}", "a file with one URL a line")
    return ConfigError([problem])
