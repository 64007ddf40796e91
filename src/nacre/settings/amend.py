"""Changes to the text of `crawl.yaml`: one value at a time, comments and order kept."""

import io
from collections.abc import Sequence
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode
from ruamel.yaml.util import load_yaml_guess_indent

from nacre.config.document import read_yaml
from nacre.errors import ConfigError, JobError
from nacre.messages import message


class Removed:
    """In place of a value: the key goes away."""


REMOVED = Removed()


class Edit(NamedTuple):
    """One change.

    Attributes:
        path: Where: keys, and numbers of list items.
        value: Its new value; REMOVED deletes it.
        around: The whole value of `path[0]`, as plain data with the change in it: written if the
            file does not have it yet, because it is from an include or the default, and a part of
            it cannot be written. None if a part can be written.
    """

    path: tuple[str | int, ...]
    value: object
    around: object = None


def amended(text: str, edits: Sequence[Edit], file: str = "crawl.yaml") -> str:
    """Return the text with the changes.

    Raises:
        ConfigError: The text is not YAML.
        JobError: The text is written in a way that cannot be changed in part.
    """
    before = read_yaml(text, file)
    if before.problems:
        raise ConfigError(before.problems)
    yaml = YAML()
    yaml.preserve_quotes = True
    tree, indent, offset = load_yaml_guess_indent(text, yaml=yaml)
    yaml.width = 4096
    # As the lists of the file are written; where it has none, as those of a new job.
    is_known = bool(indent) and offset is not None
    yaml.indent(mapping=2, sequence=indent if is_known else 4, offset=offset if is_known else 2)
    if not isinstance(tree, CommentedMap):
        tree = CommentedMap()
    head = text if not tree else ""
    if head and not head.endswith("\n"):
        head += "\n"
    try:
        for edit in edits:
            _put(tree, edit)
    except (LookupError, TypeError) as error:
        raise JobError(
            message(
                "settings.cannot-be-changed-in-place",
                "{file} cannot be changed in place; change it by hand",
                file=file,
            )
        ) from error
    out = io.StringIO()
    yaml.dump(tree, out)
    result = head + (out.getvalue() if tree else "")
    if read_yaml(result, file).problems:
        raise JobError(
            message(
                "settings.cannot-be-changed-in-place",
                "{file} cannot be changed in place; change it by hand",
                file=file,
            )
        )
    return result


def swap_items(text: str, key: str, first: int, file: str = "crawl.yaml") -> str:
    """Return the text with an item of a list and the next one exchanged.

    Comment lines above an item go with it.

    Args:
        text: The text.
        key: The list, as a dotted path.
        first: Number of the first of the two items.
        file: Name of the file, for messages.

    Raises:
        ConfigError: The text is not YAML.
        JobError: There are no such items.
    """
    before = read_yaml(text, file)
    if before.problems:
        raise ConfigError(before.problems)
    path = key.split(".")
    items: Any = before.tree
    for part in path:
        items = items.get(part) if isinstance(items, dict) else None
    if not isinstance(items, list) or not 0 <= first < len(items) - 1:
        raise JobError(
            message(
                "settings.has-no-items",
                "{file}: `{key}` has no items {first} and {second}",
                file=file,
                key=key,
                first=first,
                second=first + 1,
            )
        )
    swapped_items = [*items[:first], items[first + 1], items[first], *items[first + 2 :]]
    exchanged = _with_lines_swapped(text, path, first)
    changed = amended(text, [Edit(tuple(path), swapped_items)], file)
    if exchanged is not None and read_yaml(exchanged, file).tree == read_yaml(changed, file).tree:
        return exchanged
    return changed


def _with_lines_swapped(text: str, path: Sequence[str], first: int) -> str | None:
    """Return the text with the lines of two items exchanged; None if items share a line."""
    node: Node | None = YAML(typ="safe", pure=True).compose(text)
    for part in path:
        pairs = node.value if isinstance(node, MappingNode) else ()
        node = next((value for name, value in pairs if name.value == part), None)
    if not isinstance(node, SequenceNode) or node.flow_style:
        return None
    lines = text.split("\n")
    first_node, second_node = node.value[first], node.value[first + 1]
    begin = _with_remarks(lines, first_node.start_mark.line)
    middle = _with_remarks(lines, second_node.start_mark.line)
    end = _last_line(second_node) + 1
    return "\n".join((*lines[:begin], *lines[middle:end], *lines[begin:middle], *lines[end:]))


def _with_remarks(lines: Sequence[str], line: int) -> int:
    """Return the line where an item begins, with the comment lines above it."""
    while line and lines[line - 1].lstrip().startswith("#"):
        line -= 1
    return line


def _last_line(node: Node) -> int:
    """Return the last line of a node that holds something."""
    if isinstance(node, MappingNode) and not node.flow_style and node.value:
        return _last_line(node.value[-1][1])
    if isinstance(node, SequenceNode) and not node.flow_style and node.value:
        return _last_line(node.value[-1])
    mark: Any = node.end_mark
    is_beyond = mark.column == 0 and mark.line > node.start_mark.line
    return int(mark.line) - int(is_beyond)


def _put(tree: Any, edit: Edit) -> None:  # noqa: ANN401 - YAML
    first = edit.path[0]
    if edit.around is not None and first not in tree:
        tree[first] = edit.around
        return
    node, path = tree, list(edit.path)
    while True:
        key, used = _key(node, path)
        path = path[used:]
        if not path:
            break
        if isinstance(node, list) and isinstance(node[key], str):
            node[key] = CommentedMap({"processor": node[key]})
        if isinstance(node, dict) and not isinstance(node.get(key), dict | list):
            if edit.value is REMOVED:
                return
            node[key] = CommentedMap()
        node = node[key]
    if edit.value is not REMOVED:
        if isinstance(node, list) and key == len(node):
            node.append(edit.value)
        else:
            node[key] = edit.value
    elif isinstance(node, list) or key in node:
        del node[key]


def _key(node: Any, path: list[str | int]) -> tuple[Any, int]:  # noqa: ANN401 - YAML
    """Return the next key, and the number of path pieces in it: keys may contain dots."""
    if isinstance(node, dict):
        for length in range(len(path), 0, -1):
            joined = ".".join(str(piece) for piece in path[:length])
            if joined in node:
                return joined, length
    if isinstance(node, list) and isinstance(path[0], str):
        return _place(node, path[0]), 1
    return path[0], 1


def _place(entries: list[Any], name: str) -> int:
    """Number of the entry of a chain with a name."""
    for number, entry in enumerate(entries):
        fields = entry if isinstance(entry, dict) else {"processor": entry}
        if name == (fields.get("name") or fields.get("processor")):
            return number
    raise LookupError(name)
