"""Valid names at a position in `crawl.yaml`: keys of a mapping, values of a setting.

Sheets and chains have their own mappings; all else is read from the models of the settings.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from nacre.config.extension import MIGRATE, find_extension, load_part
from nacre.config.facts import FieldFacts, choices_of, facts_of, fields, model_at, type_at
from nacre.engine.chain.entry import PROCESSORS, ChainName, Entry
from nacre.errors import NacreError
from nacre.scope.rules.stock import RULES, Rule
from nacre.settings.chains import INSERT, REMOVE, REORDER, STOCK
from nacre.settings.layers import list_profiles
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import STOCK as STOCK_SHEETS

Path = tuple[str, ...]

CHANGES: Final = {
    INSERT: "Processors that are added: `[{processor: NAME, before: OTHER}]`.",
    REMOVE: "Names of entries that are left out.",
    REORDER: "Names of entries; they come in this order, in the places that they have together.",
}
"""Meanings of the changes of a chain."""
TOP: Final = {
    "include": "Files, or patterns of them, to build on; later files win.",
    "profile": "The profile to build on, by name or file.",
}
"""Meanings of the keys that only files have."""
BESIDE: Final = {
    "before": "The entry that it is put before.",
    "after": "The entry that it is put behind.",
}
"""Meanings of the keys for the place of an added processor."""
STOCK_SHEET: Final = "A sheet that comes with Nacre. A sheet of this name replaces it."


class PlaceName(NamedTuple):
    """A key or a value that is possible at a place.

    Attributes:
        name: As it is written.
        kind: `section`, `setting`, `value`, `rule`, `processor`, `sheet`, `entry` or `profile`.
        doc: Its meaning; "" for a plain value.
        facts: Of a setting: type, default and so on; None if it is none.
        heritrix: Heritrix's names for it.
    """

    name: str
    kind: str
    doc: str = ""
    facts: FieldFacts | None = None
    heritrix: tuple[str, ...] = ()


@cache
def heritrix_properties() -> Mapping[str, tuple[str, ...]]:
    """Heritrix's properties by the path of the setting that they become, `FetchHTTP.maxLength`.

    None without nacre-migrate, which has them. If it is broken, `nacre migrate` reports that.
    """
    try:
        extension = find_extension(MIGRATE)
        if extension is None:
            return {}
        properties: Mapping[str, tuple[str, ...]] = load_part(MIGRATE, extension.editing_help)()
    except NacreError:
        return {}
    return properties


class _Root(NamedTuple):
    """A place relative to the model that it is read as: of a sheet, or of an entry of a chain."""

    model: type[BaseModel]
    parts: Path
    tree: object
    in_sheet: bool = False


def _root(path: Path, tree: object) -> _Root:
    if path[:1] == ("sheets",) and len(path) >= 2:
        inner = tuple(part for key in path[2:] for part in key.split("."))
        return _Root(JobSettings, inner, None, in_sheet=True)
    if path[:1] == ("chains",) and len(path) >= 3:
        entry, used = _entry_at(path, tree)
        if entry is not None:
            return _Root(entry, path[used:], _value_at(tree, path[:used]))
    return _Root(JobSettings, path, tree)


def _value_at(tree: object, path: Path) -> object:
    for part in path:
        if isinstance(tree, list):
            tree = tree[int(part)] if part.isdigit() and int(part) < len(tree) else None
        else:
            tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def _chain(name: str) -> ChainName | None:
    return ChainName(name) if name in list(ChainName) else None


def _entry_at(path: Path, tree: object) -> tuple[type[Entry] | None, int]:
    """The processor that a path into a chain leads to, and the number of parts up to it."""
    chain = _chain(path[1])
    if chain is None or path[2] in {REMOVE, REORDER}:
        return None, 0
    used = 4 if path[2] == INSERT else 3
    if len(path) < used:
        return None, 0
    value = _value_at(tree, path[:used])
    if path[2] != INSERT and not path[2].isdigit():
        kinds = [type(entry) for entry in STOCK[chain] if entry.label == path[2]]
        return (kinds[0] if kinds else None), used
    name = value.get("processor") if isinstance(value, dict) else None
    kind = PROCESSORS.find(name) if isinstance(name, str) else None
    return kind or Entry, used


# ---- keys


def keys_at(path: Path, tree: Any) -> list[PlaceName]:  # noqa: ANN401 - YAML
    """The keys that a mapping may have.

    Args:
        path: The mapping.
        tree: All values, as `outline.loose_tree` guesses them.
    """
    if path[:1] == ("sheets",) and len(path) < 2:
        return [_stock_sheet(name) for name in STOCK_SHEETS]
    if path[:1] == ("chains",) and len(path) == 2:
        return _chain_keys(path[1])
    root = _root(path, tree)
    holder = model_at(root.model, root.parts, root.tree)
    names = _fields_of(holder, root.parts) if holder else []
    if root.in_sheet:
        return _for_sheets(names, root.parts)
    if not path:
        return [*(PlaceName(name, "setting", doc) for name, doc in TOP.items()), *names]
    if path[:1] == ("chains",) and len(path) == 4 and path[2] == INSERT:
        return [*names, *(PlaceName(name, "setting", doc) for name, doc in BESIDE.items())]
    return names


def _stock_sheet(name: str) -> PlaceName:
    return PlaceName(name, "sheet", STOCK_SHEET)


def _chain_keys(name: str) -> list[PlaceName]:
    chain = _chain(name)
    changes = [PlaceName(key, "setting", doc) for key, doc in CHANGES.items()]
    return [*changes, *_labels(chain)] if chain else []


def _labels(chain: ChainName | None) -> list[PlaceName]:
    entries = STOCK[chain] if chain else ()
    return [PlaceName(entry.label, "entry", first_sentence(type(entry))) for entry in entries]


def _fields_of(holder: type[BaseModel], above: Path) -> list[PlaceName]:
    names = []
    for name, info in holder.model_fields.items():
        path = ".".join((*above, name))
        kind = info.annotation
        below = isinstance(kind, type) and issubclass(kind, BaseModel)
        facts = None if below else facts_of(path, info)
        doc = info.description or ""
        if name in {"rule", "processor"} and not doc:
            doc = f"The name of the {name}."
        heritrix = heritrix_of(path, holder, name)
        names.append(PlaceName(name, "section" if below else "setting", doc, facts, heritrix))
    return names


def _for_sheets(names: Sequence[PlaceName], above: Path) -> list[PlaceName]:
    """Those that a sheet may have; at its top whole paths too, which are shorter to write."""
    allowed = {field.path: field for field in fields(JobSettings) if field.sheets}
    prefix = ".".join((*above, ""))
    allowed_names = [
        item
        for item in names
        if (item.facts is not None and prefix + item.name in allowed)
        or (
            item.facts is None and any(path.startswith(f"{prefix}{item.name}.") for path in allowed)
        )
    ]
    if above:
        return allowed_names
    paths = [
        PlaceName(path, "setting", item.doc, item, heritrix_of(path))
        for path, item in allowed.items()
        if "." in path
    ]
    return [*allowed_names, *paths]


def heritrix_of(
    path: str, holder: type[BaseModel] | None = None, name: str = ""
) -> tuple[str, ...]:
    """Heritrix's names for a setting; empty where it has none.

    Args:
        path: The setting.
        holder: The model that it is a field of, for settings of rules; None for others.
        name: Its name there.
    """
    names = heritrix_properties().get(path, ())
    if names or holder is None:
        return names
    own = getattr(holder, "heritrix", "")
    return (str(own),) if own and name in {"rule", "processor"} else ()


def first_sentence(kind: type[BaseModel]) -> str:
    """The first paragraph of a class's description, in one line."""
    return " ".join((kind.__doc__ or "").partition("\n\n")[0].split())


