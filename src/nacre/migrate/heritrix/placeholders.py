"""Placeholders that Spring fills in: `${name}` from property lists, `${name:default}`."""

import re
from pathlib import Path

from nacre.migrate.fate import mapped, to_check
from nacre.migrate.heritrix.beans import Bean, Beans, Setting, text_of
from nacre.migrate.heritrix.properties import read_properties

_KINDS = (
    "PropertyPlaceholderConfigurer",
    "PropertySourcesPlaceholderConfigurer",
    "PreferencesPlaceholderConfigurer",
)
_VARIABLE = re.compile(r"\$\{([^${}:]+)(?::([^${}]*))?\}")
_OF_HERITRIX = frozenset(("launchId", "prefix", "timestamp17", "timestamp14", "serialno"))
_ELEMENT = "<property-placeholder>"
_LOCATION = re.compile(r'location="([^"]*)"')
_FILLED = "its values are filled in where they are used"
_ROUNDS = 10
_MAX_BYTES = 1_000_000


def fill_placeholders(beans: Beans, directory: Path) -> None:
    """Fill in what the configuration itself, or a file beside it, says.

    Args:
        beans: The configuration; without a configurer for placeholders nothing is done.
        directory: Where its file lies.
    """
    found = beans.of_kind(*_KINDS)
    values: dict[str, str] = {}
    for bean in found:
        values |= _values(beans, bean, directory)
    elements = [one for one in beans.items if isinstance(one, Setting) and one.name == _ELEMENT]
    for element in elements:
        element.fate = mapped("", _FILLED)
        said = _LOCATION.search(element.text)
        for name in said[1].split(",") if said else ():
            values |= _of_file(element, name.strip(), directory)
    if not found and not elements:
        return
    for item in beans.items:
        if isinstance(item, Setting) and item.bean not in found:
            item.value = _filled(item.value, values)


def _values(beans: Beans, bean: Bean, directory: Path) -> dict[str, str]:
    values: dict[str, str] = {}
    bean.fate = mapped("", _FILLED)
    for name, setting in bean.settings.items():
        setting.fate = bean.fate
        if name in {"properties", "location", "locations"}:
            texts = [setting.value] if name == "properties" else beans.listed(setting.value)
            for one in texts:
                values |= _of(one) if name == "properties" else _of_file(setting, one, directory)
    return values


def _of(value: object) -> dict[str, str]:
    if isinstance(value, dict) and "" not in value:
        return {key: text_of(item) for key, item in value.items()}
    text = value.get("") if isinstance(value, dict) else value
    if not isinstance(text, str):
        return {}
    return {key: said.strip() for key, said, _ in read_properties(text)}


def _of_file(setting: Setting, value: object, directory: Path) -> dict[str, str]:
    name = text_of(value).removeprefix("file:").removeprefix("classpath:")
    path = directory / name
    if not path.resolve().is_relative_to(directory.resolve()):
        setting.fate = to_check(f"{name} is not read: it lies elsewhere")
        return {}
    try:
        with path.open("rb") as file:
            return _of(file.read(_MAX_BYTES).decode("latin-1"))
    except OSError as error:
        setting.fate = to_check(f"{name} cannot be read: {error.strerror}")
        return {}


def _filled(value: object, values: dict[str, str]) -> object:
    if isinstance(value, str) and "${" in value:
        return _text(value, values)
    if isinstance(value, list):
        return [_filled(item, values) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, values) for key, item in value.items()}
    return value


def _text(text: str, values: dict[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1].strip()
        if name in _OF_HERITRIX or name.startswith("heritrix."):
            return found[0]
        return values.get(name, found[0] if found[2] is None else found[2])

    for _ in range(_ROUNDS):
        before, text = text, _VARIABLE.sub(value, text)
        if text == before or len(text) > _MAX_BYTES:
            break
    return text
