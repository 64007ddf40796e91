"""Properties by path within settings: found, listed, and changed to make new settings.

A path goes through components, and through lists of components (`scope.too-many-hops.max_hops`):
there an item is addressed by its `name`, by its kind (`rule: too-many-hops`) if no other item of
the list has the same kind, or by its index from 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from nacre.config.findings import message_of
from nacre.messages import SEMICOLON, join, message

T = TypeVar("T", bound=BaseModel)


class Property(NamedTuple):
    """One property of settings.

    Attributes:
        path: Its path, list items by their names.
        value: Its value.
        info: Its field.
        live: It, and all around it, can be changed while the job runs.
        sheets: A sheet can change it.
    """

    path: str
    value: object
    info: FieldInfo
    live: bool = True
    sheets: bool = True


class UnknownPropertyError(LookupError):
    """A path leads nowhere.

    Attributes:
        path: Its shortest beginning that does not exist.
        known: Paths that exist at that place.
    """

    def __init__(self, path: str, candidates: Sequence[str]) -> None:
        super().__init__(path)
        self.path = path
        self.known = tuple(candidates)


class InvalidValuesError(ValueError):
    """Values that settings cannot have: path, message and the value given, of each."""

    def __init__(self, items: Sequence[tuple[str, str, object]]) -> None:
        texts = (
            message("config.value", "{path}: {text}", path=path, text=text)
            for path, text, _ in items
        )
        super().__init__(join(texts, *SEMICOLON))
        self.items = tuple(items)


def names_of(items: Sequence[BaseModel]) -> list[str]:
    """Return the names of the items of a list in paths, in order."""
    words = [_word(item) for item in items]
    return [
        str(getattr(item, "name", "") or "")
        or (word if word and words.count(word) == 1 else str(index))
        for index, (item, word) in enumerate(zip(items, words, strict=True))
    ]


def _word(item: BaseModel) -> str:
    """Return the value of the field that distinguishes the item's kind from others."""
    for name, info in type(item).model_fields.items():
        if _tells_kind(info):
            return str(getattr(item, name))
    return ""


def _tells_kind(info: FieldInfo) -> bool:
    return get_origin(info.annotation) is Literal and info.json_schema_extra is None


def properties(settings: BaseModel) -> Iterator[Property]:
    """Yield every property, depth first; a list of components before its items."""
    return _below(settings, Property("", settings, FieldInfo()))


def _below(settings: BaseModel, around: Property) -> Iterator[Property]:
    for name in type(settings).model_fields:
        here = _property(settings, name, around)
        parts = _parts(here.value)
        if not isinstance(here.value, BaseModel):
            yield here
        inner = _items(here, around)
        for key, part in parts.items():
            yield from _below(part, inner._replace(path=f"{here.path}.{key}" if key else here.path))


def _property(settings: BaseModel, name: str, around: Property) -> Property:
    info = type(settings).model_fields[name]
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    free = not _tells_kind(info)
    return Property(
        f"{around.path}.{name}" if around.path else name,
        getattr(settings, name),
        info,
        around.live and bool(extra.get("live", free)),
        around.sheets and bool(extra.get("sheets", free)),
    )


def _items(here: Property, around: Property) -> Property:
    """Return the property as its items inherit it: of some lists only the items may change."""
    extra = here.info.json_schema_extra
    if isinstance(extra, dict) and extra.get("items"):
        return here._replace(live=around.live, sheets=around.sheets)
    return here


def _parts(value: object) -> dict[str, BaseModel]:
    """Return the components in a value by their names; "" for the value itself."""
    if isinstance(value, BaseModel):
        return {"": value}
    if isinstance(value, tuple) and value and all(isinstance(item, BaseModel) for item in value):
        return dict(zip(names_of(value), value, strict=True))
    return {}


