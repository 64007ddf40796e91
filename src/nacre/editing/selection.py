"""The piece of settings that chosen lines of a text are: where it belongs, and its YAML (pure).

So lines of `crawl.yaml` become a clip: the piece stands for itself, wherever it was taken from.
"""

from collections.abc import Sequence
from textwrap import dedent
from typing import NamedTuple

from nacre.editing.outline import OutlineEntry, outline
from nacre.errors import ConfigError, Problem


class SelectedPiece(NamedTuple):
    """A piece of settings.

    Attributes:
        place: The setting that it is the value of, such as `scope`; "" for whole sections.
        text: It as YAML, not indented.
    """

    place: str
    text: str


def selected_piece(text: str, first: int, last: int) -> SelectedPiece:
    """The piece that some lines are; what is below the last setting belongs to it, too.

    Args:
        text: The text of `crawl.yaml`.
        first: The first line, from 1.
        last: The last line, from 1.

    Raises:
        ConfigError: No setting begins in these lines, or they are parts of several ones.
    """
    lines = text.split("\n")
    first, last = min(first, last), min(max(first, last), len(lines))
    entries = outline(text)
    chosen = [entry for entry in entries if first <= entry.line <= last]
    paths = {_as_item(one.path, entries, first): one.line for one in reversed(chosen)}
    tops = [(line, path) for path, line in paths.items() if not _is_below(path, set(paths))]
    if not tops:
        raise _wrong("no setting begins in these lines", "choose lines with `name: value`")
    above = {path[:-1] for _, path in tops}
    if len(above) > 1:
        raise _wrong("these are parts of several settings", "choose whole settings of one section")
    place = above.pop()
    if any(part.isdecimal() for part in place):
        raise _wrong("this is a part of an item of a list", "choose the whole item")
    end = _end(entries, *max(tops), len(lines))
    begin = min(tops)[0]
    while begin > first and lines[begin - 2].lstrip().startswith("#"):
        begin -= 1
    piece = "\n".join(line.rstrip() for line in lines[begin - 1 : end])
    return SelectedPiece(".".join(place), dedent(piece).strip("\n") + "\n")


def _wrong(message: str, expected: str) -> ConfigError:
    return ConfigError([Problem("lines", message, expected)])


def _is_below(path: tuple[str, ...], known: set[tuple[str, ...]]) -> bool:
    return any(path[:depth] in known for depth in range(1, len(path)))


def _as_item(path: tuple[str, ...], entries: Sequence[OutlineEntry], first: int) -> tuple[str, ...]:
    """The whole item of a list that begins in the selection in place of a part of it."""
    for depth, part in enumerate(path, 1):
        item = path[:depth]
        begins = next(entry.line for entry in entries if entry.path[:depth] == item)
        if part.isdecimal() and begins >= first:
            return item
    return path


def _end(entries: Sequence[OutlineEntry], line: int, path: tuple[str, ...], lines: int) -> int:
    """The last line of a setting that begins in a line, with its parts."""
    after = [
        entry.line for entry in entries if entry.line > line and entry.path[: len(path)] != path
    ]
    return min(after) - 1 if after else lines
