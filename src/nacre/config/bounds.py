"""How far a YAML text may grow when it is read: as deep and as long as an operator writes."""

import re

DEEPEST = 200
"""Lists and mappings within each other; Python's own limit comes at some 300."""

_SPARE = 10_000
_MARK = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|(?:^|(?<=\s))#[^\n]*|(?P<top>^[A-Za-z_][^\n:]*:(?=\s))"
    r"|(?P<open>(?:^|(?<=[\s,\[{]))[\[{])|(?P<close>[\]}])",
    re.MULTILINE,
)


def most_nodes(text: str) -> int:
    """Values that a text may become. Without aliases each takes at least a character."""
    return len(text) + _SPARE


def is_too_deep(text: str) -> bool:
    """Whether brackets are nested deeper than `DEEPEST`; a quick look, without a parser."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    depth = 0
    for mark in _MARK.finditer(text):
        if mark["open"]:
            depth += 1
            if depth > DEEPEST:
                return True
        elif mark["close"]:
            depth = max(0, depth - 1)
        elif mark["top"]:
            depth = 0
    return False


def count_nodes(value: object, most: int) -> int:
    """The values of a tree, those of an alias as often as it stands there; at most `most + 1`."""
    todo, found = [value], 0
    while todo and found <= most:
        item = todo.pop()
        found += 1
        if isinstance(item, dict):
            todo += item.values()
        elif isinstance(item, list):
            todo += item
    return found
