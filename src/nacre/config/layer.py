"""Layers of configuration: where each value comes from, and which one wins."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from nacre.config.bounds import count_nodes, is_too_deep, most_nodes
from nacre.errors import Problem

Tree = dict[str, Any]


class Origin(NamedTuple):
    """Where an effective value comes from.

    Attributes:
        source: `default`, `profile`, `file`, `environment`, `option`, `--set` or `nacre set`.
        file: File it stands in; "" for none.
        line: Line from 1; 0 for none.
    """

    source: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        """For `nacre check --explain`."""
        if not self.file:
            return self.source
        return (
            f"{self.source} {self.file}:{self.line}" if self.line else f"{self.source} {self.file}"
        )


@dataclass
class Layer:
    """One source of values: a tree, and the place of each of its paths.

    Attributes:
        source: As in `Origin`.
        tree: Its values.
        places: Where each path stands.
        includes: Files that it includes, with the lines that say so.
        problems: What is wrong with it.
        lost: Sections of which a part could not be read.
        profile: The profile that it stands on, with the line that says so; "" for none.
    """

    source: str
    tree: Tree = field(default_factory=dict)
    places: dict[str, Origin] = field(default_factory=dict)
    includes: list[tuple[str, int]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    profile: tuple[str, int] = ("", 0)


def environment_layer(environ: Mapping[str, str]) -> Layer:
    """Values from `NACRE_FRONTIER__MAX_RETRIES=3`: a double underscore parts the path.

    Variables of the tools themselves (`NACRE_CASES`, `NACRE_PYTHON` …) have no double underscore
    and are left alone.
    """
    layer = Layer("environment")
    for name, value in sorted(environ.items()):
        if name.startswith("NACRE_") and "__" in name:
            path = name.removeprefix("NACRE_").lower().replace("__", ".")
            put(layer, path, _scalar(value), Origin("environment", name))
    return layer


def assignment_layer(assignments: Iterable[str], source: str = "--set") -> Layer:
    """Values from `path=value` texts; the value is read as YAML."""
    layer = Layer(source)
    for text in assignments:
        path, equals, value = text.partition("=")
        if not equals or not path.strip():
            layer.problems.append(
                Problem(
                    "", f"{source} {text!r}: no assignment", "path=value", "frontier.max_retries=5"
                )
            )
            continue
        put(layer, path.strip(), _scalar(value), Origin(source))
    return layer


def _scalar(text: str) -> Any:  # noqa: ANN401 - YAML
    """What a text means; itself where it is no YAML, or where it would grow out of all bounds."""
    if is_too_deep(text):
        return text
    try:
        made = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError):
        return text
    return text if count_nodes(made, most_nodes(text)) > most_nodes(text) else made


def put(layer: Layer, path: str, value: object, origin: Origin) -> None:
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


def merge(layers: Iterable[Layer]) -> tuple[Tree, dict[str, Origin]]:
    """Overlay the layers, weakest first; mappings merge, everything else is replaced whole."""
    tree: Tree = {}
    origins: dict[str, Origin] = {}
    for layer in layers:
        _overlay(tree, layer.tree, "", layer, origins)
    return tree, origins


def _overlay(
    target: Tree, source: Tree, path: str, layer: Layer, origins: dict[str, Origin]
) -> None:
    for key, value in source.items():
        here = f"{path}.{key}" if path else key
        if isinstance(value, dict) and isinstance(target.get(key), dict):
            origins[here] = layer.places.get(here, Origin(layer.source))
            _overlay(target[key], value, here, layer, origins)
            continue
        below = here + "."
        for old in [name for name in origins if name.startswith(below)]:
            del origins[old]
        origins[here] = layer.places.get(here, Origin(layer.source))
        origins.update(
            (name, origin) for name, origin in layer.places.items() if name.startswith(below)
        )
        target[key] = copied(value)


def copied(value: object) -> Any:  # noqa: ANN401 - YAML
    """A tree with mappings and lists of its own."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value
