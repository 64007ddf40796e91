"""The texts of a `.po` file as gettext takes them (pure).

gettext reads compiled files only. They are made in memory, so that nothing is built and no file has
to agree with another one.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from typing import Final

_MAGIC: Final = 0x950412DE
_HEADER: Final = 28
"""Bytes before the tables."""
_ENTRY: Final = 8
"""Bytes of a length and a place."""
_LINE: Final = re.compile(r'(?:(msgctxt|msgid|msgid_plural|msgstr(?:\[\d\])?)\s+)?"(.*)"$')
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r"}


def po_texts(text: str) -> Mapping[str, str]:
    r"""The translations of a file, by the keys of a compiled one.

    The forms of a plural are joined by NUL, as are singular and plural of a key; a context stands
    before the key, with U+0004 between them. The header has the key "". What is fuzzy or has no
    translation is left out.

    Args:
        text: The file.

    Raises:
        ValueError: A line is none of a `.po` file; the number of the line.
    """
    found = {}
    for fields in _entries(text):
        key = "\0".join(fields[one] for one in ("msgid", "msgid_plural") if one in fields)
        if "msgctxt" in fields:
            key = f"{fields['msgctxt']}\4{key}"
        forms = [value for name, value in fields.items() if name.startswith("msgstr")]
        if all(forms):
            found[key] = "\0".join(forms)
    return found


def _entries(text: str) -> Iterator[Mapping[str, str]]:
    """Each message that is not fuzzy, with its fields in their order."""
    fields: dict[str, str] = {}
    name, fuzzy = "", False
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if not line.strip():
            if fields and not fuzzy:
                yield fields
            fields, name, fuzzy = {}, "", False
        elif line.startswith("#"):
            fuzzy = fuzzy or (line.startswith("#,") and "fuzzy" in line)
        else:
            part = _LINE.match(line.strip())
            name = (part[1] or name) if part else ""
            if part is None or not name:
                raise ValueError(f"line {number} is none of a .po file: {line[:60]}")
            fields[name] = fields.get(name, "") + _ESCAPE.sub(_unescaped, part[2])


def _unescaped(part: re.Match[str]) -> str:
    return _ESCAPED.get(part[1], part[1])


def compiled(texts: Mapping[str, str]) -> bytes:
    """The compiled file (`.mo`) of translations.

    Args:
        texts: As `po_texts` has them.
    """
    pairs = sorted((key.encode(), value.encode()) for key, value in texts.items())
    tables, data = bytearray(), bytearray()
    begin = _HEADER + 2 * _ENTRY * len(pairs)
    for side in (0, 1):
        for pair in pairs:
            tables += struct.pack("<II", len(pair[side]), begin + len(data))
            data += pair[side] + b"\0"
    values = _HEADER + _ENTRY * len(pairs)
    header = struct.pack("<7I", _MAGIC, 0, len(pairs), _HEADER, values, 0, begin)
    return header + bytes(tables) + bytes(data)
