"""The outline of a YAML text that may be broken: the setting of each line, and its place.

A parser of YAML gives up at the first error, but a user who types needs help just there. This one
reads by indentation and brackets alone, guesses the meaning of every line, and never fails.
It is used for places only; values are read by `config.document`. `selected_piece` makes the text of
a clip from chosen lines.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from textwrap import dedent
from typing import Any, Final, NamedTuple

from nacre.errors import ConfigError, Problem

_KEY: Final = re.compile(
    r"""(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^']|'')*)'"""
    r"""|(?P<plain>[^\s'"\[\]{},#:&*!|>%@`][^#\n]*?))\s*:(?=\s|$)"""
)
_DASH: Final = re.compile(r"-(?=\s|$)[ ]*")
_BLOCK: Final = re.compile(r"(?:[&!]\S+\s+)*[|>][-+0-9]*\s*(?:#.*)?$")
_REMARK: Final = re.compile(r"(?:^|(?<=\s))#.*$")
_PLAIN_IN_FLOW: Final = re.compile(
    r"(?:[^\s,\[\]{}:#'\"]|:(?![\s,\]}]|$)|(?<!\s)#|[ \t]+(?=[^\s,\[\]{}:#]))+"
)
_COLON_IN_FLOW: Final = re.compile(r"\s*:(?=[\s,\]}]|$)")
_VALUE_IN_FLOW: Final = re.compile(r"\s*([^,\]}#]*)")
_WORD_IN_FLOW: Final = re.compile(r"""[^,\[\]{}:"'\s]*(?::\S[^,\[\]{}"'\s]*)*$""")
_DEEPEST: Final = 200


class OutlineEntry(NamedTuple):
    """A key, or an item of a list, and its place.

    Attributes:
        path: Keys and numbers of items that lead to it, its own last.
        line: Its line, from 1.
        column: Column of its key, or of the item's value, from 0.
        end: Column behind its key; the same as `column` for an item.
        value: Its value as far as it is in the same line; "" for none.
        value_column: Column of the value.
    """

    path: tuple[str, ...]
    line: int
    column: int
    end: int
    value: str
    value_column: int


@dataclass
class OpenPart:
    """A mapping or list that the scan is within.

    Attributes:
        column: Column of its keys or dashes; that of the bracket for an entry in brackets.
        key: The present key, None before the first one or behind a comma; the number in a list.
        is_list: It is a list.
        in_flow: It is in brackets.
    """

    column: int
    key: str | None = None
    is_list: bool = False
    in_flow: bool = False

    def next_item(self) -> None:
        """Go on to the next item of a list, to the next key of a mapping."""
        self.key = str(int(self.key or 0) + 1) if self.is_list else None


@dataclass
class OutlineScan:
    """One reading of a text, from its begin.

    Attributes:
        entries: All keys and items, in order.
        frames: The mappings and lists that are open at the end.
        quote: A text in quotation marks is open at the end: its mark and its offset in the line.
        remark: The end is in a comment.
        block: The end is in a block of text (`|`, `>`): column of its key; -1 for not.
    """

    entries: list[OutlineEntry] = field(default_factory=list)
    frames: list[OpenPart] = field(default_factory=list)
    quote: tuple[str, int] | None = None
    remark: bool = False
    block: int = -1
    _line: int = 0

    def path(self) -> tuple[str, ...]:
        """The path that the open mappings and lists lead to."""
        return tuple(frame.key for frame in self.frames if frame.key is not None)

    @property
    def in_flow(self) -> bool:
        """Whether brackets are open."""
        return bool(self.frames) and self.frames[-1].in_flow

    def read(self, text: str) -> None:
        """Read the next line, without its end."""
        self._line += 1
        self.remark = False
        indent = len(text) - len(text.lstrip(" \t"))
        if self.block >= 0:
            if not text.strip() or indent > self.block:
                return
            self.block = -1
        if self.in_flow or self.quote:
            if not self._is_abandoned(text, indent):
                self._flow(text, 0)
                return
            self._abandon()
        if text.lstrip().startswith("#"):
            self.remark = True
        elif text.strip() not in {"", "---", "..."}:
            self._structure(text, indent)

    def _is_abandoned(self, text: str, indent: int) -> bool:
        """Unclosed brackets or marks end if a key is at their beginning or left of it.

        Otherwise one missing bracket would take the rest of the text.
        """
        base = next((f.column for f in reversed(self.frames) if not f.in_flow), 0)
        return bool(text.strip()) and indent <= base and _KEY.match(text, indent) is not None

    def _abandon(self) -> None:
        self.quote = None
        self.frames = [frame for frame in self.frames if not frame.in_flow]

    def _structure(self, text: str, at: int) -> None:
        """A line outside of brackets."""
        while (dash := _DASH.match(text, at)) is not None and len(self.frames) < _DEEPEST:
            self.enter_item(at)
            at = dash.end()
        key = _KEY.match(text, at)
        if key is None:
            top = self.frames[-1] if self.frames else None
            if top is not None and top.is_list:
                self._value(text, at, at)
            return
        name = next(part for part in key.groups() if part is not None)
        self.enter_key(at, name)
        start = key.end()
        while start < len(text) and text[start] in " \t":
            start += 1
        self._value(text, start, at, key.end("plain") if key["plain"] else key.end() - 1)

    def close_beyond(self, column: int) -> None:
        """Leave the mappings and lists to the right of a column."""
        while self.frames and self.frames[-1].column > column:
            self.frames.pop()

    def enter_item(self, column: int) -> None:
        """Come to an item of a list with its dash in a column."""
        self.close_beyond(column)
        top = self.frames[-1] if self.frames else None
        if top is not None and top.is_list and top.column == column:
            top.next_item()
        else:
            self.frames.append(OpenPart(column, "0", is_list=True))

    def enter_key(self, column: int, name: str) -> None:
        """Come to a key that begins in a column."""
        self.close_beyond(column)
        if self.frames and self.frames[-1].is_list and self.frames[-1].column == column:
            self.frames.pop()
        top = self.frames[-1] if self.frames else None
        if top is not None and not top.is_list and top.column == column:
            top.key = name
        elif len(self.frames) < _DEEPEST:
            self.frames.append(OpenPart(column, name))

    def _value(self, text: str, start: int, column: int, end: int = -1) -> None:
        """The value of a key or item, from `start` to the end of the line."""
        value = text[start:]
        self.entries.append(
            OutlineEntry(
                self.path(), self._line, column, max(end, column), _without_remark(value), start
            )
        )
        if _BLOCK.match(value):
            self.block = self.frames[-1].column if self.frames else 0
        elif value[:1] in {"[", "{", '"', "'"}:
            self._flow(text, start)
        elif _REMARK.search(value):
            self.remark = True

    # ---- brackets

    def _flow(self, text: str, at: int) -> None:
        """Read the content of brackets or quotation marks, up to the end of the line."""
        if self.quote:
            at = self._quoted(text, at, self.quote[0])
        while at < len(text) and not self.quote:
            letter = text[at]
            if letter == "#" and (at == 0 or text[at - 1] in " \t"):
                self.remark = True
                return
            if letter in "[{]},: \t":
                self._mark(letter, at)
                at += 1
            else:
                at = self._token(text, at)

    def _mark(self, letter: str, at: int) -> None:
        """A bracket or a comma."""
        if letter in "[{" and len(self.frames) < _DEEPEST:
            is_list = letter == "["
            self.frames.append(OpenPart(at, "0" if is_list else None, is_list, in_flow=True))
        elif letter in "]}" and self.in_flow:
            self.frames.pop()
        elif letter == "," and self.in_flow:
            self.frames[-1].next_item()

    def _token(self, text: str, at: int) -> int:
        """A text within brackets: a key where a colon follows, else a value."""
        if text[at] in "\"'":
            end = self._quoted(text, at + 1, text[at])
            word = text[at + 1 : max(at + 1, end - 1)]
        else:
            match = _PLAIN_IN_FLOW.match(text, at)
            end = match.end() if match and match.end() > at else at + 1
            word = text[at:end]
        if not self.in_flow or self.quote:
            return end
        top = self.frames[-1]
        colon = _COLON_IN_FLOW.match(text, end)
        if colon and not top.is_list and top.key is None:
            top.key = word.strip()
            value = _VALUE_IN_FLOW.match(text, colon.end())
            plain = value[1].strip() if value else ""
            place = value.start(1) if value else colon.end()
            self._note(at, end, plain, place)
            return colon.end()
        if top.is_list:
            self._note(at, at, word.strip(), at)
        return end

    def _note(self, column: int, end: int, value: str, value_column: int) -> None:
        self.entries.append(OutlineEntry(self.path(), self._line, column, end, value, value_column))

    def _quoted(self, text: str, at: int, mark: str) -> int:
        """Go on behind a closing mark; without one the text stays open."""
        begin = at - 1
        while at < len(text):
            if mark == '"' and text[at] == "\\":
                at += 2
                continue
            if text[at] == mark:
                if mark == "'" and text[at + 1 : at + 2] == "'":
                    at += 2
                    continue
                self.quote = None
                return at + 1
            at += 1
        self.quote = self.quote or (mark, begin)
        return len(text)


def _without_remark(text: str) -> str:
    return _REMARK.sub("", text).strip() if text[:1] not in {'"', "'"} else text.strip()


def outline(text: str) -> list[OutlineEntry]:
    """All keys and items of a text, in order; never fails."""
    scan = OutlineScan()
    for line in text.split("\n"):
        scan.read(line.rstrip("\r"))
    return scan.entries


def loose_tree(entries: Sequence[OutlineEntry]) -> dict[str, Any]:
    """The values of an outline as mappings and lists of texts, as far as they can be guessed."""
    tree: dict[str, Any] = {}
    for entry in entries:
        value = entry.value.strip("\"'") if entry.value[:1] not in {"[", "{", "|", ">"} else None
        _place(tree, entry.path, value)
    return tree


def _place(tree: Any, path: tuple[str, ...], value: object) -> None:  # noqa: ANN401 - YAML
    """Put a value into a tree; where its path contradicts the tree, leave it out."""
    for part, following in zip(path, (*path[1:], None), strict=True):
        if isinstance(tree, list):
            if not part.isdigit() or int(part) > len(tree):
                return
            if int(part) == len(tree):
                tree.append(None)
            key: Any = int(part)
        else:
            key = part
        if following is None:
            if _get(tree, key) is None:
                tree[key] = value
            return
        below = _get(tree, key)
        if not isinstance(below, dict | list):
            below = tree[key] = [] if following.isdigit() else {}
        tree = below


def _get(tree: Any, key: Any) -> Any:  # noqa: ANN401 - YAML
    return tree[key] if isinstance(tree, list) else tree.get(key)


class Cursor(NamedTuple):
    """The place of a cursor in a text.

    Attributes:
        path: Of a key that is typed: the mapping that it belongs to. Of a value: its key. Of an
            item of a list: the item.
        role: `key`, `value`, or `item`, which may be a value or the first key of a mapping.
        word: What is typed of it so far.
        start: Offset of the word in the text.
        column: Column at which a mapping that begins here has its keys.
    """

    path: tuple[str, ...]
    role: str
    word: str
    start: int
    column: int


def cursor_at(text: str, offset: int) -> Cursor | None:
    """The place of an offset; None in comments and blocks of text.

    Args:
        text: The whole text.
        offset: Characters before the cursor; beyond the text it means its end.
    """
    before = text[: max(0, min(offset, len(text)))]
    *lines, last = before.split("\n")
    scan = OutlineScan()
    for line in lines:
        scan.read(line.rstrip("\r"))
    begin = len(before) - len(last)
    indent = len(last) - len(last.lstrip(" \t"))
    if scan.block >= 0 and indent > scan.block:
        return None
    if not (scan.in_flow or scan.quote):
        ahead = OutlineScan(frames=[replace(frame) for frame in scan.frames])
        cursor = _in_block(ahead, last, indent, begin)
        if cursor is not None:
            return cursor
    scan.read(last)
    if scan.remark or scan.block >= 0:
        return None
    return _in_flow(scan, last, begin)


def _in_block(scan: OutlineScan, last: str, indent: int, begin: int) -> Cursor | None:
    """The cursor in a line outside of brackets; None when a bracket opens in it, or a comment."""
    at, is_item = indent, False
    while (dash := _DASH.match(last, at)) is not None:
        scan.enter_item(at)
        at, is_item = dash.end(), True
    content = last[at:]
    if content.startswith("#"):
        return None
    key = _KEY.match(last, at)
    if key is not None:
        return _at_value(scan, last, at, key, begin)
    if content[:1] in {"[", "{"} or _REMARK.search(content):
        return None
    start, word = _unquoted(content, begin + at)
    if is_item:
        return Cursor(scan.path(), "item", word, start, at)
    scan.close_beyond(at)
    if scan.frames and scan.frames[-1].is_list and scan.frames[-1].column == at:
        scan.frames.pop()
    if scan.frames and not scan.frames[-1].is_list and scan.frames[-1].column == at:
        scan.frames.pop()
    return Cursor(scan.path(), "key", word, start, at)


def _at_value(
    scan: OutlineScan, last: str, at: int, key: re.Match[str], begin: int
) -> Cursor | None:
    """The cursor behind a key of its line; None in brackets, comments, or before the blank."""
    value = last[key.end() :]
    lead = len(value) - len(value.lstrip(" \t"))
    if value[lead : lead + 1] in {"[", "{"} or _REMARK.search(value):
        return None
    name = next(part for part in key.groups() if part is not None)
    scan.enter_key(at, name)
    start, word = _unquoted(value[lead:], begin + key.end() + lead)
    return Cursor(scan.path(), "value", word, start, at)


def _unquoted(word: str, start: int) -> tuple[int, str]:
    if word[:1] in {'"', "'"}:
        return start + 1, word[1:]
    return start, word


def _in_flow(scan: OutlineScan, last: str, begin: int) -> Cursor | None:
    """The cursor in brackets."""
    if not scan.frames or not scan.in_flow:
        return None
    word = _WORD_IN_FLOW.search(last)
    typed = word[0] if word else ""
    if scan.quote:
        typed = last[scan.quote[1] + 1 :]
    start = begin + len(last) - len(typed)
    top = scan.frames[-1]
    if top.is_list:
        return Cursor(scan.path(), "item", typed, start, -1)
    role = "key" if top.key is None else "value"
    return Cursor(scan.path(), role, typed, start, -1)


def places(entries: Sequence[OutlineEntry]) -> dict[tuple[str, ...], OutlineEntry]:
    """The last entry of each path: of a key that is given twice it is the one that counts."""
    return {entry.path: entry for entry in entries}


# ---- chosen lines


class SelectedPiece(NamedTuple):
    """A piece of settings.

    Attributes:
        place: The setting that it is the value of, such as `scope`; "" for whole sections.
        text: It as YAML, not indented.
    """

    place: str
    text: str


def selected_piece(text: str, first: int, last: int) -> SelectedPiece:
    """The piece that some lines are; lines below the last setting belong to it, too.

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
    paths = {
        _as_item(chosen_entry.path, entries, first): chosen_entry.line
        for chosen_entry in reversed(chosen)
    }
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


def _is_below(path: tuple[str, ...], paths: set[tuple[str, ...]]) -> bool:
    return any(path[:depth] in paths for depth in range(1, len(path)))


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
