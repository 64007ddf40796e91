"""Where seed lines come from: the configuration itself, or a file of any length, plain or gzip."""

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from nacre.errors import ConfigError, Problem

_LONGEST = 65_536
"""Longest line that can be a seed; a longer one comes in pieces."""


def seed_lines(named: str | Sequence[str], root: Path) -> Iterator[str]:
    """The lines of a seed list, one at a time.

    Args:
        named: The setting `seeds`: a file, relative to the job (`.gz`: compressed), or the lines.
        root: The job's directory.

    Raises:
        ConfigError: The file cannot be read.
    """
    if not isinstance(named, str):
        yield from named
        return
    try:
        with open_bytes(root / Path(named).expanduser()) as file:
            for line in iter(lambda: file.readline(_LONGEST), b""):
                yield line.decode("utf-8", "strict" if len(line) < _LONGEST else "replace")
    except UnicodeDecodeError:
        raise _unreadable(named, "it is not UTF-8") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _unreadable(named, f"it is damaged ({error})") from error
    except OSError as error:
        raise _unreadable(named, error.strerror or str(error)) from error


def open_bytes(path: Path) -> io.BufferedReader | gzip.GzipFile:
    """A file, or what is in it where its name says that it is compressed (`.gz`)."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def _unreadable(named: str, why: str) -> ConfigError:
    problem = Problem("seeds", f"{named} cannot be read: {why}", "a file with one URL a line")
    return ConfigError([problem])
