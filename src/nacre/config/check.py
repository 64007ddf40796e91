"""From merged layers to validated settings: every problem at once, each with its place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from nacre.config.findings import problems_of
from nacre.config.layer import Layer, SettingOrigin, Tree, copy_tree, merge
from nacre.errors import ConfigError, Problem

T = TypeVar("T", bound=BaseModel)

_MOST_ROUNDS = 8


@dataclass(frozen=True)
class Loaded(Generic[T]):
    """Validated settings, and the origin of each value that is not a default.

    Attributes:
        settings: The settings.
        origins: Origin of each path that a layer gave.
        unknown: Paths whose values could not be used, and sections that could not be read:
            `settings` does not have the operator's values there.
    """

    settings: T
    origins: Mapping[str, SettingOrigin]
    unknown: frozenset[str] = field(default_factory=frozenset)

    def origin(self, path: str) -> SettingOrigin:
        """Origin of a value; of the nearest enclosing one where it was given as a whole.

        Fields that a mapping does not contain keep their defaults. An item of a list counts as a
        whole: its keys may be other names of its fields.
        """
        if path in self.origins:
            return self.origins[path]
        above = path.rpartition(".")[0]
        while above and above not in self.origins:
            above = above.rpartition(".")[0]
        whole = not above or above.rpartition(".")[2].isdigit() or not self._is_parted(above)
        return self.place(above) if whole else SettingOrigin("default")

    def place(self, path: str) -> SettingOrigin:
        """Return the place of a problem: the value, or the mapping that it should be in."""
        while path:
            if path in self.origins:
                return self.origins[path]
            path = path.rpartition(".")[0]
        return SettingOrigin("default")

    def _is_parted(self, path: str) -> bool:
        """Return whether a layer gave a value in parts: a mapping with keys."""
        below = f"{path}."
        return any(name.startswith(below) for name in self.origins)

    def is_given(self, path: str) -> bool:
        """Return whether a layer gives this value, and not the default."""
        return path in self.origins

    def is_unknown(self, path: str) -> bool:
        """Return whether the value of a path is unknown, due to a problem at, above or below it."""
        return any(
            f"{path}.".startswith(f"{unknown}.") or unknown.startswith(f"{path}.")
            for unknown in self.unknown
        )


def load(model: type[T], layers: Iterable[Layer], root: Path | None = None) -> Loaded[T]:
    """Merge and validate; see `load_partly`.

    Raises:
        ConfigError: With all problems of all layers.
    """
    loaded, problems = load_partly(model, layers, root)
    if problems or loaded is None:
        raise ConfigError(problems)
    return loaded


def load_partly(
    model: type[T], layers: Iterable[Layer], root: Path | None = None
) -> tuple[Loaded[T] | None, list[Problem]]:
    """Merge and validate, and go on over problems, so that later checks can find theirs as well.

    Args:
        model: What the settings are.
        layers: Weakest first.
        root: Directory that files of secrets are relative to.

    Returns:
        The settings, with defaults for invalid values (None if even that fails), and every problem.
    """
    stack = list(layers)
    problems = [problem for layer in stack for problem in layer.problems]
    unknown = {name for layer in stack for name in layer.lost}
    tree, origins = merge(stack)
    usable: Tree = copy_tree(tree)
    settings: T | None = None
    for round_ in range(_MOST_ROUNDS):
        settings, errors = _validate(model, usable, origins, root)
        if not round_:
            problems += [problem for _, problem in errors]
        if settings is not None and not errors:
            break
        unknown |= {".".join(parts) for parts, _ in errors}
        # From the end, so that no removal moves an item that is removed later.
        for parts in sorted((parts for parts, _ in errors), key=_by_number, reverse=True):
            _without(usable, parts[: max(1, len(parts) - max(0, round_ - 1))])
    if settings is None:
        return None, _in_order(problems)
    return Loaded(settings, origins, frozenset(unknown)), _in_order(problems)


def _validate(
    model: type[T], tree: Tree, origins: Mapping[str, SettingOrigin], root: Path | None
) -> tuple[T | None, list[tuple[tuple[str, ...], Problem]]]:
    try:
        settings = model.model_validate(tree, context={"root": root})
    except ValidationError as error:
        return None, problems_of(model, error.errors(), tree, origins)
    return settings, problems_of(model, (), tree, origins)


def _by_number(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.zfill(9) if part.isdigit() else part for part in parts)


def _without(tree: Any, parts: tuple[str, ...]) -> None:  # noqa: ANN401 - YAML
    """Take a value out; of a list, the whole item that it is in."""
    *above, last = parts
    for part in above:
        if isinstance(tree, list):
            tree = tree[int(part)] if part.isdigit() and int(part) < len(tree) else None
        elif isinstance(tree, dict):
            tree = tree.get(part)
    if isinstance(tree, dict):
        tree.pop(last, None)
    elif isinstance(tree, list) and last.isdigit() and int(last) < len(tree):
        tree.pop(int(last))


def _in_order(problems: list[Problem]) -> list[Problem]:
    return sorted(set(problems), key=lambda p: (p.file, p.line, p.path))
