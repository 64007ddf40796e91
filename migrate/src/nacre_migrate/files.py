"""Files of a configuration, read safely: texts in any encoding, and XML."""

import re
import tomllib
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

from nacre.config.seed_file import UTF_8, coding_name, coding_of, decode_lines
from nacre.errors import ConfigError, Problem
from nacre.machine.local_files import read_ordinary
from nacre.wire.xml import Element, read_xml

TO_FILL_IN = re.compile(r"%\{\w+\}|\{\{[^{}]*\}\}")
"""What a tool that makes configurations of templates was to fill in."""


def read_lines(data: bytes) -> tuple[list[str], str]:
    """The lines of a text, and its encoding as people call it; "" for UTF-8.

    Args:
        data: The text. What its bytes look like counts where they are not UTF-8.
    """
    codec = coding_of(BytesIO(data))
    file = BytesIO(data)
    if data.startswith(b"\xef\xbb\xbf"):
        file.seek(3)
    lines = list(decode_lines(file, codec))
    return lines, "" if codec == UTF_8 else coding_name(codec)


_ENCODING = re.compile(rb"(<\?xml[^>]*?encoding\s*=\s*['\"])([A-Za-z][\w.-]*)")
_MANY_BYTES = frozenset(
    (b"gbk", b"gb2312", b"gb18030", b"big5", b"shift_jis", b"euc-jp", b"euc-kr")
)

_MARK = b"\xef\xbb\xbf"

MAX_BYTES = 64_000_000
"""Longest file."""


def open_xml(path: Path) -> Element:
    """The root element of a file; its name is the one that problems name.

    Raises:
        ConfigError: It cannot be read, or is not XML that is read here; with file and line.
    """
    try:
        data = read_ordinary(path, MAX_BYTES)
    except OSError as error:
        problem = Problem("", f"cannot be read: {error.strerror}", file=path.name)
        raise ConfigError([problem]) from None
    return read_xml(_in_utf8(data), path.name)


def _in_utf8(data: bytes) -> bytes:
    """The document as the parser reads it: UTF-8 if it is in an encoding of many bytes.

    What a file declares is often not what an editor has saved: a byte order mark counts first, then
    what its bytes can be read as, then what it declares.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data  # UTF-16, which the parser knows
    marked = data.startswith(_MARK)
    data = data.removeprefix(_MARK)
    match = _ENCODING.match(data)
    declared = match[2].lower() if match is not None else b"utf-8"
    if declared not in _MANY_BYTES and declared not in {b"utf-8", b"utf8"} and not marked:
        return data
    text = "\n".join(read_lines(data)[0]) if not _is_utf8(data) else data.decode()
    if declared in _MANY_BYTES and not marked:
        text = _as_declared(data, declared.decode("ascii")) or text
    plain = text.encode("utf-8", "replace")
    return plain if match is None else _ENCODING.sub(rb"\g<1>utf-8", plain, count=1)


def _as_declared(data: bytes, name: str) -> str:
    """The text in the encoding that is declared; "" where it cannot be read so."""
    try:
        return data.decode("gb18030" if name in {"gbk", "gb2312"} else name)
    except UnicodeDecodeError:
        return ""


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def read_table(package: str, name: str) -> dict[str, Any]:
    """A table of this package: a TOML file in the folder of its modules.

    Args:
        package: Full name of its package.
        name: Its name.
    """
    return tomllib.loads(files(package).joinpath(name).read_text("utf-8"))
