"""Facts about each property of a model: for the reference, `--explain` and messages."""

from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated, Final, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from nacre.config.component import Component
from nacre.config.registry import did_you_mean, nearest, one_of
from nacre.config.secret import Secret
from nacre.errors import ConfigError, Problem
from nacre.messages import OR, Message, join, message, static


class FieldFacts(NamedTuple):
    """The facts about one property.

    Attributes:
        path: Dotted path.
        type: Its type in operators' words.
        default: Its default; None if it must be given.
        doc: Its meaning.
        unit: Its unit; "" for none.
        live: It can be changed while the job runs.
        sheets: A sheet can change it.
        sample: A good value, as YAML; "" if the default is one.
    """

    path: str
    type: str
    default: object
    doc: str
    unit: str
    live: bool
    sheets: bool
    sample: str = ""


def fields(model: type[BaseModel], prefix: str = "") -> Iterator[FieldFacts]:
    """Yield every property of a model, depth first, with dotted paths."""
    for name, info in model.model_fields.items():
        path = f"{prefix}{name}"
        below = _submodel(info)
        if below is not None:
            yield from fields(below, path + ".")
        else:
            yield facts_of(path, info)


def facts_of(path: str, info: FieldInfo) -> FieldFacts:
    """Return the facts about a field of a model that a path leads to."""
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    default = info.get_default(call_default_factory=True, validated_data={})
    return FieldFacts(
        path,
        type_name(info.annotation),
        default,
        static(info.description or ""),
        static(str(extra.get("unit", ""))),
        bool(extra.get("live", True)),
        bool(extra.get("sheets", True)),
        str(extra.get("sample", "")),
    )


def required(facts: FieldFacts) -> bool:
    """Return whether it has no default."""
    return facts.default is PydanticUndefined


def _submodel(info: FieldInfo) -> type[BaseModel] | None:
    kind = info.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def facts_at(model: type[BaseModel], parts: Sequence[str], tree: object) -> FieldFacts | None:
    """Return the property that a path of a tree leads to, through lists and mappings too.

    Args:
        model: What the whole tree is read as.
        parts: The path.
        tree: Values as written, which contain the rule of a list item. None: there are no values.
    """
    if not parts:
        return None
    holder = model_at(model, parts[:-1], tree)
    info = holder.model_fields.get(parts[-1]) if holder else None
    return facts_of(".".join(parts), info) if info else None


def model_at(model: type[BaseModel], parts: Sequence[str], tree: object) -> type[BaseModel] | None:
    """The model that the value at a path is read as; None when it is not a mapping of settings."""
    return _choose_model(type_at(model, parts, tree), _value_at(tree, parts))


def type_at(model: type[BaseModel], parts: Sequence[str], tree: object) -> object:
    """Return the type of the value at a path, as annotated; None when there is no such path.

    Args:
        model: What the whole tree is read as.
        parts: The path.
        tree: Values as written, which contain the rule of a list item. None: there are no values.
    """
    kind: object = model
    for part in parts:
        holder = _choose_model(kind, tree)
        tree = _below(tree, part)
        if holder is not None:
            info = holder.model_fields.get(part)
            if info is None:
                return None
            kind = info.annotation
        else:
            kind = _inner(kind, part)
    return kind


def _value_at(tree: object, parts: Sequence[str]) -> object:
    for part in parts:
        tree = _below(tree, part)
    return tree


def choices_of(kind: object) -> tuple[str, ...]:
    """Return the values that a type allows, where it allows some only; empty if it does not."""
    choices: list[str] = []
    for member in _members(kind):
        if member is bool:
            choices += ["true", "false"]
        elif isinstance(member, type) and issubclass(member, Enum):
            choices += [str(choice.value) for choice in member]
        elif get_origin(member) is Literal:
            choices += [str(choice) for choice in get_args(member)]
    return tuple(dict.fromkeys(choices))


def _below(tree: object, part: str) -> object:
    if isinstance(tree, dict):
        return tree.get(part)
    if isinstance(tree, list | tuple) and part.isdigit() and int(part) < len(tree):
        return tree[int(part)]
    return None


