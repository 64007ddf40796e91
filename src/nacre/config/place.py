"""Properties by path within settings: found, listed, and changed to make new settings.

A path goes through components, and through lists of components (`scope.too-many-hops.max_hops`):
there an item is named by its `name`, by the word that says what it is (`rule: too-many-hops`) where
no other item of the list has it, or by its index from 0.
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

    def __init__(self, path: str, known: Sequence[str]) -> None:
        super().__init__(path)
        self.path = path
        self.known = tuple(known)


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
    """The names that the items of a list have in paths, in order."""
    words = [_word(item) for item in items]
    return [
        str(getattr(item, "name", "") or "")
        or (word if word and words.count(word) == 1 else str(index))
        for index, (item, word) in enumerate(zip(items, words, strict=True))
    ]


def _word(item: BaseModel) -> str:
    """The value of the field that distinguishes the item's kind from others."""
    for name, info in type(item).model_fields.items():
        if _tells_kind(info):
            return str(getattr(item, name))
    return ""


def _tells_kind(info: FieldInfo) -> bool:
    return get_origin(info.annotation) is Literal and info.json_schema_extra is None


def properties(settings: BaseModel) -> Iterator[Property]:
    """Every property, depth first; a list of components before what is in it."""
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
    """The property as it counts for what is in it: of some lists only the items may change."""
    extra = here.info.json_schema_extra
    if isinstance(extra, dict) and extra.get("items"):
        return here._replace(live=around.live, sheets=around.sheets)
    return here


def _parts(value: object) -> dict[str, BaseModel]:
    """The components in a value by their names; "" for the value itself."""
    if isinstance(value, BaseModel):
        return {"": value}
    if isinstance(value, tuple) and value and all(isinstance(item, BaseModel) for item in value):
        return dict(zip(names_of(value), value, strict=True))
    return {}


def find(settings: BaseModel, path: str) -> Property:
    """The property of a path.

    Raises:
        UnknownPropertyError: There is none.
    """
    here = Property("", settings, FieldInfo())
    left = path.split(".")
    while left:
        if isinstance(here.value, BaseModel):
            around, here = here, _field(here, left.pop(0))
            here = _items(here, around) if left else here
        else:
            here = _item(here, left.pop(0))
    return here


def _field(around: Property, name: str) -> Property:
    settings = around.value
    known = type(settings).model_fields if isinstance(settings, BaseModel) else {}
    if not isinstance(settings, BaseModel) or name not in known:
        above = f"{around.path}." if around.path else ""
        raise UnknownPropertyError(above + name, [above + one for one in known])
    return _property(settings, name, around)


def _item(around: Property, key: str) -> Property:
    items = around.value
    at = index_of(items, key) if isinstance(items, tuple) else None
    if at is None or not isinstance(items, tuple):
        known = [f"{around.path}.{name}" for name in _parts(items)]
        raise UnknownPropertyError(f"{around.path}.{key}", known)
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
        InvalidValuesError: A value, or what they make together, is not valid.
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
                tree[head] = getattr(_validated(settings, {head: tree[head]}, above), head)
        if inner:
            tree[head] = _changed(tree[head], inner, f"{above}{head}.")
    return _validated(settings, tree, above)


def _validated(settings: T, tree: Mapping[str, object], above: str) -> T:
    own = settings.__dict__
    kept = {name: own[name] for name in type(settings).model_fields if name in own}
    try:
        made = type(settings).model_validate({**kept, **tree})
    except ValidationError as error:
        raise InvalidValuesError([_told(item, above) for item in error.errors()]) from None
    # Validation makes new lists of the same things: those that did not change stay the same object,
    # so that what is made of them is made once.
    same = {name: value for name, value in kept.items() if tree.get(name, value) is value}
    made.__dict__.update(same)
    made.model_fields_set.intersection_update(settings.model_fields_set | tree.keys() - same.keys())
    return made


def _told(item: ErrorDetails, above: str) -> tuple[str, str, object]:
    path = (above + ".".join(str(part) for part in item["loc"])).rstrip(".")
    return path, message_of(item), item.get("input")


def _changed(value: object, inner: Mapping[str, object], above: str) -> object:
    """A component, or a list of them, with other values in it."""
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
    found: dict[str, dict[str, object]] = {}
    for path, value in values.items():
        head, _, rest = path.partition(".")
        found.setdefault(head, {})[rest] = value
    return found
