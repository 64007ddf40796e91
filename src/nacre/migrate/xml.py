"""XML files of a configuration, opened and read safely."""

from pathlib import Path

from nacre.errors import ConfigError, Problem
from nacre.wire.xml import Element, read_xml

MAX_BYTES = 64_000_000
"""Longest file."""


def open_xml(path: Path) -> Element:
    """The root element of a file; its name is the one that problems name.

    Raises:
        ConfigError: It cannot be read, or is no XML that is read here; with file and line.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        problem = Problem("", f"cannot be read: {error.strerror}", file=path.name)
        raise ConfigError([problem]) from None
    if len(data) > MAX_BYTES:
        raise ConfigError([Problem("", f"longer than {MAX_BYTES} bytes", file=path.name)])
    return read_xml(data, path.name)
