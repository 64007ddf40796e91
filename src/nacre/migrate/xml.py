"""XML files of a configuration, opened and read safely."""

import re
from pathlib import Path

from nacre.config.ordinary import read_ordinary
from nacre.errors import ConfigError, Problem
from nacre.wire.xml import Element, read_xml

_ENCODING = re.compile(rb"(<\?xml[^>]*?encoding\s*=\s*['\"])([A-Za-z][\w.-]*)")
_MANY_BYTES = frozenset(
    (b"gbk", b"gb2312", b"gb18030", b"big5", b"shift_jis", b"euc-jp", b"euc-kr")
)

MAX_BYTES = 64_000_000
"""Longest file."""


def open_xml(path: Path) -> Element:
    """The root element of a file; its name is the one that problems name.

    Raises:
        ConfigError: It cannot be read, or is no XML that is read here; with file and line.
    """
    try:
        data = read_ordinary(path, MAX_BYTES)
    except OSError as error:
        problem = Problem("", f"cannot be read: {error.strerror}", file=path.name)
        raise ConfigError([problem]) from None
    return read_xml(_in_utf8(data), path.name)


def _in_utf8(data: bytes) -> bytes:
    """The document, in UTF-8 where its encoding is one that the parser does not know."""
    declared = _ENCODING.match(data)
    if declared is None or declared[2].lower() not in _MANY_BYTES:
        return data
    text = data.decode(declared[2].decode("ascii"), "replace").encode("utf-8", "replace")
    return text.replace(declared[0], declared[1] + b"utf-8", 1)
