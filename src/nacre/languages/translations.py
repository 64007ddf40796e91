"""Catalogues of messages: `.po` files, and the compiled `.mo` files that gettext reads.

A wheel has compiled files, which `tools/catalogue_hook.py` makes; `tools/environment.sh` makes
those of a clone: `python src/nacre/languages/translations.py`. This module imports nothing of
Nacre, so that both can run it as a file.
"""

import os
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
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
    before the key, with U+0004 between them. The header has the key "". Fuzzy entries and
    those without a translation are left out.

    Args:
        text: The file.

    Raises:
        ValueError: A line is none of a `.po` file; the number of the line.
    """
    texts = {}
    for fields in _entries(text):
        key = "\0".join(fields[name] for name in ("msgid", "msgid_plural") if name in fields)
        if "msgctxt" in fields:
            key = f"{fields['msgctxt']}\4{key}"
        forms = [value for name, value in fields.items() if name.startswith("msgstr")]
        if all(forms):
            texts[key] = "\0".join(forms)
    return texts


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


def mo_texts(data: bytes) -> Mapping[str, str]:
    """The translations of a compiled file, as `po_texts` has them.

    Raises:
        ValueError: It is no such file, or it is cut off.
    """
    try:
        magic, _, number, keys, values, _, _ = struct.unpack_from("<7I", data)
        if magic != _MAGIC:
            raise ValueError("not a compiled catalogue of this machine")
        return {
            _text_at(data, keys + _ENTRY * place): _text_at(data, values + _ENTRY * place)
            for place in range(number)
        }
    except struct.error as error:
        raise ValueError(f"not a compiled catalogue: {error}") from None


def _text_at(data: bytes, place: int) -> str:
    length, start = struct.unpack_from("<II", data, place)
    return data[start : start + length].decode()


def read_catalogue(folder: Path, domain: str) -> Mapping[str, str]:
    """Read the catalogue of a language; no texts if it has no file.

    Args:
        folder: Its folder, `zh_CN/LC_MESSAGES`.
        domain: The name of the files. The compiled file is used unless the source is newer.
    """
    source, target = folder / f"{domain}.po", folder / f"{domain}.mo"
    if target.is_file() and not _is_newer(source, target):
        return mo_texts(target.read_bytes())
    return po_texts(source.read_text("utf-8")) if source.is_file() else {}


def _is_newer(source: Path, target: Path) -> bool:
    return source.is_file() and source.stat().st_mtime_ns > target.stat().st_mtime_ns


def compile_catalogues(folder: Path) -> list[Path]:
    """Compile all catalogues below a folder; the compiled files.

    Args:
        folder: With a folder for each language.
    """
    targets = []
    for source in sorted(folder.glob("*/LC_MESSAGES/*.po")):
        target = source.with_suffix(".mo")
        partial = target.with_suffix(f".{os.getpid()}")
        partial.write_bytes(compiled(po_texts(source.read_text("utf-8"))))
        partial.replace(target)
        targets.append(target)
    return targets


if __name__ == "__main__":
    compile_catalogues(Path(__file__).parent / "locale")
