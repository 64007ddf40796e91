"""Finds the values of settings that name something outside the crawl, by their types.

It looks at settings as they are written, before anything is read or validated, in all spellings
that the validation accepts.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel

from nacre.config.component import Component, ComponentRegistry, NamedKind
from nacre.config.secret import Secret


class NamedValue(NamedTuple):
    """A value that names something.

    Attributes:
        path: Its place, as written.
        value: The value, as written.
        kind: The kind of thing.
        is_secret: It is the file or the variable that has a secret.
    """

    path: str
    value: Any
    kind: NamedKind
    is_secret: bool = False


Inner = Callable[[str, Any], Iterator[NamedValue] | None]
"""Yields the values of a place whose type is too general, such as a sheet; None: other places."""


def named_values(
    kind: object, value: Any, path: str = "", inner: Inner | None = None  # noqa: ANN401 - YAML
) -> Iterator[NamedValue]:  # fmt: skip
    """Find the values that name something.

    What cannot be assigned to a type (an unknown key, a component that is not known) counts if its
    key is that of any setting that names something.

    Args:
        kind: What the value is read as: an annotation.
        value: The value, as written: mappings, lists and scalars.
        path: Its place.
        inner: Called first at each mapping.
    """
    special = inner(path, value) if inner is not None else None
    if special is not None:
        yield from special
        return
    mark = mark_of(kind, value)
    if mark is not None and not isinstance(value, Mapping | None):
        yield NamedValue(path, value, mark)
        return
    if mark is not None and not _is_secret(kind):
        if value:
            yield NamedValue(path, value, mark)
        return
    if _is_secret(kind):
        yield from _references(path, value)
    elif isinstance(value, Mapping):
        yield from _of_mapping(kind, value, path, inner)
    elif isinstance(value, str) and (registry := _registry(kind)) is not None:
        yield from _of_mapping(kind, {registry.noun: value}, path, inner)
    elif isinstance(value, list | tuple):
        below = _item_kind(kind)
        for number, item in enumerate(value):
            yield from named_values(below, item, f"{path}.{number}", inner)


def _references(path: str, value: object) -> Iterator[NamedValue]:
    """Yield the file or variable that a secret is read from."""
    if isinstance(value, Mapping):
        for key, name in value.items():
            kind = NamedKind.VARIABLE if key == "env" else NamedKind.FILE
            yield NamedValue(f"{path}.{key}", name, kind, is_secret=True)


def _of_mapping(
    kind: object, value: Mapping[Any, Any], path: str, inner: Inner | None
) -> Iterator[NamedValue]:
    below, registry = _item_kind(kind), _registry(kind)
    of_items = _registry(below)
    if of_items is not None and isinstance(value.get(of_items.noun), str):
        yield from named_values(below, value, path, inner)  # an item that needs no list
        return
    if registry is not None and isinstance(value.get(registry.noun), str):
        value = _with_defaults(registry, registry.spelled(value))
    models = _models(kind, registry, value)
    for key, item in value.items():
        here = f"{path}.{key}" if path else str(key)
        kinds = [field for model in models for field in _field_kinds(model, str(key))]
        if not kinds and below is not None:
            # An item of a list by its number or name, or entries that are added to a chain.
            kinds = [kind if isinstance(item, list) else _named_item(below, str(key))]
        if kinds:
            values = (v for k in kinds for v in named_values(k, item, here, inner))
            yield from dict.fromkeys(values) if len(kinds) > 1 else values
        else:
            yield from _by_name(str(key), item, here)


def _with_defaults(registry: ComponentRegistry[Any], value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return a component with the defaults that name something, such as the URL of a server."""
    try:
        model: type[BaseModel] = registry.get(str(value[registry.noun]))
    except ValueError:
        return value
    defaults = {name: model.model_fields[name].default for name in _marked_of(model)}
    return {**{name: default for name, default in defaults.items() if default}, **value}