def find(settings: BaseModel, path: str) -> Property:
    """Return the property of a path.

    Raises:
        UnknownPropertyError: There is none.
    """
    here = Property("", settings, FieldInfo())
    parts_left = path.split(".")
    while parts_left:
        if isinstance(here.value, BaseModel):
            around, here = here, _field(here, parts_left.pop(0))
            here = _items(here, around) if parts_left else here
        else:
            here = _item(here, parts_left.pop(0))
    return here


def _field(around: Property, name: str) -> Property:
    settings = around.value
    fields = type(settings).model_fields if isinstance(settings, BaseModel) else {}
    if not isinstance(settings, BaseModel) or name not in fields:
        above = f"{around.path}." if around.path else ""
        raise UnknownPropertyError(above + name, [above + field for field in fields])
    return _property(settings, name, around)


def _item(around: Property, key: str) -> Property:
    items = around.value
    at = index_of(items, key) if isinstance(items, tuple) else None
    if at is None or not isinstance(items, tuple):
        candidates = [f"{around.path}.{name}" for name in _parts(items)]
        raise UnknownPropertyError(f"{around.path}.{key}", candidates)
    return around._replace(path=f"{around.path}.{key}", value=items[at])


def index_of(items: Sequence[Any], key: str) -> int | None:
    """Place of the item with a name in a list of components; None when there is none."""
    if not all(isinstance(item, BaseModel) for item in items):
        return None
    names = names_of(items)
    if key in names:
        return names.index(key)
    return int(key) if key.isdecimal() and int(key) < len(items) else None


def with_values(settings: T, values: Mapping[str, object]) -> T:
    """Settings with other values at some paths, validated.

    What is not touched stays the same object.

    Raises:
        InvalidValuesError: A value or a combination of values is invalid.
        UnknownPropertyError: A path leads nowhere.
    """
    return _with(settings, values, "") if values else settings


def _with(settings: T, values: Mapping[str, object], above: str) -> T:
    tree = {name: getattr(settings, name) for name in type(settings).model_fields}
    for head, inner in _by_head(values).items():
        if head not in tree:
            raise UnknownPropertyError(above + head, [above + name for name in tree])
        if "" in inner:
            tree[head] = inner.pop("")
            if inner:
                tree[head] = getattr(_validate(settings, {head: tree[head]}, above), head)
        if inner:
            tree[head] = _change(tree[head], inner, f"{above}{head}.")
    return _validate(settings, tree, above)


def _validate(settings: T, tree: Mapping[str, object], above: str) -> T:
    own = settings.__dict__
    current = {name: own[name] for name in type(settings).model_fields if name in own}
    try:
        result = type(settings).model_validate({**current, **tree})
    except ValidationError as error:
        raise InvalidValuesError(
            [_describe_error(item, above) for item in error.errors()]
        ) from None
    # Validation makes new lists of the same items: unchanged lists stay the same object, so that
    # derived objects are built once.
    same = {name: value for name, value in current.items() if tree.get(name, value) is value}
    result.__dict__.update(same)
    result.model_fields_set.intersection_update(
        settings.model_fields_set | tree.keys() - same.keys()
    )
    return result


def _describe_error(item: ErrorDetails, above: str) -> tuple[str, str, object]:
    path = (above + ".".join(str(part) for part in item["loc"])).rstrip(".")
    return path, message_of(item), item.get("input")


def _change(value: object, inner: Mapping[str, object], above: str) -> object:
    """Return a component, or a list of them, with other values in it."""
    if isinstance(value, BaseModel):
        return _with(value, inner, above)
    if not isinstance(value, tuple):
        raise UnknownPropertyError(above + next(iter(inner)), ())
    items = list(value)
    for key, values in _by_head(inner).items():
        at = index_of(value, key)
        if at is None or "" in values:
            raise UnknownPropertyError(above + key, [above + name for name in _parts(value)])
        items[at] = _with(items[at], values, f"{above}{key}.")
    return tuple(items)


def _by_head(values: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Values by the first piece of their paths; "" is the piece itself."""
    by_head: dict[str, dict[str, object]] = {}
    for path, value in values.items():
        head, _, inner = path.partition(".")
        by_head.setdefault(head, {})[inner] = value
    return by_head
