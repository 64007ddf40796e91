"""Layers of configuration: where each value comes from, and which one wins."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

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
    """One source of values: a tree, and the place of each of its paths."""

    source: str
    tree: Tree = field(default_factory=dict)
    places: dict[str, Origin] = field(default_factory=dict)
    includes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_yaml(text: str, file: str, *, source: str = "file") -> Layer:
    """Read YAML text; what is malformed becomes a problem of the layer, with its line."""
    layer = Layer(source)
    try:
        loaded = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        detail = " ".join(str(part) for part in (error.context, error.problem) if part)
        layer.problems.append(Problem("", f"not well-formed YAML: {detail}", file=file, line=line))
        return layer
    except (YAMLError, ValueError, RecursionError) as error:
        layer.problems.append(Problem("", f"not well-formed YAML: {error}", file=file))
        return layer
    if loaded is None:
        return layer
    if not isinstance(loaded, CommentedMap):
        layer.problems.append(
            Problem(
                "", "the file holds no settings", "`key: value` lines", "seeds: seeds.txt", file, 1
            )
        )
        return layer
    layer.tree = _plain(loaded, "", file, layer)
    layer.includes = _includes(layer, file)
    return layer


def _plain(node: object, path: str, file: str, layer: Layer) -> Any:  # noqa: ANN401 - YAML
    if isinstance(node, CommentedMap):
        result: Tree = {}
        for key, value in node.items():
            name = str(key)
            here = f"{path}.{name}" if path else name
            layer.places[here] = Origin(layer.source, file, node.lc.key(key)[0] + 1)
            result[name] = _plain(value, here, file, layer)
        return result
    if isinstance(node, CommentedSeq):
        items = []
        for index, value in enumerate(node):
            here = f"{path}.{index}"
            layer.places[here] = Origin(layer.source, file, node.lc.item(index)[0] + 1)
            items.append(_plain(value, here, file, layer))
        return items
    if isinstance(node, bool):
        return node
    for kind in (int, float, str):
        if isinstance(node, kind):
            return kind(node)
    return node


def _includes(layer: Layer, file: str) -> list[str]:
    named = layer.tree.pop("include", [])
    if isinstance(named, str):
        return [named]
    if isinstance(named, list) and all(isinstance(name, str) for name in named):
        return named
    line = layer.places["include"].line
    layer.problems.append(
        Problem("include", "not a list of files", "file names", "include: [site.yaml]", file, line)
    )
    return []


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
    try:
        return YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError):
        return text


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
        target[key] = _copy(value)


def _copy(value: object) -> Any:  # noqa: ANN401 - YAML
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value