# ---- values


def values_at(path: Path, tree: Any, *, item: bool = False) -> list[PlaceName]:  # noqa: ANN401
    """The values that a setting, or an item of a list, may have, where only some are possible.

    Args:
        path: The setting or the item.
        tree: All values, as `outline.loose_tree` guesses them.
        item: It is an item of a list without a key, such as the name of a rule.
    """
    special = _special(path, tree)
    if special is not None:
        return special
    root = _root(path, tree)
    *above, last = root.parts or ("",)
    holder = model_at(root.model, above, root.tree)
    kind = type_at(root.model, root.parts, root.tree)
    if last == "rule" and holder is not None and issubclass(holder, Rule):
        return rules()
    values = [PlaceName(name, "value") for name in choices_of(kind) if name != "NONE"]
    is_rule = item and model_at(root.model, root.parts, None) is Rule
    return [*values, *rules()] if is_rule else values


def _special(path: Path, tree: Any) -> list[PlaceName] | None:  # noqa: ANN401 - YAML
    """Values that no type lists: names of profiles, sheets, processors; None for other settings."""
    if path == ("profile",):
        return [PlaceName(profile.name, "profile", profile.purpose) for profile in list_profiles()]
    if path[:1] == ("sheet_associations",) and "sheets" in path[2:3]:
        own = tree.get("sheets") if isinstance(tree, dict) else None
        names = dict.fromkeys([*(own if isinstance(own, dict) else ()), *STOCK_SHEETS])
        return [PlaceName(name, "sheet") for name in names]
    if path[:1] != ("chains",) or len(path) < 3:
        return None
    chain = _chain(path[1])
    if path[2] in {REMOVE, REORDER} or path[-1] in BESIDE:
        return _labels(chain)
    if path[-1] == "processor" or (len(path) == 4 and path[2] == INSERT) or path[2:][0].isdigit():
        return processors(chain) if path[-1] == "processor" or len(path) <= 4 else None
    return None


