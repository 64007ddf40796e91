"""Layers of configuration: where each value is from, which one wins, how large a text may grow."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from nacre.errors import Problem
from nacre.messages import message, static

Tree = dict[str, Any]


class SettingOrigin(NamedTuple):
    """The origin of an effective value.

    Attributes:
        source: `default`, `profile`, `file`, `environment`, `option`, `--set` or `nacre set`.
        file: File that it is in; "" for none.
        line: Line from 1; 0 for none.
    """

    source: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        """For `nacre check --explain`."""
        source = static(self.source)
        if not self.file:
            return source
        place = f"{self.file}:{self.line}" if self.line else self.file
        return message("config.origin", "{source} {place}", source=source, place=place)


@dataclass
class Layer:
    """One source of values: a tree, and the place of each of its paths.

    Attributes:
        source: As in `SettingOrigin`.
        tree: Its values.
        places: The place of each path.
        includes: Files that it includes, with the lines of the includes.
        problems: What is wrong with it.
        lost: Sections of which a part could not be read.
        profile: The profile that it is based on, with its line; "" for none.
        blank: Whether its file has nothing but comments and white space; `{}` is more than that.
    """

    source: str
    tree: Tree = field(default_factory=dict)
    places: dict[str, SettingOrigin] = field(default_factory=dict)
    includes: list[tuple[str, int]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    profile: tuple[str, int] = ("", 0)
    blank: bool = False


def environment_layer(environ: Mapping[str, str]) -> Layer:
    """Values from `NACRE_FRONTIER__MAX_RETRIES=3`: a double underscore parts the path.

    Variables of the tools themselves (`NACRE_CASES`, `NACRE_PYTHON` …) have no double underscore
    and are left alone.
    """
    layer = Layer("environment")
    for name, value in sorted(environ.items()):
        if name.startswith("NACRE_") and "__" in name:
            path = name.removeprefix("NACRE_").lower().replace("__", ".")
            put(layer, path, _scalar(value), SettingOrigin("environment", name))
    return layer


def assignment_layer(assignments: Iterable[str], source: str = "--set") -> Layer:
    """Values from `path=value` texts; the value is read as YAML."""
    layer = Layer(source)
    for text in assignments:
        path, equals, value = text.partition("=")
        if not equals or not path.strip():
            layer.problems.append(
                Problem(
                    "",
                    message(
                        "config.no-assignment",
                        "{source} {text!r}: no assignment",
                        source=source,
                        text=text,
                    ),
                    "path=value",
                    "frontier.max_retries=5",
                )
            )
            continue
        put(layer, path.strip(), _scalar(value), SettingOrigin(source))
    return layer


def _scalar(text: str) -> Any:  # noqa: ANN401 - YAML
    """Return the YAML value of a text; the text itself if it is not YAML, or grows too much."""
    if is_too_deep(text):
        return text
    try:
        parsed = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError):
        return text
    return text if count_nodes(parsed, most_nodes(text)) > most_nodes(text) else parsed


def put(layer: Layer, path: str, value: object, origin: SettingOrigin) -> None:
    """Set one value by its dotted path."""
    parts = path.split(".")
    tree = layer.tree
    for part in parts[:-1]:
        below = tree.setdefault(part, {})
        if not isinstance(below, dict):
            below = tree[part] = {}
        tree = below
    tree[parts[-1]] = value
    layer.places[path] = origin


def merge(layers: Iterable[Layer]) -> tuple[Tree, dict[str, SettingOrigin]]:
    """Overlay the layers, weakest first; mappings merge, everything else is replaced whole."""
    tree: Tree = {}
    origins: dict[str, SettingOrigin] = {}
    for layer in layers:
        _overlay(tree, layer.tree, "", _Places(layer), origins)
    return tree, origins


class _Places:
    """The places of a layer, found by the path that they are below."""

    def __init__(self, layer: Layer) -> None:
        self._places = layer.places
        self._unknown = SettingOrigin(layer.source)
        self._order = {name: number for number, name in enumerate(layer.places)}
        self._names = sorted(layer.places)

    def at(self, path: str) -> SettingOrigin:
        """Return the place of a path."""
        return self._places.get(path, self._unknown)

    def below(self, path: str) -> dict[str, SettingOrigin]:
        """Return the places of all paths below a path, in the order of the file."""
        first, last = (bisect_left(self._names, path + mark) for mark in (".", "/"))
        names = sorted(self._names[first:last], key=self._order.__getitem__)
        return {name: self._places[name] for name in names}


def _overlay(
    target: Tree, source: Tree, path: str, places: _Places, origins: dict[str, SettingOrigin]
) -> None:
    for key, value in source.items():
        here = f"{path}.{key}" if path else key
        if isinstance(value, dict) and isinstance(target.get(key), dict):
            origins[here] = places.at(here)
            _overlay(target[key], value, here, places, origins)
            continue
        if key in target:
            for old in [name for name in origins if name.startswith(here + ".")]:
                del origins[old]
        origins[here] = places.at(here)
        origins.update(places.below(here))
        target[key] = copy_tree(value)


def copy_tree(value: object) -> Any:  # noqa: ANN401 - YAML
    """Return a copy of a tree, with new mappings and lists."""
    if isinstance(value, dict):
        return {key: copy_tree(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copy_tree(item) for item in value]
    return value


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
    """Return whether brackets are nested deeper than `DEEPEST`; a quick look, without a parser."""
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
    """The number of values of a tree, with those of an alias at each use; at most `most + 1`."""
    todo, count = [value], 0
    while todo and count <= most:
        item = todo.pop()
        count += 1
        if isinstance(item, dict):
            todo += item.values()
        elif isinstance(item, list):
            todo += item
    return count