def _by_name(key: str, value: object, path: str) -> Iterator[NamedValue]:
    """Yield the values of a place of unknown type, by the names of keys."""
    mark = marked_names().get(key.rpartition(".")[2])
    if mark is not None:
        yield NamedValue(path, value, mark)
    elif isinstance(value, Mapping):
        for inner, item in value.items():
            yield from _by_name(str(inner), item, f"{path}.{inner}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _by_name("", item, f"{path}.{number}")


# ---- types


def mark_of(kind: object, value: object = "") -> NamedKind | None:
    """Return the kind of thing that a value of a type names; None for nothing.

    Args:
        kind: The type, as annotated.
        value: The value: it selects the member of a union of text and list.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        own = next(
            (annotation for annotation in inner[1:] if isinstance(annotation, NamedKind)), None
        )
        if own is not None and not (inner[0] is str and isinstance(value, list | tuple | Mapping)):
            return own
        return mark_of(inner[0], value)
    if origin in (Union, UnionType):
        marks = (mark_of(member, value) for member in inner)
        return next((mark for mark in marks if mark is not None), None)
    if origin in (tuple, list, frozenset) and inner and not isinstance(value, Mapping):
        return mark_of(inner[0])
    return None


def _is_secret(kind: object) -> bool:
    if get_origin(kind) is Annotated:
        return _is_secret(get_args(kind)[0])
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return Secret in members


def _field_kinds(model: type[BaseModel], key: str) -> Iterator[object]:
    info = model.model_fields.get(key)
    if info is not None:
        yield Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation


def _registry(kind: object) -> ComponentRegistry[Any] | None:
    """Return the registry that reads the values of a type; None for none."""
    if get_origin(kind) is not Annotated:
        return None
    inner, *more = get_args(kind)
    readers = (getattr(getattr(reader_arg, "func", None), "__self__", None) for reader_arg in more)
    registry = next((reader for reader in readers if isinstance(reader, ComponentRegistry)), None)
    return registry or _registry(inner)


def _models(
    kind: object, registry: ComponentRegistry[Any] | None, value: Mapping[Any, Any]
) -> list[type[BaseModel]]:
    """Return the models that a mapping may be read as."""
    name = value.get(registry.noun) if registry is not None else None
    if registry is not None and isinstance(name, str):
        try:
            return [registry.get(name)]
        except ValueError:
            pass  # not known: its keys count by their names
    models = [
        member
        for member in members(kind)
        if isinstance(member, type) and issubclass(member, BaseModel)
    ]
    chosen = [model.chosen(value) if issubclass(model, Component) else model for model in models]
    return list(dict.fromkeys(chosen))


def _named_item(kind: object, name: str) -> object:
    """Return the type of an item that a path names: its kind, if the name is that of one."""
    registry = _registry(kind)
    model = registry.find(name) if registry is not None else None
    return model or kind


def members(kind: object) -> Iterator[object]:
    """Yield the types that a type may be, unions and annotations taken apart."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from members(get_args(kind)[0])
    elif origin in (Union, UnionType):
        for member in get_args(kind):
            yield from members(member)
    else:
        yield kind


def _item_kind(kind: object) -> object:
    """Return the type of the items of a list, or of the values of a mapping; None for neither."""
    for member in members(kind):
        origin, inner = get_origin(member), get_args(member)
        if origin in (tuple, list, frozenset) and inner:
            return inner[0]
        if origin is not None and len(inner) == 2 and issubclass(origin, Mapping):
            return inner[1]
    return None


@functools.cache
def _marked_of(model: type[BaseModel]) -> Mapping[str, NamedKind]:
    marks: dict[str, NamedKind] = {}
    for name in model.model_fields:
        kind = next(_field_kinds(model, name))
        mark = mark_of(kind) or mark_of(kind, ()) or mark_of(kind, {})
        if mark is not None:
            marks[name] = mark
    return marks


@functools.cache
def marked_names() -> Mapping[str, NamedKind]:
    """Return the names of all settings that name something, of all components that are loaded."""
    names: dict[str, NamedKind] = {"file": NamedKind.FILE, "env": NamedKind.VARIABLE}
    for model in components():
        names.update(_marked_of(model))
    return names


def components(base: type[Component] = Component) -> Iterator[type[Component]]:
    """Yield all components that are loaded, each once or more."""
    for model in base.__subclasses__():
        yield model
        yield from components(model)


def marked_fields(model: type[BaseModel]) -> Mapping[str, NamedKind]:
    """Return the settings of one component that name something."""
    return _marked_of(model)