def _members(kind: object) -> Iterator[object]:
    """Yield the types that a type may be, unions and annotations taken apart."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _members(get_args(kind)[0])
    elif origin in (Union, UnionType):
        for member in get_args(kind):
            yield from _members(member)
    else:
        yield kind


def _choose_model(kind: object, value: object) -> type[BaseModel] | None:
    """Return the model among the members of a type that a value is meant for."""
    models = [m for m in _members(kind) if isinstance(m, type) and issubclass(m, BaseModel)]
    if len(models) == 1:
        model = models[0]
        return model.chosen(value) if issubclass(model, Component) else model
    name = value.get("rule") if isinstance(value, dict) else None
    return next((model for model in models if name is not None and name in names_of(model)), None)


def names_of(model: type[BaseModel]) -> tuple[str, ...]:
    """Return the names by which `rule:` calls a model: its own first, then its aliases."""
    info = model.model_fields.get("rule")
    if info is None or get_origin(info.annotation) is not Literal:
        return ()
    return tuple(str(name) for name in get_args(info.annotation))


def _inner(kind: object, part: str) -> object:
    """Return the type of the items of a list, or of the values of a mapping."""
    for member in _members(kind):
        origin, inner = get_origin(member), get_args(member)
        if origin is dict:
            return inner[1]
        if inner and part.isdigit():
            return inner[0]
    return None


_WORDS: dict[type, str] = {
    str: message("type.text", "text"),
    int: message("type.whole-number", "whole number"),
    float: message("type.number", "number"),
    bool: message("type.true-or-false", "true or false"),
    Secret: message("type.secret-text", "secret text"),
    type(None): message("type.none", "none"),
}


EITHER = "type.either", "{first} or {rest}"
NUMBER: Final = frozenset(("type.number", "type.whole-number"))
SECRET: Final = frozenset(("type.secret-text",))
FLAG: Final = frozenset(("type.true-or-false",))
NONE: Final = frozenset(("type.none",))
"""Codes of types, for `nacre.messages.find`."""


def type_name(kind: object) -> str:
    """Return a type in operators' words."""
    if isinstance(kind, type) and not get_args(kind):
        return _class_name(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return type_name(inner[0])
    if origin is Literal:
        return join((f"`{value}`" for value in inner), *OR)
    if origin in (Union, UnionType):
        return join(dict.fromkeys(map(type_name, inner)), *EITHER)
    if origin is dict:
        keys, values = map(type_name, inner)
        return message("type.mapping-of", "mapping of {keys} to {values}", keys=keys, values=values)
    return _list_of(type_name(inner[0])) if inner else str(kind)


def _list_of(items: str) -> Message:
    return message("type.list-of", "list of {items}", items=items)


def _class_name(kind: type) -> str:
    if issubclass(kind, Enum):
        return join((f"`{member.value}`" for member in kind), *OR)
    if issubclass(kind, BaseModel):
        return message("type.mapping", "mapping")
    return _WORDS.get(kind, kind.__name__)


@cache
def _paths(model: type[BaseModel]) -> dict[str, str]:
    """Return the path of each property of a model, by its last name."""
    return {field.path.rpartition(".")[2]: field.path for field in fields(model)}


def suggestion(model: type[BaseModel], parts: Sequence[str], tree: object = None) -> str:
    """`did you mean ...?` for a key that does not exist; else the keys that do; "" for neither."""
    *above, name = parts
    holder = model_at(model, above, tree)
    own = list(holder.model_fields) if holder else []
    near = nearest(name, own)
    if near:
        return did_you_mean(".".join([*above, near]))
    everywhere = _paths(model)
    near = nearest(name, everywhere, cutoff=0.8)
    if near:
        return did_you_mean(everywhere[near])
    return one_of(sorted(own)) if own else ""


def no_such_setting(path: str, hint: str = "") -> Problem:
    """Return the problem of a path that no setting has.

    Args:
        path: The path.
        hint: As of `suggestion`; "" for none.
    """
    if not hint:
        return Problem(path, message("config.no-such-setting", "no such setting"))
    return Problem(
        path, message("config.no-such-setting-but", "no such setting; {hint}", hint=hint)
    )


def value_at(settings: BaseModel, path: str) -> object:
    """Return the effective value of a dotted path.

    Raises:
        ConfigError: No such setting; the message suggests one.
    """
    value: object = settings
    parts = path.split(".")
    for index, part in enumerate(parts):
        if not isinstance(value, BaseModel) or part not in type(value).model_fields:
            hint = suggestion(type(settings), parts[: index + 1])
            raise ConfigError([no_such_setting(path, hint)])
        value = getattr(value, part)
    return value
