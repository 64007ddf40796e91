"""Explanations of settings of a job: value, origin, default, meaning, and whether it can change."""

from collections.abc import Iterator

from pydantic import BaseModel

from nacre.config.check import Loaded
from nacre.config.facts import type_name
from nacre.config.layer import SettingOrigin
from nacre.config.place import Property, UnknownPropertyError, find, index_of, properties
from nacre.config.secret import masked
from nacre.config.sheet import flat, suggestion
from nacre.engine.chain.entry import ChainName, Entry
from nacre.errors import ConfigError, Problem
from nacre.job.registry import section_named
from nacre.settings.chains import STOCK
from nacre.settings.settings import JobSettings
from nacre.uri.typed import hidden


def explain_settings(loaded: Loaded[JobSettings] | None, path: str) -> list[dict[str, str]]:
    """Return value, origin, default, meaning, type, unit and changeability of settings.

    Args:
        loaded: The settings of a job.
        path: A setting, a section (`politeness`), a rule (`scope.too-many-hops`) or a setting of
            it. Rules and the like are named, or numbered from 0.

    Raises:
        ConfigError: There is no such setting.
    """
    if loaded is None:
        raise ConfigError("the settings cannot be read; see `nacre check` without --explain")
    settings = loaded.settings
    head, dot, inner = path.partition(".")
    path = (section_named(head) or head) + dot + inner
    try:
        here = find(settings, path)
    except UnknownPropertyError as error:
        hint = suggestion(error, settings, path)
        raise ConfigError([Problem(path, f"no such setting; {hint}".rstrip("; "))]) from None
    if isinstance(here.value, BaseModel):
        return [_describe(loaded, _within(here, item)) for item in properties(here.value)]
    if isinstance(here.value, tuple) and any(isinstance(item, Entry) for item in here.value):
        return [_entry(loaded, here, item) for item in here.value]
    return [_describe(loaded, here)]


def _within(around: Property, inner: Property) -> Property:
    return inner._replace(
        path=f"{around.path}.{inner.path}",
        live=inner.live and around.live,
        sheets=inner.sheets and around.sheets,
    )


def _describe(loaded: Loaded[JobSettings], here: Property) -> dict[str, str]:
    extra = here.info.json_schema_extra
    unit = str(extra.get("unit", "")) if isinstance(extra, dict) else ""
    text = {
        "setting": here.path,
        "value": _value_text(here.value),
        "from": str(_origin(loaded, here.path)),
        "default": _default(here),
        "meaning": here.info.description or "",
        "type": type_name(here.info.annotation),
    }
    if unit:
        text["unit"] = unit
    text["while it runs"] = "can be changed" if here.live else "cannot be changed"
    text["sheets"] = _of_sheets(loaded.settings, here)
    return text


def _origin(loaded: Loaded[JobSettings], path: str) -> SettingOrigin:
    if loaded.is_given(path):
        return loaded.origin(path)
    numbered = _numbered(loaded.settings, path)
    section, chain, *entry = path.split(".")[:3] if path.count(".") > 1 else (path, "")
    if section != "chains" or loaded.is_given(f"chains.{chain}.0"):
        return loaded.origin(numbered)
    # If a mapping changes a part of the stock chain, the rest is that of the stock chain.
    parent = f"chains.{chain}.{entry[0]}" if entry else ""
    stock = (
        any(entry_of_stock.label == entry[0] for entry_of_stock in STOCK[ChainName(chain)])
        if entry
        else False
    )
    if not loaded.is_given(parent) and not stock:
        return loaded.origin(f"chains.{chain}.insert")
    return loaded.origin(path) if loaded.is_given(parent) else SettingOrigin("default")


def _entry(loaded: Loaded[JobSettings], chain: Property, entry: Entry) -> dict[str, str]:
    """Return one line of the effective chain: its meaning, and its changed settings."""
    path = f"{chain.path}.{entry.label}"
    changed = [item for item in properties(entry) if _says_more(item)]
    changes = ", ".join(f"{item.path} {_value_text(item.value)}" for item in changed)
    inside = (loaded.origin(f"{path}.{item.path}") for item in changed)
    origins = [str(place) for place in inside if place.source != "default"]
    return {
        "setting": path,
        "value": ("on" if entry.enabled else "off") + (f"; {changes}" if changes else ""),
        "from": origins[0] if origins else str(_origin(loaded, path)),
        "meaning": " ".join((type(entry).__doc__ or "").partition("\n\n")[0].split()),
        "processor": entry.kind,
    }


def _says_more(item: Property) -> bool:
    """Return whether a setting differs from its default; the list of a gate covers its rules."""
    if "." in item.path or item.path in ("enabled", "processor", "name"):
        return False
    return bool(item.value != item.info.get_default(call_default_factory=True, validated_data={}))


def _default(here: Property) -> str:
    if here.info.is_required():
        return "none; it must be given"
    return _value_text(here.info.get_default(call_default_factory=True, validated_data={}))


def _of_sheets(settings: JobSettings, here: Property) -> str:
    if not here.sheets:
        return "cannot change it: it holds for the whole job"
    texts = [f"{name} says {_value_text(v)}" for name, v in _values_of_sheets(settings, here.path)]
    return "; ".join(texts) or "can change it; none does"


def _values_of_sheets(settings: JobSettings, path: str) -> Iterator[tuple[str, object]]:
    for name, tree in settings.sheets.items():
        values = flat(tree, settings)
        if path in values:
            yield name, masked(values[path], path)


def _numbered(settings: JobSettings, path: str) -> str:
    """The path as files have it: items of lists by their numbers."""
    value: object = settings
    parts: list[str] = []
    for part in path.split("."):
        at = index_of(value, part) if isinstance(value, tuple) else None
        if isinstance(value, tuple) and at is not None:
            value = value[at]
            parts.append(str(at))
        else:
            value = getattr(value, part, None)
            parts.append(part)
    return ".".join(parts)


def _value_text(value: object) -> str:
    if isinstance(value, dict):
        return str(masked(value))
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | frozenset):
        items = sorted(map(str, value)) if isinstance(value, frozenset) else value
        text = ", ".join(getattr(item, "label", str(item)) for item in items)
        return hidden(text) or "empty list"
    return repr(value) if isinstance(value, str) and not value else hidden(str(value))
