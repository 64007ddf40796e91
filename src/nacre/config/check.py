"""From merged layers to validated settings: every problem at once, each with its place."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Annotated, Generic, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from nacre.config.layer import Layer, Origin, Tree, merge
from nacre.errors import ConfigError, Problem

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Loaded(Generic[T]):
    """Validated settings, and where each value that is not a default came from."""

    settings: T
    origins: Mapping[str, Origin]

    def origin(self, path: str) -> Origin:
        """Origin of a value; of the nearest enclosing one where it was given as a whole."""
        while path:
            if path in self.origins:
                return self.origins[path]
            path = path.rpartition(".")[0]
        return Origin("default")


class FieldFacts(NamedTuple):
    """What is known of one property: for the reference, `--explain` and messages."""

    path: str
    type: str
    default: object
    doc: str
    unit: str
    live: bool
    sheets: bool


def load(model: type[T], layers: Iterable[Layer]) -> Loaded[T]:
    """Merge and validate.

    Raises:
        ConfigError: With all problems of all layers.
    """
    loaded, problems = load_partly(model, layers)
    if problems or loaded is None:
        raise ConfigError(problems)
    return loaded


def load_partly(model: type[T], layers: Iterable[Layer]) -> tuple[Loaded[T] | None, list[Problem]]:
    """Merge and validate, and go on over problems, so that later checks can find theirs as well.

    Returns:
        The settings, with defaults for each part in which something is wrong (None when not even
        that can be had), and every problem.
    """
    stack = list(layers)
    problems = [problem for layer in stack for problem in layer.problems]
    tree, origins = merge(stack)
    try:
        settings = model.model_validate(tree)
    except ValidationError as error:
        items = error.errors()
        problems += [_problem(model, item, tree, origins) for item in items]
        bad = {item["loc"][0] for item in items if item["loc"]}
        left = {key: value for key, value in tree.items() if key not in bad}
        try:
            settings = model.model_validate(left)
        except ValidationError:
            return None, _in_order(problems)
    return Loaded(settings, origins), _in_order(problems)


def _in_order(problems: list[Problem]) -> list[Problem]:
    return sorted(set(problems), key=lambda p: (p.file, p.line, p.path))


def _problem(
    model: type[BaseModel],
    item: ErrorDetails,
    tree: Tree,
    origins: Mapping[str, Origin],
) -> Problem:
    path = ".".join(str(part) for part in item["loc"])
    place = _place(path, origins)
    facts = {field.path: field for field in fields(model)}
    if item["type"] == "extra_forbidden":
        message = f"no such setting; {_suggestion(path, facts)}".rstrip("; ")
        return Problem(path, message, "", "", place.file, place.line)
    known = facts.get(path)
    message = str(item["msg"]).removeprefix("Value error, ")
    given = item.get("input")
    if item["type"] != "missing" and not isinstance(given, dict | list):
        message = f"{message[0].lower()}{message[1:]} (it is {given!r})"
    expected = f"{known.doc} {_with_unit(known)}".strip() if known else ""
    sample = (
        f"{path.rpartition('.')[2]}: {known.default}" if known and known.default is not None else ""
    )
    return Problem(path, message, expected, sample, place.file, place.line)


def _place(path: str, origins: Mapping[str, Origin]) -> Origin:
    while path:
        if path in origins:
            return origins[path]
        path = path.rpartition(".")[0]
    return Origin("")


def _suggestion(path: str, facts: Mapping[str, FieldFacts]) -> str:
    parent, _, name = path.rpartition(".")
    above = f"{parent}." if parent else ""
    below = (p for p in facts if p.startswith(above))
    siblings = {rest: above + rest for rest in (p[len(above) :].partition(".")[0] for p in below)}
    near = difflib.get_close_matches(name, siblings, n=1, cutoff=0.6)
    if near:
        return f"did you mean `{siblings[near[0]]}`?"
    everywhere = {p.rpartition(".")[2]: p for p in facts}
    near = difflib.get_close_matches(name, everywhere, n=1, cutoff=0.8)
    if near:
        return f"did you mean `{everywhere[near[0]]}`?"
    return "one of: " + ", ".join(sorted(siblings)) if siblings else ""


def _with_unit(facts: FieldFacts) -> str:
    return f"({facts.type}, {facts.unit})" if facts.unit else f"({facts.type})"


def fields(model: type[BaseModel], prefix: str = "") -> Iterator[FieldFacts]:
    """Every property of a model, depth first, with dotted paths."""
    for name, info in model.model_fields.items():
        path = f"{prefix}{name}"
        below = _submodel(info)
        if below is not None:
            yield from fields(below, path + ".")
            continue
        extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
        yield FieldFacts(
            path,
            _type_name(info.annotation),
            info.get_default(call_default_factory=True, validated_data={}),
            info.description or "",
            str(extra.get("unit", "")),
            bool(extra.get("live", True)),
            bool(extra.get("sheets", True)),
        )


def _submodel(info: FieldInfo) -> type[BaseModel] | None:
    kind = info.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


_WORDS = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    type(None): "none",
}


def _type_name(kind: object) -> str:
    """A type as operators say it."""
    if isinstance(kind, type) and not get_args(kind):
        return _class_name(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _type_name(inner[0])
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in inner)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(_type_name, inner)))
    if origin is dict:
        return f"mapping of {_type_name(inner[0])} to {_type_name(inner[1])}"
    return f"list of {_type_name(inner[0])}" if inner else str(kind)


def _class_name(kind: type) -> str:
    if issubclass(kind, Enum):
        return " or ".join(f"`{member.value}`" for member in kind)
    if issubclass(kind, BaseModel):
        return "mapping"
    return _WORDS.get(kind, kind.__name__)


def value_at(settings: BaseModel, path: str) -> object:
    """The effective value of a dotted path.

    Raises:
        ConfigError: No such setting; the message suggests one.
    """
    value: object = settings
    for part in path.split("."):
        if not isinstance(value, BaseModel) or part not in type(value).model_fields:
            facts = {field.path: field for field in fields(type(settings))}
            message = f"no such setting; {_suggestion(path, facts)}".rstrip("; ")
            raise ConfigError([Problem(path, message)])
        value = getattr(value, part)
    return value
