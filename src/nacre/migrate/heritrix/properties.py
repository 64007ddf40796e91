"""Java's property lists: `key=value` lines, with comments, escapes and continued lines."""

import re
from collections.abc import Iterator

_SPLIT = re.compile(r"((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)\Z", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(text: str) -> Iterator[tuple[str, str, int]]:
    """Key, value and number of the line, from 0, of each entry of a list."""
    for line, number in _logical_lines(text):
        key, value = (_unescaped(part) for part in _split(line))
        yield key, value, number


def _logical_lines(text: str) -> Iterator[tuple[str, int]]:
    held, begun = "", 0
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text)):
        line = raw.lstrip()
        if not held and (not line or line[0] in "#!"):
            continue
        begun = begun if held else number
        if _continues(line):
            held += line[:-1] or " "
            continue
        yield held + line, begun
        held = ""
    if held.strip():
        yield held, begun


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str]:
    found = _SPLIT.match(line)
    return (found[1], found[2]) if found else (line, "")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_letter, text)


def _letter(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return _LETTERS.get(code, code)