def rules() -> list[PlaceName]:
    """All rules by name."""
    RULES.load_plugins()
    return [
        PlaceName(name, "rule", first_sentence(kind), None, (kind.heritrix,) * bool(kind.heritrix))
        for kind in RULES
        if (name := str(kind.model_fields["rule"].default))
    ]


def processors(chain: ChainName | None) -> list[PlaceName]:
    """The processors that may be in a chain; None: all."""
    PROCESSORS.load_plugins()
    return [
        PlaceName(
            name, "processor", first_sentence(kind), None, (kind.heritrix,) * bool(kind.heritrix)
        )
        for kind in PROCESSORS
        if (name := str(kind.model_fields["processor"].default))
        and (not chain or chain in kind.chains)
    ]


# ---- one place


def described_at(path: Path, tree: Any) -> PlaceName | None:  # noqa: ANN401 - YAML
    """The meaning of a key, or of an item with the name of a rule or processor; None for none."""
    if not path:
        return None
    *above, last = path
    keys = keys_at(tuple(above), tree)
    described = next((key for key in keys if key.name == last), None)
    if described is None and "." in last and _root(tuple(above), tree).in_sheet:
        described = _in_sheet(_root(path, tree).parts)
    if described is not None:
        return described
    root = _root(path, tree)
    holder = model_at(root.model, root.parts, root.tree)
    if holder is not None and (issubclass(holder, Rule | Entry)):
        return _part(holder)
    return None


def _in_sheet(parts: Path) -> PlaceName | None:
    holder = model_at(JobSettings, parts[:-1], None)
    info = holder.model_fields.get(parts[-1]) if holder else None
    if info is None:
        return None
    path = ".".join(parts)
    return PlaceName(
        path, "setting", info.description or "", facts_of(path, info), heritrix_of(path)
    )


def _part(holder: type[BaseModel]) -> PlaceName:
    """A rule or processor as a whole."""
    kind = "rule" if issubclass(holder, Rule) else "processor"
    info = holder.model_fields.get(kind)
    name = str(info.default) if info else kind
    own = str(getattr(holder, "heritrix", ""))
    return PlaceName(name, kind, first_sentence(holder), None, (own,) if own else ())


def part_named(word: str) -> PlaceName | None:
    """The rule or processor that a value names; None where it names none."""
    rule, processor = RULES.find(word), PROCESSORS.find(word)
    kind: type[BaseModel] | None = rule or processor
    return _part(kind) if kind is not None else None
